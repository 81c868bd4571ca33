"""The patches of mutations/ apply to the sources as they are; what they break is found by mutations.py, which builds
them.
"""

import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PATCHES = sorted((HERE / "mutations").glob("*.patch"))


@pytest.mark.parametrize("patch", PATCHES, ids=lambda patch: patch.stem)
def test_applies(patch):
    done = subprocess.run(["git", "apply", "--check", patch], cwd=HERE.parents[2], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_there_are_some():
    assert len(PATCHES) >= 5
