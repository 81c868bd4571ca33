"""Manual computations in the reference: their bodies run on devices that hold all else whole, and agree with jax.jit.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import shardonnay
from jax import lax
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P
from shardonnay import bodies, boundary, compare, engine, run
from shardonnay.__main__ import main

engine.prepare(8)
MESH = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
SHARDED = NamedSharding(MESH, P("data", "model"))


def summed(x, w):
    """All axes manual; the index of the device counts."""

    def body(x, w):
        return lax.psum(x @ w + lax.axis_index("model"), "model")

    y = jax.shard_map(body, mesh=MESH, in_specs=(P("data", "model"), P("model")), out_specs=P("data"))(jnp.sin(x), w)
    return y.sum(0), y


def exchanged(x, w):
    """One axis manual, a free one inside and out."""

    def body(v):
        to = lax.ppermute(v, "data", [(0, 1), (1, 0)]) + lax.axis_index("data")
        return to, lax.all_gather(v, "data", tiled=True)

    some = jax.shard_map(
        body, mesh=MESH, in_specs=P("data"), out_specs=(P("data"), P()), axis_names={"data"}, check_vma=False
    )
    a, b = some(x * 2)
    return lax.with_sharding_constraint(a @ w, NamedSharding(MESH, P("model", "data"))), b


def gradient(x, w):
    return jax.grad(lambda w: (summed(x, w)[1] ** 2).sum())(w)


def nested(x, w):
    def inner(u):
        return lax.psum(u * (1 + lax.axis_index("model")), "model") * lax.axis_index("data")

    def outer(v):
        return jax.shard_map(inner, in_specs=P(None, "model"), out_specs=P(), axis_names={"model"})(v)

    return jax.shard_map(outer, mesh=MESH, in_specs=P("data"), out_specs=P("data"), axis_names={"data"})(x) @ w[:2]


def both_on_a_dim_in_a_loop(x, w):
    axes = ("model", "data")
    flat = jax.shard_map(lambda v: v.reshape(-1)[:2], mesh=MESH, in_specs=P(axes), out_specs=P(axes))
    return flat(x), lax.fori_loop(0, 3, lambda i, c: summed(c, w)[1][:, :8] * 0.1, x)


PROGRAMS = [summed, exchanged, gradient, nested, both_on_a_dim_in_a_loop]


def lowered(function):
    arguments = jnp.ones((8, 8)), jnp.ones((8, 16))
    return (
        jax.jit(function, in_shardings=(SHARDED, NamedSharding(MESH, P()))).lower(*arguments).as_text(debug_info=True)
    )


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda function: function.__name__)
def test_the_reference_is_what_jax_computes(function):
    text = lowered(function)
    program = run.LoadedProgram(shardonnay.compile(text))
    inputs = run.random_inputs(program)
    reference = compare.reference(text, inputs)
    for output, wanted in zip(reference.outputs, jax.tree.leaves(jax.jit(function)(*inputs)), strict=True):
        np.testing.assert_allclose(output, wanted, rtol=1e-6, atol=1e-6)
    assert all(agreement.ok for agreement in run.check(program, inputs, reference))


def test_what_the_reference_runs_has_no_mesh():
    whole = compare.whole(lowered(summed))
    assert whole.devices == 8 and "sdy." not in whole.text and "num_partitions = 8" in whole.text


def test_run_with_a_check(tmp_path, capsys):
    path = tmp_path / "step.mlir"
    path.write_text(lowered(exchanged))
    assert main(["run", str(path), "--check"]) == 0
    assert capsys.readouterr().out.count(": ok") == 2


def test_a_body_that_does_otherwise_is_flagged():
    text = lowered(summed)
    program = shardonnay.compile(text)
    inputs = run.random_inputs(run.LoadedProgram(program))
    maximum = text.replace("stablehlo.add %arg4, %arg5", "stablehlo.maximum %arg4, %arg5")
    assert maximum != text
    agreements = run.check(run.LoadedProgram(program), inputs, compare.reference(maximum, inputs))
    assert not any(agreement.ok for agreement in agreements)


BY_HAND = """
sdy.mesh @mesh = <["x"=4, "y"=2]{ids}>
func.func public @main(%a: tensor<8x4xi32>) -> tensor<8x4xi32> {{
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{operand}]{in_parts}>] out_shardings=[<@mesh, [{result}]{parts}>]
      manual_axes={{{manual}}} (%b: tensor<{local}xi32>) {{
    %1 = stablehlo.add %b, %b : tensor<{local}xi32>
    sdy.return %1 : tensor<{local}xi32>
  }} : (tensor<8x4xi32>) -> tensor<8x4xi32>
  return %0 : tensor<8x4xi32>
}}
"""


def outputs_of(in_parts="", parts="", ids="", **form):
    given = np.arange(32, dtype=np.int32).reshape(8, 4)
    text = BY_HAND.format(in_parts=in_parts, parts=parts, ids=ids, **form)
    return given, compare.reference(text, [given]).outputs[0]


def test_parts_of_axes_and_an_order_of_devices():
    dims = '{"x":(2)2, "y"}, {"x":(1)2}'
    given, found = outputs_of(
        operand=dims, result=dims, manual='"x", "y"', local="2x2", ids=", device_ids=[7,6,5,4,3,2,1,0]"
    )
    np.testing.assert_array_equal(found, 2 * given)


def test_what_moves_between_dims_moves_as_in_the_program():
    form = {"operand": '{"x", "y"}, {}', "result": '{"y", "x"}, {}', "manual": '"x", "y"', "local": "1x4"}
    given, found = outputs_of(**form)
    np.testing.assert_array_equal(found, 2 * given.reshape(4, 2, 4).transpose(1, 0, 2).reshape(8, 4))


def test_parts_are_summed():
    form = {"operand": '{"x"}, {}', "result": '{"x"}, {}', "manual": '"x", "y"', "local": "2x4"}
    given, found = outputs_of(parts=', unreduced={"y"}', **form)
    np.testing.assert_array_equal(found, 4 * given)
    given, found = outputs_of(parts=', unreduced={"y"}', in_parts=', unreduced={"y"}', **form)
    np.testing.assert_array_equal(found, 2 * given)


def test_bodies_on_meshes_of_two_sizes_do_not_run_together():
    one = (
        '%{} = sdy.manual_computation(%a) in_shardings=[<@{mesh}, [{{"x"}}]>] out_shardings=[<@{mesh}, [{{"x"}}]>] '
        'manual_axes={{"x"}} (%b: tensor<{size}xf32>) {{ sdy.return %b : tensor<{size}xf32> }} : (tensor<4xf32>) -> '
        'tensor<4xf32>'
    )
    text = f"""
      sdy.mesh @m = <["x"=2]>
      sdy.mesh @n = <["x"=4]>
      func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {{
        {one.format("0", mesh="m", size=2)}
        {one.format("1", mesh="n", size=1)}
        return %0 : tensor<4xf32>
      }}"""
    with pytest.raises(bodies.BodyError, match=r"meshes of \[2, 4\] devices"):
        compare.whole(text)


def test_coordinates_of_devices():
    assert boundary.coordinates(['"b"', '"a":(2)2'], '<["a"=4, "b"=2]>', 8) == [(d % 2, d // 2 % 2) for d in range(8)]
