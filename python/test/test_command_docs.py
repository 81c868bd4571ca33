"""What docs/command-line.md shows is what the commands print: with
SHARDONNAY_WRITE_DOCS=1 the test writes it there."""

import re
import shlex
from pathlib import Path

import printed
from shardonnay.cli import main

PAGE = Path(__file__).resolve().parents[2] / "docs/command-line.md"


def test_every_command_prints_what_the_page_says(tmp_path, monkeypatch, capsys):
    page = PAGE.read_text()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "step.mlir").write_text(re.search(r"```mlir\n(.*?)```", page, re.DOTALL)[1])
    statuses = [0]

    def run(command):
        if command == "echo $?":
            return f"{statuses[-1]}\n"
        statuses.append(main(shlex.split(command)[1:]))
        out, err = capsys.readouterr()
        return out + err

    def block(language, text):
        return printed.commands(text, run) if language == "console" else text

    printed.compare(PAGE, printed.filled(page, block))
    assert sum(map(bool, statuses)) == page.count("$ echo $?")
