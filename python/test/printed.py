"""Pages of documentation whose fenced blocks are run, and hold what they print."""

import os
import re

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```\n", re.MULTILINE | re.DOTALL)


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
    assert now == before
