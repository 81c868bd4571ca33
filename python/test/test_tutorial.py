"""docs/tutorial.md, followed literally: its files, its commands, and what they print. SHARDONNAY_WRITE_DOCS=1 writes
what is printed there."""

import os
import subprocess
import sys
import time
from pathlib import Path

import printed
import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/tutorial.md"


def test_tutorial_prints_what_it_says(tmp_path):
    printed.compare(PAGE, printed.filled(PAGE.read_text(), printed.Shell(tmp_path).block))


class Newcomer(printed.Shell):
    """A reader with nothing but a clone, who runs the lines of installation too."""

    def __init__(self, folder):
        super().__init__(folder)
        own = str(Path(sys.executable).parent)
        self.environment["PATH"] = os.pathsep.join(
            path for path in self.environment["PATH"].split(os.pathsep) if path != own
        )
        for name in ("VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME"):
            self.environment.pop(name, None)

    def block(self, language, text):
        if language != "sh":
            return super().block(language, text)
        # What is sourced changes the shell of what follows.
        done = subprocess.run(
            ["bash", "-ec", f"{{\n{text}}} >&2\nenv -0"],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        self.environment = dict(line.split("=", 1) for line in done.stdout.split("\0") if line)
        return text


@pytest.mark.long
def test_in_a_clean_clone(tmp_path, capsys):
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", ROOT, clone], check=True)
    page = (clone / "docs/tutorial.md").read_text()
    reader, times = Newcomer(clone), {}

    def block(language, text):
        start = time.monotonic()
        try:
            return reader.block(language, text)
        finally:
            kind = "installing" if language == "sh" else "the rest"
            times[kind] = times.get(kind, 0) + time.monotonic() - start

    assert printed.filled(page, block) == page
    assert reader.environment["VIRTUAL_ENV"] == str(clone / ".venv"), "it ran in the clone's own venv"
    with capsys.disabled():
        print("\nthe tutorial took", ", ".join(f"{kind} {seconds:.0f} s" for kind, seconds in times.items()))
