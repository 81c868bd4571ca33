"""Fifty and more programs outside the supported list: each ends in right numbers or in a located error."""

import json
import subprocess
import sys
from pathlib import Path

import unlisted_programs
import pytest

WORKER = Path(__file__).parent / "unlisted_programs.py"


def _outcomes():
    """{name: (outcome, detail)}. A worker does one after the other; the program that kills it has aborted."""
    found, left = {}, list(unlisted_programs.PROGRAMS)
    while left:
        worker = subprocess.run([sys.executable, WORKER, *left], capture_output=True, text=True)
        results = [json.loads(line) for line in worker.stdout.splitlines() if line.startswith("{")]
        found.update((result["name"], (result["outcome"], result["detail"])) for result in results)
        left = left[len(results) :]
        if left:
            last = (worker.stderr.strip().splitlines() or [""])[-1]
            found[left.pop(0)] = ("aborted", f"exit code {worker.returncode}: {last}")
    return found


@pytest.fixture(scope="module")
def outcomes(row):
    found = _outcomes()
    for name, (outcome, detail) in found.items():
        row(f"{name:28} {outcome:9} {detail.splitlines()[0][:160]}")
    return found


def test_there_are_fifty():
    assert len(unlisted_programs.PROGRAMS) >= 50


@pytest.mark.parametrize("name", unlisted_programs.PROGRAMS)
def test_ends_well(name, outcomes):
    outcome, detail = outcomes[name]
    assert outcome in ("agrees", "refused"), f"{outcome}: {detail}"
