"""The extension is one for Python 3.12 and later: what it calls is in their limited API (test_wheel.py builds it)."""

import json
import runpy
import shlex
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def headers_of_312():
    """The folder of Python 3.12's headers, None if there is none."""
    python = runpy.run_path(str(ROOT / "scripts/wheels"))["find_312"]()
    if not python:
        return None
    code = "import sysconfig; print(sysconfig.get_path('include'))"
    found = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    return found if Path(found, "Python.h").exists() else None


@pytest.mark.parametrize("source", ["call_cache.cpp", "core.cpp"])
def test_the_limited_api_has_what_is_called(source):
    headers = headers_of_312()
    if not headers:
        pytest.skip("there is no Python 3.12 with headers")
    commands = json.loads((ROOT / "build/compile_commands.json").read_text())
    (command,) = (each for each in commands if each["file"] == str(ROOT / "python/shardonnay" / source))
    words = [
        word for word in shlex.split(command["command"]) if not (word.startswith("-I") and "/include/python3." in word)
    ]
    words = words[: words.index("-o")] + words[words.index("-c") :]
    limited = [f"-I{headers}", "-DPy_LIMITED_API=0x030C0000", "-fsyntax-only"]
    done = subprocess.run([*words, *limited], cwd=command["directory"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
