"""Ops that programs of today seldom have: those of XLA's past, of shapes that are operands, of CHLO; and that no op is
untested.
"""

import re
from pathlib import Path

import numpy as np
import pytest
import torch
from shardonnay.torch.engine import executable, lowering  # noqa: F401 -- all families register their rules
from single import Case, check, compute, numbers, tensor

A, B = numbers((3, 4), "f32"), numbers((4, 5), "f32", 1)
FLAT, TABLE = "tensor<4xf32>", "tensor<3x4xf32>"


def one(name, arguments, shape, body, element="f32", functions=""):
    return Case(name, arguments, [(shape, element)], body, 1e-5, functions, 1e-6)


OLD = [
    one("dot", [(A, "f32"), (B, "f32")], (3, 5), f"$r = stablehlo.dot $0, $1 : ({TABLE}, tensor<4x5xf32>) -> "
                                                 "tensor<3x5xf32>"),
    one("dot of vectors", [(A[0], "f32"), (A[1], "f32")], (),
        f"$r = stablehlo.dot $0, $1 : ({FLAT}, {FLAT}) -> tensor<f32>"),
    one("dot of a vector", [(A, "f32"), (A[1], "f32")], (3,),
        f"$r = stablehlo.dot $0, $1 : ({TABLE}, {FLAT}) -> tensor<3xf32>"),
    one("torch_index_select", [(A, "f32"), (np.array([2, 0, 2], np.int32), "i32")], (3, 4), f"""$r = "stablehlo.torch_index_select"($0, $1)
        <{{dim = 0 : i64, batch_dims = 0 : i64}}> : ({TABLE}, tensor<3xi32>) -> {TABLE}"""),
    one("einsum", [(A, "f32"), (B, "f32")], (3, 5), f"""$r = "stablehlo.einsum"($0, $1) <{{einsum_config = "ij,jk->ik"}}> :
        ({TABLE}, tensor<4x5xf32>) -> tensor<3x5xf32>"""),
    one("broadcast", [(A, "f32")], (2, 3, 4), f"$r = stablehlo.broadcast $0, sizes = [2] : ({TABLE}) -> "
                                              "tensor<2x3x4xf32>"),
    one("map", [(A, "f32"), (A, "f32")], (3, 4), f"""$r = "stablehlo.map"($0, $1) <{{dimensions = array<i64: 0, 1>}}> ({{
        ^bb0($p: tensor<f32>, $q: tensor<f32>):
        $y = stablehlo.subtract $p, $q : tensor<f32>
        $z = stablehlo.cosine $y : tensor<f32>
        stablehlo.return $z : tensor<f32>
        }}) : ({TABLE}, {TABLE}) -> {TABLE}"""),
    one("optimization_barrier", [(A, "f32"), (A[0], "f32")], (3, 4), f"""$b:2 = stablehlo.optimization_barrier $0, $1 : {TABLE}, {FLAT}
        $w = stablehlo.broadcast_in_dim $b#1, dims = [1] : ({FLAT}) -> {TABLE}
        $r = stablehlo.add $b#0, $w : {TABLE}"""),
    one("tuple", [(A, "f32"), (A[0], "f32")], (3, 4), f"""$t = "stablehlo.tuple"($1, $0) : ({FLAT}, {TABLE}) -> tuple<{FLAT}, {TABLE}>
        $r = "stablehlo.get_tuple_element"($t) <{{index = 1 : i32}}> : (tuple<{FLAT}, {TABLE}>) -> {TABLE}"""),
    one("composite", [(A, "f32")], (3, 4), f'$r = stablehlo.composite "mine.twice" $0 {{decomposition = @twice}} : '
                                           f'({TABLE}) -> {TABLE}',
        functions=f"""func.func private @twice(%x: {TABLE}) -> {TABLE} {{
        %y = stablehlo.add %x, %x : {TABLE}\nreturn %y : {TABLE}\n}}"""),
    one("get_dimension_size", [(A, "f32")], (), f"""$d = "stablehlo.get_dimension_size"($0) <{{dimension = 1 : i64}}> : ({TABLE}) -> tensor<i32>
        $r = stablehlo.convert $d : (tensor<i32>) -> tensor<f32>"""),
    Case("replica_id", [], [((), "ui32")], "$r = stablehlo.replica_id : tensor<ui32>"),
    Case("partition_id", [], [((), "ui32")], "$r = stablehlo.partition_id : tensor<ui32>"),
    one("after_all", [(A, "f32")], (3, 4), f"""$t = stablehlo.create_token : !stablehlo.token
        $u = stablehlo.after_all $t, $t : !stablehlo.token
        $r = stablehlo.negate $0 : {TABLE}"""),
]  # fmt: skip


@pytest.mark.parametrize("case", OLD, ids=lambda case: case.name)
def test_old(case):
    check([case])


def test_a_function_that_a_library_replaces(monkeypatch):
    """torch_geometric has an `index_select` of its own, which asks its operand for numbers of dims."""
    plain = torch.index_select

    def index_select(x, dim, index):
        if dim >= x.dim():
            raise IndexError(dim)
        return plain(x, dim, index)

    monkeypatch.setattr(torch, "index_select", index_select)
    check([next(case for case in OLD if case.name == "torch_index_select")])


def numbered(values, kind="i64"):
    return f"stablehlo.constant dense<{values}> : tensor<{len(values)}x{kind}>"


# What PJRT does not take, sizes that are operands among it: the same numbers as an op that it runs.
DYNAMIC = {
    "unary_einsum": (f'$r = "stablehlo.unary_einsum"($0) <{{einsum_config = "ij->ji"}}> : ({TABLE}) -> '
                     'tensor<4x3xf32>', (4, 3),
                     f"$r = stablehlo.transpose $0, dims = [1, 0] : ({TABLE}) -> tensor<4x3xf32>"),
    "dynamic_reshape": (f"$s = {numbered([2, 6])}\n$r = stablehlo.dynamic_reshape $0, $s : ({TABLE}, tensor<2xi64>) "
                        "-> tensor<2x6xf32>", (2, 6),
                        f"$r = stablehlo.reshape $0 : ({TABLE}) -> tensor<2x6xf32>"),
    "dynamic_broadcast_in_dim": (f"$s = {numbered([2, 3, 4])}\n$r = stablehlo.dynamic_broadcast_in_dim $0, $s, dims "
                                 f"= [1, 2] : ({TABLE}, tensor<3xi64>) -> tensor<2x3x4xf32>",
                                 (2, 3, 4), f"$r = stablehlo.broadcast_in_dim $0, dims = [1, 2] : ({TABLE}) -> "
                                            "tensor<2x3x4xf32>"),
    "dynamic_iota": (f"$s = {numbered([3, 4])}\n$i = stablehlo.dynamic_iota $s, dim = 1 : (tensor<2xi64>) -> "
                     f"{TABLE}\n$r = stablehlo.add $0, $i : {TABLE}", (3, 4),
                     f"$i = stablehlo.iota dim = 1 : {TABLE}\n$r = stablehlo.add $0, $i : {TABLE}"),
    "dynamic_pad": (f"""$l = {numbered([1, 0])}\n$h = {numbered([0, 2])}\n$n = {numbered([1, 0])}\n$z = stablehlo.constant dense<2.5> : tensor<f32>
        $r = stablehlo.dynamic_pad $0, $z, $l, $h, $n : ({TABLE}, tensor<f32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<6x6xf32>""", (6, 6),
        f"""$z = stablehlo.constant dense<2.5> : tensor<f32>
        $r = stablehlo.pad $0, $z, low = [1, 0], high = [0, 2], interior = [1, 0] : ({TABLE}, tensor<f32>) -> tensor<6x6xf32>"""),
    "real_dynamic_slice": (f"""$l = {numbered([1, 0])}\n$h = {numbered([3, 4])}\n$n = {numbered([1, 2])}
        $r = stablehlo.real_dynamic_slice $0, $l, $h, $n : ({TABLE}, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<2x2xf32>""", (2, 2),
        f"$r = stablehlo.slice $0 [1:3, 0:4:2] : ({TABLE}) -> tensor<2x2xf32>"),
    "dynamic_gather": (f"""$i = stablehlo.constant dense<[[2], [0]]> : tensor<2x1xi64>\n$s = {numbered([1, 4])}
        $r = "stablehlo.dynamic_gather"($0, $i, $s) <{{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0],
            index_vector_dim = 1>}}> : ({TABLE}, tensor<2x1xi64>, tensor<2xi64>) -> tensor<2x4xf32>""", (2, 4),
        f"""$i = stablehlo.constant dense<[[2], [0]]> : tensor<2x1xi64>
        $r = "stablehlo.gather"($0, $i) <{{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0],
            index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}}> : ({TABLE}, tensor<2x1xi64>) -> tensor<2x4xf32>"""),
    "dynamic_conv": (f"""$v = stablehlo.reshape $0 : ({TABLE}) -> tensor<1x4x3xf32>\n$k = stablehlo.constant dense<[[[1.0], [2.0], [0.5]], [[3.0], [-1.0], [4.0]]]> : tensor<2x3x1xf32>
        $p = stablehlo.constant dense<[[1, 1]]> : tensor<1x2xi64>
        $r = "stablehlo.dynamic_conv"($v, $k, $p) <{{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64,
            window_strides = array<i64: 1>, rhs_dilation = array<i64: 1>, lhs_dilation = array<i64: 1>}}> : (tensor<1x4x3xf32>, tensor<2x3x1xf32>, tensor<1x2xi64>) -> tensor<1x5x1xf32>""",
        (1, 5, 1),
        f"""$v = stablehlo.reshape $0 : ({TABLE}) -> tensor<1x4x3xf32>\n$k = stablehlo.constant dense<[[[1.0], [2.0], [0.5]], [[3.0], [-1.0], [4.0]]]> : tensor<2x3x1xf32>
        $r = "stablehlo.convolution"($v, $k) <{{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64,
            padding = dense<[[1, 1]]> : tensor<1x2xi64>, window_strides = array<i64: 1>, rhs_dilation = array<i64: 1>, lhs_dilation = array<i64: 1>}}> :
            (tensor<1x4x3xf32>, tensor<2x3x1xf32>) -> tensor<1x5x1xf32>"""),
}  # fmt: skip


@pytest.mark.parametrize("name", DYNAMIC)
def test_as_another_op(name):
    from shardonnay import engine as pjrt
    from single import module, verdict

    body, shape, known = DYNAMIC[name]
    arguments = [(A, "f32")]
    found, _ = compute(module([one(name, arguments, shape, body)]), [A])
    wanted = pjrt.Executable(module([one(name, arguments, shape, known)]), 1, optimize=False)([[A]])[0][0]
    assert not verdict(found[0], np.asarray(wanted), "f32", 1e-5, 1e-6)


X, Y = np.array([-2.5, 0.5, 3.0, 7.0], np.float32), np.array([2.0, -1.0], np.float32)
I, J = np.array([7, -8, 5, 12], np.int32), np.array([3, 2], np.int32)
BROADCAST = {"add": "f32", "subtract": "f32", "multiply": "f32", "divide": "f32", "maximum": "f32", "minimum": "f32",
             "remainder": "f32", "and": "i32", "or": "i32", "xor": "i32", "shift_left": "i32",
             "shift_right_arithmetic": "i32", "shift_right_logical": "i32",
             "power": "f32"}  # fmt: skip


def wide(name, element):
    """A CHLO op that broadcasts, as the op that does not of operands that are broadcast before."""
    left, right, result = tensor((2, 1, 4), element), tensor((2, 1), element), tensor((2, 2, 4), element)
    values = (X, Y) if element == "f32" else (I, J)
    if name == "power":
        values = (np.abs(X), Y)
    arguments = [(np.stack([values[0], values[0][::-1]])[:, None], element), (values[1][:, None], element)]
    known = f"""$a = stablehlo.broadcast_in_dim $0, dims = [0, 1, 2] : ({left}) -> {result}
        $b = stablehlo.broadcast_in_dim $1, dims = [1, 2] : ({right}) -> {result}\n$r = stablehlo.{name} $a, $b : {result}"""
    return arguments, f'$r = "chlo.broadcast_{name}"($0, $1) : ({left}, {right}) -> {result}', known


@pytest.mark.parametrize("name", BROADCAST)
def test_broadcasting(name):
    from shardonnay import engine as pjrt
    from single import module, verdict

    element = BROADCAST[name]
    arguments, body, known = wide(name, element)
    inputs = [value for value, _ in arguments]
    found, _ = compute(module([one(name, arguments, (2, 2, 4), body, element)]), inputs)
    wanted = pjrt.Executable(module([one(name, arguments, (2, 2, 4), known, element)]), 1, optimize=False)(
        [[value] for value in inputs]
    )[0][0]
    assert not verdict(found[0], np.asarray(wanted), element, 1e-5, 0.0)


EDGES = np.array([1.5, -2.0, np.inf, -np.inf, np.nan, 0.0], np.float32)
SIX = "tensor<6xf32>"
# CHLO's others that PJRT does not take as they are, against NumPy.
CHLO = {
    "is_inf": (f"$r = chlo.is_inf $0 : {SIX} -> tensor<6xi1>", "i1", np.isinf(EDGES)),
    "is_pos_inf": (f"$r = chlo.is_pos_inf $0 : {SIX} -> tensor<6xi1>", "i1", np.isposinf(EDGES)),
    "is_neg_inf": (f"$r = chlo.is_neg_inf $0 : {SIX} -> tensor<6xi1>", "i1", np.isneginf(EDGES)),
    "square": (f"$r = chlo.square $0 : {SIX} -> {SIX}", "f32", EDGES * EDGES),
    "constant_like": (f'$r = "chlo.constant_like"($0) <{{value = 3.5 : f32}}> : ({SIX}) -> {SIX}', "f32",
                      np.full(6, 3.5, np.float32)),
    "constant": (f"$k = chlo.constant dense<2.0> : {SIX}\n$r = stablehlo.multiply $0, $k : {SIX}", "f32", EDGES * 2),
    "broadcast_compare": (f"""$k = stablehlo.constant dense<1.0> : tensor<f32>\n$r = chlo.broadcast_compare $0, $k {{comparison_direction = #chlo<comparison_direction LT>}} :
        ({SIX}, tensor<f32>) -> tensor<6xi1>""", "i1", EDGES < 1),
    "broadcast_select": (f"""$c = stablehlo.compare NE, $0, $0 : ({SIX}, {SIX}) -> tensor<6xi1>\n$k = stablehlo.constant dense<1.0> : tensor<f32>
        $r = chlo.broadcast_select $c, $k, $0 : (tensor<6xi1>, tensor<f32>, {SIX}) -> {SIX}""", "f32", np.where(np.isnan(EDGES), np.float32(1), EDGES)),
}  # fmt: skip


@pytest.mark.parametrize("name", CHLO)
def test_chlo_against_numpy(name):
    from single import module, verdict

    body, element, wanted = CHLO[name]
    found, _ = compute(module([one(name, [(EDGES, "f32")], (6,), body, element)]), [EDGES])
    assert not verdict(found[0], wanted, element)


def test_random_numbers_of_torch():
    """`rng` draws from torch's generator: what it draws has the op's range and distribution."""
    text = """func.func public @main(%a: tensor<f32>, %b: tensor<f32>) -> (tensor<4000xf32>, tensor<4000xf32>) {
      %s = stablehlo.constant dense<4000> : tensor<1xi64>
      %u = stablehlo.rng %a, %b, %s, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4000xf32>
      %n = stablehlo.rng %a, %b, %s, distribution = NORMAL : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4000xf32>
      return %u, %n : tensor<4000xf32>, tensor<4000xf32>
    }"""
    (uniform, normal), _ = compute(text, [np.float32(2), np.float32(3)])
    assert 2 <= uniform.min() and uniform.max() < 3 and abs(uniform.mean() - 2.5) < 0.05
    assert abs(normal.mean() - 2) < 0.3 and abs(normal.std() - 3) < 0.3


# What a program of tensors has no use for; test_control.py sees that such ops are refused by name.
NOT_HERE = (
    "async_done async_start cross-replica-sum infeed outfeed recv return send set_dimension_size "
    "uniform_dequantize uniform_quantize"
).split()


def test_every_op_has_a_test():
    folder = Path(__file__).resolve().parent
    listed = re.findall(r"`(stablehlo\.[\w-]+)`", (folder.parents[2] / "docs/reference/stablehlo.md").read_text())
    known = {name for name in lowering.supported() if name.startswith(("stablehlo.", "chlo."))}
    assert set(listed) - known == {f"stablehlo.{name}" for name in NOT_HERE}
    tests = "\n".join(path.read_text() for path in sorted(folder.glob("test_*.py")))
    untested = [
        name
        for name in sorted(known)
        if not re.search(
            rf"\b{re.escape(name.removeprefix('stablehlo.').removeprefix('chlo.broadcast_').removeprefix('chlo.'))}\b",
            tests,
        )
    ]
    assert not untested and len(known) > 140
