"""Ops whose sizes are operands, here constants (others XLA does not take); and composites."""

import re

import shapes
from indexed import gather


class _Sized:
    """A graph in which one op gets operands for its sizes: those of `lists`, by the names of its attributes, or its
    shape.
    """

    def __init__(self, graph, name, lists):
        self._graph, self._name, self._lists = graph, name, lists

    def __getattr__(self, name):
        return getattr(self._graph, name)

    def op(self, name, operands, results, properties="", **facts):
        graph, sizes = self._graph, [list(results[0][0])]
        if self._lists:
            sizes = []
            for attribute in self._lists:
                text = re.search(rf"(?:, )?\b{attribute} = array<i64(?:: ([^>]*))?>", properties)
                sizes.append([int(size) for size in (text[1] or "").split(", ") if size])
                properties = properties.replace(text[0], "").removeprefix(", ")
        element = graph.choose(("i32", "i64"))
        held = [graph.constant(numbers, element, (len(numbers),)) for numbers in sizes]
        graph._used.update(value.name for value in held)
        return graph.op(self._name, [*operands, *held], results, properties, **facts)


def sized(name, family, *lists):
    return lambda graph: family(_Sized(graph, name, lists))


def dimension_size(graph):
    a = graph.pick(("f32", "i1", "i8"), low=1)
    graph.op("stablehlo.get_dimension_size", [a], [((), "i32")], f"dimension = {graph.int(0, a.rank - 1)} : i64",
             exact=True, bound=16)


# Bodies on values of one type, `T`: element by element, and not.
ELEMENTWISE = ("%0 = stablehlo.negate %x : T", "%0 = stablehlo.maximum %x, %y : T",
               "%1 = stablehlo.add %x, %y : T\n%0 = stablehlo.minimum %1, %x : T")


def composite(graph):
    """With or without a rule of its own; with one it stays, if it works element by element."""
    a = graph.pick(("f32", "i32", "bf16"), low=1, high=3, bounded=True)
    b, body, name = graph.operand(a.shape, a.element, bounded=True), graph.choose(ELEMENTWISE), graph.fresh()
    ruled = a.rank and graph.chance(50)
    if not ruled and graph.chance(50):
        body = f"%1 = stablehlo.reverse %y, dims = [{graph.int(0, a.rank - 1)}] : T\n%0 = stablehlo.maximum %x, %1 : T"
    body = body.replace("T", a.type)
    graph.functions.append(
        f"func.func private @{name}(%x: {a.type}, %y: {a.type}) -> {a.type} {{\n{body}\nreturn %0 : {a.type}\n}}"
    )
    graph.op("stablehlo.composite", [a, b], [(a.shape, a.element)], f'name = "some.thing", decomposition = @{name}',
             bound=a.bound + b.bound, attributes=not ruled)
    if ruled:
        dims, sizes = "ijk"[: a.rank], ", ".join(f"{dim}={size}" for dim, size in zip("ijk", a.shape))
        dims = f"[{', '.join(dims)}]"
        graph.attach(f"sdy.sharding_rule = #sdy.op_sharding_rule<({dims}, {dims})->({dims}) {{{sizes}}}, custom>")


FAMILIES = {
    "stablehlo.dynamic_reshape": sized("stablehlo.dynamic_reshape", shapes.reshape),
    "stablehlo.dynamic_broadcast_in_dim": sized("stablehlo.dynamic_broadcast_in_dim", shapes.broadcast_in_dim),
    "stablehlo.dynamic_iota": sized("stablehlo.dynamic_iota", shapes.iota),
    "stablehlo.dynamic_pad": sized(
        "stablehlo.dynamic_pad", shapes.pad, "edge_padding_low", "edge_padding_high", "interior_padding"
    ),
    "stablehlo.real_dynamic_slice": sized(
        "stablehlo.real_dynamic_slice", shapes.slice_, "start_indices", "limit_indices", "strides"
    ),
    "stablehlo.dynamic_gather": sized("stablehlo.dynamic_gather", gather, "slice_sizes"),
    "stablehlo.get_dimension_size": dimension_size,
    "stablehlo.composite": composite,
}
