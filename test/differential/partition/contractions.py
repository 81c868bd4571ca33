"""Dots of every kind, and convolutions."""

import math

from elements import array_text

ELEMENTS = ("f32", "i32", "bf16", "f64", "i8", "f16", "complex<f32>", "ui8")


def _bound(a, b, terms, element):
    if a.bound is None or b.bound is None:
        return None
    return terms * a.bound * b.bound * (2 if element.startswith("complex") else 1)


def dot_general(graph):
    a = graph.pick(ELEMENTS, low=0, high=4, bounded=True)
    dims = graph.permutation(range(a.rank))
    batch = dims[: graph.int(0, min(2, a.rank))]
    rest = dims[len(batch) :]
    contracting = rest[: graph.int(0, min(2, len(rest)))]
    free = sorted(dim for dim in rest if dim not in contracting)
    own = [graph.choose((2, 4, 3, 8, 5, 1)) for _ in range(graph.int(0, 2 if len(free) < 3 else 1))]
    # Where each of a's shared dims, and its own ones, stand in b.
    order = graph.permutation([("batch", dim) for dim in batch] + [("contracting", dim) for dim in contracting]
                              + [("own", at) for at in range(len(own))])
    shape = [own[dim] if kind == "own" else a.shape[dim] for kind, dim in order]
    b = graph.operand(shape, a.element, bounded=True)
    place = {item: at for at, item in enumerate(order)}
    mine = [place["batch", dim] for dim in batch], [place["contracting", dim] for dim in contracting]
    result = [a.shape[dim] for dim in batch + free]
    result += [shape[at] for at, (kind, _) in enumerate(order) if kind == "own"]
    terms = math.prod(a.shape[dim] for dim in contracting)
    # Unoptimised, the engine aborts at a sum over devices of complex zeros that it knows to be zeros.
    if math.prod(result) > 4096 or (terms == 0 and a.element.startswith("complex")):
        return
    terms = max(1, terms)
    element = a.element
    if element in ("bf16", "i8", "f16") and graph.chance(40):
        element = "i32" if element == "i8" else "f32"
    fields = [("lhs_batching_dimensions", batch), ("rhs_batching_dimensions", mine[0]),
              ("lhs_contracting_dimensions", contracting), ("rhs_contracting_dimensions", mine[1])]
    text = ", ".join(f"{name} = {list(values)}" for name, values in fields if values)
    graph.op("stablehlo.dot_general", [a, b], [(result, element)], f"dot_dimension_numbers = #stablehlo.dot<{text}>",
             bound=_bound(a, b, terms, a.element), terms=terms)


def dot(graph):
    a = graph.pick(ELEMENTS, low=1, high=2, bounded=True)
    columns = [graph.choose((2, 4, 3, 8))] if graph.chance(60) else []
    b = graph.operand((a.shape[-1], *columns), a.element, bounded=True)
    graph.op("stablehlo.dot", [a, b], [((*a.shape[:-1], *columns), a.element)],
             bound=_bound(a, b, max(1, a.shape[-1]), a.element), terms=max(1, a.shape[-1]))


def einsum(graph):
    config = graph.choose(("ij,jk->ik", "bij,bjk->bik", "ij,ij->i", "i,j->ij", "ij,kj->ki", "bhd,bh->bd", "ij,ji->"))
    left, right, out = config.replace("->", ",").split(",")
    sizes = {letter: graph.choose((2, 4, 8, 3, 5, 1)) for letter in sorted(set(left + right))}
    element = graph.choose(("f32", "f64", "i32"))
    a, b = (graph.operand([sizes[letter] for letter in letters], element, bounded=True) for letters in (left, right))
    terms = math.prod(size for letter, size in sizes.items() if letter not in out)
    graph.op("stablehlo.einsum", [a, b], [([sizes[letter] for letter in out], element)], f'einsum_config = "{config}"',
             bound=_bound(a, b, terms, element), terms=terms)


def _as_linear(graph, value):
    """The value, or what ops that keep sums apart make of it; of the same type."""
    for _ in range(graph.int(0, 2)):
        how = graph.choose(("negate", "transpose", "multiply"))
        if how == "negate":
            (value,) = graph.op("stablehlo.negate", [value], [(value.shape, value.element)], bound=value.bound)
        elif how == "transpose" and value.rank == 2 and value.shape[0] == value.shape[1]:
            (value,) = graph.op(
                "stablehlo.transpose",
                [value],
                [(value.shape, value.element)],
                "permutation = array<i64: 1, 0>",
                bound=value.bound,
            )
        elif how == "multiply":
            factor = graph.argument(value.shape, value.element, sharded=graph.chance(50))
            (value,) = graph.op("stablehlo.multiply", [value, factor], [(value.shape, value.element)],
                                bound=_bound(value, factor, 1, value.element))
    return value


def meeting_sums(graph):
    """Sums over dims of one size, of which some have operands in common, added up: each may stay in parts until then.
    """
    element = graph.choose(("f32", "i32", "f64"))
    rows, columns, terms = (graph.choose((4, 8, 16, 6, 5)) for _ in range(3))
    columns = rows if graph.chance(50) else columns
    total = None
    for _ in range(graph.int(2, 4)):
        a, b = (
            graph.operand((rows, terms), element, bounded=True),
            graph.operand((terms, columns), element, bounded=True),
        )
        text = (
            "dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>"
        )
        (summand,) = graph.op("stablehlo.dot_general", [a, b], [((rows, columns), element)], text,
                              bound=_bound(a, b, terms, element), terms=terms)
        summand = _as_linear(graph, summand)
        if total is not None:
            bound = None if None in (total.bound, summand.bound) else total.bound + summand.bound
            name = graph.choose(("add", "subtract"))
            (total,) = graph.op(f"stablehlo.{name}", [total, summand], [(total.shape, element)], bound=bound)
        else:
            total = summand


def ragged_dot(graph):
    """Rows in groups, each with its matrix; the groups' sizes are data."""
    m, k, n, g = (graph.choose((4, 8, 6, 3, 16)), graph.choose((4, 8, 3, 5)), graph.choose((4, 8, 3)),
                  graph.choose((2, 4, 3, 1)))
    element = graph.choose(("f32", "f64"))
    a, b = graph.operand((m, k), element, bounded=True), graph.operand((g, k, n), element, bounded=True)
    left, sizes = m, []
    for _ in range(g - 1):
        sizes.append(graph.int(0, left))
        left -= sizes[-1]
    groups = graph.constant([*sizes, left], "i32")
    numbers = ("ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], "
               "rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>")
    graph.op("chlo.ragged_dot", [a, b, groups], [((m, n), element)], numbers, bound=_bound(a, b, k, element), terms=k)


#
# Convolution
#


def outputs(size, kernel, stride, pad, base, dilation):
    padded = ((size - 1) * base + 1 if size else 0) + sum(pad)
    reach = (kernel - 1) * dilation + 1
    return max(0, (padded - reach) // stride + 1) if padded >= reach else 0


def _slide(graph, size):
    """(kernel, stride, pad, base, dilation, reversal) of a spatial dim."""
    kernel = graph.int(1, max(1, min(size, 4)))
    stride, base, dilation = (graph.choose((1, 1, 2, 3)) for _ in range(3))
    pad = (graph.int(-1, 3), graph.int(-1, 3)) if graph.chance(60) else (0, 0)
    found = kernel, stride, pad, base, dilation, graph.chance(15)
    return found if outputs(size, *found[:5]) else (1, 1, (0, 0), 1, 1, False)


LAYOUTS = {1: (("b0f", "0io", "b0f"), ("bf0", "oi0", "bf0"), ("f0b", "i0o", "0bf")),
           2: (("b01f", "01io", "b01f"), ("bf01", "oi01", "bf01"), ("01bf", "o01i", "f01b")),
           3: (("b012f", "012io", "b012f"), ("0bf12", "o01i2", "f01b2"))}


def convolution(graph):
    spatial = graph.choose((1, 2, 2, 3))
    sizes = [graph.choose((8, 5, 3, 10, 4, 1, 16)[: 5 if spatial == 3 else 7]) for _ in range(spatial)]
    slides = [_slide(graph, size) for size in sizes]
    features, batches = graph.choose(((1, 1), (1, 1), (2, 1), (4, 1), (8, 1), (1, 2), (1, 4)))
    inner, outer, batch = graph.choose((1, 2, 3)), graph.choose((1, 2, 3)) * features * batches, graph.choose((1, 2, 4,
        3)) * batches
    counts = [outputs(size, *slide[:5]) for size, slide in zip(sizes, slides, strict=True)]
    left, kernel, out = graph.choose(LAYOUTS[spatial])
    extents = [{"b": batch, "f": inner * features, **{str(at): size for at, size in enumerate(sizes)}},
               {"i": inner, "o": outer, **{str(at): slide[0] for at, slide in enumerate(slides)}},
               {"b": batch // batches, "f": outer, **{str(at): count for at, count in enumerate(counts)}}]
    shapes = [
        [extent[letter] for letter in layout] for extent, layout in zip(extents, (left, kernel, out), strict=True)
    ]
    element = graph.choose(("f32", "f64", "bf16", "i32", "complex<f32>"))
    a, b = (graph.operand(shape, element, bounded=True) for shape in shapes[:2])
    written = [", ".join(layout) for layout in (left, kernel, out)]
    pads = [list(slide[2]) for slide in slides]
    terms = inner * math.prod(slide[0] for slide in slides)
    graph.op(
        "stablehlo.convolution", [a, b], [(shapes[2], element)],
        f"dimension_numbers = #stablehlo.conv<[{written[0]}]x[{written[1]}]->[{written[2]}]>, "
        f"window_strides = {array_text([s[1] for s in slides])}, padding = dense<{pads}> : tensor<{spatial}x2xi64>, "
        f"lhs_dilation = {array_text([s[3] for s in slides])}, rhs_dilation = {array_text([s[4] for s in slides])}, "
        f"window_reversal = array<i1: {', '.join(str(s[5]).lower() for s in slides)}>, "
        f"feature_group_count = {features} : i64, batch_group_count = {batches} : i64",
        bound=_bound(a, b, terms, element), terms=terms)


FAMILIES = {"stablehlo.dot_general": dot_general, "stablehlo.dot": dot, "stablehlo.einsum": einsum,
            "chlo.ragged_dot": ragged_dot, "stablehlo.convolution": convolution, "meeting sums": meeting_sums}
