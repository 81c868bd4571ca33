"""Ops whose places are data: gather, scatter, dynamic slices; and those that order elements."""

import math

from elements import ANY, array_text, capped_power, is_float, tensor
from graph import combiner, region
from reductions import _pair_region

PLACES = ("i32", "i64", "ui32", "i8", "ui8", "i16", "ui64")
WILD = (("small",), ("wild",))


def dynamic_slice(graph):
    a = graph.pick(ANY, low=1, kinds=WILD)
    sizes = [graph.int(0, size) if graph.chance(70) else size for size in a.shape]
    element = graph.choose(PLACES)
    starts = [graph.argument((), element, ("place", size)) for size in a.shape]
    graph.op("stablehlo.dynamic_slice", [a, *starts], [(sizes, a.element)], f"slice_sizes = {array_text(sizes)}",
             exact=True, bound=a.bound)


def dynamic_update_slice(graph):
    a = graph.pick(ANY, low=1, kinds=WILD)
    sizes = [graph.int(0, size) if graph.chance(70) else size for size in a.shape]
    element = graph.choose(PLACES)
    update = graph.operand(sizes, a.element)
    starts = [graph.argument((), element, ("place", size)) for size in a.shape]
    bound = None if a.bound is None or update.bound is None else max(a.bound, update.bound)
    graph.op("stablehlo.dynamic_update_slice", [a, update, *starts], [(a.shape, a.element)], exact=True, bound=bound)


def static_start(graph):
    """Slices that start at constants."""
    a = graph.pick(ANY, low=1, kinds=WILD, least=1)
    sizes = [graph.int(1, size) for size in a.shape]
    starts = [graph.constant(graph.int(0, size - taken), "i32") for size, taken in zip(a.shape, sizes, strict=True)]
    (part,) = graph.op(
        "stablehlo.dynamic_slice",
        [a, *starts],
        [(sizes, a.element)],
        f"slice_sizes = {array_text(sizes)}",
        exact=True,
        bound=a.bound,
    )
    graph.op("stablehlo.dynamic_update_slice", [a, part, *starts], [(a.shape, a.element)], exact=True, bound=a.bound)


def _dims(name, dims):
    return f"{name} = {list(dims)}"


class _Numbers:
    """Dimension numbers, drawn for a tensor `shape`: which dims are indexed, collapsed, batched, and the window's
    sizes.
    """

    def __init__(self, graph, shape):
        rank = len(shape)
        kinds = [graph.choose(("window", "index", "index", "partial", "batch", "corner")) for _ in range(rank)]
        self.batch = [dim for dim in range(rank) if kinds[dim] == "batch"][:2]
        self.mapped = graph.permutation([dim for dim in range(rank) if kinds[dim] in ("index", "partial")])
        self.sizes = []
        for dim, size in enumerate(shape):
            if dim in self.batch or kinds[dim] == "index":
                self.sizes.append(min(1, size))
            else:
                self.sizes.append(graph.int(min(1, size), size) if kinds[dim] in ("partial", "corner") else size)
        self.collapsed = [dim for dim in self.mapped if self.sizes[dim] == 1 and graph.chance(70)]
        self.collapsed.sort()
        self.window = [dim for dim in range(rank) if dim not in self.collapsed + self.batch]
        extra = [graph.choose((1, 4, 6, 3, 8)) for _ in range(graph.int(0, 2))]
        # The index vector's dim: among the last, at the end, or left out where one place is enough.
        sizes = [shape[dim] for dim in self.batch] + extra
        order = graph.permutation(range(len(sizes))) if len(sizes) > 1 else range(len(sizes))
        self.places = [sizes[at] for at in order]
        self.implied = len(self.mapped) == 1 and graph.chance(30)
        self.vector = len(self.places) if self.implied else graph.int(0, len(self.places))
        self.indices = list(self.places)
        if not self.implied:
            self.indices.insert(self.vector, len(self.mapped))
        places = [list(order).index(at) for at in range(len(self.batch))]
        self.batch_places = [place + (not self.implied and self.vector <= place) for place in places]
        total = len(self.places) + len(self.window)
        self.offsets = sorted(graph.permutation(range(total))[: len(self.window)])
        self.result, windows, places = [], iter(self.window), iter(self.places)
        for dim in range(total):
            self.result.append(self.sizes[next(windows)] if dim in self.offsets else next(places))


def _indices(graph, numbers, shape):
    largest = max((shape[dim] for dim in numbers.mapped), default=1)
    return graph.argument(numbers.indices, graph.choose(PLACES), ("place", largest))


def gather(graph):
    a = graph.pick(ANY, low=1, kinds=WILD, least=1)
    n = _Numbers(graph, a.shape)
    indices = _indices(graph, n, a.shape)
    fields = [("offset_dims", n.offsets), ("collapsed_slice_dims", n.collapsed), ("operand_batching_dims", n.batch),
              ("start_indices_batching_dims", n.batch_places), ("start_index_map", n.mapped)]
    text = ", ".join(_dims(name, dims) for name, dims in fields if dims)
    text += f"{', ' if text else ''}index_vector_dim = {n.vector}"
    graph.op(
        "stablehlo.gather",
        [a, indices],
        [(n.result, a.element)],
        f"dimension_numbers = #stablehlo.gather<{text}>, slice_sizes = {array_text(n.sizes)}",
        exact=True,
        bound=a.bound,
    )


def _scatter_text(n):
    fields = [
        ("update_window_dims", n.offsets),
        ("inserted_window_dims", n.collapsed),
        ("input_batching_dims", n.batch),
        ("scatter_indices_batching_dims", n.batch_places),
        ("scatter_dims_to_operand_dims", n.mapped),
    ]
    text = ", ".join(_dims(name, dims) for name, dims in fields if dims)
    return f"scatter_dimension_numbers = #stablehlo.scatter<{text}{', ' if text else ''}index_vector_dim = {n.vector}>"


SCATTERED = {
    "add": ("f32", "i32", "f64", "i8", "complex<f32>", "ui32"),
    "maximum": ("f32", "i32", "bf16", "ui8"),
    "minimum": ("f32", "i32", "f16"),
    "multiply": ("i32", "f64"),
    "or": ("i1", "i32"),
    "and": ("i1", "ui8"),
    "xor": ("i32",),
}


def scatter(op):
    def family(graph):
        a = graph.pick(SCATTERED[op], low=1, least=1, bounded=True)
        n = _Numbers(graph, a.shape)
        updates = graph.operand(n.result, a.element, bounded=True)
        terms = max(1, math.prod(n.places))
        if op == "multiply":
            bound = min(2.0**60, a.bound * capped_power(updates.bound, terms))
        else:
            bound = a.bound + terms * updates.bound if op == "add" else max(a.bound, updates.bound)
        graph.op("stablehlo.scatter", [a, _indices(graph, n, a.shape), updates], [(a.shape, a.element)],
                 _scatter_text(n), [combiner(graph, op, a.element)], exact=None if op in ("add", "multiply") else True,
                 bound=bound, terms=terms)
        graph.ops[-1] += f" {op}"

    return family


def segments(graph):
    """Many updates of few rows, by products and bitwise combinations: the updates are worth sharding."""
    op, elements = graph.choose(
        (
            ("multiply", ("i32", "f64", "complex<f32>", "i8")),
            ("and", ("i32", "ui8")),
            ("or", ("i32", "ui8")),
            ("xor", ("i64", "i1")),
        )
    )
    element, count = graph.choose(elements), graph.choose((64, 100, 37, 90))
    wide = [graph.choose((1, 2, 3))] if graph.chance(50) else []
    a = graph.operand((graph.int(0, 2), *wide), element)
    indices = graph.argument((count,), graph.choose(("i32", "ui8", "i64")), ("place", max(1, a.shape[0])))
    updates = graph.argument((count, *wide), element, ("real", 0.9, 1.1) if is_float(element) else ("small",))
    names = ["update_window_dims = [1]"] if wide else []
    names += ["inserted_window_dims = [0]", "scatter_dims_to_operand_dims = [0]", "index_vector_dim = 1"]
    graph.op("stablehlo.scatter", [a, indices, updates], [(a.shape, element)],
             f"scatter_dimension_numbers = #stablehlo.scatter<{', '.join(names)}>", [combiner(graph, op, element)],
             exact=not is_float(element), terms=count)
    graph.ops[-1] += f" {op}"


def scatter_set(graph):
    """Places that differ, so that no order decides; rows of one dim."""
    a = graph.pick(ANY, low=1, least=1, kinds=WILD)
    dim = graph.int(0, a.rank - 1)
    count = graph.int(1, a.shape[dim] + 2)
    windows = [at for at in range(a.rank) if at != dim]
    indices = graph.argument(
        (count, 1) if graph.chance(50) else (count,), graph.choose(("i32", "i64")), ("apart", a.shape[dim] + 2)
    )
    updates = graph.operand((count, *(a.shape[at] for at in windows)), a.element)
    names = [f"update_window_dims = {list(range(1, a.rank))}"] if windows else []
    names += [f"inserted_window_dims = [{dim}]", f"scatter_dims_to_operand_dims = [{dim}]", "index_vector_dim = 1"]
    body = region(graph, a.element, 2, lambda names: ([], names[1], "T"))
    bound = None if a.bound is None or updates.bound is None else max(a.bound, updates.bound)
    graph.op("stablehlo.scatter", [a, indices, updates], [(a.shape, a.element)],
             f"scatter_dimension_numbers = #stablehlo.scatter<{', '.join(names)}>, unique_indices = true", [body],
             exact=True, bound=bound)
    graph.ops[-1] += " set"


def scatter_several(graph):
    """Two operands, one body: a sum into one, a maximum into the other."""
    a = graph.pick(("f32", "i32"), low=1, least=1, bounded=True)
    b = graph.operand(a.shape, graph.choose(("i32", a.element)), bounded=True)
    n = _Numbers(graph, a.shape)
    updates = [graph.operand(n.result, value.element, bounded=True) for value in (a, b)]
    outs = [graph.fresh(), graph.fresh()]

    def body(names):
        return [f"{out} = stablehlo.{op} {names[i]}, {names[i + 2]} : {tensor((), value.element)}"
                for i, (out, op, value) in enumerate(zip(outs, ("add", "maximum"), (a, b), strict=True))], outs

    terms = max(1, math.prod(n.places))
    bound = max(a.bound, b.bound) + terms * max(update.bound for update in updates)
    graph.op("stablehlo.scatter", [a, b, _indices(graph, n, a.shape), *updates],
             [(a.shape, a.element), (b.shape, b.element)], _scatter_text(n),
             [_pair_region(graph, [a.element, b.element], body)], bound=bound, terms=terms)
    graph.ops[-1] += " several"


def torch_index_select(graph):
    a = graph.pick(("f32", "i32", "bf16", "i1", "i8", "complex<f32>"), low=1, least=1, kinds=WILD)
    batch = graph.int(0, a.rank - 1) if graph.chance(40) else 0
    dim = graph.int(batch, a.rank - 1)
    rest = [graph.choose((1, 2, 4, 3, 8)) for _ in range(graph.int(0, 1))]
    # XLA truncates an index of 64 bits to 32: out of bounds it may be anything.
    element = graph.choose(("i32", "i64", "ui8"))
    index = graph.argument(
        (*a.shape[:batch], *rest), element, ("apart", 1) if element == "i64" else ("place", a.shape[dim])
    )
    shape = (*a.shape[:dim], *rest, *a.shape[dim + 1 :])
    graph.op(
        "stablehlo.torch_index_select",
        [a, index],
        [(shape, a.element)],
        f"dim = {dim} : i64, batch_dims = {batch} : i64",
        exact=True,
        bound=a.bound,
    )


#
# Order
#


def sort(graph):
    """By the first of one or two tensors; ties stay in order, so there is one answer."""
    a = graph.pick(("f32", "i32", "bf16", "ui8", "f64", "i1"), low=1, exact=True)
    dim = graph.int(0, a.rank - 1)
    values = [a]
    if graph.chance(50):  # argsort, or a tensor that goes with it
        if graph.chance(50):
            values += graph.op(
                "stablehlo.iota", [], [(a.shape, "i32")], f"iota_dimension = {dim} : i64", exact=True, bound=16
            )
        else:
            values.append(graph.operand(a.shape, graph.choose(("f32", "i32", "bf16"))))
    names = [(graph.fresh(), graph.fresh()) for _ in values]
    out, kind = graph.fresh(), tensor((), a.element)
    block = ", ".join(
        f"{name}: {tensor((), value.element)}" for pair, value in zip(names, values, strict=True) for name in pair
    )
    direction = graph.choose(("LT", "GT"))
    body = (f"{{\n^bb0({block}):\n{out} = stablehlo.compare {direction}, {names[0][0]}, {names[0][1]} : ({kind}, "
            f"{kind}) -> tensor<i1>\nstablehlo.return {out} : tensor<i1>\n}}")
    where = dim - a.rank if graph.chance(20) else dim
    graph.op("stablehlo.sort", values, [(value.shape, value.element) for value in values],
             f"dimension = {where} : i64, is_stable = true", [body], exact=True, bound=a.bound)


def sort_by_keys(graph):
    """As JAX sorts by several keys: floats in their total order, a tie of one key is broken by the next; the last is
    the place.
    """
    a = graph.pick(("f32", "i32", "ui8", "i1", "bf16"), low=1, exact=True, kinds=WILD)
    dim = graph.int(0, a.rank - 1)
    b = graph.argument(a.shape, graph.choose(("i32", "f32", "ui8")))
    places = graph.op("stablehlo.iota", [], [(a.shape, "i32")], f"iota_dimension = {dim} : i64", exact=True, bound=16)
    keys = [a, b, *places]
    names = [(graph.fresh(), graph.fresh()) for _ in keys]
    lines, before = [], None
    for key, (left, right) in list(zip(keys, names, strict=True))[::-1]:
        kind = tensor((), key.element)
        order = (
            ", TOTALORDER" if is_float(key.element) else ", UNSIGNED" if key.element in ("ui8", "i1") else ", SIGNED"
        )
        less, same, chosen = graph.fresh(), graph.fresh(), graph.fresh()
        lines.append(f"{less} = stablehlo.compare {'GT' if key is b else 'LT'}, {left}, {right}{order} : ({kind}, "
                     f"{kind}) -> tensor<i1>")
        if before:
            lines += [f"{same} = stablehlo.compare EQ, {left}, {right}{order} : ({kind}, {kind}) -> tensor<i1>",
                      f"{chosen} = stablehlo.select {same}, {before}, {less} : tensor<i1>, tensor<i1>"]
        before = chosen if before else less
    taken = graph.permutation(range(3))
    block = ", ".join(f"{name}: {tensor((), keys[at].element)}" for at in taken for name in names[at])
    text = "\n".join(lines)
    body = f"{{\n^bb0({block}):\n{text}\nstablehlo.return {before} : tensor<i1>\n}}"
    graph.op("stablehlo.sort", [keys[at] for at in taken], [(a.shape, keys[at].element) for at in taken],
             f"dimension = {dim} : i64, is_stable = {str(graph.chance(50)).lower()}", [body], exact=True)
    graph.ops[-1] += " by keys"


def top_k(graph):
    a = graph.pick(("f32", "i32", "bf16"), low=1, high=3, least=1, exact=True)
    k = graph.int(1, a.shape[-1])
    shape = (*a.shape[:-1], k)
    graph.op("chlo.top_k", [a], [(shape, a.element), (shape, "i32")], f"k = {k} : i64", exact=True, bound=a.bound)


FAMILIES = {
    "stablehlo.dynamic_slice": dynamic_slice,
    "stablehlo.dynamic_update_slice": dynamic_update_slice,
    "static start": static_start,
    "stablehlo.gather": gather,
    **{f"stablehlo.scatter {op}": scatter(op) for op in SCATTERED},
    "stablehlo.scatter set": scatter_set,
    "segments": segments,
    "stablehlo.scatter several": scatter_several,
    "stablehlo.torch_index_select": torch_index_select,
    "stablehlo.sort": sort,
    "stablehlo.sort by keys": sort_by_keys,
    "chlo.top_k": top_k,
}
