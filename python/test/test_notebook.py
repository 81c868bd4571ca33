"""docs/tutorial.ipynb is the twin of docs/tutorial.md, runs, and prints what the page says."""

import os
import sys
from pathlib import Path

import pytest
import tutorial_notebook


def test_notebook_is_the_page_s():
    assert tutorial_notebook.NOTEBOOK.read_text() == tutorial_notebook.notebook(tutorial_notebook.PAGE.read_text())


@pytest.mark.long
def test_notebook_prints_what_the_page_says(tmp_path, monkeypatch):
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    monkeypatch.setenv("NO_COLOR", "1")
    for name in ("XLA_FLAGS", "JAX_PLATFORMS"):
        monkeypatch.delenv(name, raising=False)
    notebook = nbformat.read(tutorial_notebook.NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [lines for kind, _, lines in tutorial_notebook.cells(tutorial_notebook.PAGE.read_text()) if kind == "code"]
    ran = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for cell, expected in zip(ran, shown, strict=True):
        if cell.source.startswith("%%writefile"):
            continue
        if expected is None:
            assert any("<table" in output.get("data", {}).get("text/html", "") for output in cell.outputs), cell.source
            continue
        # stdout and stderr come apart.
        printed = "".join(output.text for output in cell.outputs).replace(f"{tmp_path}/", "")
        assert sorted(printed.splitlines()) == sorted(expected.splitlines())
