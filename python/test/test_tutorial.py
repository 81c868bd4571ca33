"""docs/tutorial.md, followed literally: its files, its commands, and what they print. SHARDONNAY_WRITE_DOCS=1 writes
what is printed there."""

from pathlib import Path

import printed

PAGE = Path(__file__).resolve().parents[2] / "docs/tutorial.md"


def test_tutorial_prints_what_it_says(tmp_path):
    printed.compare(PAGE, printed.filled(PAGE.read_text(), printed.Shell(tmp_path).block))
