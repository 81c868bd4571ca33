"""Every call comes out as under `jax.jit`: values, types, weak types, where results lie, and errors' types."""

import call_cases
import error_cases
import jax
import pytest
from outcomes import compare, outcome
from shardonnay.jax import partition, propagate


@pytest.mark.parametrize("case", call_cases.CASES, ids=lambda case: case.__name__)
@pytest.mark.parametrize("transform", [partition, propagate], ids=["partition", "propagate"])
def test_call(case, transform):
    expected, error = outcome(case, jax.jit)
    assert error is None, error
    compare(case(transform), expected, places=case not in call_cases.OWN_PLACES)


@pytest.mark.parametrize("case", error_cases.CASES, ids=lambda case: case.__name__)
@pytest.mark.parametrize("transform", [partition, propagate], ids=["partition", "propagate"])
def test_error(case, transform):
    _, expected = outcome(case, jax.jit)
    assert expected is not None
    _, found = outcome(case, transform)
    assert type(found) is type(expected), (found, expected)


def test_there_are_enough():
    assert len(call_cases.CASES) + len(error_cases.CASES) >= 60
