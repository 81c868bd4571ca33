#!/usr/bin/env python3
"""Writes docs/tutorial.ipynb, the twin of docs/tutorial.md: [--check]

Prose becomes Markdown, a file a cell that writes it, commands a cell that runs them; a comment `<!-- notebook` is a
cell of the notebook alone, whose result is shown richly. Outputs are not kept.

--check  writes nothing, says whether it is stale
"""

import json
import re
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGE, NOTEBOOK = DOCS / "tutorial.md", DOCS / "tutorial.ipynb"
# What a reader runs: a file that begins with its name, or commands with what they print; or what only the notebook has.
BLOCK = re.compile(r"^(?:```(python|console)|<!-- (notebook))\n(.*?)^(?:```|-->)\n", re.MULTILINE | re.DOTALL)


def code(language, text):
    """The source of a cell."""
    if language == "python":
        name = text.splitlines()[0].removeprefix("# ")
        return f"%%writefile {name}\n{text}"  # with its first line: reports say line numbers
    if language == "notebook":
        return text
    return "%%bash\n" + "".join(f"{command}\n" for command in re.findall(r"^\$ (.*)\n", text, re.MULTILINE))


def cells(page):
    """[(kind, source, what it prints as the page has it, None for what the page has not)]"""
    at = 0
    for block in BLOCK.finditer(page):
        language, text = block[1] or block[2], block[3]
        yield "markdown", page[at : block.start()], ""
        shown = re.sub(r"^\$ .*\n", "", text, flags=re.MULTILINE) if language == "console" else ""
        yield "code", code(language, text), None if language == "notebook" else shown
        at = block.end()
    yield "markdown", page[at:], ""


def notebook(page):
    """The notebook's text."""
    made = []
    for at, (kind, source, _) in enumerate(cells(page)):
        if source.strip():
            cell = {"cell_type": kind, "id": f"cell-{at}", "metadata": {}, "source": source.strip().splitlines(True)}
            made.append(cell | ({"execution_count": None, "outputs": []} if kind == "code" else {}))
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    content = {"cells": made, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def main():
    now = notebook(PAGE.read_text())
    if "--check" not in sys.argv:
        NOTEBOOK.write_text(now)
    elif not NOTEBOOK.exists() or NOTEBOOK.read_text() != now:
        sys.exit(f"{NOTEBOOK}: stale, run scripts/tutorial_notebook.py")


if __name__ == "__main__":
    main()
