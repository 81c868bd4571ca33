"""Partial values through ops: sums with an owner for what is whole, maxima and minima through what keeps the order."""

import re
from collections import Counter

import ml_dtypes
import numpy as np
import pytest
import shardonnay
from agrees import assert_agrees
from shardonnay import run

MESH = 'sdy.mesh @mesh = <["x"=2, "y"=4]>\n'
SHARDED = '{sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}'
ROWS = '{sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}'
RESULT = '{sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}'


def counts(compiled):
    found = Counter()
    for entry in compiled.report["collectives"]:
        found[entry["kind"]] += entry["count"]
    return dict(found)


def check(text, inputs):
    compiled = shardonnay.compile(text, no_bucketing=True)
    assert_agrees(compiled, text, inputs)
    return compiled


def numbers(element, *shape, seed=0):
    generator = np.random.default_rng(seed)
    if element == "f32":
        return generator.standard_normal(shape).astype(np.float32)
    return generator.integers(-1000, 1000, shape).astype(np.int32)


# What stands between two products that the devices have parts of, and what is whole in it.
BETWEEN = {
    "bias": ("%2 = stablehlo.add %0, %b : {t}\n  %3 = stablehlo.subtract %1, %2 : {t}", {"all_reduce": 1}),
    "two biases": (
        "%2 = stablehlo.add %0, %b : {t}\n  %4 = stablehlo.subtract %c, %1 : {t}\n  %3 = stablehlo.add %2, %4 : {t}",
        {"all_reduce": 1},
    ),
    "a choice": ("%2 = stablehlo.select %p, %0, %b : {p}, {t}\n  %3 = stablehlo.add %1, %2 : {t}", {"all_reduce": 1}),
    "scaled behind it": (
        "%2 = stablehlo.add %0, %b : {t}\n  %4 = stablehlo.multiply %2, %c : {t}\n  %3 = stablehlo.add %1, %4 : {t}",
        {"all_reduce": 1},
    ),
    # The maximum of two sums is not a sum of maxima.
    "a maximum": ("%2 = stablehlo.add %0, %b : {t}\n  %3 = stablehlo.maximum %1, %2 : {t}", {"all_reduce": 2}),
}


@pytest.mark.parametrize("element", ["f32", "i32"])
@pytest.mark.parametrize("size", [16, 15])
@pytest.mark.parametrize("name", BETWEEN)
def test_sums_with_an_owner(name, size, element):
    t, vector = f"tensor<10x{size}x{element}>", f"tensor<{size}x{element}>"
    body, expected = BETWEEN[name]
    text = f"""{MESH}func.func public @main(%a: tensor<10x32x{element}> {SHARDED}, %w: tensor<32x{size}x{element}> {ROWS}, %v: tensor<32x{size}x{element}> {ROWS}, %d: {vector}, %q: tensor<10x{size}xi1>) -> ({t} {RESULT}) {{
  %0 = stablehlo.dot %a, %w : (tensor<10x32x{element}>, tensor<32x{size}x{element}>) -> {t}
  %1 = stablehlo.dot %a, %v : (tensor<10x32x{element}>, tensor<32x{size}x{element}>) -> {t}
  %b = stablehlo.broadcast_in_dim %d, dims = [1] : ({vector}) -> {t}
  %c = stablehlo.constant dense<3{".0" if element == "f32" else ""}> : {t}
  %p = stablehlo.not %q : tensor<10x{size}xi1>
  {body.format(t=t, p=f"tensor<10x{size}xi1>")}
  return %3 : {t}
}}"""
    inputs = [numbers(element, 10, 32), numbers(element, 32, size, seed=1), numbers(element, 32, size, seed=2)]
    inputs += [numbers(element, size, seed=3), np.random.default_rng(4).uniform(size=(10, size)) < 0.5]
    assert counts(check(text, inputs)) == expected


def test_a_scalar_has_an_owner():
    text = f"""{MESH}func.func public @main(%a: tensor<32xi32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"y"}}]>}}, %b: tensor<i32>, %c: tensor<32xi32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"y"}}]>}}) -> tensor<i32> {{
  %z = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0] : (tensor<32xi32>, tensor<i32>) -> tensor<i32>
  %1 = stablehlo.reduce(%c init: %z) applies stablehlo.add across dimensions = [0] : (tensor<32xi32>, tensor<i32>) -> tensor<i32>
  %2 = stablehlo.add %0, %b : tensor<i32>
  %3 = stablehlo.subtract %2, %1 : tensor<i32>
  return %3 : tensor<i32>
}}"""
    inputs = [numbers("i32", 32), np.int32(7), numbers("i32", 32, seed=1)]
    assert counts(check(text, inputs)) == {"all_reduce": 1}


# Of a maximum over columns that are sharded; the numbers of which are NaN, infinite, and alike.
MONOTONE = {
    "tanh": ("%1 = stablehlo.tanh %0 : tensor<8xf32>", lambda m, b: np.tanh(m)),
    "with a whole one": ("%1 = stablehlo.maximum %0, %b : tensor<8xf32>", np.maximum),
    "bounded by a whole one": ("%1 = stablehlo.minimum %b, %0 : tensor<8xf32>", np.minimum),
    "scaled": (
        "%c = stablehlo.constant dense<0.3> : tensor<8xf32>\n  %1 = stablehlo.multiply %0, %c : tensor<8xf32>",
        lambda m, b: m * np.float32(0.3),
    ),
    "moved": (
        "%c = stablehlo.constant dense<-3.5> : tensor<8xf32>\n  %1 = stablehlo.add %c, %0 : tensor<8xf32>",
        lambda m, b: m - np.float32(3.5),
    ),
    "rounded": (
        "%2 = stablehlo.convert %0 : (tensor<8xf32>) -> tensor<8xbf16>\n"
        "  %1 = stablehlo.convert %2 : (tensor<8xbf16>) -> tensor<8xf32>",
        lambda m, b: m.astype(ml_dtypes.bfloat16).astype(np.float32),
    ),
    "exponential": ("%1 = stablehlo.exponential %0 : tensor<8xf32>", lambda m, b: np.exp(m)),
    # Not reduced later: the sum of two infinities is NaN.
    "moved by what is not known": ("%1 = stablehlo.add %0, %b : tensor<8xf32>", np.add),
}


@pytest.mark.parametrize("kind", ["maximum", "minimum"])
@pytest.mark.parametrize("name", MONOTONE)
def test_maxima(name, kind):
    body, compute = MONOTONE[name]
    start = "0xFF800000" if kind == "maximum" else "0x7F800000"
    text = f"""{MESH}func.func public @main(%a: tensor<8x32xf32> {SHARDED}, %b: tensor<8xf32>) -> (tensor<8xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}]>}}) {{
  %z = stablehlo.constant dense<{start}> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %z) applies stablehlo.{kind} across dimensions = [1] : (tensor<8x32xf32>, tensor<f32>) -> tensor<8xf32>
  {body}
  return %1 : tensor<8xf32>
}}"""
    a, b = numbers("f32", 8, 32), numbers("f32", 8, seed=1)
    a[0, 3] = a[1, 9] = np.nan
    b[2] = b[1] = np.nan
    b[3], b[4] = np.inf, -np.inf
    a[3, :16], a[4, 16:] = -np.inf, np.inf
    a[5], a[6] = -np.inf, np.inf
    compiled = shardonnay.compile(text)
    (output,), spreads = run.LoadedProgram(compiled)([a, b])
    with np.errstate(invalid="ignore", over="ignore"):
        expected = compute((np.max if kind == "maximum" else np.min)(a, axis=1), b)
    np.testing.assert_allclose(output, expected, rtol=1e-6)
    assert not any(spreads)
    stage = shardonnay.compile(text, to="collectives").text
    reduced_last = stage.rindex("= sdy.all_reduce") > stage.rindex("= stablehlo.")
    # Of the rounded ones before they get more bytes again.
    assert reduced_last == (name not in ("moved by what is not known", "rounded"))
    assert ("tensor<8xbf16>" in re.search("= sdy.all_reduce.*", stage)[0]) == (name == "rounded")


# What becomes partial because the program says so, and is reduced by a collective of its own.
@pytest.mark.parametrize("size", [16, 10])
@pytest.mark.parametrize(
    ("source", "dims", "kind", "axes"),
    [
        ('[{"x"}, {"y"}]', '[{"x"}, {}]', "", '{"y"}'),
        ('[{"x", "y"}, {}]', '[{"x"}, {}]', "", '{"y"}'),
        ('[{"x", "y"}, {}]', '[{}, {"y"}]', "", '{"x"}'),
        ("[{}, {}]", "[{}, {}]", "", '{"x", "y"}'),
        ('[{"y"}, {}]', '[{}, {"x"}]', "max", '{"y"}'),
        ("[{}, {}]", '[{"x"}, {}]', "min", '{"y"}'),
    ],
)
def test_becomes_partial(source, dims, kind, axes, size):
    t = f"tensor<{size}x16xf32>"
    text = f"""{MESH}func.func public @main(%a: {t} {{sdy.sharding = #sdy.sharding<@mesh, {source}>}}) -> ({t} {{sdy.sharding = #sdy.sharding<@mesh, {dims}>}}) {{
  %0 = sdy.reshard %a <@mesh, {dims}, unreduced={kind}{axes}> : {t}
  %1 = sdy.all_reduce {kind} {axes} %0 out_sharding=<@mesh, {dims}> : {t}
  return %1 : {t}
}}"""
    stage = shardonnay.compile(text, to="collectives").text
    assert "to_unreduced" in stage and "all_reduce" in stage
    a = numbers("f32", size, 16)
    (output,), spreads = run.LoadedProgram(shardonnay.compile(text))([a])
    assert np.array_equal(output, a) and not any(spreads)


PARTIAL = '{sdy.sharding = #sdy.sharding<@mesh, [{"x"}], unreduced={"y"}>}'


@pytest.mark.parametrize("body", [
    "%r = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>",
    "%0 = stablehlo.constant dense<3.0> : tensor<f32>\n  %r = stablehlo.broadcast_in_dim %0, dims = [] : "
    "(tensor<f32>) -> tensor<4xf32>",
    "%r = stablehlo.reduce(%a init: %i) applies stablehlo.maximum across dimensions = [1] : (tensor<4x8xf32>, "
    "tensor<f32>) -> tensor<4xf32>",
])
def test_results_that_are_asked_for_in_parts(body):
    """One device has what is no sum, the others zeros."""
    text = f"""{MESH}func.func @main(%a: tensor<4x8xf32> {SHARDED}, %i: tensor<f32>) -> (tensor<4xf32> {PARTIAL}) {{
  {body}
  return %r : tensor<4xf32>
}}"""
    check(text, [numbers("f32", 4, 8), numbers("f32")])


@pytest.mark.parametrize("size", [16, 15])
def test_a_sum_passes_a_pad_on_the_way_to_a_reduction(size):
    short, long = f"tensor<10x{size}xf32>", f"tensor<10x{size + 1}xf32>"
    text = f"""{MESH}func.func public @main(%a: tensor<8x10xf32> {ROWS}, %w: tensor<8x{size}xf32> {ROWS}, %m: {long}) -> tensor<10xf32> {{
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.dot_general %a, %w, contracting_dims = [0] x [0] : (tensor<8x10xf32>, tensor<8x{size}xf32>) -> {short}
  %1 = sdy.sharding_constraint %0 <@mesh, [{{}}, {{}}]> : {short}
  %2 = stablehlo.pad %1, %z, low = [0, 1], high = [0, 0], interior = [0, 0] : ({short}, tensor<f32>) -> {long}
  %3 = stablehlo.multiply %2, %m : {long}
  %4 = stablehlo.reduce(%3 init: %z) applies stablehlo.add across dimensions = [1] : ({long}, tensor<f32>) -> tensor<10xf32>
  return %4 : tensor<10xf32>
}}"""
    compiled = check(
        text, [numbers("f32", 8, 10), numbers("f32", 8, size, seed=1), numbers("f32", 10, size + 1, seed=2)]
    )
    (entry,) = compiled.report["collectives"]
    assert (entry["kind"], entry["operand"]) == ("all_reduce", "tensor<10xf32>")


@pytest.mark.parametrize("reduction", ['all_reduce {"x"} %0 out_sharding=<@mesh, [{}, {}]>',
                                       'reduce_scatter [{"x"}, {}] %0 out_sharding=<@mesh, [{"x"}, {}]>'])
@pytest.mark.parametrize("said", ["", '<[<@mesh, [{}, {}], unreduced={"x"}>]>'])
def test_a_reduction_that_another_partitioner_wrote(reduction, said):
    """It adds up parts once, whether or not what makes them says that they are."""
    said = said and f" {{sdy.sharding = #sdy.sharding_per_value{said}}}"
    t, columns = "tensor<8x8xf32>", '{sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}'
    rows = columns.replace('[{}, {"x"}]', '[{"x"}, {}]')
    text = f"""{MESH}func.func @main(%a: {t} {columns}, %b: {t} {rows}) -> {t} {{
  %0 = stablehlo.dot %a, %b{said} : ({t}, {t}) -> {t}
  %1 = sdy.{reduction} : {t}
  return %1 : {t}
}}"""
    assert sum(counts(check(text, [numbers("f32", 8, 8), numbers("f32", 8, 8, seed=1)])).values()) == 1


def test_a_reduction_of_a_whole_value():
    t = "tensor<8xi32>"
    text = f"""{MESH}func.func @main(%a: {t}) -> {t} {{
  %0 = sdy.all_reduce {{"x"}} %a out_sharding=<@mesh, [{{}}]> : {t}
  return %0 : {t}
}}"""
    assert counts(check(text, [numbers("i32", 8)])) == {}
