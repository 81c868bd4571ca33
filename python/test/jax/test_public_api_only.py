"""The package uses what JAX makes public, and `import shardonnay` alone needs no JAX."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import shardonnay.jax

FILES = sorted(Path(shardonnay.jax.__file__).parent.glob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_public_names_only(path):
    text = path.read_text()
    assert not re.search(r"jax\._src|jaxlib|jax\.lib\b", text)
    # A name with an underscore is ours or nobody's: it is not looked up in JAX's modules and objects.
    assert not re.search(r"\bjax(\.\w+)*\._[a-z]", text)


def test_importing_shardonnay_is_cheap():
    code = "import sys, shardonnay; assert 'jax' not in sys.modules and 'jaxlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
