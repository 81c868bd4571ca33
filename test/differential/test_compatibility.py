"""Each known pass alone, by jaxlib and by us, on generated modules: where they differ, a reason has a name (differences.py)."""

import re
from pathlib import Path

import pytest
from compatibility import PAGE, PROGRAMS, Comparison, page
from differences import REASONS
from single_passes import ALONE, KINDS, PASSES, cases

KNOWN = Path(__file__).resolve().parents[1] / "known_names/known_names.txt"
# These take seconds a program.
SLOW = ("sdy-convert-global-to-local", "sdy-insert-explicit-reshards{", "sdy-export-pipeline{", "sdy-reshard", "sdy-resolve")


def known():
    """{(pass, option)}, an option without its value."""
    for line in KNOWN.read_text().splitlines():
        if line and not line.startswith("#"):
            _, name, *options = line.split()
            yield from [(name, ""), *((name, option.split("=")[0]) for option in options)]


def compared():
    for name, _, _ in cases():
        bare, _, options = name.partition("{")
        yield bare, ""
        yield from ((bare, option.split("=")[0]) for option in options.rstrip("}").split())
    yield from ((name, option) for name, options in ALONE.items() for option in options)


def test_every_pass_and_option_is_compared():
    assert set(known()) <= set(compared())


def unexplained(rows):
    return {row.name: [difference.start for difference in row.unexplained] for row in rows if row.unexplained}


def test_some():
    comparison = Comparison()
    try:
        quick = [name for _, name, _, _ in PASSES if not name.startswith(SLOW)]
        rows = [row for number, name in enumerate(quick) for row in comparison.rows([number % len(KINDS)], name)]
    finally:
        comparison.jaxlib.close()
    assert sum(row.count for row in rows) >= 50 and not unexplained(rows)


@pytest.mark.long
def test_all_and_the_page_says_it():
    rows = list(Comparison().rows(range(PROGRAMS)))
    assert sum(row.count for row in rows) >= 3000 and not unexplained(rows)
    assert page(rows, PROGRAMS) == PAGE.read_text()


def test_the_page_has_no_other_reasons():
    """What it says is what is held."""
    text = PAGE.read_text()
    rows = re.findall(r"^\| (.+) \| (better|differs) \| (.+) \|$", text, re.M)
    assert rows and all((REASONS[name].verdict, REASONS[name].why) == (verdict, why) for name, verdict, why in rows)
