"""Dims that their axes do not divide, are smaller than the axes, of size 1 and 0: op by op, NaN behind every shard.

Many cases share a program: what they cost is its compilation.
"""

import itertools

import numpy as np
import pytest
import shardonnay
from uneven import Case, PoisonedProgram, argument, batched, kinds_of, program, scalar, tensor

CASES = []
SIZES = (10, 5, 3, 1)


def case(name, arguments, result, body, collectives=None, tolerance=0.0):
    if any(name == other.name for other in CASES):
        return  # two ways to write one slice
    CASES.append(Case(name, arguments, result, body, collectives, tolerance))


def unary(name, op, source, target, element="f32", collectives=frozenset()):
    """One operand, one result: each a shape with its axes. `op` has no types."""
    (shape, dims), (result, result_dims) = source, target
    body = f"$r = {op} : ({tensor(shape, element)}) -> {tensor(result, element)}"
    case(name, [argument(shape, dims, element)], (result, element, result_dims), body, collectives)


#
# Boundary to boundary: every sharding of a dim of every size becomes every other one.
#

for size in (*SIZES, 0):
    for source, target in itertools.permutations(("", "x", "y", "xy", "yx", "Y", "Yx"), 2):
        element = "i32" if "Y" in source + target else "f32"
        shape = [size, 3]
        case(f"reshard {size} from {source or '-'} to {target or '-'}", [argument(shape, [source, ""], element)],
             (shape, element, [target, ""]), f"$r = stablehlo.negate $0 : {tensor(shape, element)}")
for source, target in ((["x", "y"], ["y", "x"]), (["y", ""], ["", "y"]), (["xy", ""], ["", "yx"]),
                       (["y", ""], ["x", "y"]), (["Y", "x"], ["x", "Y"])):
    for shape in ([10, 7], [5, 3], [1, 10], [2, 1]):
        case(f"reshard {shape} from {source} to {target}", [argument(shape, source)], (shape, "f32", target),
             f"$r = stablehlo.negate $0 : {tensor(shape, 'f32')}")

#
# Reductions: what stands behind the end does not count.
#

IDENTITY = {"add": 0, "maximum": -np.inf, "minimum": np.inf, "or": False, "and": True}
for size, axes in itertools.product((*SIZES, 0), ("y", "xy")):
    for combiner in IDENTITY:
        element = "i1" if combiner in ("or", "and") else "bf16" if size == 5 else "f32"
        init = IDENTITY[combiner] if size % 2 else 2
        # What is no larger than the result is rather gathered: half the steps.
        kinds = {"all_reduce"} if size > 1 else {"all_reduce", "all_gather"}
        case(f"{combiner} over {size} on {axes}", [argument([size, 6], [axes, ""], element), scalar(init, element)],
             ([6], element, [""]),
             f"$r = stablehlo.reduce($0 init: $1) applies stablehlo.{combiner} across dimensions = [0] : "
             f"({tensor([size, 6], element)}, tensor<{element}>) -> {tensor([6], element)}", kinds)
for kind in ("i8", "ui32", "complex<f32>", "f64"):
    case(f"add of {kind}", [argument([10, 6], ["y", "x"], kind), scalar(1, kind)], ([6], kind, ["y"]),
         f"$r = stablehlo.reduce($0 init: $1) applies stablehlo.add across dimensions = [0] : "
         f"({tensor([10, 6], kind)}, tensor<{kind}>) -> {tensor([6], kind)}")

for size, axes in itertools.product((*SIZES, 0), ("y", "xy")):
    for combiner, kind in (("multiply", "f32"), ("xor", "i32"), ("and", "ui8"), ("or", "i64")):
        # The engine drops what a reduction of one element starts from.
        init = {"multiply": 1 if size == 1 else 3, "and": -1 if kind[0] == "i" else 255}.get(combiner, 0)
        case(f"{combiner} of {kind} over {size} on {axes}", [argument([size, 6], [axes, ""], kind), scalar(init, kind)],
             ([6], kind, [""]),
             f"$r = stablehlo.reduce($0 init: $1) applies stablehlo.{combiner} across dimensions = [0] : "
             f"({tensor([size, 6], kind)}, tensor<{kind}>) -> {tensor([6], kind)}", {"all_gather"})

#
# Contractions: zero on both sides, since 0 times NaN is NaN.
#

for size, axes in itertools.product((*SIZES, 0), ("y", "yx")):
    case(f"dot over {size} on {axes}", [argument([4, size], ["", axes]), argument([size, 6], [axes, ""], seed=1)],
         ([4, 6], "f32", ["", ""]),
         f"$r = stablehlo.dot_general $0, $1, contracting_dims = [1] x [0] : "
         f"({tensor([4, size], 'f32')}, {tensor([size, 6], 'f32')}) -> tensor<4x6xf32>", {"all_reduce"})
for batch, rows in itertools.product((5, 1, 0), (10, 3)):
    lhs, rhs = [batch, rows, 7], [batch, 7, 9]
    case(f"dot of {batch} times {rows}", [argument(lhs, ["x", "y", ""]), argument(rhs, ["x", "", ""], seed=1)],
         ([batch, rows, 9], "f32", ["x", "y", ""]),
         f"$r = stablehlo.dot_general $0, $1, batching_dims = [0] x [0], contracting_dims = [2] x [1] : "
         f"({tensor(lhs, 'f32')}, {tensor(rhs, 'f32')}) -> {tensor([batch, rows, 9], 'f32')}", set())
case("dot into uneven rows", [argument([10, 12], ["", "y"]), argument([12, 6], ["y", ""], seed=1)],
     ([10, 6], "f32", ["y", ""]),
     "$r = stablehlo.dot_general $0, $1, contracting_dims = [1] x [0] : (tensor<10x12xf32>, tensor<12x6xf32>) -> "
     "tensor<10x6xf32>")

#
# Windows
#

for axes in ("y", "xy"):
    unary(
        f"reverse nothing on {axes}",
        "stablehlo.reverse $0, dims = [0]",
        ([0, 2], [axes, ""]),
        ([0, 2], [axes, ""]),
        "f32",
    )
for size, axes in itertools.product((16, 10, 5, 1), ("y", "xy", "Y")):
    dims = [axes, ""]
    unary(f"reverse {size} on {axes}", "stablehlo.reverse $0, dims = [0]", ([size, 2], dims), ([size, 2], dims), "f32",
          {"collective_permute", "all_gather"})
    for start, limit, stride in ((0, size - 1, 1), (1, size, 1), (0, size, 2), (1, size, 3), (size // 2, size // 2, 1)):
        count = max(0, -(-(limit - start) // stride))
        unary(
            f"slice {start}:{limit}:{stride} of {size} on {axes}",
            f"stablehlo.slice $0 [{start}:{limit}:{stride}, 0:2]",
            ([size, 2], dims),
            ([count, 2], dims),
            "i32",
            {"collective_permute", "all_gather"},
        )
    for low, high, interior in ((1, 1, 0), (0, 7, 0), (-1, 2, 0), (20, 0, 0), (0, 0, 1), (2, -1, 2), (-size, 3, 0)):
        padded = low + high + size + max(0, size - 1) * interior
        if padded < 0:
            continue
        shape, result = tensor([size, 2], "f32"), tensor([padded, 2], "f32")
        # far windows: the other dim is sharded
        kinds = {"collective_permute", "all_gather"} | ({"all_to_all"} if low == 20 else set())
        case(f"pad {size} on {axes} by {low} {high} {interior}", [argument([size, 2], dims), scalar(9)],
             ([padded, 2], "f32", dims),
             f"$r = stablehlo.pad $0, $1, low = [{low}, 0], high = [{high}, 0], interior = [{interior}, 0] : "
             f"({shape}, tensor<f32>) -> {result}", kinds)
for sizes, axes in itertools.product(((10, 3), (1, 9), (5, 0, 7), (2, 2, 2), (16, 16)), ("y", "yx")):
    total = sum(sizes)
    names = ", ".join(f"${i}" for i in range(len(sizes)))
    types = ", ".join(tensor([size, 2], "f32") for size in sizes)
    case(f"concatenate {sizes} on {axes}", [argument([size, 2], [axes, ""], seed=i) for i, size in enumerate(sizes)],
         ([total, 2], "f32", [axes, ""]), f"$r = stablehlo.concatenate {names}, dim = 0 : ({types}) -> "
                                          f"{tensor([total, 2], 'f32')}")
for size, shift in ((16, 1), (10, 3), (5, 4)):
    whole, end, begin = (tensor([n], "f32") for n in (size, shift, size - shift))
    case(f"roll {size} by {shift}", [argument([size], ["y"])], ([size], "f32", ["y"]),
         f"$a = stablehlo.slice $0 [{size - shift}:{size}] : ({whole}) -> {end}\n"
         f"$b = stablehlo.slice $0 [0:{size - shift}] : ({whole}) -> {begin}\n"
         f"$r = stablehlo.concatenate $a, $b, dim = 0 : ({end}, {begin}) -> {whole}")
# A dim goes on with its beginning, up to several times, on devices that have nothing of it themselves.
for size, first, count in ((4, 0, 12), (6, 0, 8), (6, 0, 7), (3, 2, 11), (1, 0, 9), (5, 3, 5)):
    for axes in ("", "y", "yx"):
        spans = [(first, size)] + [(0, size)] * ((count - size + first) // size) + [(0, (count - size + first) % size)]
        parts = [(start, limit) for start, limit in spans if start < limit]
        body = "".join(f"${chr(97 + i)} = stablehlo.slice $0 [{start}:{limit}] : ({tensor([size], 'f32')}) -> "
                       f"{tensor([limit - start], 'f32')}\n"
                       for i, (start, limit) in enumerate(parts))
        case(f"{count} of {size} from {first}, sharded by {axes}", [argument([size], [axes])], ([count], "f32", ["yx"]),
             f"{body}$r = stablehlo.concatenate {', '.join(f'${chr(97 + i)}' for i in range(len(parts)))}, dim = 0 : "
             f"({', '.join(tensor([limit - start], 'f32') for start, limit in parts)}) -> {tensor([count], 'f32')}")

#
# Shapes
#

for shape, dims, result, result_dims in (
    ([10, 4], ["y", ""], [40], ["y"]),
    ([10, 4], ["y", ""], [40], [""]),
    ([10, 4], ["y", "x"], [40], ["yx"]),
    ([40], ["y"], [10, 4], ["y", ""]),
    ([40], ["yx"], [4, 10], ["y", "x"]),
    ([6, 10], ["", "y"], [2, 3, 10], ["", "", "y"]),
    ([5, 1, 3], ["y", "", ""], [5, 3], ["y", ""]),
    ([15], ["xy"], [3, 5], ["x", "y"]),
    ([1], ["y"], [1, 1], ["x", "y"]),
    ([3, 0], ["y", ""], [0, 3], ["x", "y"]),
    ([7, 6], ["y", "x"], [6, 7], ["x", "y"]),
):
    unary(f"reshape {shape} on {dims} to {result} on {result_dims}", "stablehlo.reshape $0", (shape, dims),
          (result, result_dims), "f32", None)
for size, axes in itertools.product((*SIZES, 0), ("y", "yx")):
    unary(
        f"transpose {size} on {axes}",
        "stablehlo.transpose $0, dims = [1, 0]",
        ([size, 3], [axes, ""]),
        ([3, size], ["", axes]),
    )
    unary(f"broadcast {size} on {axes}", "stablehlo.broadcast_in_dim $0, dims = [1]", ([size], [axes]),
          ([2, size], ["", axes]))
    for kind in ("i32", "bf16"):
        case(f"iota {kind} {size} on {axes}", [], ([size, 2], kind, [axes, ""]),
             f"$r = stablehlo.iota dim = 0 : {tensor([size, 2], kind)}", set())
    if size:
        rows = ", ".join(str(3 * row - 4) for row in range(size))
        case(f"constant {size} on {axes}", [argument([size], [axes], "i32")], ([size], "i32", [axes]),
             f"$k = stablehlo.constant dense<[{rows}]> : {tensor([size], 'i32')}\n"
             f"$r = stablehlo.add $0, $k : {tensor([size], 'i32')}", set())

#
# Indices: clamped in the whole, wherever the shards end.
#

PLACES = np.array([0, 1, 4, 9, 10, 11, 12, -1, -100, 2**31 - 1, 3, 3])
ROWS = "offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1"
INTO = "update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1"
for size, axes in itertools.product(SIZES, ("y", "xy")):
    table = tensor([size, 3], "f32")
    case(f"gather rows of {size} on {axes}", [argument([size, 3], [axes, ""]), (PLACES, "i32", [""])],
         ([12, 3], "f32", ["", ""]),
         f'$r = "stablehlo.gather"($0, $1) <{{dimension_numbers = #stablehlo.gather<{ROWS}>, '
         f"slice_sizes = array<i64: 1, 3>}}> : ({table}, tensor<12xi32>) -> tensor<12x3xf32>")
    for body, updates_axes in itertools.product(
        ("add", "maximum", "multiply", "set"), ("", "x") if axes == "y" else ("",)
    ):
        places = PLACES[[0, 1, 2, 3, 5, 7, 8]] if body == "set" else PLACES
        count = len(places)
        combine = (
            "stablehlo.return $q"
            if body == "set"
            else f"$z = stablehlo.{body} $p, $q : tensor<f32>\nstablehlo.return $z"
        )
        case(f"scatter {body} into {size} on {axes} from {updates_axes or '-'}",
             [argument([size, 3], [axes, ""]), (places, "i32", [updates_axes]),
              argument([count, 3], [updates_axes, ""], seed=1)],
             ([size, 3], "f32", [axes, ""]),
             f'$r = "stablehlo.scatter"($0, $1, $2) <{{scatter_dimension_numbers = #stablehlo.scatter<{INTO}>}}> ({{\n'
             f"^bb0($p: tensor<f32>, $q: tensor<f32>):\n{combine} : tensor<f32>\n}}) : "
             f"({table}, {tensor([count], 'i32')}, {tensor([count, 3], 'f32')}) -> {table}")
    for start in (-3, 0, 2, 100):
        window = max(1, size // 2)
        case(
            f"dynamic slice of {size} on {axes} at {start}",
            [argument([size, 3], [axes, ""]), scalar(start, "i32"), scalar(0, "i32")],
            ([window, 3], "f32", ["", ""]),
            f"$r = stablehlo.dynamic_slice $0, $1, $2, sizes = [{window}, 3] : ({table}, tensor<i32>, tensor<i32>) -> "
            f"{tensor([window, 3], 'f32')}",
        )
        case(
            f"dynamic update of {size} on {axes} at {start}",
            [
                argument([size, 3], [axes, ""]),
                argument([window, 3], ["", ""], seed=1),
                scalar(start, "i32"),
                scalar(0, "i32"),
            ],
            ([size, 3], "f32", [axes, ""]),
            f"$r = stablehlo.dynamic_update_slice $0, $1, $2, $3 : ({table}, {tensor([window, 3], 'f32')}, "
            f"tensor<i32>, tensor<i32>) -> {table}",
            set(),
        )

problem_of = batched(CASES, 24)


def test_there_are_many():
    assert len(CASES) >= 600


def test_what_stands_behind_the_end_is_poison():
    """The check would notice: where the mask lets through what it keeps out, NaN arrives."""
    case = next(case for case in CASES if case.name == "add over 10 on y")
    compiled = shardonnay.compile(program([case]))
    inputs = [np.asarray(array, "f") for array, _, _ in case.arguments]
    masked = PoisonedProgram(compiled)(inputs)[0][0]
    assert compiled.text.count("stablehlo.compare LT") == 1
    robbed = shardonnay.Program(
        compiled.text.replace("stablehlo.compare LT", "stablehlo.compare GE"), compiled.manifest, None, ()
    )
    assert np.isfinite(masked).all() and np.isnan(PoisonedProgram(robbed)(inputs)[0][0]).all()


@pytest.mark.parametrize("number", range(len(CASES)), ids=[case.name.replace(" ", "-") for case in CASES])
def test_uneven(number):
    assert not (problem := problem_of(number)), problem


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.collectives is not None], ids=lambda case: case.name.replace(" ", "-")
)
def test_is_computed_in_shards(case):
    assert kinds_of(case) <= case.collectives
