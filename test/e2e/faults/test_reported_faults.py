"""Faults that other partitioners have, each a program here: right numbers, and no more communication than it needs.

A name begins with the report; reports.py says what each is about.
"""

import dataclasses

import pytest
import reported_faults  # noqa: F401 -- adds cases
import rule_faults  # noqa: F401 -- adds cases
from fault_cases import CASES
from uneven import kinds_of, run_cases


@pytest.fixture(scope="module")
def verdicts():
    return run_cases(CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name.replace(" ", "-"))
def test_numbers(case, verdicts):
    assert not verdicts[case.name], verdicts[case.name]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name.replace(" ", "-"))
def test_communication(case):
    assert kinds_of(case) <= case.collectives


def test_the_kinds_are_looked_at():
    gathering = dataclasses.replace(CASES[0], result=([8, 2], "f32", ["", ""]))
    assert not kinds_of(gathering) <= CASES[0].collectives
