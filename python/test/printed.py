"""Pages of documentation whose fenced blocks are run, and hold what they print."""

import difflib
import os
import re
import subprocess
import sys
from pathlib import Path

# A block without a language is a picture.
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```\n", re.MULTILINE | re.DOTALL)


def filled(page, run):
    """The page with the output of each command as it is now.

    run: from a language and a block's text to the text that the block should have.
    """
    return BLOCK.sub(lambda found: f"```{found[1]}\n{run(found[1], found[2])}```\n", page)


def commands(block, run):
    """A ```console block with what `run` says that each of its `$` commands prints."""
    return "".join(f"$ {command}\n{run(command)}" for command in re.findall(r"^\$ (.*)\n", block, re.MULTILINE))


def compare(path, now):
    """Asserts that the page is as it is now; with SHARDONNAY_WRITE_DOCS=1 it is written."""
    before = path.read_text()
    if "SHARDONNAY_WRITE_DOCS" in os.environ:
        path.write_text(now)
    changed = difflib.unified_diff(before.splitlines(), now.splitlines(), "the page", "as it is now", lineterm="")
    assert now == before, "\n".join(changed)


class Shell:
    """Runs the blocks of one page in a folder: a block that begins with `# NAME.py` or `// NAME.mlir` is that
    file, a ```console block is commands. Absolute paths of the folder are printed relative to it."""

    def __init__(self, folder):
        self.folder, self.status = folder, 0
        # A user's environment: the venv is activated, nothing is said of devices or of Python's buffers.
        others = ("XLA_FLAGS", "JAX_PLATFORMS", "PYTHONUNBUFFERED")
        self.environment = {name: text for name, text in os.environ.items() if name not in others} | {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "NO_COLOR": "1",
        }

    def block(self, language, text):
        if language in ("python", "mlir"):
            name = re.match(r"(?:#|//) (\w+\.\w+)\n", text)
            assert name, f"a program without a file's name: {text}"
            (self.folder / name[1]).write_text(text)
        return commands(text, self.command) if language == "console" else text

    def command(self, command):
        if command == "echo $?":
            status, self.status = self.status, 0
            return f"{status}\n"
        assert self.status == 0, f"exit code {self.status}, which the page does not show, before {command}"
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", command],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.status = done.returncode
        assert self.status in (0, 3), done.stdout
        return done.stdout.replace(f"{self.folder}/", "")
