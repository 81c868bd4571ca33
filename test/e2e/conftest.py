"""For every test of this folder: eight CPU devices, before anything uses JAX; what must hold for each compile
(`checked_compile`); and a table of results at the end."""

import re

import pytest
import shardonnay
from shardonnay import engine

engine.prepare(8)

# How a report says what else could have been done, or that there is nothing.
ALTERNATIVE = re.compile("the next best, |the best of others nearby, |here it costs |carries it for |through the "
                         "whole tensor |no other plan: |in no other sharding")
_ROWS = pytest.StashKey[list]()


@pytest.fixture(autouse=True)
def checked_compile(monkeypatch):
    """What a test compiles costs what its plan costs; but for buckets, which are made of what is planned, and what is
    gathered again for a limit of memory. Every collective says what else could have been done, and the program is the
    same without a report."""
    compile = shardonnay.compile

    def checked(program, **options):
        if "to" in options:
            return compile(program, **options)
        compiled = compile(program, **{**options, "report": True})
        assert compile(program, **{**options, "report": False}).text == compiled.text
        if not options.get("memory_limit"):
            plain = (
                compiled
                if options.get("no_bucketing")
                else compile(program, **{**options, "report": True, "no_bucketing": True})
            )
            price = plain.report["price"]
            assert price["emitted"] == pytest.approx(price["planned"], rel=1e-9), price
            for entry in compiled.report["collectives"]:
                assert ALTERNATIVE.search(entry["cause"]), entry
        return compiled

    monkeypatch.setattr(shardonnay, "compile", checked)


@pytest.fixture(scope="session")
def row(pytestconfig):
    """Adds a line to the table that is printed after the tests."""
    return pytestconfig.stash.setdefault(_ROWS, []).append


def pytest_terminal_summary(terminalreporter, config):
    for line in config.stash.get(_ROWS, []):
        terminalreporter.write_line(line)
