"""Sums, maxima and minima that loops carry are reduced behind the loops, whatever they start from."""

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
import shardonnay
from agrees import assert_agrees
from jax.sharding import AxisType
from jax.sharding import PartitionSpec as P
from shardonnay import run

NEUTRAL = {
    ("add", "f32"): "0.0",
    ("add", "i32"): "0",
    ("maximum", "f32"): "0xFF800000",
    ("maximum", "i32"): "-2147483648",
    ("minimum", "f32"): "0x7F800000",
}

# Nothing; sharded as what is added; sharded also along what the parts are of.
STARTS = {"whole": "", "sharded": '[{"x"}]', "in shards": '[{"x", "y"}]'}


def loop(name, body, carry, start, more=""):
    """`carry` runs %n times from `start`, with a counter; `more` follows `body` in each run."""
    return f"""
  %{name}_zero = stablehlo.constant dense<0> : tensor<i32>
  %{name}:2 = stablehlo.while(%{name}_s = %{start}, %{name}_c = %{name}_zero) : {carry}, tensor<i32>
  cond {{
    %1 = stablehlo.compare LT, %{name}_c, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }} do {{
    {body}
    %one = stablehlo.constant dense<1> : tensor<i32>
    %{name}_next = stablehlo.add %{name}_c, %one : tensor<i32>
    stablehlo.return {more}, %{name}_next : {carry}, tensor<i32>
  }}"""


def program(op, element, size, start, nested):
    t, carry = f"tensor<{size}x32x{element}>", f"tensor<{size}x{element}>"
    attribute = f"{{sdy.sharding = #sdy.sharding<@mesh, {STARTS[start]}>}}" if STARTS[start] else ""

    def summed(name):
        return f"""%f = stablehlo.convert %{name}_c : (tensor<i32>) -> tensor<{element}>
    %g = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<{element}>) -> {t}
    %m = stablehlo.multiply %a, %g : {t}
    %2 = stablehlo.reduce(%m init: %z) applies stablehlo.{op} across dimensions = [1] : ({t}, tensor<{element}>) -> {carry}
    %3 = stablehlo.{op} %2, %{name}_s : {carry}"""

    if nested:
        inner = loop("inner", summed("inner"), carry, "outer_s", "%3")
        body = loop("outer", inner, carry, "start", "%inner#0")
    else:
        body = loop("outer", summed("outer"), carry, "start", "%3")
    return f"""sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func public @main(%a: {t} {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{"y"}}]>}}, %start: {carry} {attribute}, %n: tensor<i32>) -> ({carry} {attribute}) {{
  %z = stablehlo.constant dense<{NEUTRAL[op, element]}> : tensor<{element}>{body}
  return %outer#0 : {carry}
}}"""


@pytest.mark.parametrize("op, element", NEUTRAL)
@pytest.mark.parametrize("size", [8, 7])
@pytest.mark.parametrize(
    "start, nested", [("whole", False), ("sharded", True), ("in shards", False), ("in shards", True)]
)
def test_reduced_behind_the_loops(op, element, size, start, nested):
    text = program(op, element, size, start, nested)
    compiled = shardonnay.compile(text, no_bucketing=True)
    # Once, and not in a loop: there it would run more often.
    found = {(e["kind"], e["count"], e["trips"]) for e in compiled.report["collectives"] if e["kind"] != "all_gather"}
    assert found == {("reduce_scatter" if start == "in shards" else "all_reduce", 1, 1)}
    assert all(e["trips"] == 1 for e in compiled.report["collectives"])
    generator = np.random.default_rng(0)
    dtype = {"f32": np.float32, "i32": np.int32}[element]
    table, begin = generator.integers(-9, 9, (size, 32)).astype(dtype), generator.integers(-99, 99, size).astype(dtype)
    if element == "f32":
        begin[:4] = [np.nan, np.inf, -np.inf, -0.0]
    for trips in (0, 1, 3):
        inputs = [table, begin, np.int32(trips)]
        assert_agrees(compiled, text, inputs)


def test_a_loop_that_never_runs_returns_its_start():
    text = program("add", "f32", 8, "whole", nested=False)
    begin = np.array([1e-30, 0.0, np.nan, np.inf, -np.inf, 1, 2, 1 / 3], np.float32)
    (result,), _ = run.LoadedProgram(shardonnay.compile(text))([np.ones((8, 32), np.float32), begin, np.int32(0)])
    assert np.array_equal(result.view(np.int32), begin.view(np.int32))


STEPS = {
    "a transpose": ("f32", "stablehlo.transpose %g, dims = [1, 0] : (tensor<8x16xf32>) -> {carry}", "16x8"),
    "more bits": ("bf16", "stablehlo.convert %g : (tensor<8x16xbf16>) -> {carry}", "8x16"),
    "zeros around": (
        "f32",
        "stablehlo.pad %g, %z, low = [0, 1], high = [0, 3], interior = [0, 0] : (tensor<8x16xf32>, tensor<f32>) -> "
        "{carry}",
        "8x20",
    ),
    "zeros below": (
        "f32",
        "stablehlo.dynamic_update_slice %zeros, %g, %outer_zero, %outer_c"
        " : ({carry}, tensor<8x16xf32>, tensor<i32>, tensor<i32>) -> {carry}",
        "8x20",
    ),
    "all of zeros": (
        "f32",
        "stablehlo.dynamic_update_slice %zeros, %g, %outer_zero, %outer_c"
        " : ({carry}, tensor<8x16xf32>, tensor<i32>, tensor<i32>) -> {carry}",
        "8x16",
    ),
}


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("sharding", ["", '[{"x"}, {}]', '[{}, {"x"}]'])
def test_reduced_behind_linear_ops(step, sharding):
    element, between, shape = STEPS[step]
    carry = f"tensor<{shape}xf32>"
    attribute = f"{{sdy.sharding = #sdy.sharding<@mesh, {sharding}>}}" if sharding else ""
    body = f"""%f = stablehlo.convert %outer_c : (tensor<i32>) -> tensor<{element}>
    %m = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<{element}>) -> tensor<32x8x{element}>
    %am = stablehlo.multiply %a, %m : tensor<32x8x{element}>
    %g = stablehlo.dot_general %am, %b, contracting_dims = [0] x [0] : (tensor<32x8x{element}>, tensor<32x16x{element}>) -> tensor<8x16x{element}>
    %h = {between.format(carry=carry)}
    %3 = stablehlo.add %outer_s, %h : {carry}"""
    by_rows = '{sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}'
    text = f"""sdy.mesh @mesh = <["x"=4]>
func.func public @main(%a: tensor<32x8x{element}> {by_rows}, %b: tensor<32x16x{element}> {by_rows}, %n: tensor<i32>) -> ({carry} {attribute}) {{
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %zeros = stablehlo.broadcast_in_dim %z, dims = [] : (tensor<f32>) -> {carry}{loop("outer", body, carry, "zeros", "%3")}
  return %outer#0 : {carry}
}}"""
    compiled = shardonnay.compile(text)
    assert all(e["trips"] == 1 for e in compiled.report["collectives"])
    generator = np.random.default_rng(0)
    dtype = {"f32": np.float32, "bf16": ml_dtypes.bfloat16}[element]
    inputs = [generator.integers(-3, 3, size).astype(dtype) for size in ((32, 8), (32, 16))] + [np.int32(5)]
    assert_agrees(compiled, text, inputs)


@pytest.mark.parametrize("nested", [False, True])
def test_gradients_that_jax_accumulates_in_parts(nested):
    """An explicit mesh, parameters `reduced` along the batch's axis: JAX's gradients are `unreduced`, and so is their
    sum.
    """
    mesh = jax.make_mesh((2, 4), ("x", "y"), axis_types=(AxisType.Explicit,) * 2)

    def f(w, batches):
        parameters = jax.reshard(w, P(None, "y", reduced={"x"}))

        def add(carried, batch):
            return carried + jax.grad(lambda w: jnp.sum(jnp.tanh(batch @ w)))(parameters), None

        def steps(carried, batches):
            return jax.lax.scan(add, carried, batches)

        start = jax.reshard(jnp.zeros(w.shape, w.dtype), P(None, "y", unreduced={"x"}))
        return jax.reshard(jax.lax.scan(steps if nested else add, start, batches)[0], P(None, "y"))

    random = np.random.default_rng(0)
    w, batches = random.standard_normal((6, 8)), random.standard_normal((3, 2, 4, 6) if nested else (3, 4, 6))
    w, batches = w.astype(np.float32), batches.astype(np.float32)
    with jax.set_mesh(mesh):
        placed = jax.device_put(w, P(None, "y")), jax.device_put(batches, P(*[None] * (batches.ndim - 2), "x"))
        text = jax.jit(f).lower(*placed).as_text()
    compiled = shardonnay.compile(text)
    assert_agrees(compiled, text, [w, batches])
    assert [(entry["kind"], entry["trips"]) for entry in compiled.report["collectives"]] == [("all_reduce", 1)]


MICROBATCHES, LAYERS = 4, 3
# Of the weights (layer, in, out), and whether the loop over layers is in another one, as checkpoints of groups have it.
STACKS = {
    "whole": (P(), False),
    "by rows": (P(None, "y"), False),
    "by columns and layers": (P(None, None, ("x", "y")), False),
    "in groups": (P(), True),
}


@pytest.mark.parametrize("element", ["float32", "bfloat16"])
@pytest.mark.parametrize("stack", STACKS)
def test_gradients_of_scanned_layers_are_reduced_behind_the_microbatches(stack, element):
    spec, grouped = STACKS[stack]
    mesh = jax.make_mesh((2, 4), ("x", "y"))

    def loss(weights, batch):
        def layer(x, w):
            return jnp.tanh(x @ w), None

        def group(x, weights):
            return jax.lax.scan(layer, x, weights)

        x, _ = jax.lax.scan(group if grouped else layer, batch, weights)
        return jnp.sum(x.astype(jnp.float32))

    def step(weights, batches):
        def add(carried, batch):
            return carried + jax.grad(loss)(weights, batch).astype(jnp.float32), None

        return jax.lax.scan(add, jnp.zeros(weights.shape, jnp.float32), batches)[0]

    random = np.random.default_rng(0)
    shape = (2, LAYERS, 8, 8) if grouped else (LAYERS, 8, 8)
    weights, batches = (random.standard_normal(size).astype(element) for size in (shape, (MICROBATCHES, 32, 8)))
    shardings = [jax.sharding.NamedSharding(mesh, s) for s in (spec, P(None, ("x", "y")))]
    text = jax.jit(step, in_shardings=shardings, out_shardings=shardings[0]).lower(weights, batches).as_text()
    compiled = shardonnay.compile(text, device_model="bytes")
    sums = [e for e in compiled.report["collectives"] if e["kind"] in ("all_reduce", "reduce_scatter")]
    assert sums
    assert all(entry["trips"] == 1 for entry in sums)
    assert_agrees(compiled, text, [weights, batches])
