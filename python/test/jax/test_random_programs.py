"""Random JAX programs, partitioned, give what they give on one device."""

import jax
import numpy as np
import pytest
from random_programs import generated
from shardonnay import boundary
from shardonnay.jax import partition

# Of the largest number of a result; sums of a few thousand small floats are rounded in another order.
TOLERANCE = 1e-3


def difference(found, expected):
    """What is wrong with a result, or nothing."""
    found, expected = np.asarray(found), np.asarray(expected)
    if found.shape != expected.shape or found.dtype != expected.dtype:
        return f"{found.dtype}{found.shape} for {expected.dtype}{expected.shape}"
    error = boundary.difference(found, expected)
    largest = np.abs(expected[np.isfinite(expected)]).max(initial=1e-3)
    allowed = TOLERANCE * largest if boundary.is_inexact(expected.dtype) else 0
    return f"error {error:g} of {largest:g}" if error > allowed else ""


def problems(seed):
    program = generated(seed)
    expected = jax.jit(program.reference)(*program.arguments)
    function = partition(program.function, in_shardings=program.shardings, options=program.options or None)
    found = function(*program.arguments)
    assert expected and len(found) == len(expected)
    return [f"result {at}: {text}" for at, pair in enumerate(zip(found, expected)) if (text := difference(*pair))]


@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(4, 150))])
def test_a_program(seed):
    wrong = problems(seed)
    jax.clear_caches()
    assert not wrong, "\n".join(wrong)


def test_each_trace_is_the_same():
    """Otherwise what is compared would be two programs."""
    for seed in range(10):
        program = generated(seed)
        first, second = (jax.jit(program.function).lower(*program.arguments).as_text() for _ in range(2))
        jax.clear_caches()
        assert first == second == jax.jit(generated(seed).function).lower(*program.arguments).as_text()
