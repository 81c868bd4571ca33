"""What notebooks show of programs: tables in HTML, without scripts or styles from elsewhere."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from . import report as reports

CELL = "border:1px solid #8886;padding:2px 8px;text-align:left;vertical-align:top"


def element(tag: str, content: str, style: str = "", **attributes: object) -> str:
    """An element around HTML."""
    more = "".join(f' {name}="{escape(str(value))}"' for name, value in attributes.items())
    return f"<{tag}{more}{f' style={chr(34)}{style}{chr(34)}' if style else ''}>{content}</{tag}>"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of texts."""
    lines = [element("tr", "".join(element("th", escape(cell), CELL) for cell in head))]
    lines += [element("tr", "".join(element("td", escape(cell), CELL) for cell in row)) for row in rows]
    return element("table", "".join(lines), "border-collapse:collapse")


def report(title: str, found: dict[str, Any]) -> str:
    """A report: each collective with its bytes, where it comes from and why it is there; then the sums."""
    rows = [
        (
            entry["kind"],
            ", ".join(entry["axes"]),
            str(entry["count"]),
            reports.size(entry["bytes"]),
            reports.place(entry) + reports.runs(entry),
            entry["cause"],
        )
        for entry in found["collectives"]
    ]
    if rows:
        count = str(sum(entry["count"] for entry in found["collectives"]))
        rows.append(("total", "", count, reports.size(found["collective_bytes"]), "", ""))
    shown = table(("collective", "axes", "count", "bytes", "source", "cause"), rows) if rows else "no collectives"
    lines = list(reports.lines(found, causes=False))[-2:]
    return element("div", "<br>".join([element("b", escape(title)), shown, *map(escape, lines)]))
