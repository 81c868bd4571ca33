"""Muon's steps: matrices of all layers are squared again and again, which sums over what is sharded. They are dealt
out once and come back once; nothing else is sent.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import shardonnay
from agrees import assert_agrees
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

RNG = np.random.default_rng(29)


def orthogonalized(x, scales):
    for _ in range(3):
        square = x @ x.T
        x = scales[0] * x + (scales[1] * square + scales[2] * square @ square) @ x
    return x


def step(weights, gradients, scales):
    return weights - 0.1 * jax.vmap(orthogonalized, in_axes=(0, None))(gradients, scales)


@pytest.mark.parametrize("device_model", ["cpu", "bytes"])
@pytest.mark.parametrize("spec", [P(None, "x", None), P(None, None, "x")])
def test_matrices_are_dealt_out_once(spec, device_model):
    mesh = Mesh(np.array(jax.devices()[:8]), ("x",))
    sharded, whole = NamedSharding(mesh, spec), NamedSharding(mesh, P())
    weights, gradients = (0.1 * RNG.standard_normal((2, 8, 16, 32)).astype(np.float32))[:]
    inputs = [weights, gradients, np.array([3.4, -4.8, 2.0], np.float32)]
    lowered = jax.jit(step, in_shardings=(sharded, sharded, whole), out_shardings=sharded).lower(*inputs)
    compiled = shardonnay.compile(lowered.as_text(), device_model=device_model, report=True)
    assert_agrees(compiled, lowered.as_text(), inputs)
    if device_model == "bytes":
        assert [entry["kind"] for entry in compiled.report["collectives"]] == ["all_to_all", "all_to_all"]
