"""Sums, maxima and minima that loops carry are settled behind the loops, whatever they start from."""

import numpy as np
import pytest
import shardonnay
from shardonnay import compare, run

NEUTRAL = {
    ("add", "f32"): "0.0",
    ("add", "i32"): "0",
    ("maximum", "f32"): "0xFF800000",
    ("maximum", "i32"): "-2147483648",
    ("minimum", "f32"): "0x7F800000",
}

# Nothing; cut as what is added; cut also along what the parts are of.
STARTS = {"whole": "", "cut": '[{"x"}]', "in pieces": '[{"x", "y"}]'}


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
    lies = f"{{sdy.sharding = #sdy.sharding<@mesh, {STARTS[start]}>}}" if STARTS[start] else ""

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
func.func public @main(%a: {t} {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{"y"}}]>}}, %start: {carry} {lies}, %n: tensor<i32>) -> ({carry} {lies}) {{
  %z = stablehlo.constant dense<{NEUTRAL[op, element]}> : tensor<{element}>{body}
  return %outer#0 : {carry}
}}"""


@pytest.mark.parametrize("op, element", NEUTRAL)
@pytest.mark.parametrize("size", [8, 7])
@pytest.mark.parametrize("start, nested", [("whole", False), ("cut", True), ("in pieces", False), ("in pieces", True)])
def test_settled_behind_the_loops(op, element, size, start, nested):
    text = program(op, element, size, start, nested)
    compiled = shardonnay.compile(text, no_bucketing=True)
    # Once, and not in a loop: there it would run more often.
    found = {(e["kind"], e["count"], e["trips"]) for e in compiled.report["collectives"] if e["kind"] != "all_gather"}
    assert found == {("reduce_scatter" if start == "in pieces" else "all_reduce", 1, 1)}
    assert all(e["trips"] == 1 for e in compiled.report["collectives"])
    generator = np.random.default_rng(0)
    dtype = {"f32": np.float32, "i32": np.int32}[element]
    table, begin = generator.integers(-9, 9, (size, 32)).astype(dtype), generator.integers(-99, 99, size).astype(dtype)
    if element == "f32":
        begin[:4] = [np.nan, np.inf, -np.inf, -0.0]
    for trips in (0, 1, 3):
        inputs = [table, begin, np.int32(trips)]
        results = run.check(run.Program(compiled), inputs, compare.reference(text, inputs))
        wrong = [str(agreement) for agreement in results if not agreement.ok]
        assert not wrong, f"{trips} trips: " + "\n".join(wrong)


def test_a_loop_that_never_runs_returns_its_start():
    text = program("add", "f32", 8, "whole", nested=False)
    begin = np.array([1e-30, 0.0, np.nan, np.inf, -np.inf, 1, 2, 1 / 3], np.float32)
    (result,), _ = run.Program(shardonnay.compile(text))([np.ones((8, 32), np.float32), begin, np.int32(0)])
    assert np.array_equal(result.view(np.int32), begin.view(np.int32))
