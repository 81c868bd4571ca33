"""Convolutions, pooling and other ops with windows, sharded in every way, NaN behind every shard.

Many cases share a program: what they cost is its compilation.
"""

import itertools

import numpy as np
import pytest
from uneven import Case, argument, batched, kinds_of, scalar, tensor, values

CASES = []
HALO = {"collective_permute", "all_gather"}


def case(name, arguments, result, body, collectives=None, tolerance=0.0):
    CASES.append(Case(name, arguments, result, body, collectives, tolerance))


#
# Convolution
#


def outputs(size, kernel, stride=1, pad=(0, 0), lhs_dilate=1, rhs_dilate=1, reverse=False):
    base = (size - 1) * lhs_dilate + 1 + sum(pad)
    return max(0, (base - (kernel - 1) * rhs_dilate - 1) // stride + 1)


def window(*dims):
    """Each: the arguments of `outputs` after the sizes."""
    fields = [("stride", 1), ("pad", (0, 0)), ("lhs_dilate", 1), ("rhs_dilate", 1), ("reverse", False)]
    texts = []
    for name, default in fields:
        found = [list(dim.get(name, default)) if name == "pad" else dim.get(name, default) for dim in dims]
        texts.append(f"{name} = {str(found).lower()}")
    return ", ".join(texts)


def convolution(name, lhs, rhs, out, dims, slides, groups=(1, 1), collectives=None, element="f32"):
    (lhs_shape, lhs_dims), (rhs_shape, rhs_dims), (shape, out_dims) = lhs, rhs, out
    numbers = {1: "[b, 0, f]x[0, i, o]->[b, 0, f]", 2: "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]"}[len(slides)]
    case(f"conv {name}", [argument(lhs_shape, lhs_dims, element), argument(rhs_shape, rhs_dims, element, 1)],
         (shape, element, out_dims),
         f"$r = stablehlo.convolution($0, $1) dim_numbers = {dims or numbers}, window = {{{window(*slides)}}} "
         f"{{feature_group_count = {groups[0]} : i64, batch_group_count = {groups[1]} : i64}} : "
         f"({tensor(lhs_shape, element)}, {tensor(rhs_shape, element)}) -> {tensor(shape, element)}", collectives)


SLIDES = [
    (16, 3, {"pad": (1, 1)}),
    (16, 3, {}),
    (13, 3, {"pad": (1, 1)}),
    (16, 3, {"stride": 2, "pad": (1, 0)}),
    (15, 4, {"stride": 3, "pad": (2, 5)}),
    (16, 2, {"lhs_dilate": 2, "pad": (1, 1)}),
    (9, 3, {"lhs_dilate": 3, "pad": (4, 2)}),
    (11, 3, {"lhs_dilate": 2, "stride": 3, "pad": (2, 2)}),
    (16, 3, {"rhs_dilate": 3, "pad": (3, 3)}),
    (16, 3, {"reverse": True, "pad": (2, 0)}),
    (8, 7, {"pad": (3, 3)}),
    (16, 3, {"pad": (-1, -2)}),
    (5, 3, {"pad": (1, 1)}),
    (16, 4, {"stride": 4}),
    (7, 1, {"stride": 2}),
    (6, 5, {"pad": (6, 7), "stride": 2}),
    (3, 3, {"pad": (4, 4)}),
]
for (size, kernel, slide), axes in itertools.product(SLIDES, ("x", "y", "xy")):
    count = outputs(size, kernel, **slide)
    convolution(f"{size} by {kernel} {slide} on {axes}", ([2, size, 3], ["", axes, ""]), ([kernel, 3, 4], ["", "", ""]),
                ([2, count, 4], ["", axes, ""]), None, [slide], collectives=HALO if size >= 8 and count >= 8 else None)
for slide, rows in (({"pad": (1, 1)}, "x"), ({"stride": 2, "pad": (1, 2)}, "y")):
    columns = {"x": "y", "y": "x"}[rows]
    height, width = outputs(12, 3, **slide), outputs(10, 5, pad=(2, 2))
    convolution(f"both dims {slide}", ([2, 12, 10, 3], ["", rows, columns, ""]), ([3, 5, 3, 4], [""] * 4),
                ([2, height, width, 4], ["", rows, columns, ""]), None, [slide, {"pad": (2, 2)}], collectives=HALO)
for name, lhs, rhs, out, collectives in (
    ("batch", "y", ("", ""), ("y", ""), set()), ("output features", "", ("", "y"), ("", "y"), set()),
    ("both", "x", ("", "y"), ("x", "y"), set()),
):
    convolution(name, ([8, 9, 4], [lhs, "", ""]), ([3, 4, 8], ["", *rhs]), ([8, 7, 8], [out[0], "", out[1]]), None,
                [{}], collectives=collectives)
for axes in ("x", "y", "xy"):
    convolution(f"input features on {axes}", ([2, 9, 12], ["", "", axes]), ([3, 12, 4], ["", axes, ""]),
                ([2, 7, 4], [""] * 3), None, [{}], collectives={"all_reduce"})
    convolution(f"depthwise on {axes}", ([2, 9, 12], ["", "", axes]), ([3, 1, 12], ["", "", axes]),
                ([2, 7, 12], ["", "", axes]), None, [{}], (12, 1), set())
    convolution(f"depthwise of 10 on {axes}", ([2, 9, 10], ["", "", axes]), ([3, 1, 10], ["", "", axes]),
                ([2, 7, 10], ["", "", axes]), None, [{}], (10, 1), set())
    convolution(f"feature groups on {axes}", ([2, 9, 16], ["", "", axes]), ([3, 2, 24], ["", "", axes]),
                ([2, 7, 24], ["", "", axes]), None, [{}], (8, 1), set())
    convolution(f"feature groups finer than {axes}", ([2, 9, 8], ["", "", ""]), ([3, 4, 8], ["", "", axes]),
                ([2, 7, 8], ["", "", axes]), None, [{}], (2, 1))
    convolution(f"batch groups on {axes}", ([16, 9, 3], [axes, "", ""]), ([3, 3, 8], ["", "", axes]),
                ([2, 7, 8], ["", "", axes]), None, [{}], (1, 8))
    # The gradient for the weights: batch and features change places, the kernel is as large as the input.
    for size, pad in ((16, 1), (16, 0), (13, 1)):
        kernel = outputs(size, 3, pad=(pad, pad))
        convolution(f"weights of {size} padded by {pad} on {axes}", ([4, size, 3], ["", axes, ""]),
                    ([4, kernel, 5], ["", axes, ""]), ([3, 3, 5], [""] * 3), "[f, 0, b]x[i, 0, o]->[b, 0, f]",
                    [{"pad": (pad, pad)}], collectives={"all_reduce", *HALO})
        convolution(f"weights by batch of {size} padded by {pad} on {axes}", ([8, size, 3], [axes, "", ""]),
                    ([8, kernel, 5], [axes, "", ""]), ([3, 3, 5], [""] * 3), "[f, 0, b]x[i, 0, o]->[b, 0, f]",
                    [{"pad": (pad, pad)}], collectives={"all_reduce"})
convolution(
    "patches",
    ([2, 16, 3], ["", "y", ""]),
    ([4, 3, 8], ["", "", ""]),
    ([2, 4, 8], ["", "y", ""]),
    None,
    [{"stride": 4}],
    collectives=set(),
)
convolution("integers", ([2, 16, 3], ["", "y", ""]), ([3, 3, 8], ["", "", ""]), ([2, 16, 8], ["", "y", ""]), None,
            [{"pad": (1, 1)}], collectives=HALO, element="i32")

#
# reduce_window, select_and_scatter
#


def numbers(values):
    return f"array<i64: {', '.join(map(str, values))}>"


def reduce_window(name, body, init, size, attributes, count, axes, element="f32", collectives=None):
    shape, result = [3, size], [3, count]
    kernel, stride, pad, base, dilation = attributes
    scalar_type = f"tensor<{element}>"
    case(f"pool {name}", [argument(shape, ["", axes], element), scalar(init, element)], (result, element, ["", axes]),
         f"""$r = "stablehlo.reduce_window"($0, $1) <{{window_dimensions = {numbers([1, kernel])}, window_strides =
  {numbers([1, stride])}, base_dilations = {numbers([1, base])}, window_dilations = {numbers([1, dilation])},
  padding = dense<[[0, 0], [{pad[0]}, {pad[1]}]]> : tensor<2x2xi64>}}> ({{
  ^bb0(%p: {scalar_type}, %q: {scalar_type}):
    %z = stablehlo.{body} %p, %q : {scalar_type}
    stablehlo.return %z : {scalar_type}
  }}) : ({tensor(shape, element)}, {scalar_type}) -> {tensor(result, element)}""", collectives)


POOLS = [(16, 2, 2, (0, 0), 1, 1), (16, 3, 1, (1, 1), 1, 1), (13, 3, 2, (1, 1), 1, 1), (16, 5, 3, (2, 2), 1, 1),
         (10, 3, 1, (2, 0), 2, 1), (9, 2, 2, (1, 1), 3, 1), (16, 3, 1, (2, 2), 1, 2), (16, 16, 1, (15, 0), 1, 1),
         (5, 2, 1, (0, 1), 1, 1), (16, 1, 3, (0, 0), 1, 1), (12, 3, 1, (-1, 2), 1, 1)]
for (size, kernel, stride, pad, base, dilation), (body, init), axes in itertools.product(
    POOLS, (("add", 0), ("maximum", -np.inf), ("add", 2)), ("x", "y", "xy")
):
    if (body, init, axes) in (("add", 2, "x"), ("add", 2, "xy"), ("maximum", -np.inf, "xy")):
        continue
    count = outputs(size, kernel, stride, pad, base, dilation)
    reduce_window(f"{body} from {init} of {size} by {kernel, stride, pad, base, dilation} on {axes}", body, init, size,
                  (kernel, stride, pad, base, dilation), count, axes,
                  # Around elements stand initial values by the specification, nothing for XLA: what is not neutral is
                  # needed whole.
                  collectives=HALO if min(size, count) >= 8 and (init != 2 or max(pad) <= 0) else None)
# Zeros around and between elements become the reduction's own padding.
case("pool what is padded", [argument([3, 9], ["", "y"])], ([3, 17], "f32", ["", "y"]),
     f"""%zero = stablehlo.constant dense<0.0> : tensor<f32>
%padded = stablehlo.pad $0, %zero, low = [0, 1], high = [0, 1], interior = [0, 1] :
  ({tensor([3, 9], "f32")}, tensor<f32>) -> {tensor([3, 19], "f32")}
$r = "stablehlo.reduce_window"(%padded, %zero) <{{window_dimensions = {numbers([1, 3])}}}> ({{
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %z = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %z : tensor<f32>
  }}) : ({tensor([3, 19], "f32")}, tensor<f32>) -> {tensor([3, 17], "f32")}""", None)
reduce_window("of integers", "multiply", 1, 16, (3, 1, (1, 1), 1, 1), 16, "y", "i32", HALO)


def select_and_scatter(name, size, kernel, stride, pad, axes, init=0, collectives=None):
    count = outputs(size, kernel, stride, pad)
    shape, source = [2, size], [2, count]
    case(
        f"scatter {name}",
        [argument(shape, ["", axes]), argument(source, ["", ""], seed=1), scalar(init)],
        (shape, "f32", ["", axes]),
        f"""$r = "stablehlo.select_and_scatter"($0, $1, $2) <{{window_dimensions = {numbers([1, kernel])}, window_strides =
  {numbers([1, stride])}, padding = dense<[[0, 0], [{pad[0]}, {pad[1]}]]> : tensor<2x2xi64>}}> ({{
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %z = stablehlo.compare GE, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %z : tensor<i1>
  }}, {{
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %z = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %z : tensor<f32>
  }}) : ({tensor(shape, "f32")}, {tensor(source, "f32")}, tensor<f32>) -> {tensor(shape, "f32")}""",
        collectives,
    )


for (size, kernel, stride), axes in itertools.product(
    ((16, 2, 2), (16, 3, 1), (16, 3, 2), (15, 2, 2), (13, 3, 3), (17, 2, 3), (8, 5, 1), (16, 1, 2)), ("x", "y", "xy")
):
    select_and_scatter(f"{size} by {kernel} and {stride} on {axes}", size, kernel, stride, (0, 0), axes,
                       # Windows with gaps need the dim whole; the axis of two may change to the batch of two, for two
                       # messages.
                       collectives={*HALO, "all_to_all"} if size >= 16 and stride <= kernel < 4 else None)
select_and_scatter("from 3", 16, 3, 2, (0, 0), "y", init=3)
select_and_scatter("padded", 16, 3, 2, (1, 1), "y")

#
# Other structured ops, sharded in other dims
#

for axes in ("x", "y", "xy"):
    for rows in (8, 10, 3):
        case(f"top_k of {rows} rows on {axes}", [argument([rows, 7], [axes, ""])], ([rows, 3], "i32", [axes, ""]),
             f"$v, $r = chlo.top_k($0, k = 3) : {tensor([rows, 7], 'f32')} -> ({tensor([rows, 3], 'f32')}, "
             f"{tensor([rows, 3], 'i32')})",
             set())
    features = tensor([6, 8], "f32")
    vector = tensor([8], "f32")
    spread = np.asarray([1, 4, 9, 16] * 2, "f")
    case(f"batch norm inference on {axes}", [argument([6, 8], ["", axes]),
                                             *[argument([8], [axes], seed=s) for s in (1, 2, 3)],
         (spread, "f32", [axes])], ([6, 8], "f32", ["", axes]),
         '$r = "stablehlo.batch_norm_inference"($0, $1, $2, $3, $4) <{epsilon = 0.0 : f32, feature_index = 1 : i64}> : '
         f"({features}, {vector}, {vector}, {vector}, {vector}) -> {features}", set(), 1e-5)
    case(
        f"batch norm inference by batch on {axes}",
        [argument([6, 8], [axes, ""]), *[argument([8], [""], seed=s) for s in (1, 2, 3)], (spread, "f32", [""])],
        ([6, 8], "f32", [axes, ""]),
        '$r = "stablehlo.batch_norm_inference"($0, $1, $2, $3, $4) <{epsilon = 0.0 : f32, feature_index = 1 : i64}> : '
        f"({features}, {vector}, {vector}, {vector}, {vector}) -> {features}",
        set(),
        1e-5,
    )
    for batch in ("", axes):
        feature = "" if batch else axes
        case(f"batch norm training on {batch or '-'} {feature or '-'}",
             [argument([6, 8], [batch, feature]), *[argument([8], [feature], seed=s) for s in (1, 2)]],
             ([6, 8], "f32", [batch, feature]),
             '$r, $m, $v = "stablehlo.batch_norm_training"($0, $1, $2) <{epsilon = 0.5 : f32, feature_index = 1 : '
             'i64}> : '
             f"({features}, {vector}, {vector}) -> ({features}, {vector}, {vector})",
             {"all_reduce"} if batch else set(), 1e-4)
        case(f"batch norm grad on {batch or '-'} {feature or '-'}",
             [argument([6, 8], [batch, feature]), *[argument([8], [feature], seed=s) for s in (1, 2)],
              (spread, "f32", [feature]), argument([6, 8], [batch, feature], seed=4)],
              ([6, 8], "f32", [batch, feature]),
             '$r, $m, $v = "stablehlo.batch_norm_grad"($0, $1, $2, $3, $4) <{epsilon = 0.5 : f32, feature_index = 1 '
             ': i64}> : '
             f"({features}, {vector}, {vector}, {vector}, {features}) -> ({features}, {vector}, {vector})",
             {"all_reduce"} if batch else set(), 1e-4)
    case(f"reduce_precision on {axes}", [argument([10, 3], [axes, ""])], ([10, 3], "f32", [axes, ""]),
         f"$r = stablehlo.reduce_precision $0, format = e5m2 : {tensor([10, 3], 'f32')}", set())

# What each device has whole: its windows are taken from that.
for axes, other, (rows, columns) in itertools.product(("x", "y", "xy"), ("", "x"), ((16, 8), (13, 7))):
    if other in axes and other:
        continue
    whole, dims = argument([rows, columns], ["", ""]), [axes, other]
    kind = tensor([rows, columns], "f32")
    case(f"slice of {rows} whole on {axes} {other or '-'}", [whole], ([rows - 3, columns - 1], "f32", dims),
         f"$r = stablehlo.slice $0 [2:{rows - 1}, 1:{columns}] : ({kind}) -> "
         f"{tensor([rows - 3, columns - 1], 'f32')}", set())
    case(
        f"pad of {rows} whole on {axes} {other or '-'}",
        [whole, scalar(np.float32(3))],
        ([rows + 3, columns + 1], "f32", dims),
        f"$r = stablehlo.pad $0, $1, low = [1, -1], high = [2, 2], interior = [0, 0] : ({kind}, tensor<f32>) -> "
        f"{tensor([rows + 3, columns + 1], 'f32')}",
        set(),
    )
    case(
        f"reduce_window of {rows} whole on {axes} {other or '-'}",
        [whole, scalar(np.float32(0))],
        ([rows, columns], "f32", dims),
        f'$r = "stablehlo.reduce_window"($0, $1) <{{padding = dense<1> : tensor<2x2xi64>, window_dimensions = '
        f"array<i64: 3, 3>}}> ({{\n"
        "  ^bb0(%p: tensor<f32>, %q: tensor<f32>):\n    %s = stablehlo.add %p, %q : tensor<f32>\n    "
        f"stablehlo.return %s : tensor<f32>\n  }}) : ({kind}, tensor<f32>) -> {kind}",
        set(),
        1e-5,
    )

problem_of = batched(CASES, 24)


@pytest.mark.parametrize("number", range(len(CASES)), ids=[case.name.replace(" ", "-") for case in CASES])
def test_windowed(number):
    assert not (problem := problem_of(number)), problem


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.collectives is not None], ids=lambda case: case.name.replace(" ", "-")
)
def test_is_computed_in_shards(case):
    assert kinds_of(case) <= case.collectives
