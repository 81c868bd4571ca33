"""Ops that look at whole rows or matrices, on shards of their batches; random bits of any sharding; custom calls.

Each case says which collectives its program has: one that is computed whole would pass every check of numbers.
"""

import numpy as np
import pytest
import shardonnay
from agrees import assert_agrees
from jaxlib import lapack
from test_single_ops import argument, values
from uneven import MESH, SHARDED, sharding, tensor

RNG = np.random.default_rng(7)
CASES = []


def case(name, arguments, op, results, collectives=()):
    """`op` is the text of an op up to its result types, with {sharding} where its attributes go; it has all `results`.
    """
    kinds = [tensor(shape, element) for shape, element, _ in results]
    shardings = [sharding(dims) for _, _, dims in results]
    declared = ", ".join(
        f"{kind} {{sdy.sharding = #sdy.sharding{one}}}" for kind, one in zip(kinds, shardings, strict=True)
    )
    text = f"""{MESH}
func.func @main({", ".join(text for text, _ in arguments)}) -> ({declared}) {{
  %0:{len(results)} = {op.replace("{sharding}", f"{{sdy.sharding = #sdy.sharding_per_value<[{', '.join(shardings)}]>}}")}
  return {", ".join(f"%0#{i}" for i in range(len(results)))} : {", ".join(kinds)}
}}"""
    CASES.append(pytest.param(text, [array for _, array in arguments], set(collectives), id=name.replace(" ", "-")))


def sort(name, shape, dims, dim, elements=("f32",), collectives=()):
    types = [tensor(shape, element) for element in elements]
    arguments = [argument(f"a{i}", values(shape, element), element, dims) for i, element in enumerate(elements)]
    scalars = ", ".join(f"%{side}{i}: {tensor([], element)}" for i, element in enumerate(elements) for side in "xy")
    scalar = tensor([], elements[0])
    op = f""""stablehlo.sort"({", ".join(f"%a{i}" for i in range(len(elements)))}) <{{dimension = {dim} : i64, is_stable = true}}> ({{
  ^bb0({scalars}):
    %c = stablehlo.compare LT, %x0, %y0 : ({scalar}, {scalar}) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }}) {{sharding}} : ({", ".join(types)}) -> ({", ".join(types)})"""
    case(f"sort {name}", arguments, op, [(shape, element, dims) for element in elements], collectives)


sort("rows", [16, 8], ["xy", ""], 1)
sort("columns", [8, 16], ["", "y"], 0)
sort("two tensors by the first", [8, 16], ["x", ""], 1, ("i32", "f32"))
sort("uneven rows", [13, 8], ["y", ""], -1)
sort("a sharded dim", [8, 16], ["x", "y"], 1, collectives=["all_to_all"])
sort("one row", [16], ["y"], 0, collectives=["all_gather"])


def positive_definite(*batch, size=4):
    factor = RNG.standard_normal((*batch, size, size))
    return factor @ factor.swapaxes(-1, -2) + size * np.eye(size)


MATRICES = ([8, 4, 4], "f32", ["y", "", ""])
case("cholesky", [argument("a", positive_definite(8), "f32", MATRICES[2])],
     "stablehlo.cholesky %a, lower = true {sharding} : tensor<8x4x4xf32>", [MATRICES])
for side, shape, dims in (("true", [8, 4, 6], ["y", "", "x"]), ("false", [8, 6, 4], ["y", "x", ""])):
    solved = (shape, "f32", dims)
    case(f"triangular solve, left side {side}, {dims}",
         [argument("a", positive_definite(8), "f32", MATRICES[2]),
          argument("b", values(shape, "f32"), "f32", solved[2])],
         f'"stablehlo.triangular_solve"(%a, %b) <{{left_side = {side}, lower = true, unit_diagonal = false, '
         f"transpose_a = #stablehlo<transpose TRANSPOSE>}}> {{sharding}} : (tensor<8x4x4xf32>, "
         f"{tensor(shape, 'f32')}) -> {tensor(shape, 'f32')}", [solved])


def fft(kind, operand, lengths, result, dims):
    (shape, element), (to, to_element) = operand, result
    case(f"{kind} of {lengths}", [argument("a", values(shape, element), element, dims)],
         f"stablehlo.fft %a, type = {kind}, length = {lengths} {{sharding}} : ({tensor(shape, element)}) -> "
         f"{tensor(to, to_element)}", [(to, to_element, dims)])


COMPLEX = "complex<f32>"
fft("FFT", ([8, 4, 8], COMPLEX), [8], ([8, 4, 8], COMPLEX), ["x", "y", ""])
fft("IFFT", ([8, 4, 8], COMPLEX), [4, 8], ([8, 4, 8], COMPLEX), ["xy", "", ""])
fft("RFFT", ([8, 16], "f32"), [16], ([8, 9], COMPLEX), ["y", ""])
fft("IRFFT", ([8, 9], COMPLEX), [16], ([8, 16], "f32"), ["y", ""])

STATE = argument("s", [3, 2**40 + 5], "ui64", [""])
for algorithm in ("DEFAULT", "THREE_FRY", "PHILOX"):
    for shape, element, dims in (([16, 8], "ui32", ["y", "x"]), ([13, 5], "ui64", ["x", "y"]), ([16], "ui8", ["xy"])):
        case(f"{algorithm} bits of {element}", [STATE],
             f"stablehlo.rng_bit_generator %s, algorithm = {algorithm} {{sharding}} : (tensor<2xui64>) -> "
             f"(tensor<2xui64>, {tensor(shape, element)})", [([2], "ui64", [""]), (shape, element, dims)])

BY_BOTH = ([8, 16], "f32", ["x", "y"])
PAIR = [argument(name, values(BY_BOTH[0], "f32"), "f32", BY_BOTH[2]) for name in "ab"]
case("map", PAIR, """"stablehlo.map"(%a, %b) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.multiply %x, %y : tensor<f32>
    %t = stablehlo.subtract %s, %x : tensor<f32>
    stablehlo.return %t : tensor<f32>
  }) {sharding} : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>""", [BY_BOTH])

# LAPACK's Cholesky with the rule that JAX writes, which says nothing of the matrices: they are computed whole.
RULE = "([i, j, k])->([i, l, m], [i]) {i=8, j=4, k=4, l=4, m=4}"
for dims, collectives in ((["y", "", ""], []), (["y", "x", ""], ["all_gather", "all_to_all"])):
    results = [([8, 4, 4], "f32", ["y", "", ""]), ([8], "i32", ["y"])]
    case(f"lapack sharded {dims[1]}", [argument("a", positive_definite(8), "f32", dims)],
         f"""stablehlo.custom_call @lapack_spotrf_ffi(%a) {{api_version = 4 : i32, backend_config = {{uplo = 76 : ui8}},
  operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>,
  dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<{RULE}, custom>,
  sdy.sharding = #sdy.sharding_per_value<[{sharding(results[0][2])}, {sharding(results[1][2])}]>}} :
  (tensor<8x4x4xf32>) -> (tensor<8x4x4xf32>, tensor<8xi32>)""", results, collectives)


@pytest.mark.parametrize("text, inputs, collectives", CASES)
def test_op_agrees(text, inputs, collectives):
    lapack._lapack.initialize()
    compiled = shardonnay.compile(text, **SHARDED)
    assert {entry["kind"] for entry in compiled.report["collectives"]} == collectives
    assert_agrees(compiled, text, inputs)
