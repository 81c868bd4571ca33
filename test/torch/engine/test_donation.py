"""What is written over an operand, and what is not: it is read later, by itself or in another arrangement, or is not
the program's own."""

import numpy as np
import pytest
from single import compute

ARGUMENTS = [np.arange(12, dtype=np.float32).reshape(3, 4) - 5, np.linspace(-1, 2, 12, dtype=np.float32).reshape(3, 4)]
CASES = {
    "a chain": (
        "%0 = stablehlo.add %x, %y : T %1 = stablehlo.multiply %0, %y : T %2 = stablehlo.tanh %1 : T",
        "%2", lambda x, y: np.tanh((x + y) * y), 2),
    "an argument": ("%0 = stablehlo.add %x, %y : T", "%0", lambda x, y: x + y, 0),
    "read later": (
        "%0 = stablehlo.add %x, %y : T %1 = stablehlo.tanh %0 : T %2 = stablehlo.subtract %1, %0 : T",
        "%2", lambda x, y: np.tanh(x + y) - (x + y), 1),
    "read later in a view": (
        "%0 = stablehlo.add %x, %x : T %v = stablehlo.reshape %0 : (T) -> tensor<12xf32> %1 = stablehlo.tanh %0 : T "
        "%w = stablehlo.reshape %v : (tensor<12xf32>) -> T %2 = stablehlo.subtract %1, %w : T",
        "%2", lambda x, y: np.tanh(x + x) - (x + x), 1),
    "read in another arrangement": (
        "%a = stablehlo.slice %x [0:3, 0:3] : (T) -> tensor<3x3xf32> %0 = stablehlo.add %a, %a : tensor<3x3xf32> "
        "%t = stablehlo.transpose %0, dims = [1, 0] : (tensor<3x3xf32>) -> tensor<3x3xf32> "
        "%1 = stablehlo.add %0, %t : tensor<3x3xf32> %z = stablehlo.constant dense<0.0> : tensor<f32> "
        "%2 = stablehlo.pad %1, %z, low = [0, 0], high = [0, 1], interior = [0, 0] : "
        "(tensor<3x3xf32>, tensor<f32>) -> T",
        "%2", lambda x, y: np.pad(2 * x[:, :3] + 2 * x[:, :3].T, ((0, 0), (0, 1))), 0),
    "a result itself": (
        "%0 = stablehlo.add %x, %y : T %1 = stablehlo.tanh %0 : T", "%0, %1",
        lambda x, y: (x + y, np.tanh(x + y)), 0),
    "of another type": (
        "%0 = stablehlo.add %x, %y : T %1 = stablehlo.convert %0 : (T) -> tensor<3x4xf64> "
        "%2 = stablehlo.add %1, %1 : tensor<3x4xf64> %3 = stablehlo.convert %2 : (tensor<3x4xf64>) -> T",
        "%3", lambda x, y: 2 * (x + y), 0),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_written_over(name):
    body, results, expected, count = CASES[name]
    types = ", ".join(["T"] * len(results.split(",")))
    text = f"func.func public @main(%x: T, %y: T) -> ({types}) {{ {body} return {results} : {types} }}"
    inputs = [array.copy() for array in ARGUMENTS]
    found, graph = compute(text.replace("T", "tensor<3x4xf32>"), inputs)
    wanted = expected(*ARGUMENTS)
    for got, want in zip(found, wanted if isinstance(wanted, tuple) else (wanted,), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6)
    np.testing.assert_array_equal(inputs, ARGUMENTS)
    assert sum("out" in node.kwargs for node in graph.graph.nodes) == count
