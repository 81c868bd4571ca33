"""README.md, and the guides that have programs of their own: their files, their commands, and what these print. Those of the
strategies quote examples/ (test_examples.py). SHARDONNAY_WRITE_DOCS=1 writes what is printed there."""

import re
from pathlib import Path

import printed
import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/*.md"), *ROOT.glob("python/**/*.md")]


@pytest.mark.parametrize("name", ["README", *(f"docs/guides/{name}" for name in ("ci-gates", "debugging", "porting"))])
def test_page_prints_what_it_says(name, tmp_path):
    page = ROOT / f"{name}.md"
    printed.compare(page, printed.filled(page.read_text(), printed.Shell(tmp_path).block))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for link in re.findall(r"\]\((?!https?:|#)([^)\s]+?)(?:#[^)]*)?\)", page.read_text()):
        assert (page.parent / link).exists(), link
