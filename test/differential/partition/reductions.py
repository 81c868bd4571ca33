"""Reductions over dims and windows, and what is chosen in windows."""

import math

from elements import FLOATS, INTEGERS, array_text, capped_power, is_float, tensor
from graph import combiner, region

NUMERIC = ("f32", "i32", "bf16", "f64", "i8", "ui8", "f16", "i64", "complex<f32>", "i1", "ui32", "i4")
COMBINERS = {
    "add": NUMERIC, "multiply": ("f32", "i32", "ui8", "f64", "complex<f32>"),
    "maximum": FLOATS[:4] + INTEGERS + ("i1",), "minimum": FLOATS[:4] + INTEGERS + ("i1",),
    "and": (*INTEGERS, "i1"), "or": (*INTEGERS, "i1"), "xor": (*INTEGERS, "i1"),
}


def _bound(op, element, value, init, terms):
    """Of a reduction of so many terms."""
    if value is None or init is None:
        return None
    if op == "add":
        return value * terms + init
    if op == "multiply":
        return min(
            2.0**60, capped_power(2 * value if element.startswith("complex") else value, terms) * 2 * max(init, 1)
        )
    return max(value, init)


def _exact(op):
    return None if op in ("add", "multiply") else True


def _neutral(graph, op, element):
    if element == "i1":
        return graph.constant(op in ("minimum", "and", "multiply"), element)
    if op in ("maximum", "minimum"):
        return graph.argument((), element, ("extreme", "low" if op == "maximum" else "high"))
    if op == "and":
        return graph.constant(2 ** int(element[2:]) - 1 if element.startswith("ui") else -1, element)
    return graph.constant(int(op == "multiply"), element)


def _finite(a, dims):
    """As many of the dims, from the first on, as their product is finite of in any order: infinity times 0 is none."""
    if not is_float(a.element):
        return dims
    found, terms = [], 1
    for dim in dims:
        if a.bound is not None and terms * a.shape[dim] * math.log2(max(2, 2 * a.bound)) < 100:
            found.append(dim)
            terms *= max(1, a.shape[dim])
    return found


def reduce(op):
    def family(graph):
        kinds = (("small",), ("wild",)) if op in ("maximum", "minimum") else (("small",),)
        a = graph.pick(COMBINERS[op], low=1, kinds=kinds,
                       fits=None if op != "multiply" else lambda value: _finite(value, range(value.rank)))
        dims = graph.subset(range(a.rank), 1)
        if op == "multiply":
            dims = _finite(a, dims)
        reduced = math.prod(a.shape[dim] for dim in dims)
        terms = max(1, reduced)
        # The engine drops what the reduction of one element starts from, counts that of many once for each lane and
        # that of a concatenation, as it writes random bits, once for each part, and makes one reduction of two that
        # start from the same.
        joined = {"stablehlo.concatenate", "stablehlo.rng_bit_generator"}
        if reduced == 1 or reduced > 32 or not joined.isdisjoint(graph.ops):
            init = _neutral(graph, op, a.element)
        else:
            init = graph.argument((), a.element)
        shape = [size for dim, size in enumerate(a.shape) if dim not in dims]
        graph.op("stablehlo.reduce", [a, init], [(shape, a.element)], f"dimensions = {array_text(dims)}",
                 [combiner(graph, op, a.element)], exact=_exact(op),
                 bound=_bound(op, a.element, a.bound, init.bound, terms),
                 terms=terms)
        graph.ops[-1] += f" {op}"

    return family


def nested_sums(graph):
    """Sums of sums, with reshapes in between that add and take away dims of size 1."""
    value = graph.pick(("f32", "i32", "f64", "bf16", "ui8"), low=1, high=5, bounded=True)
    zero = graph.constant(0, value.element)
    for _ in range(graph.int(2, 3)):
        if graph.chance(50):
            shape = [size for size in value.shape if size != 1 or graph.chance(50)]
            for _ in range(graph.int(0, 2)):
                shape.insert(graph.int(0, len(shape)), 1)
            (value,) = graph.op(
                "stablehlo.reshape", [value], [(shape, value.element)], exact=value.exact, bound=value.bound
            )
        if not value.rank:
            break
        dims = graph.subset(range(value.rank), 1)
        terms = max(1, math.prod(value.shape[dim] for dim in dims))
        shape = [size for dim, size in enumerate(value.shape) if dim not in dims]
        (value,) = graph.op(
            "stablehlo.reduce",
            [value, zero],
            [(shape, value.element)],
            f"dimensions = {array_text(dims)}",
            [combiner(graph, "add", value.element)],
            terms=terms,
            bound=_bound("add", value.element, value.bound, 0, terms),
        )
    graph.ops[-1] += " of sums"


def _pair_region(graph, elements, body):
    """A region of several tensors: the left scalars, then the right ones."""
    names = [graph.fresh() for _ in range(2 * len(elements))]
    kinds = [tensor((), element) for element in elements] * 2
    lines, returned = body(names)
    block = ", ".join(f"{name}: {kind}" for name, kind in zip(names, kinds, strict=True))
    text = "\n".join(lines)
    return (
        f"{{\n^bb0({block}):\n{text}\nstablehlo.return {', '.join(returned)} : {', '.join(kinds[: len(elements)])}\n}}"
    )


def first_largest(graph, element, index, direction="GT"):
    """Keeps the larger value, at a tie the lower index: independent of the order."""
    more, same, first, both, left, value, place = (graph.fresh() for _ in range(7))
    kind, whole = tensor((), element), tensor((), index)

    def body(names):
        p, s, q, t = names
        return [
            f"{more} = stablehlo.compare {direction}, {p}, {q} : ({kind}, {kind}) -> tensor<i1>",
            f"{same} = stablehlo.compare EQ, {p}, {q} : ({kind}, {kind}) -> tensor<i1>",
            f"{first} = stablehlo.compare LT, {s}, {t} : ({whole}, {whole}) -> tensor<i1>",
            f"{both} = stablehlo.and {same}, {first} : tensor<i1>",
            f"{left} = stablehlo.or {more}, {both} : tensor<i1>",
            f"{value} = stablehlo.select {left}, {p}, {q} : tensor<i1>, {kind}",
            f"{place} = stablehlo.select {left}, {s}, {t} : tensor<i1>, {whole}",
        ], [value, place]

    return _pair_region(graph, [element, index], body)


def argmax(graph):
    a = graph.pick(("f32", "i32", "bf16", "ui8"), low=1, bounded=True, exact=True)
    dim = graph.int(0, a.rank - 1)
    (places,) = graph.op("stablehlo.iota", [], [(a.shape, "i32")], f"iota_dimension = {dim} : i64", exact=True,
                         bound=16, attributes=False)
    lowest = graph.constant(0 if a.element.startswith("u") else -100, a.element)
    last = graph.constant(1000, "i32")
    shape = a.shape[:dim] + a.shape[dim + 1 :]
    graph.op(
        "stablehlo.reduce",
        [a, places, lowest, last],
        [(shape, a.element), (shape, "i32")],
        f"dimensions = {array_text([dim])}",
        [first_largest(graph, a.element, "i32")],
        exact=True,
        bound=100,
    )
    graph.ops[-1] += " argmax"


def several(graph):
    """Two reductions in one: a sum and a maximum, or two sums."""
    a = graph.pick(("f32", "i32", "f64"), low=1, bounded=True)
    b = graph.operand(a.shape, graph.choose((a.element, "i32")), bounded=True)
    dims = graph.subset(range(a.rank), 1)
    shape = [size for dim, size in enumerate(a.shape) if dim not in dims]
    ops = [graph.choose(("add", "maximum", "minimum")) for _ in range(2)]
    # An op may start from its initial values as often as it likes.
    inits = [graph.constant(NEUTRAL[op], value.element) for op, value in zip(ops, (a, b), strict=True)]
    outs = [graph.fresh(), graph.fresh()]

    def body(names):
        return [
            f"{out} = stablehlo.{op} {names[i]}, {names[i + 2]} : {tensor((), value.element)}"
            for i, (out, op, value) in enumerate(zip(outs, ops, (a, b), strict=True))
        ], outs

    terms = max(1, math.prod(a.shape))
    bound = None if None in (a.bound, b.bound) else max(a.bound, b.bound) * terms + max(init.bound for init in inits)
    graph.op(
        "stablehlo.reduce",
        [a, b, *inits],
        [(shape, a.element), (shape, b.element)],
        f"dimensions = {array_text(dims)}",
        [_pair_region(graph, [a.element, b.element], body)],
        bound=bound,
        terms=terms,
    )
    graph.ops[-1] += " several"


def largest_magnitude(graph, element):
    """Max of absolute values: no neutral element that is known by name, so the initial value stands in."""
    left, right, out = graph.fresh(), graph.fresh(), graph.fresh()
    return region(graph, element, 2, lambda names: ([
        f"{left} = stablehlo.abs {names[0]} : T", f"{right} = stablehlo.abs {names[1]} : T",
        f"{out} = stablehlo.maximum {left}, {right} : T"], out, "T"))


def unknown_body(graph):
    a = graph.pick(("f32", "i32", "f64"), low=1, bounded=True)
    # Of one element XLA forgets the initial value and the body, so it has to be as they leave it.
    (a,) = graph.op("stablehlo.abs", [a], [(a.shape, a.element)], bound=a.bound)
    dims = graph.subset(range(a.rank), 1)
    init = graph.constant(0, a.element)
    body = largest_magnitude(graph, a.element)
    shape = [size for dim, size in enumerate(a.shape) if dim not in dims]
    graph.op("stablehlo.reduce", [a, init], [(shape, a.element)], f"dimensions = {array_text(dims)}", [body],
             exact=True, bound=a.bound)
    graph.ops[-1] += " unknown body"


#
# Windows
#


def outputs(size, kernel, stride=1, pad=(0, 0), base=1, dilation=1):
    padded = (max(0, (size - 1) * base + 1) if size else 0) + sum(pad)
    return max(0, (padded - (kernel - 1) * dilation - 1) // stride + 1) if padded > 0 else 0


def _window(graph, size, dilated=True):
    """(kernel, stride, pad, base, dilation) of a dim."""
    kernel = graph.int(1, max(1, min(size, 5)))
    stride = graph.choose((1, 2, 3))
    pad = (graph.int(0, 3), graph.int(0, 3)) if graph.chance(50) else (0, 0)
    if dilated and graph.chance(10):
        pad = (-1, pad[1] + 1)
    base = graph.choose((1, 2, 3)) if dilated and graph.chance(25) else 1
    dilation = graph.choose((1, 2)) if dilated and graph.chance(25) else 1
    return kernel, stride, pad, base, dilation


def _windows(graph, shape, dilated=True):
    found = []
    for size in shape:
        window = _window(graph, size, dilated) if graph.chance(70) else (1, 1, (0, 0), 1, 1)
        found.append(window if outputs(size, *window) or not size else (1, 1, (0, 0), 1, 1))
    return found


def window_text(windows, dilations=True):
    kernels, strides, pads, bases, spread = zip(*windows, strict=True)
    text = f"window_dimensions = {array_text(kernels)}, window_strides = {array_text(strides)}, padding = dense<" \
           f"{[list(pad) for pad in pads]}> : tensor<{len(pads)}x2xi64>"
    return text + (
        f", base_dilations = {array_text(bases)}, window_dilations = {array_text(spread)}" if dilations else ""
    )


NEUTRAL = {"add": 0, "multiply": 1, "maximum": -100, "minimum": 100}


def reduce_window(graph):
    op = graph.choose(("add", "maximum", "minimum", "multiply"))
    elements = ("f32", "i32", "f64", "bf16") if op != "multiply" else ("i32", "i64")
    a = graph.pick(elements, low=1, high=3, least=1, bounded=True)
    windows = _windows(graph, a.shape)
    # XLA leaves out the initial values around and between elements, so only neutral ones mean the same everywhere.
    init = graph.constant(NEUTRAL[op], a.element)
    shape = [outputs(size, *window) for size, window in zip(a.shape, windows, strict=True)]
    terms = math.prod(window[0] for window in windows)
    graph.op(
        "stablehlo.reduce_window",
        [a, init],
        [(shape, a.element)],
        window_text(windows),
        [combiner(graph, op, a.element)],
        exact=_exact(op),
        bound=_bound(op, a.element, a.bound, 100 if op in ("maximum", "minimum") else init.bound, terms),
        terms=terms,
    )


def more_windows(graph):
    """Windows that combine bits, or otherwise than has a name, or pairs."""
    op = graph.choose(("and", "or", "xor", "unknown body", "argmax"))
    elements = ("i32", "ui8", "i1") if op in ("and", "or", "xor") else ("f32", "i32")
    a = graph.pick(elements, low=1, high=3, least=1, bounded=True)
    if op == "unknown body":  # a window of one element needs no body
        (a,) = graph.op("stablehlo.abs", [a], [(a.shape, a.element)], bound=a.bound)
    windows = _windows(graph, a.shape)
    shape = [outputs(size, *window) for size, window in zip(a.shape, windows, strict=True)]
    values, inits = (
        [a],
        [_neutral(graph, op, a.element) if op in ("and", "or", "xor") else graph.constant(0, a.element)],
    )
    if op == "argmax":
        values += graph.op(
            "stablehlo.iota", [], [(a.shape, "i32")], f"iota_dimension = {a.rank - 1} : i64", exact=True, bound=16
        )
        inits = [graph.constant(-100, a.element), graph.constant(1000, "i32")]
        body = first_largest(graph, a.element, "i32")
    else:
        body = largest_magnitude(graph, a.element) if op == "unknown body" else combiner(graph, op, a.element)
    graph.op("stablehlo.reduce_window", [*values, *inits], [(shape, value.element) for value in values],
             window_text(windows), [body], exact=True, bound=100 if op == "argmax" else a.bound)
    graph.ops[-1] += f" {op}"


def cumulative(graph):
    """What JAX makes of cumsum and its like on CPU: a window as wide as the dim; forward or backward."""
    op = graph.choose(("add", "maximum", "minimum"))
    a = graph.pick(("f32", "i32", "f64"), low=1, high=2, least=1, bounded=True)
    dim = graph.int(0, a.rank - 1)
    size = a.shape[dim]
    pad = (size - 1, 0) if graph.chance(70) else (0, size - 1)
    windows = [(size, 1, pad, 1, 1) if at == dim else (1, 1, (0, 0), 1, 1) for at in range(a.rank)]
    init = graph.constant(NEUTRAL[op], a.element)
    graph.op("stablehlo.reduce_window", [a, init], [(a.shape, a.element)], window_text(windows),
             [combiner(graph, op, a.element)], exact=_exact(op),
             bound=_bound(op, a.element, a.bound, 100 if op != "add" else 0, size), terms=size)
    graph.ops[-1] += " cumulative"


def select_and_scatter(graph):
    a = graph.pick(("f32", "i32", "f64"), low=1, high=4, least=1, bounded=True, exact=True)
    windows = [window[:3] + (1, 1) for window in _windows(graph, a.shape, dilated=False)]
    # A window in padding alone selects nothing.
    windows = [(k, s, (min(p[0], k - 1), min(p[1], k - 1)), 1, 1) for k, s, p, _, _ in windows]
    shape = [outputs(size, *window) for size, window in zip(a.shape, windows, strict=True)]
    source = graph.operand(shape, a.element, bounded=True)
    op = graph.choose(("add", "add", "maximum", "minimum"))
    init = graph.constant(NEUTRAL[op], a.element)
    out = graph.fresh()
    kind = tensor((), a.element)
    order = graph.choose(("GE", "GE", "GT", "LE", "LT"))
    select = region(
        graph,
        a.element,
        2,
        lambda names: (
            [f"{out} = stablehlo.compare {order}, {names[0]}, {names[1]} : ({kind}, {kind}) -> tensor<i1>"],
            out, "tensor<i1>",
        ),
    )
    terms = math.prod(window[0] for window in windows)
    graph.op("stablehlo.select_and_scatter", [a, source, init], [(a.shape, a.element)], window_text(windows, False),
             [select, combiner(graph, op, a.element)],
             bound=_bound(op, a.element, source.bound, abs(NEUTRAL[op]), terms), terms=terms)


FAMILIES = {f"stablehlo.reduce {op}": reduce(op) for op in COMBINERS} | {
    "nested sums": nested_sums,
    "argmax": argmax,
    "reduce several": several,
    "reduce unknown body": unknown_body,
    "stablehlo.reduce_window": reduce_window,
    "windows by other means": more_windows,
    "cumulative": cumulative,
    "stablehlo.select_and_scatter": select_and_scatter,
}
