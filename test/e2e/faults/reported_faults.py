"""Faults that other partitioners have, by the op that they are of."""

import numpy as np
from fault_cases import MOVES, PERMUTES, fault, index
from uneven import argument, tensor


def reports_of(start, report):
    return f"{report} xla-24186" if start == 2**40 else report


# Sharded slices ignore their stride.
fault("sdy-stride strided slice", [argument([16, 2], ["y", ""])], ([8, 2], "f32", ["y", ""]),
      "$r = stablehlo.slice $0 [0:16:2, 0:2] : (tensor<16x2xf32>) -> tensor<8x2xf32>", PERMUTES)
fault("sdy-stride from the middle", [argument([17], ["y"])], ([5], "f32", ["y"]),
      "$r = stablehlo.slice $0 [2:17:3] : (tensor<17xf32>) -> tensor<5xf32>", PERMUTES | {"all_gather"})

# What pads an uneven dim is read by reduce and dot; 0 times NaN is NaN.
fault("sdy-padding reduce", [argument([10, 4], ["y", ""]), (np.float32(0), "f32", [])], ([4], "f32", [""]),
      "$r = stablehlo.reduce($0 init: $1) applies stablehlo.maximum across dimensions = [0] : "
      "(tensor<10x4xf32>, tensor<f32>) -> tensor<4xf32>", {"all_reduce"})
fault("sdy-padding dot", [argument([4, 10], ["", "y"]), (np.ones([10, 4]), "f32", ["", ""])], ([4, 4], "f32", ["", ""]),
      "$r = stablehlo.dot_general $0, $1, contracting_dims = [1] x [0] : "
      "(tensor<4x10xf32>, tensor<10x4xf32>) -> tensor<4x4xf32>", {"all_reduce"})

# Starts are clamped in each shard; 64-bit ones do not compile.
for start, element in ((-5, "i32"), (14, "i32"), (2**40, "i64"), (2**31 - 1, "i32")):
    fault(f"{reports_of(start, 'xla-49118')} dynamic update at {start}",
          [argument([16, 4], ["y", ""]), argument([3, 4], ["", ""], seed=1), index(start, element), index(0, element)],
          ([16, 4], "f32", ["y", ""]),
          "$r = stablehlo.dynamic_update_slice $0, $1, $2, $3 : (tensor<16x4xf32>, tensor<3x4xf32>, "
          f"tensor<{element}>, tensor<{element}>) -> tensor<16x4xf32>", set())
    fault(f"{reports_of(start, 'xla-49122')} dynamic slice at {start}",
          [argument([16, 4], ["y", ""]), index(start, element), index(0, element)],
          ([3, 4], "f32", ["", ""]),
          f"$r = stablehlo.dynamic_slice $0, $1, $2, sizes = [3, 4] : (tensor<16x4xf32>, tensor<{element}>, "
          f"tensor<{element}>) -> tensor<3x4xf32>", {"all_gather", "all_to_all", "all_reduce"})

# An index that no shard owns is masked to zero; the op clamps it.
ROWS = "offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1"
fault("sdy-overlap gather out of range", [argument([16, 4], ["y", ""]), (np.array([-7, 16, 100, 3]), "i32", [""])],
      ([4, 4], "f32", ["", ""]),
      f'$r = "stablehlo.gather"($0, $1) <{{dimension_numbers = #stablehlo.gather<{ROWS}>, slice_sizes = array<i64: '
      f'1, 4>}}> : '
      "(tensor<16x4xf32>, tensor<4xi32>) -> tensor<4x4xf32>", {"all_reduce", "all_gather"})
# The sum of a gather goes over an axis that still shards the result.
fault(
    "sdy-overlap gather from rows and for rows",
    [argument([16, 4], ["y", ""]), (np.arange(8) * 3 % 16, "i32", ["y"])],
    ([8, 4], "f32", ["y", ""]),
    f'$r = "stablehlo.gather"($0, $1) <{{dimension_numbers = #stablehlo.gather<{ROWS}>, slice_sizes = array<i64: 1, '
    f'4>}}> : '
    "(tensor<16x4xf32>, tensor<8xi32>) -> tensor<8x4xf32>",
    {"all_reduce", "all_gather", "reduce_scatter", "all_to_all"},
)


def scatter(name, numbers, operand, dims, places, updates, collectives, body="add"):
    shape, update = tensor(operand, "f32"), tensor(updates, "f32")
    fault(name, [argument(operand, dims), (places, "i32", [""] * np.ndim(places)),
                 argument(updates, [""] * len(updates), seed=1)],
          (operand, "f32", dims),
          f'$r = "stablehlo.scatter"($0, $1, $2) <{{scatter_dimension_numbers = #stablehlo.scatter<{numbers}>}}> ({{\n'
          f"^bb0($p: tensor<f32>, $q: tensor<f32>):\n$z = stablehlo.{body} $p, $q : tensor<f32>\n"
          f"stablehlo.return $z : tensor<f32>\n}}) : ({shape}, {tensor(np.shape(places), 'i32')}, {update}) -> "
          f"{shape}", collectives)


# A scatter adds what it starts from once a device.
INTO = "update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1"
scatter("xla-42481 scatter of duplicates", INTO, [16, 4], ["y", ""], np.array([3, 3, 15, 16, -1, 3]), [6, 4], set())
scatter("xla-42481 scatter into uneven rows", INTO, [10, 4], ["y", ""], np.array([9, 10, 11, 12, 0, 9]), [6, 4], set())
# A scatter whose inserted dim is sharded and not indexed is an error.
scatter("sdy-inserted scatter with a dim that is not indexed",
        "update_window_dims = [], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [1], "
        "index_vector_dim = 1",
        [8, 16], ["x", "y"], np.array([1, 15, 1, 16]), [4], set())

# One tensor as indices and updates: only the former are shifted to a device's rows.
fault(
    "a scatter by what it writes",
    [(np.array([[4], [5], [6], [7], [8]]), "i32", ["y", ""]), (np.array([[2], [4]]), "i32", ["", ""])],
    ([5, 1], "i32", ["y", ""]),
    f'$r = "stablehlo.scatter"($0, $1, $1) <{{scatter_dimension_numbers = #stablehlo.scatter<{INTO}>}}> ({{\n'
    "^bb0($p: tensor<i32>, $q: tensor<i32>):\nstablehlo.return $q : tensor<i32>\n}) : "
    "(tensor<5x1xi32>, tensor<2x1xi32>, tensor<2x1xi32>) -> tensor<5x1xi32>",
    set(),
)

# XLA merges slices of slices, also behind what it moves aside, and loses a clamp.
for moved, shape, dim in (("stablehlo.transpose $0, dims = [1, 0]", [8, 4], 0), ("stablehlo.reshape $0", [1, 4, 8], 2),
                          ("stablehlo.broadcast_in_dim $0, dims = [2, 0]", [8, 3, 4], 0)):
    for place in (-1, 0, 1, 5, 7, 9):
        result, dims = tensor(shape, "f32"), ["y" if d == dim else "" for d in range(len(shape))]
        rows, around = [1 if d == dim else n for d, n in enumerate(shape)], ", ".join(str(d) for d in range(len(shape)))
        fault(
            f"slice of a slice, {moved.split()[0]}, scatter at {place}",
            [argument([4, 8], ["", ""]), (np.array([place]), "i32", [""]), argument(rows, [""] * len(rows))],
            (shape, "f32", dims),
            f"$m = {moved} : (tensor<4x8xf32>) -> {result}\n"
            f'$r = "stablehlo.scatter"($m, $1, $2) <{{scatter_dimension_numbers = '
            f"#stablehlo.scatter<update_window_dims = [{around}], "
            f"scatter_dims_to_operand_dims = [{dim}]>, indices_are_sorted = true, unique_indices = true}}> ({{\n"
            "^bb0(%s: tensor<f32>, %t: tensor<f32>):\n%u = stablehlo.add %s, %t : tensor<f32>\nstablehlo.return "
            f"%u : tensor<f32>\n}}) : ({result}, tensor<1xi32>, {tensor(rows, 'f32')}) -> {result}",
            set(),
        )

for place in (-1, 1, 7):
    fault(
        f"slice of a slice, the second input of a scatter at {place}",
        [
            argument([8], ["y"]),
            argument([8], [""], seed=1),
            (np.array([place]), "i32", [""]),
            argument([1], [""]),
            argument([1], [""], seed=2),
        ],
        ([8], "f32", ["y"]),
        '$s, $r = "stablehlo.scatter"($0, $1, $2, $3, $4) <{scatter_dimension_numbers = '
        "#stablehlo.scatter<update_window_dims = [0], "
        "scatter_dims_to_operand_dims = [0]>, indices_are_sorted = true, unique_indices = true}> ({\n"
        "^bb0(%s: tensor<f32>, %t: tensor<f32>, %u: tensor<f32>, %v: tensor<f32>):\n%w = stablehlo.add %s, %u : "
        "tensor<f32>\n"
        "%x = stablehlo.maximum %t, %v : tensor<f32>\nstablehlo.return %w, %x : tensor<f32>, tensor<f32>\n}) : "
        "(tensor<8xf32>, tensor<8xf32>, tensor<1xi32>, tensor<1xf32>, tensor<1xf32>) -> (tensor<8xf32>, tensor<8xf32>)",
        set(),
    )

# Rolls and concatenations replicate.
fault("jax-15773 roll", [argument([16], ["y"])], ([16], "f32", ["y"]),
      "$a = stablehlo.slice $0 [15:16] : (tensor<16xf32>) -> tensor<1xf32>\n"
      "$b = stablehlo.slice $0 [0:15] : (tensor<16xf32>) -> tensor<15xf32>\n"
      "$r = stablehlo.concatenate $a, $b, dim = 0 : (tensor<1xf32>, tensor<15xf32>) -> tensor<16xf32>", PERMUTES)
for size, axes in ((16, "y"), (10, "y"), (15, "xy"), (3, "y")):
    for start in (1, size - 2):
        fault(f"jax-15773 rotation of {size} by {start}",
              [argument([size, 2], [axes, ""])], ([size, 2], "f32", [axes, ""]),
              f"$a = stablehlo.slice $0 [{start}:{size}, 0:2] : (tensor<{size}x2xf32>) -> "
              f"tensor<{size - start}x2xf32>\n"
              f"$b = stablehlo.slice $0 [0:{start}, 0:2] : (tensor<{size}x2xf32>) -> tensor<{start}x2xf32>\n"
              f"$r = stablehlo.concatenate $a, $b, dim = 0 : (tensor<{size - start}x2xf32>, tensor<{start}x2xf32>) "
              f"-> tensor<{size}x2xf32>", PERMUTES | {"all_gather"})
    fault(f"jax-15773 {size} wrapped around", [argument([size], [axes])], ([size + 3], "f32", [axes]),
          f"$a = stablehlo.slice $0 [{size - 2}:{size}] : (tensor<{size}xf32>) -> tensor<2xf32>\n"
          f"$b = stablehlo.slice $0 [0:1] : (tensor<{size}xf32>) -> tensor<1xf32>\n"
          f"$r = stablehlo.concatenate $a, $0, $b, dim = 0 : (tensor<2xf32>, tensor<{size}xf32>, tensor<1xf32>) "
          f"-> tensor<{size + 3}xf32>", PERMUTES | {"all_gather"})
fault("sdy-halo concatenate", [argument([16], ["y"]), argument([16], ["y"], seed=1)], ([32], "f32", ["y"]),
      "$r = stablehlo.concatenate $0, $1, dim = 0 : (tensor<16xf32>, tensor<16xf32>) -> tensor<32xf32>", PERMUTES)
fault("a stencil", [argument([64], ["xy"]), (np.float32(0), "f32", [])], ([64], "f32", ["xy"]),
      "$a = stablehlo.pad $0, $1, low = [1], high = [-1], interior = [0] : (tensor<64xf32>, tensor<f32>) -> "
      "tensor<64xf32>\n"
      "$b = stablehlo.pad $0, $1, low = [-1], high = [1], interior = [0] : (tensor<64xf32>, tensor<f32>) -> "
      "tensor<64xf32>\n"
      "$c = stablehlo.add $a, $b : tensor<64xf32>\n$r = stablehlo.subtract $c, $0 : tensor<64xf32>", PERMUTES)

# A reshape that merges or splits sharded dims replicates.
fault("sdy-reshape merging", [argument([2, 8], ["x", "y"])], ([16], "f32", ["xy"]),
      "$r = stablehlo.reshape $0 : (tensor<2x8xf32>) -> tensor<16xf32>", set())
fault("sdy-reshape splitting", [argument([16], ["xy"])], ([2, 8], "f32", ["x", "y"]),
      "$r = stablehlo.reshape $0 : (tensor<16xf32>) -> tensor<2x8xf32>", set())

# A gather that needs a minor suffix gathers all: two devices hold the half, not eight.
fault(
    "sdy-suffix gather",
    [argument([16], ["yx"])],
    ([16], "f32", ["y"]),
    "$r = stablehlo.negate $0 : tensor<16xf32>",
    {"all_gather"},
)
# The two dims of a reduce_scatter, one of them not scattered.
fault("sdy-combined reduce scatter in one dim of two",
      [argument([8, 12], ["", "y"]), argument([12, 4], ["y", ""], seed=1)],
      ([8, 4], "f32", ["y", ""]),
      "$r = stablehlo.dot_general $0, $1, contracting_dims = [1] x [0] : (tensor<8x12xf32>, tensor<12x4xf32>) -> "
      "tensor<8x4xf32>",
      {"reduce_scatter"})
# One all_to_all suffices; and it may exceed the size of a dim.
fault("pytorch-131210 one all to all", [argument([16, 16], ["y", ""])], ([16, 16], "f32", ["", "y"]),
      "$r = stablehlo.negate $0 : tensor<16x16xf32>", {"all_to_all"})
fault("sdy-capacity all to all into a small dim", [argument([16, 2], ["y", ""])], ([16, 2], "f32", ["", "y"]),
      "$r = stablehlo.negate $0 : tensor<16x2xf32>", {"all_to_all", "all_gather"})

# A dim of size 1 that is sharded is on one device; what drops it needs it everywhere.
for shape, dims, to in (([2, 2, 1], ["x", "", "y"], [4]), ([1, 6], ["y", ""], [6]), ([3, 1, 2], ["", "xy", ""], [6])):
    fault(f"sdy-reshape dropped unit dim of {shape}", [argument(shape, dims)], (to, "f32", [""]),
          f"$r = stablehlo.reshape $0 : ({tensor(shape, 'f32')}) -> {tensor(to, 'f32')}", {"all_gather"})
fault("a repeated unit dim", [argument([1, 3], ["y", ""])], ([5, 3], "f32", ["", ""]),
      "$r = stablehlo.broadcast_in_dim $0, dims = [0, 1] : (tensor<1x3xf32>) -> tensor<5x3xf32>", {"all_gather"})

# XLA adds the starts of a slice of a slice, and forgets to clamp the first.
for start in (-4, 1, 7):
    fault(f"piece of a dynamic slice at {start}", [argument([8], [""]), index(start)], ([6], "f32", ["x"]),
          "$r = stablehlo.dynamic_slice $0, $1, sizes = [6] : (tensor<8xf32>, tensor<i32>) -> tensor<6xf32>", set())
    fault(
        f"row of a piece at {start}",
        [argument([8, 4], ["", ""]), (np.array([start]), "i32", [""])],
        ([6, 4], "f32", ["", "x"]),
        '$r = "stablehlo.gather"($0, $1) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], '
        "start_index_map = [0]>, "
        "slice_sizes = array<i64: 6, 4>}> : (tensor<8x4xf32>, tensor<1xi32>) -> tensor<6x4xf32>",
        set(),
    )
for place in (-1, 3, 5):
    fault(
        f"scatter of one row at {place}",
        [argument([4, 4], ["", ""]), (np.array([place]), "i32", [""]), argument([1, 4], ["", ""])],
        ([4, 4], "f32", ["x", ""]),
        f'$r = "stablehlo.scatter"($0, $1, $2) <{{scatter_dimension_numbers = #stablehlo.scatter<{INTO}>}}> ({{\n'
        "^bb0($p: tensor<f32>, $q: tensor<f32>):\nstablehlo.return $q : tensor<f32>\n}) : "
        "(tensor<4x4xf32>, tensor<1xi32>, tensor<1x4xf32>) -> tensor<4x4xf32>",
        set(),
    )

# The engine's maximum over devices loses NaN.
for body, kind, start in (
    ("maximum", "f32", -np.inf),
    ("minimum", "f64", np.inf),
    ("maximum", "bf16", -9),
    ("minimum", "f16", 9),
):
    table = np.where(np.eye(9, 5) > 0, np.nan, np.arange(45.0).reshape(9, 5) - 20)
    table[0, 1], table[8] = np.inf, [-np.inf, -0.0, 1, 0, np.nan]
    fault(f"{body} of {kind} with NaN", [(table, kind, ["", "xy"]), (np.asarray(start), kind, [])], ([9], kind, [""]),
          f"$r = stablehlo.reduce($0 init: $1) applies stablehlo.{body} across dimensions = [1] : "
          f"({tensor([9, 5], kind)}, tensor<{kind}>) -> {tensor([9], kind)}", {"all_reduce"})

# A reduction of a concatenation forgets its initial value, where there is one row of each part: an all_to_all is such.
for body, kind in (("add", "ui8"), ("multiply", "i32"), ("xor", "i32"), ("maximum", "f32")):
    fault(
        f"initial value of {body} behind an all_to_all",
        [argument([2, 8], ["x", ""], kind), (np.asarray(3), kind, [])],
        ([8], kind, ["x"]),
        f"""$c = sdy.sharding_constraint $0 <@mesh, [{{}}, {{"x"}}]> : {tensor([2, 8], kind)}
$r = stablehlo.reduce($c init: $1) applies stablehlo.{body} across dimensions = [0] : """
        f"({tensor([2, 8], kind)}, tensor<{kind}>) -> {tensor([8], kind)}",
        {"all_to_all"},
    )

# The engine refuses to exchange slices of a padded tensor, some of which are constants to it, in several layouts.
fault("padded and exchanged", [argument([2, 2, 2, 1], ["xy", "", "", ""])], ([2, 2, 1, 2], "f32", ["x", "", "y", ""]),
      "$r = stablehlo.transpose $0, dims = [2, 1, 3, 0] : (tensor<2x2x2x1xf32>) -> tensor<2x2x1x2xf32>",
      {"all_to_all", "collective_permute"})
# It aborts at a complex sum of constants over devices.
fault(
    "complex product of nothing",
    [argument([3, 0], ["", "xy"], "complex<f32>"), argument([0, 5], ["xy", ""], "complex<f32>")],
    ([3, 5], "complex<f32>", ["", ""]),
    "$r = stablehlo.dot_general $0, $1, contracting_dims = [1] x [0] : "
    "(tensor<3x0xcomplex<f32>>, tensor<0x5xcomplex<f32>>) -> tensor<3x5xcomplex<f32>>",
    {"all_reduce"},
)

# Uneven sizes at the boundary are refused or silently changed.
fault("jax-26946 uneven boundary", [argument([10, 3], ["y", "x"])], ([10, 3], "f32", ["y", "x"]),
      "$r = stablehlo.add $0, $0 : tensor<10x3xf32>", set())
fault(
    "jax-27808 fewer rows than devices",
    [argument([3], ["xy"])],
    ([3], "f32", ["xy"]),
    "$r = stablehlo.add $0, $0 : tensor<3xf32>",
    set(),
)

# Arithmetic that no all_reduce of the engine does: each device's result is exchanged, not its operand.
for body, kind in (("multiply", "f32"), ("xor", "i32"), ("and", "i32"), ("or", "ui8"), ("multiply", "complex<f32>")):
    init = {"multiply": 2, "and": -1}.get(body, 0)
    fault(f"{body} of {kind}", [argument([10, 64], ["y", ""], kind), (np.asarray(init), kind, [])], ([64], kind, [""]),
          f"$r = stablehlo.reduce($0 init: $1) applies stablehlo.{body} across dimensions = [0] : "
          f"({tensor([10, 64], kind)}, tensor<{kind}>) -> {tensor([64], kind)}", {"all_gather"})
for size in (16, 10, 3):
    fault(
        f"pytorch-167977 argmax of {size}",
        [argument([size, 4], ["y", ""]), (np.float32(-np.inf), "f32", []), (np.int32(0), "i32", [])],
        ([4], "i32", [""]),
        f"""$k = stablehlo.iota dim = 0 : {tensor([size, 4], "i32")}
$v:2 = stablehlo.reduce($0 init: $1), ($k init: $2) across dimensions = [0] :
  ({tensor([size, 4], "f32")}, {tensor([size, 4], "i32")}, tensor<f32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)
  reducer($p: tensor<f32>, $q: tensor<f32>) ($s: tensor<i32>, $t: tensor<i32>) {{
    $more = stablehlo.compare GT, $p, $q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    $same = stablehlo.compare EQ, $p, $q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    $first = stablehlo.compare LT, $s, $t : (tensor<i32>, tensor<i32>) -> tensor<i1>
    $both = stablehlo.and $same, $first : tensor<i1>
    $left = stablehlo.or $more, $both : tensor<i1>
    $value = stablehlo.select $left, $p, $q : tensor<i1>, tensor<f32>
    $place = stablehlo.select $left, $s, $t : tensor<i1>, tensor<i32>
    stablehlo.return $value, $place : tensor<f32>, tensor<i32>
  }}
$zero = stablehlo.subtract $v#1, $v#1 : tensor<4xi32>
$r = stablehlo.add $v#1, $zero : tensor<4xi32>""",
        {"all_gather"},
    )


# Ops without a rule.
fault("pytorch-147724 one index of another dim", [argument([16, 4], ["y", ""])], ([16], "f32", ["y"]),
      "$a = stablehlo.slice $0 [0:16, 2:3] : (tensor<16x4xf32>) -> tensor<16x1xf32>\n"
      "$r = stablehlo.reshape $a : (tensor<16x1xf32>) -> tensor<16xf32>", set())
fault(
    "pytorch-152249 masked fill",
    [argument([10, 4], ["y", "x"]), argument([10, 4], ["y", "x"], "i1"), (np.float32(9), "f32", [])],
    ([10, 4], "f32", ["y", "x"]),
    "$a = stablehlo.broadcast_in_dim $2, dims = [] : (tensor<f32>) -> tensor<10x4xf32>\n"
    "$r = stablehlo.select $1, $a, $0 : tensor<10x4xi1>, tensor<10x4xf32>",
    set(),
)
fault("pytorch-167917 jax-25010 detached, rematerialised", [argument([10, 4], ["y", "x"])],
      ([10, 4], "f32", ["y", "x"]), "$r = stablehlo.optimization_barrier $0 : tensor<10x4xf32>", set())
fault(
    "pytorch-147578 largest absolute value of rows",
    [argument([8, 16], ["x", "y"]), (np.float32(0), "f32", [])],
    ([8], "f32", ["x"]),
    "$a = stablehlo.abs $0 : tensor<8x16xf32>\n$r = stablehlo.reduce($a init: $1) applies stablehlo.maximum across "
    "dimensions = [1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>",
    {"all_reduce"},
)
fault(
    "pytorch-124990 diagonal",
    [argument([16, 16], ["y", ""]), (np.stack([np.arange(16)] * 2, 1), "i32", ["", ""])],
    ([16], "f32", [""]),
    '$r = "stablehlo.gather"($0, $1) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], '
    "start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : "
    "(tensor<16x16xf32>, tensor<16x2xi32>) -> tensor<16xf32>",
    {"all_reduce"},
)
fault(
    "jax-20381 gather of batches",
    [argument([8, 6], ["y", ""]), (np.arange(24).reshape(8, 3, 1) % 9 - 1, "i32", ["y", "", ""])],
    ([8, 3], "f32", ["y", ""]),
    '$r = "stablehlo.gather"($0, $1) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], '
    "operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, "
    "slice_sizes = array<i64: 1, 1>}> : (tensor<8x6xf32>, tensor<8x3x1xi32>) -> tensor<8x3xf32>",
    set(),
)


def argsort(name, shape, dims, dim, collectives):
    kind, places = tensor(shape, "f32"), tensor(shape, "i32")
    fault(name, [argument(shape, dims)], (shape, "i32", dims),
          f"""$i = stablehlo.iota dim = {dim} : {places}
$s:2 = "stablehlo.sort"($0, $i) <{{dimension = {dim} : i64, is_stable = true}}> ({{
^bb0($a: tensor<f32>, $b: tensor<f32>, $c: tensor<i32>, $d: tensor<i32>):
$l = stablehlo.compare LT, $a, $b : (tensor<f32>, tensor<f32>) -> tensor<i1>
stablehlo.return $l : tensor<i1>
}}) : ({kind}, {places}) -> ({kind}, {places})
$r = stablehlo.add $s#1, $i : {places}""", collectives)


argsort("jax-35650 argsort of another dim", [8, 6], ["y", ""], 1, set())
argsort("jax-35650 argsort of the sharded dim", [8, 16], ["", "y"], 1, {"all_to_all"})
argsort("jax-35650 argsort of uneven rows", [10, 3], ["y", ""], 1, set())
# Top-k of as much as a shard holds, and of more.
for k in (2, 4, 7):
    fault(
        f"jax-19271 torchtitan-3645 sdy-no-rule-top-k top {k} of pieces of 4",
        [argument([3, 16], ["", "y"])],
        ([3, k], "i32", ["", ""]),
        f"$v, $r = chlo.top_k($0, k = {k}) : tensor<3x16xf32> -> ({tensor([3, k], 'f32')}, {tensor([3, k], 'i32')})",
        {"all_gather", "all_to_all"},
    )
# Rows by columns stay where they are. Groups and batches too.
fault(
    "xla-4062 rows by columns",
    [argument([16, 8], ["y", ""]), argument([8, 6], ["", "x"], seed=1)],
    ([16, 6], "f32", ["y", "x"]),
    "$r = stablehlo.dot_general $0, $1, contracting_dims = [1] x [0] : (tensor<16x8xf32>, tensor<8x6xf32>) -> "
    "tensor<16x6xf32>",
    set(),
)
fault(
    "xla-47945 xla-48086 convolution in groups of two",
    [argument([2, 9, 16], ["", "", "y"]), argument([3, 2, 16], ["", "", "y"], seed=1)],
    ([2, 7, 16], "f32", ["", "", "y"]),
    "$r = stablehlo.convolution($0, $1) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1]} "
    "{feature_group_count = 8 : i64, batch_group_count = 1 : i64} : "
    "(tensor<2x9x16xf32>, tensor<3x2x16xf32>) -> tensor<2x7x16xf32>",
    set(),
)
fault("xla-48530 transforms of batches", [argument([8, 5, 4], ["x", "y", ""], "complex<f32>")],
      ([8, 5, 4], "complex<f32>", ["x", "y", ""]),
      "$r = stablehlo.fft $0, type = FFT, length = [4] : (tensor<8x5x4xcomplex<f32>>) -> tensor<8x5x4xcomplex<f32>>",
      set(),
      tolerance=1e-4)


# What one device holds a shard of, the caller may hold whole.
fault("xla-5963 sum of what is whole", [argument([16, 8], ["", ""]), (np.float32(0), "f32", [])], ([], "f32", []),
      "$a = stablehlo.abs $0 : tensor<16x8xf32>\n$r = stablehlo.reduce($a init: $1) applies stablehlo.add across "
      "dimensions = [0, 1] : (tensor<16x8xf32>, tensor<f32>) -> tensor<f32>", {"all_reduce"})
# One layer of a stack that is sharded by layers: what its owner has goes to all, not the stack.
fault(
    "xla-44795 one layer of a stack",
    [argument([8, 4, 6], ["xy", "", ""]), index(5), index(0)],
    ([1, 4, 6], "f32", ["", "", ""]),
    "$r = stablehlo.dynamic_slice $0, $1, $2, $2, sizes = [1, 4, 6] : (tensor<8x4x6xf32>, tensor<i32>, tensor<i32>, "
    "tensor<i32>) -> tensor<1x4x6xf32>",
    {"all_reduce"},
)
# Places that are known when it is compiled.
fault("jax-23052 scatter at known places", [argument([16, 4], ["y", ""]), argument([2, 4], ["", ""], seed=1)],
      ([16, 4], "f32", ["y", ""]),
      "$i = stablehlo.constant dense<[3, 14]> : tensor<2xi32>\n"
      f'$r = "stablehlo.scatter"($0, $i, $1) <{{indices_are_sorted = true, unique_indices = true, '
      'scatter_dimension_numbers = '
      f"#stablehlo.scatter<{INTO}>}}> ({{\n^bb0($p: tensor<f32>, $q: tensor<f32>):\nstablehlo.return $q : "
      f"tensor<f32>\n}}) : (tensor<16x4xf32>, tensor<2xi32>, tensor<2x4xf32>) -> tensor<16x4xf32>", set())
# All three dims of a volume that is sharded by planes.
fault("jax-16909 transform of a volume", [argument([8, 8, 8], ["xy", "", ""], "complex<f32>")],
      ([8, 8, 8], "complex<f32>", ["xy", "", ""]),
      """$a = stablehlo.fft $0, type = FFT, length = [8, 8] : (tensor<8x8x8xcomplex<f32>>) -> tensor<8x8x8xcomplex<f32>>
$b = stablehlo.transpose $a, dims = [1, 2, 0] : (tensor<8x8x8xcomplex<f32>>) -> tensor<8x8x8xcomplex<f32>>
$c = stablehlo.fft $b, type = FFT, length = [8] : (tensor<8x8x8xcomplex<f32>>) -> tensor<8x8x8xcomplex<f32>>
$r = stablehlo.transpose $c, dims = [2, 0, 1] : (tensor<8x8x8xcomplex<f32>>) -> tensor<8x8x8xcomplex<f32>>""", {"all_to_all"},
      tolerance=1e-3)


def rolled_both_ways(size, dims):
    """Two rotations as JAX transposes them, of which one element is all that a device has."""
    all, most, one = (tensor([n], "f32") for n in (size, size - 1, 1))

    def pad(value, result, low, high, to):
        return (
            f"${result} = stablehlo.pad ${value}, $1, low = [{low}], high = [{high}], interior = [0] : ({all}, "
            f"tensor<f32>) -> {to}\n"
        )

    body = pad(0, "p", 1 - size, 0, one) + pad(0, "q", 0, -1, most) + pad(0, "s", -1, 0, most) + pad(0, "t", 0,
        1 - size, one)
    body += f"$a = stablehlo.concatenate $p, $q, dim = 0 : ({one}, {most}) -> {all}\n"
    body += f"$b = stablehlo.concatenate $s, $t, dim = 0 : ({most}, {one}) -> {all}\n$r = stablehlo.add $a, $b : {all}"
    fault(f"jax-39301 transposed rolls of {size}", [argument([size], dims), (np.float32(0), "f32", [])],
          ([size], "f32", dims), body,
          PERMUTES)


rolled_both_ways(8, ["xy"])
rolled_both_ways(4, ["y"])
rolled_both_ways(7, ["xy"])


def reshape(name, shape, dims, to, dims_to, collectives):
    fault(f"{name} {shape} to {to}", [argument(shape, dims)], (to, "f32", dims_to),
          f"$r = stablehlo.reshape $0 : ({tensor(shape, 'f32')}) -> {tensor(to, 'f32')}", collectives)


# Reshapes of a sharded dim that is not the first of those it is merged with, and of uneven ones: refused, or wrong.
reshape("pytorch-179502", [12, 8], ["", "y"], [16, 6], ["y", ""], MOVES)
reshape("pytorch-179502", [4, 4, 4], ["", "x", ""], [8, 8], ["x", ""], MOVES)
reshape("pytorch-143372", [6, 256], ["y", ""], [1536], ["y"], MOVES | {"all_gather"})
reshape("pytorch-149764", [6, 10], ["", "y"], [60], ["y"], MOVES | {"all_gather"})
reshape("pytorch-161161", [6, 5, 4], ["", "y", ""], [30, 4], ["y", ""], MOVES | {"all_gather"})
reshape("pytorch-161950", [12, 4], ["y", ""], [2, 6, 4], ["", "y", ""], MOVES)
reshape("pytorch-161950", [6], ["y"], [2, 3], ["x", "y"], MOVES | {"all_gather"})

# Constraints inside that do not divide: replicated without a word, or not to be printed.
fault("jax-26946 uneven constraint", [argument([17, 4], ["", ""])], ([17, 4], "f32", ["", ""]),
      '$a = stablehlo.add $0, $0 : tensor<17x4xf32>\n$b = sdy.sharding_constraint $a <@mesh, [{"y"}, {}]> : '
      'tensor<17x4xf32>\n'
      "$r = stablehlo.multiply $b, $0 : tensor<17x4xf32>", {"all_gather"})
fault("jax-27808 uneven result of a whole argument", [argument([5], [""])], ([5], "f32", ["y"]),
      "$r = stablehlo.add $0, $0 : tensor<5xf32>", set())
fault("jax-15788 constraint to more devices than rows", [argument([7, 1], ["", ""])], ([7, 1], "f32", ["xy", ""]),
      '$a = sdy.sharding_constraint $0 <@mesh, [{"x", "y"}, {}]> : tensor<7x1xf32>\n$r = stablehlo.add $a, $a : '
      'tensor<7x1xf32>',
      set())
fault("sdy-search all to all of uneven pieces", [argument([10, 9], ["y", ""])], ([10, 9], "f32", ["", "y"]),
      "$r = stablehlo.negate $0 : tensor<10x9xf32>", {"all_to_all"})
fault("sdy-padding sort of an uneven dim", [argument([10, 3], ["y", ""])], ([10, 3], "f32", ["y", ""]),
      """$r = "stablehlo.sort"($0) <{dimension = 0 : i64}> ({
^bb0($a: tensor<f32>, $b: tensor<f32>):
$l = stablehlo.compare LT, $a, $b : (tensor<f32>, tensor<f32>) -> tensor<i1>
stablehlo.return $l : tensor<i1>
}) : (tensor<10x3xf32>) -> tensor<10x3xf32>""", {"all_to_all", "all_gather"})

# Windows that reach over the boundary of a shard: the whole dim is gathered.
fault("sdy-halo convolution", [argument([2, 16, 3], ["", "y", ""]), argument([3, 3, 5], ["", "", ""], seed=1)],
      ([2, 16, 5], "f32", ["", "y", ""]),
      "$r = stablehlo.convolution($0, $1) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], pad "
      "= [[1, 1]]} {feature_group_count = 1 : i64, batch_group_count = 1 : i64} : "
      "(tensor<2x16x3xf32>, tensor<3x3x5xf32>) -> tensor<2x16x5xf32>", PERMUTES)
fault("sdy-halo convolution of every other one",
      [argument([2, 21, 3], ["", "y", ""]), argument([3, 3, 5], ["", "", ""], seed=1)],
      ([2, 10, 5], "f32", ["", "y", ""]),
      "$r = stablehlo.convolution($0, $1) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [2]} "
      "{feature_group_count = 1 : i64, batch_group_count = 1 : i64} : "
      "(tensor<2x21x3xf32>, tensor<3x3x5xf32>) -> tensor<2x10x5xf32>", PERMUTES)
fault("sdy-halo largest of windows", [argument([16], ["y"])], ([16], "f32", ["y"]),
      """$i = stablehlo.constant dense<0xFF800000> : tensor<f32>
$r = "stablehlo.reduce_window"($0, $i) <{window_dimensions = array<i64: 3>, padding = dense<1> : tensor<1x2xi64>}> ({
^bb0($a: tensor<f32>, $b: tensor<f32>):
$m = stablehlo.maximum $a, $b : tensor<f32>
stablehlo.return $m : tensor<f32>
}) : (tensor<16xf32>, tensor<f32>) -> tensor<16xf32>""", PERMUTES)


def pool_gradient(name, size, window, stride, padding, dims, sources, dims_sources, collectives):
    """Sources added where windows have their largest."""
    a, b, low, high = tensor([size], "f32"), tensor([sources], "f32"), *padding
    fault(
        f"sdy-select-and-scatter {name}",
        [argument([size], dims), argument([sources], dims_sources, seed=2), (np.float32(3), "f32", [])],
        ([size], "f32", dims),
        f"""$r = "stablehlo.select_and_scatter"($0, $1, $2) <{{window_dimensions = array<i64: {window}>,
  window_strides = array<i64: {stride}>, padding = dense<[[{low}, {high}]]> : tensor<1x2xi64>}}> ({{
^bb0($a: tensor<f32>, $b: tensor<f32>):
$g = stablehlo.compare GE, $a, $b : (tensor<f32>, tensor<f32>) -> tensor<i1>
stablehlo.return $g : tensor<i1>
}}, {{
^bb0($c: tensor<f32>, $d: tensor<f32>):
$s = stablehlo.add $c, $d : tensor<f32>
stablehlo.return $s : tensor<f32>
}}) : ({a}, {b}, tensor<f32>) -> {a}""",
        collectives,
    )


pool_gradient("side by side", 16, 2, 2, (0, 0), ["y"], 8, ["y"], set())
pool_gradient("overlapping", 16, 3, 2, (0, 1), ["y"], 8, ["y"], PERMUTES)
pool_gradient("padded", 15, 3, 2, (1, 1), ["y"], 8, ["y"], PERMUTES)
pool_gradient("of every position", 16, 3, 1, (1, 1), ["xy"], 16, ["xy"], PERMUTES)
pool_gradient("with gaps", 24, 2, 3, (0, 0), ["y"], 8, ["y"], set())

# Windows of several rows of a sharded dim, at places that are data.
fault("xla-44795 two layers of a stack", [argument([8, 4], ["y", ""]), index(3), index(0)], ([2, 4], "f32", ["", ""]),
      "$r = stablehlo.dynamic_slice $0, $1, $2, sizes = [2, 4] : (tensor<8x4xf32>, tensor<i32>, tensor<i32>) -> "
      "tensor<2x4xf32>",
      {"all_reduce"})
BLOCKS = np.array([[-3], [2], [3], [14], [40]])
fault(
    "jax-20381 gather of blocks",
    [argument([64, 4], ["y", ""]), (BLOCKS, "i32", ["", ""])],
    ([5, 3, 4], "f32", ["", "", ""]),
    '$r = "stablehlo.gather"($0, $1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], start_index_map '
    "= [0], index_vector_dim = 1>, slice_sizes = array<i64: 3, 4>}> : (tensor<64x4xf32>, tensor<5x1xi32>) -> "
    "tensor<5x3x4xf32>",
    {"all_reduce"},
)
scatter("jax-23052 scatter of blocks", "update_window_dims = [1, 2], scatter_dims_to_operand_dims = [0], "
                                       "index_vector_dim = 1", [16, 4],
        ["y", ""], BLOCKS, [5, 3, 4], set())
