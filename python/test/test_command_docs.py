"""What docs/command-line.md shows is what the commands print: with
SHARDONNAY_WRITE_DOCS=1 the test writes it there."""

import os
import re
import shlex
from pathlib import Path

from shardonnay.cli import main

PAGE = Path(__file__).resolve().parents[2] / "docs/command-line.md"


def filled(page, run):
    """The page with the output of each command as it is now."""
    return re.sub(
        r"```console\n\$ (.*)\n(?:.*\n)*?```\n", lambda found: f"```console\n$ {found[1]}\n{run(found[1])}```\n", page
    )


def test_every_command_prints_what_the_page_says(tmp_path, monkeypatch, capsys):
    page = PAGE.read_text()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "step.mlir").write_text(re.search(r"```mlir\n(.*?)```", page, re.DOTALL)[1])

    def run(command):
        status = main(shlex.split(command)[1:])
        out, err = capsys.readouterr()
        return out + err + (f"$ echo $?\n{status}\n" if status else "")

    now = filled(page, run)
    if "SHARDONNAY_WRITE_DOCS" in os.environ:
        PAGE.write_text(now)
    assert now == page
