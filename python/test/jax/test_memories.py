"""Values in the host's memory: arguments, results, optimizer states, activations."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.ad_checkpoint import checkpoint_name
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

import shardonnay
import shardonnay.jax as sharded
from shardonnay import compare, run

MESH = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
X = np.linspace(-1, 1, 128, dtype=np.float32).reshape(8, 16)
W = np.sin(np.arange(256, dtype=np.float32)).reshape(16, 16)


def device(*spec):
    return NamedSharding(MESH, P(*spec))


def host(*spec, kind="pinned_host"):
    return NamedSharding(MESH, P(*spec), memory_kind=kind)


def momentum(w, m, x):
    """A step of which the optimizer's state stays on the host."""
    grads = jax.grad(lambda w: jnp.tanh(x @ w).sum())(w)
    m = jax.device_put(m, jax.memory.Space.Device) * 0.9 + grads
    return w - 0.1 * m, jax.device_put(m, jax.memory.Space.Host)


def offloaded(weights, x):
    """The gradient of layers of which one activation is kept on the host."""
    policy = jax.checkpoint_policies.save_and_offload_only_these_names(
        names_which_can_be_saved=["second"],
        names_which_can_be_offloaded=["first"],
        offload_src="device",
        offload_dst="pinned_host",
    )

    @partial(jax.checkpoint, policy=policy)
    def layer(x, weights):
        first = checkpoint_name(jnp.sin(x @ weights[0]), "first")
        return checkpoint_name(jnp.cos(first @ weights[1]), "second"), None

    return jax.grad(lambda weights: jax.lax.scan(layer, x, weights)[0].sum())(weights)


WHOLE = (np.stack([W] * 3), np.stack([W.T] * 3))
CASES = {
    "an argument": (lambda x: jax.device_put(x, jax.memory.Space.Device) + 1, (X,), {"in_shardings": host("data")}),
    "both": (lambda x: x + 1, (X,), {"in_shardings": host("data"), "out_shardings": host("data")}),
    "a result": (lambda x: x + 1, (X,), {"in_shardings": device("data"), "out_shardings": host(None, "model")}),
    "a result by the function": (
        lambda x: jax.device_put(jnp.sin(x), host(None, "model")),
        (X,),
        {"in_shardings": device("data")},
    ),
    "an optimizer's state": (
        momentum,
        (W, W, X),
        {"in_shardings": (device(None, "model"), host("data", "model"), device("data"))},
    ),
    "activations": (
        offloaded,
        (WHOLE, X),
        {"in_shardings": ((device(None, None, "model"), device(None, "model")), device("data"))},
    ),
}


@pytest.mark.parametrize("partitioned", [sharded.partition, sharded.propagate])
@pytest.mark.parametrize("case", CASES)
def test_values_and_memories_are_those_of_jit(case, partitioned):
    function, args, shardings = CASES[case]
    expected = jax.tree.leaves(jax.jit(function, **shardings)(*args))
    for value, other in zip(jax.tree.leaves(partitioned(function, **shardings)(*args)), expected, strict=True):
        np.testing.assert_allclose(value, other, rtol=1e-5, atol=1e-5)
        assert value.sharding.memory_kind == other.sharding.memory_kind


def test_a_state_stays_on_the_host_from_step_to_step():
    shardings = device(None, "model"), host("data", "model")
    step = sharded.partition(momentum, donate_argnums=(0, 1), out_shardings=shardings)
    expected, state = (W, W), tuple(map(jax.device_put, (W, W), shardings))
    for _ in range(3):
        expected = jax.jit(momentum)(*expected, X)
        state = step(*state, jax.device_put(X, device("data")))
        assert [value.sharding for value in state] == list(shardings)
    for value, other in zip(state, expected, strict=True):
        np.testing.assert_allclose(value, other, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kind", ["pinned_host", "unpinned_host"])
def test_ahead_of_time_and_serialized(kind):
    def function(x):
        return jax.device_put(jax.device_put(x, jax.memory.Space.Device) + 1, jax.memory.Space.Host)

    x = jax.device_put(X, host("data", kind=kind))
    for result in (function, lambda x: jax.device_put(x, jax.memory.Space.Device) + 1):
        compiled = sharded.partition(result, out_shardings=host(kind=kind)).lower(x).compile()
        for program in (compiled, sharded.deserialize(*sharded.serialize(compiled))):
            assert [leaf.memory_kind for leaf in jax.tree.leaves(program.input_shardings)] == [kind]
            np.testing.assert_allclose(program(x), X + 1)
            assert program(x).sharding.memory_kind == kind


def test_plans_have_the_moves_that_an_accelerator_makes():
    traced = jax.jit(offloaded, in_shardings=CASES["activations"][2]["in_shardings"]).trace(WHOLE, X)
    text = traced.lower(lowering_platforms=("tpu",)).as_text()
    made = shardonnay.compile(text).text
    for memory in ("pinned_host", "device"):
        assert made.count(f'_xla_buffer_placement = "{memory}"') == text.count(f'_xla_buffer_placement = "{memory}"')


def test_reports_count_the_memory_of_devices_alone():
    traced = jax.jit(momentum, in_shardings=CASES["an optimizer's state"][2]["in_shardings"]).trace(W, W, X)
    for platform in ("cpu", "tpu"):
        report = shardonnay.compile(traced.lower(lowering_platforms=(platform,)).as_text(), report=True).report
        assert report["argument_bytes"] == {"global": W.nbytes + X.nbytes, "per_device": W.nbytes // 4 + X.nbytes // 2}


def test_what_is_written_for_an_accelerator_runs_on_cpu_devices():
    shardings = device(None, "model"), host("data", "model"), device("data")
    step = jax.jit(momentum, in_shardings=shardings, out_shardings=shardings[:2], donate_argnums=(0, 1))
    text = step.trace(W, W, X).lower(lowering_platforms=("tpu",)).as_text()
    program = run.LoadedProgram(shardonnay.compile(text))
    inputs = [W, W, X]
    assert all(agreement.ok for agreement in run.check(program, inputs, compare.reference(text, inputs)))
