"""The guides that have programs of their own: their files, their commands, and what these print. Those of the
strategies quote examples/ (test_examples.py). SHARDONNAY_WRITE_DOCS=1 writes what is printed there."""

import re
from pathlib import Path

import printed
import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.parametrize("name", ["ci-gates", "debugging", "porting"])
def test_guide_prints_what_it_says(name, tmp_path):
    page = DOCS / f"guides/{name}.md"
    printed.compare(page, printed.filled(page.read_text(), printed.Shell(tmp_path).block))


@pytest.mark.parametrize("page", [DOCS.parent / "README.md", DOCS.parent / "examples/README.md", *DOCS.glob("**/*.md")])
def test_links_lead_somewhere(page):
    for link in re.findall(r"\]\((?!https?:|#)([^)\s]+?)(?:#[^)]*)?\)", page.read_text()):
        assert (page.parent / link).exists(), link
