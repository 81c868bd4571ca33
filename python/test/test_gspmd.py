"""A JAX program lowered for GSPMD, without Shardy, becomes the same program of a device as with it."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import shardonnay
from shardonnay import compare, run

DEVICES = np.array(jax.devices()[:8])
MESH = Mesh(DEVICES.reshape(4, 2), ("data", "model"))
CUBE = Mesh(DEVICES.reshape(2, 2, 2), ("a", "b", "c"))
REORDERED = Mesh(DEVICES.reshape(2, 4).T, ("data", "model"))


def array(shape, mesh, *spec, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(mesh, P(*spec)))


def constrain(x, mesh, *spec):
    return jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P(*spec)))


def mlp(mesh):
    def function(x, w1, w2):
        hidden = constrain(jax.nn.relu(x @ w1), mesh, "data", "model")
        return constrain(hidden @ w2, mesh, "data", P.UNCONSTRAINED)

    return function, (
        array((16, 8), mesh, "data"), array((8, 32), mesh, None, "model"), array((32, 8), mesh, "model", None)
    )


def train_step():
    forward, arguments = mlp(MESH)

    def loss(w, x):
        return jnp.mean(forward(x, *w) ** 2)

    def function(x, w1, w2):
        gradients = jax.grad(loss)((w1, w2), x)
        return tuple(w - 0.1 * g for w, g in zip((w1, w2), gradients))

    return function, arguments


def two_axes_on_a_dim():
    def function(x, y):
        return constrain(jnp.sin(x) + y, CUBE, ("b", "a"), "c")

    return function, (array((16, 8), CUBE, ("a", "b")), array((16, 8), CUBE, None, ("c", "a")))


def reduction():
    def function(x):
        x = constrain(x, CUBE, ("a", "c"), None)
        return jnp.max(x, axis=0), constrain(jnp.sum(x, axis=1), CUBE, "b")

    return function, (array((16, 8), CUBE, "a", "b"),)


def scan():
    def function(x, w):
        def step(carry, _):
            return constrain(jnp.tanh(carry @ w), MESH, "data", "model"), ()

        return jax.lax.scan(step, x, None, length=3)[0]

    return function, (array((16, 8), MESH, "data"), array((8, 8), MESH, None, "model"))


def shard_map():
    def function(x, w):
        def body(x, w):
            return jax.lax.psum(x @ w, "model")

        return jax.shard_map(body, mesh=MESH, in_specs=(P("data", "model"), P("model")), out_specs=P("data"))(x, w)

    return function, (array((16, 8), MESH, "data"), array((8, 16), MESH, "model"))


def shard_map_over_one_axis():
    def function(x, w):
        def body(x):
            return jax.lax.psum(jnp.sin(x), "data")

        x = constrain(x @ w, MESH, "data", "model")
        mapped = jax.shard_map(body, mesh=MESH, in_specs=P("data"), out_specs=P(), axis_names={"data"})
        return mapped(x) * 2

    return function, (array((16, 8), MESH, "data"), array((8, 16), MESH, None, "model"))


def shard_map_gradient():
    def function(x):
        def body(x):
            return jax.lax.psum(jnp.sin(x) @ x.T, "data")

        mapped = jax.shard_map(body, mesh=MESH, in_specs=P("data", "model"), out_specs=P(None, "model"))
        return jax.grad(lambda x: mapped(x).sum())(x)

    return function, (array((16, 8), MESH, "data"),)


def alike():
    removed = "this JAX has no shard_alike any more"
    module = pytest.importorskip("jax.experimental.shard_alike", reason=removed)

    def function(x, y):
        return module.shard_alike(jnp.sin(x), jnp.cos(y))

    return function, (array((16, 8), MESH, "data"), array((16, 8), MESH))


PROGRAMS = {
    "mlp": lambda: mlp(MESH),
    "device order": lambda: mlp(REORDERED),
    **{f.__name__: f for f in (train_step, two_axes_on_a_dim, reduction, scan, alike)},
    **{f.__name__: f for f in (shard_map, shard_map_over_one_axis, shard_map_gradient)},
}


def lowered(program, shardy):
    function, arguments = PROGRAMS[program]()
    before = jax.config.jax_use_shardy_partitioner
    jax.config.update("jax_use_shardy_partitioner", shardy)
    try:
        return jax.jit(function).lower(*arguments).as_text()
    finally:
        jax.config.update("jax_use_shardy_partitioner", before)


def renamed(text, axes):
    """With the axes that import names by their place."""
    for index, axis in enumerate(axes):
        text = re.sub(rf'"{axis}"', f'"axis_{index}"', text)
    return text


def without_groups(text):
    """From 0.12 on JAX says a collective's groups by the axes of its mesh, where there is one."""
    return re.sub(r"replica_groups = .*?(?=, use_global_device_ids)", "", text)


@pytest.mark.parametrize("program", PROGRAMS)
def test_same_program_of_a_device(program):
    texts = {shardy: lowered(program, shardy) for shardy in (True, False)}
    assert "sdy.mesh" in texts[True] and "sdy" not in texts[False]
    assert "mhlo.sharding" in texts[False]
    with_shardy, without = (shardonnay.compile(texts[shardy]) for shardy in (True, False))
    axes = re.findall(r'"(\w+)"=', with_shardy.manifest["mesh"])
    compared, expected = without.text, renamed(with_shardy.text, axes)
    if "replica_group_mesh_axes" in expected:
        compared, expected = without_groups(compared), without_groups(expected)
    assert compared == expected
    for mine, other in zip(without.manifest["inputs"], with_shardy.manifest["inputs"], strict=True):
        assert mine["slices"] == other["slices"]


def test_right_numbers():
    text = lowered("train_step", shardy=False)
    program = run.LoadedProgram(shardonnay.compile(text))
    inputs = run.random_inputs(program)
    agreements = run.check(program, inputs, compare.reference(text, inputs))
    assert agreements and all(agreement.ok for agreement in agreements), agreements
