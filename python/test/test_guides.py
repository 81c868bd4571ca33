"""README.md, and the guides that have programs of their own: their files, their commands, and what these print. Those
of the strategies quote examples/ (test_examples.py). SHARDONNAY_WRITE_DOCS=1 writes what is printed there."""

import os
import re
import subprocess
import sys
from pathlib import Path

import printed
import pytest

PROGRAM = """sdy.mesh @mesh = <["data"=2, "model"=4]>
func.func public @main(
    %x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>},
    %w: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}) -> tensor<8x32xf32> {
  %0 = stablehlo.dot %x, %w : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  return %0 : tensor<8x32xf32>
}
"""
ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/*.md"), *ROOT.glob("python/**/*.md")]


PROGRAMS = "accumulation", "ci-gates", "debugging", "porting"


@pytest.mark.parametrize("name", ["README", *(f"docs/guides/{name}" for name in PROGRAMS)])
def test_page_prints_what_it_says(name, tmp_path):
    page = ROOT / f"{name}.md"
    printed.compare(page, printed.filled(page.read_text(), printed.Shell(tmp_path).block))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for link in re.findall(r"\]\((?!https?:|#)([^)\s]+?)(?:#[^)]*)?\)", page.read_text()):
        assert (page.parent / link).exists(), link


@pytest.mark.parametrize("name", ["README", "docs/guides/extending"])
def test_commands_that_show_no_output_work(name, tmp_path):
    """Those of an indented block that take a program; what follows two blanks and # says what they do."""
    (tmp_path / "step.mlir").write_text(PROGRAM)
    (tmp_path / "build").symlink_to(ROOT / "build")
    found = re.findall(
        r"^    ((?:shardonnay|build/bin/\S+) .*?step\.mlir.*?)(?:  +#.*)?$", (ROOT / f"{name}.md").read_text(), re.M
    )
    assert len(found) == {"README": 6, "docs/guides/extending": 1}[name]
    environment = dict(os.environ, PATH=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    for command in found:
        done = subprocess.run(["bash", "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, f"{command}: {done.stderr}"
