"""Faults that other partitioners have and that take more than one op to see, and the list of all of them (reports.py).
"""

import dataclasses
import re
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import reports
import shardonnay
import test_reported_faults
from agrees import assert_agrees
from jax import lax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P
from shardonnay import compare
from uneven import MESH, sharding

TOP = Path(__file__).resolve().parents[3]


def mesh(**sizes):
    return Mesh(np.array(jax.devices()[:8]).reshape(*sizes.values()), tuple(sizes))


def agree(function, devices, *arguments, whole=None):
    """The report of `function` on shards of its arguments, given as (array, spec), once its results have been compared:
    with those of the program on one device, or of the function `whole`."""
    shardings = tuple(NamedSharding(devices, spec) for _, spec in arguments)
    inputs = [np.asarray(value) for value, _ in arguments]
    text = jax.jit(function, in_shardings=shardings).lower(*inputs).as_text(debug_info=True)
    compiled, expected = shardonnay.compile(text), None
    if whole:
        outputs = [np.asarray(value) for value in jax.tree.leaves(jax.jit(whole)(*inputs))]
        expected = compare.Reference(
            outputs, [1e-5 * np.max(np.abs(value)) for value in outputs], [None] * len(outputs), None
        )
    assert_agrees(compiled, text, inputs, expected)
    return compiled.report


def normal(*shape):
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def test_xla_4340_a_manual_region_among_others():
    """Manual along one axis, sharded along the other inside; what goes in and out is sharded in other ways."""
    devices = mesh(x=2, y=4)

    @partial(jax.shard_map, mesh=devices, in_specs=(P("x"), P()), out_specs=P("x"), axis_names={"x"}, check_vma=False)
    def by_hand(a, b):
        c = lax.with_sharding_constraint(a @ b, NamedSharding(devices.abstract_mesh, P(None, "y")))
        return c - lax.pmean(c, "x")

    def program(a, b):
        return by_hand(jnp.sin(a), b).T * jnp.cos(b[:, :8])

    def whole(a, b):
        halves = (jnp.sin(a) @ b).reshape(2, 4, 16)
        return (halves - halves.mean(0)).reshape(8, 16).T * jnp.cos(b[:, :8])

    agree(program, devices, (normal(8, 16), P("y", "x")), (normal(16, 16), P("x", "y")), whole=whole)


def test_xla_15048_one_microbatch_of_a_pipeline():
    """Stages on their axis, each reading and writing the microbatch of its turn; the gradient scatters."""
    devices = mesh(stage=2, data=2, model=2)

    def loss(weights, batches):
        def turn(t, state):
            flowing, outputs = state
            flowing = jnp.roll(flowing, 1, axis=0).at[0].set(batches[t % 4])
            flowing = jnp.tanh(jnp.einsum("sbw,swv->sbv", flowing, weights))
            rows = (t - jnp.arange(2)) % 4
            outputs = jax.vmap(lambda stage, row, new: lax.dynamic_update_index_in_dim(stage, new, row, 0))(
                outputs, rows, flowing
            )
            return flowing, outputs

        start = jnp.zeros((2, 8, 16)), jnp.zeros((2, 4, 8, 16))
        return jnp.sum(lax.fori_loop(0, 5, turn, start)[1][-1] ** 2)

    report = agree(
        jax.grad(loss), devices, (normal(2, 16, 16) / 4, P("stage", None, "model")), (normal(4, 8, 16), P(None, "data"))
    )
    # Nothing as large as all outputs of all stages moves at once.
    assert max(entry["bytes"] for entry in report["collectives"]) < 2 * 4 * 8 * 16 * 4 // 2


def unknown(name, value, result):
    return f"{result} = stablehlo.custom_call @{name}({value}) : (tensor<16xf32>) -> tensor<16xf32>\n"


def test_sdy_warning_of_every_unknown_op():
    x, y = (f"{{sdy.sharding = #sdy.sharding{sharding([axis])}}}" for axis in "xy")
    text = (
        f"{MESH}\nfunc.func @main(%a: tensor<16xf32> {x}, %b: tensor<16xf32> {y}) -> (tensor<16xf32>, "
        f"tensor<16xf32>) {{\n"
    )
    text += (
        unknown("first", "%a", "%0")
        + unknown("second", "%b", "%1")
        + "return %0, %1 : tensor<16xf32>, tensor<16xf32>\n}"
    )
    for _ in range(2):  # and in the next program again
        diagnostics = shardonnay.compile(text).diagnostics
        for words in ("has no sharding rule: gathers", "of its own; expected that one is registered"):
            assert [d.location for d in diagnostics if words in d.message] == ["<input>:3:6", "<input>:4:6"], (
                words,
                diagnostics,
            )
    with pytest.raises(shardonnay.CompileError, match="custom_call"):
        shardonnay.compile(text, no_implicit_replication=True)


def test_pytorch_124990_sizes_that_are_data_are_refused_where_they_are():
    text = f"{MESH}\nfunc.func @main(%a: tensor<8xf32>, %n: tensor<1xi32>) -> tensor<?xf32> {{\n"
    text += (
        "%0 = stablehlo.dynamic_reshape %a, %n : (tensor<8xf32>, tensor<1xi32>) -> tensor<?xf32>\nreturn %0 : "
        "tensor<?xf32>\n}"
    )
    with pytest.raises(
        shardonnay.CompileError, match=r"<input>:3:6: error: expected static shapes, got 'tensor<\?xf32>'"
    ):
        shardonnay.compile(text)


def test_sdy_override_is_followed():
    """Of a dim that the user wants whole, the op sees all."""
    case = next(case for case in test_reported_faults.CASES if case.name.startswith("sdy-override"))
    assert test_reported_faults.kinds_of(case) == {"all_to_all"}
    assert (
        test_reported_faults.kinds_of(dataclasses.replace(case, body=case.body.replace(" need_replication={j}", "")))
        == set()
    )


def test_every_report_is_a_test():
    named = {word for case in test_reported_faults.CASES for word in case.name.split() if word in reports.REPORTS}
    for name in filter(lambda name: name.startswith("test_"), globals()):
        named |= {report for report in reports.REPORTS if name.startswith(f"test_{report.replace('-', '_')}_")}
    for report, (file, text) in reports.ELSEWHERE.items():
        assert text in (TOP / file).read_text(), report
        named.add(report)
    assert named == set(reports.REPORTS)


def test_names_begin_with_reports():
    known = re.compile(r"(jax|xla|pytorch|torchtitan|sdy)-")
    words = {word for case in test_reported_faults.CASES for word in case.name.split() if known.match(word)}
    assert words <= set(reports.REPORTS)
