"""Ops that move elements and make new ones: nothing is computed, so not a bit may differ."""

import math

import numpy as np
from elements import ANY, COMPLEX, FLOATS, INTEGERS, LARGEST, SIGNED, SIZES, array_text, is_float

WILD = (("small",), ("wild",))


def replica(graph):
    """All devices are one replica: number 0."""
    (number,) = graph.op("stablehlo.replica_id", [], [((), "ui32")], exact=True, bound=1)
    shape = graph.shape(0, 3)
    graph.op("stablehlo.broadcast_in_dim", [number], [(shape, "ui32")], "broadcast_dimensions = array<i64>", exact=True,
             bound=1)


def iota(graph):
    shape = graph.shape(1, 3)
    element = graph.choose([element for element in FLOATS[:4] + INTEGERS[:9] + COMPLEX])
    dim = graph.int(0, len(shape) - 1)
    if element.endswith("4") and shape[dim] > 7 or element == "bf16" and shape[dim] > 200:
        element = "i32"
    graph.op(
        "stablehlo.iota", [], [(shape, element)], f"iota_dimension = {dim} : i64", exact=True, bound=max(shape[dim], 1)
    )


def constant(graph):
    """Not a splat, so that every device takes its part; added to something that is sharded."""
    shape, element = (
        graph.shape(0, 2),
        graph.choose(("f32", "i32", "i1", "bf16", "ui8", "complex<f32>", "i4", "f64", "i64")),
    )
    array = (np.arange(math.prod(shape)).reshape(shape) * 3 + 1) % 4
    if graph.chance(20):
        array = array * 0 + 1
    held = graph.constant(array, element, shape)
    other = graph.operand(shape, element)
    joined = "stablehlo.or" if element == "i1" else "stablehlo.add"  # XLA folds true + true, both constant, to false.
    graph.op(joined, [held, other], [(shape, element)], bound=None if other.bound is None else 4 + other.bound)


def broadcast_in_dim(graph):
    a = graph.pick(ANY, high=2, kinds=WILD)
    rank = graph.int(a.rank, 3)
    places = sorted(graph.permutation(range(rank))[: a.rank])
    if graph.chance(25):
        places = graph.permutation(places)
    shape = [graph.size() for _ in range(rank)]
    for dim, place in enumerate(places):
        if a.shape[dim] != 1 or graph.chance(50):
            shape[place] = a.shape[dim]
    if math.prod(shape) > LARGEST:
        shape = [size if dim in places else 2 for dim, size in enumerate(shape)]
    graph.op("stablehlo.broadcast_in_dim", [a], [(shape, a.element)], f"broadcast_dimensions = {array_text(places)}",
             exact=True, bound=a.bound)


def repeated(graph):
    """What is repeated, moved and used with what is not: it is cheapest to send where it is small."""
    broadcast_in_dim(graph)
    value = graph.values[-1]
    for _ in range(graph.int(0, 3)):
        move = graph.choose(("reshape", "transpose", "negate", "abs"))
        if move == "reshape":
            shape = list(value.shape)
            shape.insert(graph.int(0, value.rank), 1)
            (value,) = graph.op("stablehlo.reshape", [value], [(shape, value.element)], exact=True, bound=value.bound)
        elif move == "transpose":
            order = graph.permutation(range(value.rank))
            (value,) = graph.op("stablehlo.transpose", [value], [([value.shape[dim] for dim in order], value.element)],
                                f"permutation = {array_text(order)}", exact=True, bound=value.bound)
        elif value.element in SIGNED or value.element in FLOATS:
            (value,) = graph.op(
                f"stablehlo.{move}", [value], [(value.shape, value.element)], exact=True, bound=value.bound
            )
    other, mask = graph.operand(value.shape, value.element), graph.operand(value.shape, "i1")
    bound = None if value.bound is None or other.bound is None else max(value.bound, other.bound)
    graph.op("stablehlo.select", [mask, value, other], [(value.shape, value.element)], exact=True, bound=bound)
    graph.ops[-1] += " repeated"


def broadcast(graph):
    a = graph.pick(ANY, high=2, kinds=WILD)
    sizes = [graph.choose((2, 3, 8, 1, 5)) for _ in range(graph.int(1, 2))]
    graph.op("stablehlo.broadcast", [a], [((*sizes, *a.shape), a.element)], f"broadcast_sizes = {array_text(sizes)}",
             exact=True, bound=a.bound)


def _factors(graph, size, count):
    """`count` sizes whose product is `size`."""
    found = []
    for _ in range(count - 1):
        divisors = [d for d in range(1, size + 1) if size % d == 0] if size else [0, 1, 3]
        found.append(graph.choose(divisors[::-1]))
        size = size // found[-1] if found[-1] else graph.choose((1, 2, 3))
    return [*found, size]


def reshape(graph):
    a = graph.pick(ANY, low=0, high=4, kinds=WILD)
    total = math.prod(a.shape)
    if total and a.rank > 1 and graph.chance(60):  # merge neighbours, split others: what programs do
        shape, dim = [], 0
        while dim < a.rank:
            take = graph.int(1, 2)
            shape += _factors(graph, math.prod(a.shape[dim : dim + take]), graph.int(1, 2))
            dim += take
    else:
        shape = _factors(graph, total, graph.int(1, 4))
    if math.prod(shape) != total:
        shape = [total]
    graph.op("stablehlo.reshape", [a], [(shape, a.element)], exact=True, bound=a.bound)


def rows(graph):
    """Reshapes of n rows, alone in a dim or with some of what is in them, each sharded alike: most often unevenly."""
    before, behind = ([graph.choose((2, 3))] if graph.chance(30) else [] for _ in range(2))
    count = graph.choose((6, 5, 3, 10, 1, 7, 8, 2, 12))
    parts = [graph.choose((4, 8, 3, 1, 5)) for _ in range(graph.int(1, 2))]
    element = graph.choose(("f32", "i32", "bf16", "i1", "i8", "complex<f32>", "f64"))
    axes = graph.permutation([f'"{name}"' for name, size in graph.mesh if size > 1])
    axes = ", ".join(axes[: graph.int(1, len(axes))])

    def sharding(shape):
        dims = [f"{{{axes if dim == len(before) else ''}}}" for dim in range(len(shape))]
        return f"<@mesh, [{', '.join(dims)}]>"

    forms = [(*before, count, *parts, *behind), (*before, count * math.prod(parts), *behind),
             (*before, count, math.prod(parts), *behind), (*before, count * parts[0], *parts[1:], *behind)]
    shape, *later = graph.permutation(forms)[: graph.int(2, 3)]
    if graph.chance(20):  # a constant follows what becomes of it, if it can
        value = graph.constant(np.arange(math.prod(shape)).reshape(shape) % 2, element)
    else:
        value = graph.constraint(graph.argument(shape, element, graph.choose(WILD)), sharding(shape))
    for shape in later:
        (made,) = graph.op(
            "stablehlo.reshape", [value], [(shape, element)], exact=True, bound=value.bound, attributes=False
        )
        value = graph.constraint(made, sharding(shape))


def transpose(graph):
    a = graph.pick(ANY, low=1, high=4, kinds=WILD)
    order = graph.permutation(range(a.rank))
    graph.op(
        "stablehlo.transpose",
        [a],
        [([a.shape[dim] for dim in order], a.element)],
        f"permutation = {array_text(order)}",
        exact=True,
        bound=a.bound,
    )


def reverse(graph):
    a = graph.pick(ANY, low=1, kinds=WILD)
    dims = graph.subset(range(a.rank), 1)
    graph.op(
        "stablehlo.reverse", [a], [(a.shape, a.element)], f"dimensions = {array_text(dims)}", exact=True, bound=a.bound
    )


def slice_(graph):
    a = graph.pick(ANY, low=1, kinds=WILD)
    starts, limits, strides = [], [], []
    for size in a.shape:
        starts.append(graph.int(0, size))
        limits.append(graph.int(starts[-1], size) if graph.chance(50) else size)
        strides.append(graph.choose((1, 2, 3, 5)))
    shape = [max(0, -(-(high - low) // step)) for low, high, step in zip(starts, limits, strides, strict=True)]
    graph.op("stablehlo.slice", [a], [(shape, a.element)],
             f"start_indices = {array_text(starts)}, limit_indices = {array_text(limits)}, strides = "
             f"{array_text(strides)}",
             exact=True, bound=a.bound)


def concatenate(graph):
    a = graph.pick(ANY, low=1, kinds=WILD)
    dim = graph.int(0, a.rank - 1)
    parts = [a]
    for _ in range(graph.int(0, 3)):
        size = graph.choose((a.shape[dim], *SIZES[:10]))
        parts.append(graph.operand(a.shape[:dim] + (size,) + a.shape[dim + 1 :], a.element))
    parts = graph.permutation(parts)
    total = sum(part.shape[dim] for part in parts)
    bounds = [part.bound for part in parts]
    graph.op(
        "stablehlo.concatenate",
        parts,
        [(a.shape[:dim] + (total,) + a.shape[dim + 1 :], a.element)],
        f"dimension = {dim} : i64",
        exact=True,
        bound=None if None in bounds else max(bounds),
    )


def roll(graph):
    """Windows of one value along a dim, joined: each begins where the one before it ended, around the end, or
    anywhere.
    """
    a = graph.pick(ANY, low=1, least=1)
    dim = graph.int(0, a.rank - 1)
    size, parts = a.shape[dim], []
    low = graph.int(0, size)
    for _ in range(graph.int(2, 4)):
        low = graph.int(0, size) if graph.chance(20) else low % size
        high = size if graph.chance(50) else graph.int(low, size)
        if (low, high) == (0, size) and graph.chance(50):
            parts.append(a)
        else:
            starts, limits = [0] * a.rank, list(a.shape)
            starts[dim], limits[dim] = low, high
            shape = [limit - start for start, limit in zip(starts, limits, strict=True)]
            parts += graph.op(
                "stablehlo.slice",
                [a],
                [(shape, a.element)],
                f"start_indices = {array_text(starts)}, limit_indices = "
                f"{array_text(limits)}, strides = {array_text([1] * a.rank)}",
                exact=True,
                bound=a.bound,
                attributes=False,
            )
        low = high
    shape = [sum(part.shape[dim] for part in parts) if at == dim else size for at, size in enumerate(a.shape)]
    graph.op(
        "stablehlo.concatenate", parts, [(shape, a.element)], f"dimension = {dim} : i64", exact=True, bound=a.bound
    )


def pad(graph):
    a = graph.pick(ANY, low=1, kinds=WILD)
    fill = graph.operand((), a.element)
    low, high, interior, shape = [], [], [], []
    for size in a.shape:
        wide = graph.choose((0, 0, 1, 2))
        base = size + max(0, size - 1) * wide
        before = graph.int(-min(base, 3), 5)
        after = graph.int(max(-3, -base - before), 5)
        low, high, interior = [*low, before], [*high, after], [*interior, wide]
        shape.append(base + before + after)
    if math.prod(shape) > 4 * LARGEST:  # of many dims
        low, high, interior, shape = [0] * a.rank, [1] + [0] * (a.rank - 1), [0] * a.rank, [a.shape[0] + 1,
            *a.shape[1:]]
    bound = None if a.bound is None or fill.bound is None else max(a.bound, fill.bound)
    graph.op(
        "stablehlo.pad",
        [a, fill],
        [(shape, a.element)],
        f"edge_padding_low = {array_text(low)}, edge_padding_high = "
        f"{array_text(high)}, interior_padding = {array_text(interior)}",
        exact=True,
        bound=bound,
    )


# Of one width; and of widths whose ratio is the last dim.
SAME = (("f32", "i32", "ui32"), ("bf16", "f16", "i16", "ui16"), ("i8", "ui8", "f8E4M3FN"), ("f64", "i64", "ui64"))
WIDTH = {64: ("f64", "i64", "complex<f32>"), 32: ("f32", "i32"), 16: ("bf16", "i16"), 8: ("i8", "ui8"),
         4: ("i4", "ui4")}
# XLA converts four bits in bytes of their own, so bits of bytes they are not.
SPLITS = [(64, 32), (32, 16), (32, 8), (16, 8), (64, 8)]


def _bitcast(graph, a, target):
    """Where XLA's CPU fuses what only moves bf16, it converts to f32 and back, which makes subnormal numbers zero."""
    if target[1] == "bf16" and a.element in ("i16", "ui16", "i32"):
        bits = graph.constant(0x0080_0080 if a.element == "i32" else 0x0080, a.element, a.shape)
        (a,) = graph.op("stablehlo.or", [a, bits], [(a.shape, a.element)], exact=True)
    graph.op("stablehlo.bitcast_convert", [a], [target], exact=True)


def bitcast_convert(graph):
    """From integers: their bits are any float's, and no NaN is made quiet on the way by arithmetic."""
    if graph.chance(50):
        group = graph.choose(SAME)
        a = graph.argument(graph.shape(), graph.choose(group), graph.choose(WILD))
        _bitcast(graph, a, (a.shape, graph.choose(group)))
        return
    wide, narrow = graph.choose(SPLITS)
    shape, ratio = graph.shape(0, 2), wide // narrow
    sides = [(shape, graph.choose(WIDTH[wide])), ((*shape, ratio), graph.choose(WIDTH[narrow]))]
    if "complex<f32>" in (sides[0][1], sides[1][1]):
        sides[0] = (shape, "i64")
    source, target = graph.permutation(sides)
    _bitcast(graph, graph.argument(*source, graph.choose(WILD)), target)


def identity(graph):
    """No op but a reshard between the boundary's shardings, or a constraint."""
    a = graph.pick(ANY, high=4, kinds=WILD)
    if graph.chance(60):
        a = graph.constraint(a, graph.sharding(a.shape, True).removeprefix("#sdy.sharding"))
    if is_float(a.element) or a.element not in ("i1",):
        graph.op("stablehlo.optimization_barrier", [a], [(a.shape, a.element)], exact=True, bound=a.bound)
    else:
        graph.op("stablehlo.not", [a], [(a.shape, a.element)], exact=True, bound=1)


FAMILIES = {
    "sdy.sharding_constraint": identity,
    "stablehlo.iota": iota,
    "stablehlo.replica_id": replica,
    "stablehlo.constant": constant,
    "stablehlo.broadcast_in_dim": broadcast_in_dim,
    "stablehlo.broadcast": broadcast,
    "repeated": repeated,
    "stablehlo.reshape": reshape,
    "reshape of rows": rows,
    "stablehlo.transpose": transpose,
    "stablehlo.reverse": reverse,
    "stablehlo.slice": slice_,
    "stablehlo.concatenate": concatenate,
    "roll": roll,
    "stablehlo.pad": pad,
    "stablehlo.bitcast_convert": bitcast_convert,
}
