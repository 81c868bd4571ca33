"""Every call comes out as under `jax.jit`: values, types, weak types, where results are, and errors' types."""

import call_cases
import error_cases
import jax
import mesh_cases  # noqa: F401 (registers its cases)
import pytest
from outcomes import compare, outcome
from shardonnay.jax import partition, propagate


def _each(cases):
    """Every case under both; `propagate` handles arguments by the same code, so most of its are for the long run."""
    for at, case in enumerate(cases):
        yield pytest.param(case, partition, id=f"partition-{case.__name__}")
        marks = [] if at % 5 == 0 else [pytest.mark.long]
        yield pytest.param(case, propagate, id=f"propagate-{case.__name__}", marks=marks)


@pytest.mark.parametrize("case, transform", list(_each(call_cases.CASES)))
def test_call(case, transform):
    if case is call_cases.empty_array and transform is partition and jax.__version__ == "0.11.2":
        pytest.skip("jaxlib 0.11.2 crashes where a jax.shard_map has an array without elements")
    expected, error = outcome(case, jax.jit)
    assert error is None, error
    compare(case(transform), expected, places=case not in call_cases.OWN_PLACES)


@pytest.mark.parametrize("case, transform", list(_each(error_cases.CASES)))
def test_error(case, transform):
    _, expected = outcome(case, jax.jit)
    assert expected is not None
    _, found = outcome(case, transform)
    assert type(found) is type(expected), (found, expected)


def test_there_are_enough():
    assert len(call_cases.CASES) + len(error_cases.CASES) >= 60
