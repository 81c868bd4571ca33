"""Single ops, computed on shards: where the local computation needs offsets, masks or other attributes.

Each case says which collectives its program has: one that is computed whole would pass every check of numbers.
"""

import numpy as np
import pytest
import shardonnay
from agrees import assert_agrees
from shardonnay import boundary
from uneven import MESH, SHARDED, sharding, tensor

RNG = np.random.default_rng(0)
CASES = []


def argument(name, value, element, dims):
    array = np.asarray(value).astype(boundary.dtype_of(element))
    return f"%{name}: {tensor(array.shape, element)} {{sdy.sharding = #sdy.sharding{sharding(dims)}}}", array


def case(name, arguments, op, result, collectives=()):
    """`op` is the text of an op up to its result type, with {sharding} where its attributes go."""
    shape, element, dims = result
    signature = ", ".join(text for text, _ in arguments)
    kind = tensor(shape, element)
    attributes = f"{{sdy.sharding = #sdy.sharding_per_value<[{sharding(dims)}]>}}"
    text = f"""{MESH}
func.func @main({signature}) -> ({kind} {{sdy.sharding = #sdy.sharding{sharding(dims)}}}) {{
  {op.replace("{sharding}", attributes)}
  return %0 : {kind}
}}"""
    CASES.append(pytest.param(text, [array for _, array in arguments], set(collectives), id=name.replace(" ", "-")))


def values(shape, element):
    if element == "i1":
        return RNG.random(shape) < 0.5
    if element.startswith("complex"):
        return RNG.integers(-9, 9, shape) + 1j * RNG.integers(-9, 9, shape)
    return RNG.integers(0 if element.startswith("u") else -9, 9, shape)


INTEGERS = {"i8": np.int8, "ui8": np.uint8, "i32": np.int32, "ui32": np.uint32, "i64": np.int64, "ui64": np.uint64}


def indices(count, element, size):
    """Indices of a dim of `size`: its bounds and those of the shards, what is past them, and the type's extremes."""
    limits = np.iinfo(INTEGERS[element])
    extreme = [0, size - 1, size, size // 2, size // 2 - 1, -1, -size, limits.min, limits.max, limits.max - 1]
    within = [index for index in extreme if limits.min <= index <= limits.max]
    within += RNG.integers(0, min(size, int(limits.max)), count).tolist()
    return np.array(within[:count], INTEGERS[element])


def gather(name, table, ids, numbers, sizes, result, collectives=("all_reduce",)):
    (shape, element, dims), (index_values, index_element, index_dims) = table, ids
    arguments = [
        argument("t", values(shape, element), element, dims),
        argument("i", index_values, index_element, index_dims),
    ]
    op = (
        f'%0 = "stablehlo.gather"(%t, %i) <{{dimension_numbers = #stablehlo.gather<{numbers}>, '
        f"slice_sizes = array<i64: {str(sizes)[1:-1]}>}}> {{sharding}} : "
        f"({tensor(shape, element)}, {tensor(np.shape(index_values), index_element)}) -> {tensor(*result[:2])}"
    )
    case(f"gather {name}", arguments, op, result, collectives)


ROWS = "offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1"
for kind in INTEGERS:
    gather(f"rows by {kind}", ([264, 6], "f32", ["y", ""]), (indices(16, kind, 264), kind, ["x"]), ROWS, [1, 6],
           ([16, 6], "f32", ["x", ""]))
for kind in ("i1", "i8", "bf16", "complex<f32>"):
    gather(f"rows of {kind}", ([64, 6], kind, ["xy", ""]), (indices(16, "i32", 64), "i32", [""]), ROWS, [1, 6],
           ([16, 6], kind, ["", ""]))
PAIR = np.stack([indices(12, "i32", 8), indices(12, "i32", 16)[::-1]])
gather("elements", ([8, 16], "f32", ["x", "y"]), (PAIR, "i32", ["", ""]),
       "collapsed_slice_dims = [0, 1], start_index_map = [0, 1]", [1, 1], ([12], "f32", [""]))
gather("elements, one dim sharded", ([16, 8], "f32", ["y", ""]), (PAIR, "i32", ["", "x"]),
       "collapsed_slice_dims = [0, 1], start_index_map = [1, 0]", [1, 1], ([12], "f32", ["x"]))
gather("a sharded dim without index", ([8, 16], "f32", ["x", "y"]), (indices(12, "i32", 16)[:, None], "i32", ["", ""]),
       "offset_dims = [0], collapsed_slice_dims = [0], start_index_map = [1], index_vector_dim = 1", [1, 1],
       ([1, 12], "f32", ["", ""]))
gather("columns", ([8, 16], "f32", ["", "y"]), (indices(12, "i32", 8), "i32", ["x"]), ROWS, [1, 16],
       ([12, 16], "f32", ["x", "y"]), ())
gather("batches", ([8, 4, 64], "f32", ["x", "", "y"]), (RNG.integers(-5, 70, (8, 4, 3, 1)), "i32", ["x", "", "", ""]),
       "collapsed_slice_dims = [2], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 1], "
       "start_index_map = [2], index_vector_dim = 3", [1, 1, 1], ([8, 4, 3], "f32", ["x", "", ""]))


BODIES = {name: f"%z = stablehlo.{name} %p, %q : T\n stablehlo.return %z : T" for name in ("add", "maximum", "minimum")}
BODIES["set"] = "stablehlo.return %q : T"


def scatter(name, body, operand, ids, updates, numbers, collectives=()):
    (shape, element, dims), (index_values, index_element, index_dims) = operand, ids
    update_shape, update_dims = updates
    arguments = [
        argument("a", values(shape, element), element, dims),
        argument("i", index_values, index_element, index_dims),
        argument("u", values(update_shape, element), element, update_dims),
    ]
    scalar = tensor([], element)
    op = f"""%0 = "stablehlo.scatter"(%a, %i, %u) <{{scatter_dimension_numbers = #stablehlo.scatter<{numbers}>}}> ({{
  ^bb0(%p: {scalar}, %q: {scalar}):
    {BODIES[body].replace("T", scalar)}
  }}) {{sharding}} : ({tensor(shape, element)}, {tensor(np.shape(index_values), index_element)},
    {tensor(update_shape, element)}) -> {tensor(shape, element)}"""
    case(f"scatter {name}", arguments, op, operand, collectives)


INTO_ROWS = (
    "update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1"
)
for kind in INTEGERS:
    scatter(f"rows by {kind}", "add", ([264, 6], "f32", ["y", ""]), (indices(16, kind, 264), kind, [""]),
            ([16, 6], ["", ""]), INTO_ROWS)
for body, kind in (("add", "f32"), ("add", "i1"), ("add", "complex<f32>"), ("maximum", "bf16"), ("minimum", "ui8")):
    scatter(f"{body} of {kind}, rows and updates sharded", body, ([64, 6], kind, ["x", ""]),
            (indices(16, "i32", 64), "i32", ["y"]), ([16, 6], ["y", ""]), INTO_ROWS, ["all_reduce"])
scatter("set", "set", ([64, 6], "f32", ["xy", ""]), (RNG.permutation(80)[:16], "i32", [""]), ([16, 6], ["", ""]),
        INTO_ROWS)
scatter("elements", "add", ([8, 16], "f32", ["x", "y"]), (PAIR, "i32", ["", ""]), ([12], [""]),
        "inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1]")
scatter("a sharded dim without index", "add", ([8, 16], "f32", ["x", "y"]), (indices(12, "i32", 16), "i32", [""]),
        ([12], [""]), "inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [1], index_vector_dim = 1"
        )


# The initial value is no neutral element; and on xy, each device reduces one row, where XLA would drop it.
for body, kind in (("add", "f32"), ("add", "ui8"), ("maximum", "bf16"), ("minimum", "i32"), ("or", "i1"),
                   ("and", "i1")):
    for dims, reduced, left in ((["y", "x"], [0], ["x"]), (["xy", ""], [0], [""]), (["y", "x"], [0, 1], [])):
        shape = [size for dim, size in enumerate([8, 16]) if dim not in reduced]
        arguments = [argument("a", values([8, 16], kind), kind, dims), argument("s", 3, kind, [])]
        op = (
            f"%0 = stablehlo.reduce(%a init: %s) applies stablehlo.{body} across dimensions = {reduced} {{sharding}} : "
            f"({tensor([8, 16], kind)}, {tensor([], kind)}) -> {tensor(shape, kind)}"
        )
        case(f"{body} of {kind} over {reduced} on {dims[0]}", arguments, op, (shape, kind, left), ["all_reduce"])

for kind in ("f32", "bf16", "i8", "ui32", "complex<f32>"):
    result = ([1000, 8], kind, ["y", "x"])
    case(f"iota of {kind}", [], f"%0 = stablehlo.iota dim = 0 {{sharding}} : {tensor(*result[:2])}", result)


def update(name, kind, start_kind, start, window, dims, window_dims):
    shape = [16, 8]
    arguments = [
        argument("a", values(shape, kind), kind, dims),
        argument("u", values(window, kind), kind, window_dims),
        argument("i", start[0], start_kind, []),
        argument("j", start[1], start_kind, []),
    ]
    scalar = tensor([], start_kind)
    op = (
        f"%0 = stablehlo.dynamic_update_slice %a, %u, %i, %j {{sharding}} : ({tensor(shape, kind)}, "
        f"{tensor(window, kind)}, {scalar}, {scalar}) -> {tensor(shape, kind)}"
    )
    case(f"update {name}", arguments, op, (shape, kind, dims))


for start in (-3, 0, 3, 7, 11, 2**31 - 1):
    update(f"at {start}", "f32", "i32", (start, 3), [5, 8], ["y", "x"], ["", "x"])
    update(f"both dims at {start}", "f32", "i32", (start, 4), [5, 3], ["x", "y"], ["", ""])
update("at the largest ui32", "complex<f32>", "ui32", (2**32 - 1, 0), [5, 8], ["y", ""], ["", ""])
update("of i1", "i1", "ui8", (2, 255), [5, 3], ["xy", ""], ["", ""])


@pytest.mark.parametrize("text, inputs, collectives", CASES)
def test_op_agrees(text, inputs, collectives):
    compiled = shardonnay.compile(text, **SHARDED)
    assert {entry["kind"] for entry in compiled.report["collectives"]} == collectives
    assert_agrees(compiled, text, inputs)
