"""Cumulative sums and their like along a sharded dim: each device scans its shard, and a row of totals goes around."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import shardonnay
from agrees import assert_agrees
from jax import lax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P
from uneven import Case, run_cases, tensor, values

# Body, the neutral element, element types.
SCANS = {
    "add": {"i32": "0", "f32": "0.0", "i8": "0", "ui32": "0", "complex<f32>": "(0.0, 0.0)"},
    "multiply": {"i32": "1", "f32": "1.0"},
    "maximum": {"f32": "0xFF800000", "i32": "-2147483648", "ui32": "0"},
    "minimum": {"f32": "0x7F800000", "i32": "2147483647"},
    "and": {"i1": "true", "i32": "-1"},
    "or": {"i1": "false", "i32": "0"},
    "xor": {"i32": "0"},
}
SHAPES = [((16, 3), ["y", ""], 0), ((3, 16), ["x", "y"], 1), ((16,), ["xy"], 0), ((10, 2), ["y", ""], 0),
          ((5, 2), ["y", "x"], 0), ((3,), ["y"], 0), ((2, 1), ["y", ""], 0), ((7, 2), ["Yx", ""], 0),
          ((8, 1), ["yx", ""], 0)]  # fmt: skip


def scan(body, element, neutral, shape, axes, dim, reverse):
    window = [1] * len(shape)
    window[dim] = shape[dim]
    padding = [[0, 0] for _ in shape]
    padding[dim][1 if reverse else 0] = shape[dim] - 1
    text = f"""$z = stablehlo.constant dense<{neutral}> : tensor<{element}>
      $r = "stablehlo.reduce_window"($0, $z) <{{window_dimensions = array<i64: {str(window)[1:-1]}>,
          padding = dense<{padding}> : tensor<{len(shape)}x2xi64>}}> ({{
        ^bb0($a: tensor<{element}>, $b: tensor<{element}>):
          $s = stablehlo.{body} $a, $b : tensor<{element}>
          stablehlo.return $s : tensor<{element}>
      }}) : ({tensor(shape, element)}, tensor<{element}>) -> {tensor(shape, element)}"""
    name = f"{body} of {element} {shape} on {axes}{' reversed' if reverse else ''}"
    return Case(name, [(values(shape, element), element, axes)], (shape, element, axes), text)


@pytest.mark.parametrize("body", SCANS)
def test_scans(body):
    """Even, uneven and short dims; the sums of small integers are exact in floats too."""
    cases = [scan(body, element, neutral, *shape, reverse)
             for element, neutral in SCANS[body].items() for shape in SHAPES for reverse in (False, True)]  # fmt: skip
    wrong = [f"{name}: {verdict}" for name, verdict in run_cases(cases).items() if verdict]
    assert not wrong, "\n".join(wrong)


@functools.cache
def lowered(reverse, op, shape=(64, 6)):
    mesh = Mesh(np.array(jax.devices("cpu")[:8]), ("data",))
    text = jax.jit(lambda x: op(x, 0, reverse=reverse),
                   in_shardings=NamedSharding(mesh, P("data"))).lower(np.zeros(shape, np.float32)).as_text()
    return text


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(
    "op", [lax.cumsum, lax.cumprod, lax.cummax, lax.cummin, lax.cumlogsumexp], ids=lambda op: op.__name__
)
@pytest.mark.parametrize("model", ["bytes", "cpu"])
def test_what_jax_writes(op, reverse, model):
    """A row of 6 from each of the 7 others, and nothing else; NaN and infinity go through."""
    text = lowered(reverse, op)
    x = np.random.default_rng(1).standard_normal((64, 6)).astype(np.float32)
    x[20, 1], x[50, 2], x[3, 3], x[60, 3] = np.nan, np.inf, np.inf, -np.inf
    compiled = shardonnay.compile(text, device_model=model, no_implicit_replication=True)
    assert [(e["kind"], e["count"]) for e in compiled.report["collectives"]] == [("all_gather", 1)]
    assert compiled.report["executed_bytes"] == 7 * 6 * 4
    assert compiled.report["price"]["emitted"] == pytest.approx(compiled.report["price"]["planned"])
    assert_agrees(compiled, text, [x])


def test_both_ways_are_two():
    """Two scans of one value have totals of their own."""
    mesh = Mesh(np.array(jax.devices("cpu")[:8]), ("data",))
    x = np.arange(32, dtype=np.float32)
    step = jax.jit(
        lambda x: jnp.cumsum(x) * lax.cumsum(x, 0, reverse=True), in_shardings=NamedSharding(mesh, P("data"))
    )
    text = step.lower(x).as_text()
    report = shardonnay.compile(text, no_bucketing=True, report=True).report
    assert sum(e["count"] for e in report["collectives"]) == 2
    assert report["price"]["emitted"] == pytest.approx(report["price"]["planned"])
    assert_agrees(shardonnay.compile(text), text, [x])
