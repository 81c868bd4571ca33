"""Chains of data movement: what stands between an argument and the op that takes it, and behind results.

`behind` goes backwards: from the type that an op wants to one that a move makes it of, which is again an argument, an
earlier value or what another move makes. Kinds of data whose places matter (indices that differ) are only permuted.
"""

import math
from dataclasses import replace

from elements import LARGEST, array_text


def _same(graph, name, value, shape, properties=""):
    (found,) = graph.op(name, [value], [(tuple(shape), value.element)], properties, exact=True, bound=value.bound)
    return found


def window(graph, value, shape):
    """A slice of `value` of this shape; of all of it too, which says nothing and has to be seen to say nothing."""
    starts = [graph.int(0, size - taken) for size, taken in zip(value.shape, shape, strict=True)]
    limits = [start + taken for start, taken in zip(starts, shape, strict=True)]
    return _same(graph, "stablehlo.slice", value, shape, f"start_indices = {array_text(starts)}, limit_indices = "
                                                         f"{array_text(limits)}, "
                 f"strides = {array_text([1] * len(shape))}")


def _transposed(graph, shape, make):
    order = graph.permutation(range(len(shape)))
    before = [0] * len(shape)
    for place, dim in enumerate(order):
        before[dim] = shape[place]
    return _same(graph, "stablehlo.transpose", make(before), shape, f"permutation = {array_text(order)}")


def _reshaped(graph, shape, make):
    """Of neighbours as one dim, or of one dim as two."""
    dim = graph.int(0, max(0, len(shape) - 1))
    divisors = [size for size in range(1, shape[dim] + 1) if shape[dim] % size == 0] if shape else [1]
    if not shape or graph.chance(50):
        part = graph.choose(divisors or [1])
        middle = [part, shape[dim] // part] if shape else [1]
    else:
        middle = [math.prod(shape[dim : dim + 2])]
    skipped = 2 if len(middle) == 1 and shape else 1
    return _same(graph, "stablehlo.reshape", make([*shape[:dim], *middle, *shape[dim + skipped :]]), shape)


def _reversed(graph, shape, make):
    return _same(
        graph, "stablehlo.reverse", make(shape), shape, f"dimensions = {array_text(graph.subset(range(len(shape)), 1))}"
    )


def _sliced(graph, shape, make):
    dim, more = graph.int(0, len(shape) - 1), graph.choose((1, 2, 4, 8))
    return window(graph, make([size + more * (at == dim) for at, size in enumerate(shape)]), shape)


def _joined(graph, shape, make):
    """Of up to three parts, each perhaps a window of the same value."""
    dim, parts = graph.int(0, len(shape) - 1), []
    left = shape[dim]
    for _ in range(graph.int(1, 2)):
        parts.append(graph.int(0, left))
        left -= parts[-1]
    pieces = [make([*shape[:dim], size, *shape[dim + 1 :]]) for size in (*parts, left)]
    bounds = [piece.bound for piece in pieces]
    (found,) = graph.op("stablehlo.concatenate", pieces, [(shape, pieces[0].element)], f"dimension = {dim} : i64",
                        exact=True, bound=None if None in bounds else max(bounds))
    return found


def _padded(graph, shape, make):
    dim = graph.int(0, len(shape) - 1)
    low = graph.int(0, min(shape[dim], 3))
    high = graph.int(0, min(shape[dim] - low, 3))
    value, fill = make([size - (low + high) * (at == dim) for at, size in enumerate(shape)]), make([])
    sides = [[size * (at == dim) for at in range(len(shape))] for size in (low, high, 0)]
    text = ", ".join(f"{name} = {array_text(side)}" for name, side in
                     zip(("edge_padding_low", "edge_padding_high", "interior_padding"), sides, strict=True))
    bound = None if value.bound is None or fill.bound is None else max(value.bound, fill.bound)
    (found,) = graph.op("stablehlo.pad", [value, fill], [(shape, value.element)], text, exact=True, bound=bound)
    return found


def _broadcast(graph, shape, make):
    kept = graph.subset(range(len(shape)))
    return _same(graph, "stablehlo.broadcast_in_dim", make([shape[dim] for dim in kept]), shape,
                 f"broadcast_dimensions = {array_text(kept)}")


def _held(graph, shape, make):
    value = make(shape)
    return graph.constraint(value, graph.sharding(value.shape, True).removeprefix("#sdy.sharding"))


def _barred(graph, shape, make):
    return _same(graph, "stablehlo.optimization_barrier", make(shape), shape)


def flattened(graph, shape, element):
    """Of an argument that has two dims in the place of one, of which the second is sharded. None: no place for it."""
    axes = [f'"{name}"' for name, size in graph.mesh if size > 1]
    places = [dim for dim, size in enumerate(shape) if size in graph.parts or size in (4, 6, 8, 9, 12, 16)]
    if not axes or not places:
        return None
    dim = graph.choose(places)
    if shape[dim] not in graph.parts:
        graph.parts[shape[dim]] = graph.choose(
            [(part, shape[dim] // part) for part in range(2, shape[dim]) if shape[dim] % part == 0]
        )
    before = (*shape[:dim], *graph.parts[shape[dim]], *shape[dim + 1 :])
    taken = graph.permutation(axes)[: graph.int(1, len(axes))]
    lists = [", ".join(taken) if at == dim + 1 else "" for at in range(len(before))]
    if graph.chance(50) and len(taken) > 1:  # the batch and the sequence
        lists[dim], lists[dim + 1] = taken[0], ", ".join(taken[1:])
    value = graph.argument(before, element, sharded=False)
    held = graph.constraint(value, f"<@mesh, [{', '.join('{' + list_ + '}' for list_ in lists)}]>")
    (merged,) = graph.op(
        "stablehlo.reshape", [held], [(shape, element)], exact=True, bound=held.bound, attributes=False
    )
    return merged


def unflattened(graph, value):
    """With the dims that were merged, where there is one of that size; now and then as it is."""
    places = [dim for dim, size in enumerate(value.shape) if size in graph.parts]
    if not places or graph.chance(20):
        return value
    dim = graph.choose(places)
    shape = (*value.shape[:dim], *graph.parts[value.shape[dim]], *value.shape[dim + 1 :])
    (split,) = graph.op("stablehlo.reshape", [value], [(shape, value.element)], exact=value.exact, bound=value.bound)
    return replace(split, terms=value.terms)


PERMUTING = (_held, _transposed, _reshaped, _reversed, _barred)
ANY_MOVE = (*PERMUTING, _sliced, _joined, _padded, _broadcast)


def behind(graph, shape, element, kind, **wanted):
    """A value of this type, made by a move of others, which are as `wanted` says (of `Graph.operand`)."""
    small = kind == ("small",)
    moves = ANY_MOVE if small else PERMUTING
    if math.prod(shape) > LARGEST or kind[0] in ("definite", "triangle"):
        moves = (_held, _barred)
    elif not shape:
        moves = (_held, _barred, _reshaped)

    def make(before):
        return (graph.operand if small else graph.argument)(before, element, kind, **wanted)

    return graph.choose(moves)(graph, shape, make)
