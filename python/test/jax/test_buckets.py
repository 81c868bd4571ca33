"""What is packed for one all_reduce goes to XLA as all_reduces of each tensor, which XLA makes one of."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.extend.mlir import ir
from jax.interpreters.mlir import make_ir_context
from jax.sharding import PartitionSpec as P
from shardonnay.jax import partition
from shardonnay.jax.buckets import reduce_apart

MESH = jax.make_mesh((8,), ("data",), axis_types=(jax.sharding.AxisType.Auto,))


def gradients(weights, x):
    def loss(weights):
        value = x
        for weight in weights:
            value = jnp.tanh(value @ weight)
        return jnp.sum(value)

    return jax.value_and_grad(loss)(weights)


def test_one_reduction_and_no_copy():
    weights = [jnp.full((4 + at, 5 + at), 0.1) for at in range(5)]
    x = jnp.arange(64, dtype=jnp.float32).reshape(16, 4) / 64
    compiled = partition(gradients, mesh=MESH, in_shardings=(P(), P("data"))).lower(weights, x).compile()
    assert compiled.as_text().count('"stablehlo.all_reduce"') == 1
    assert compiled.as_text().count("stablehlo.concatenate") == 1
    hlo = compiled.jax.as_text()
    assert len(re.findall(r" all-reduce(-start)?\(", hlo)) == 1
    assert not re.search(r" concatenate\(", hlo)
    for ours, theirs in zip(jax.tree.leaves(compiled(weights, x)), jax.tree.leaves(jax.jit(gradients)(weights, x))):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5)


PACKED = """
func.func public @main(%a: tensor<2x2xf32>, %b: tensor<3xf32>) -> (tensor<2x2xf32>, tensor<3xf32>) {{
  %flat = stablehlo.reshape %a : (tensor<2x2xf32>) -> tensor<4xf32>
  %all = stablehlo.concatenate %flat, %b, dim = 0 : (tensor<4xf32>, tensor<3xf32>) -> tensor<7xf32>
  %sum = "stablehlo.all_reduce"(%all) <{{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}}> ({{
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %z = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %z : tensor<f32>
  }}) : (tensor<7xf32>) -> tensor<7xf32>
  %first = stablehlo.slice %sum [0:4] : (tensor<7xf32>) -> tensor<4xf32>
  %second = stablehlo.slice %sum [{second}] : (tensor<7xf32>) -> tensor<3xf32>
  %c = stablehlo.reshape %first : (tensor<4xf32>) -> tensor<2x2xf32>
  return %c, %second : tensor<2x2xf32>, tensor<3xf32>
}}
"""


@pytest.mark.parametrize("second, reductions", [("4:7", 2), ("3:6", 1), ("0:6:2", 1)])
def test_only_what_is_unpacked_again(second, reductions):
    with make_ir_context(), ir.Location.unknown():
        module = ir.Module.parse(PACKED.format(second=second))
        reduce_apart(module)
        module.operation.verify()
        text = str(module)
    assert text.count('"stablehlo.all_reduce"') == reductions
    assert ("stablehlo.concatenate" in text) == (reductions == 1)
    assert ("(tensor<2x2xf32>) -> tensor<2x2xf32>" in text) == (reductions == 2)
