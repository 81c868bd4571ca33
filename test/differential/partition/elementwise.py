"""Ops on elements: arithmetic, comparisons, conversions, maps, and those of CHLO with their broadcasts."""

from elements import ANY, COMPLEX, FLOATS, INTEGERS, NUMBERS, SIGNED, WIDE, is_float, scalar_of
from graph import region

WILD = (("small",), ("wild",))
REAL = (("real", 0.1, 0.9),)


def _unary(name, elements, kinds=WILD, exact=None, keep=True, needs_exact=False):
    """`keep`: an integral operand gives an integral result of the same bound."""

    def family(graph):
        a = graph.pick(elements, kinds=kinds, exact=needs_exact)
        graph.op(name, [a], [(a.shape, a.element)], exact=exact, bound=a.bound if keep else None)

    return family


EXACT_UNARY = {
    "stablehlo.abs": SIGNED + FLOATS, "stablehlo.negate": FLOATS + SIGNED + COMPLEX, "stablehlo.sign": SIGNED + FLOATS,
    "stablehlo.ceil": FLOATS, "stablehlo.floor": FLOATS, "stablehlo.round_nearest_even": FLOATS,
    "stablehlo.round_nearest_afz": FLOATS, "stablehlo.not": (*INTEGERS, "i1"), "stablehlo.popcnt": INTEGERS,
    "stablehlo.count_leading_zeros": INTEGERS, "chlo.conj": COMPLEX,
}
JUMPS = {
    "stablehlo.sign",
    "stablehlo.ceil",
    "stablehlo.floor",
    "stablehlo.round_nearest_even",
    "stablehlo.round_nearest_afz",
}
ROUNDED = ("f32", "f64", "bf16", "f16")
INEXACT_UNARY = {
    "stablehlo.cbrt": ROUNDED, "stablehlo.cosine": ROUNDED + COMPLEX, "stablehlo.exponential": ROUNDED + COMPLEX,
    "stablehlo.exponential_minus_one": ROUNDED, "stablehlo.log": ROUNDED + COMPLEX, "stablehlo.log_plus_one": ROUNDED,
    "stablehlo.logistic": ROUNDED, "stablehlo.rsqrt": ROUNDED, "stablehlo.sine": ROUNDED + COMPLEX,
    "stablehlo.sqrt": ROUNDED + COMPLEX, "stablehlo.tan": ROUNDED, "stablehlo.tanh": ROUNDED,
    **{f"chlo.{name}": ("f32", "f64", "bf16") for name in (
        "acos", "asin", "asinh", "atan", "atanh", "bessel_i1e", "cosh", "digamma", "erfc", "erf_inv", "erf", "lgamma",
        "sinh", "tan")},
    "chlo.square": ROUNDED, "chlo.acosh": ("f32", "f64"),
}

FAMILIES = {
    name: _unary(name, elements, exact=True, needs_exact=name in JUMPS) for name, elements in EXACT_UNARY.items()
}
for _name, _elements in INEXACT_UNARY.items():
    FAMILIES[_name] = _unary(
        _name, _elements, kinds=(("real", 1.1, 1.9),) if _name == "chlo.acosh" else REAL, exact=False, keep=False
    )


def to_bool(name, elements):
    def family(graph):
        a = graph.pick(elements, kinds=WILD, exact=True)
        graph.op(name, [a], [(a.shape, "i1")], exact=True, bound=1)

    return family


FAMILIES |= {
    name: to_bool(name, ROUNDED)
    for name in ("stablehlo.is_finite", "chlo.is_inf", "chlo.is_neg_inf", "chlo.is_pos_inf")
}


def part(name):
    def family(graph):
        a = graph.pick(COMPLEX)
        graph.op(name, [a], [(a.shape, scalar_of(a.element))], bound=a.bound, exact=True)

    return family


FAMILIES |= {name: part(name) for name in ("stablehlo.real", "stablehlo.imag")}


def complex_parts(graph):
    a = graph.pick(WIDE)
    b = graph.operand(a.shape, a.element)
    bound = None if a.bound is None or b.bound is None else a.bound + b.bound
    graph.op("stablehlo.complex", [a, b], [(a.shape, f"complex<{a.element}>")], bound=bound, exact=True)


FAMILIES["stablehlo.complex"] = complex_parts

#
# Two operands
#


def _sum(a, b):
    return None if a is None or b is None else a + b


def _product(a, b):
    return None if a is None or b is None else 2 * a * b


def _most(a, b):
    return None if a is None or b is None else max(a, b)


ARITHMETIC = {"stablehlo.add": _sum, "stablehlo.subtract": _sum, "stablehlo.multiply": _product}
ORDER = {"stablehlo.maximum": _most, "stablehlo.minimum": _most}
BITS = ("stablehlo.and", "stablehlo.or", "stablehlo.xor")
SHIFTS = ("stablehlo.shift_left", "stablehlo.shift_right_arithmetic", "stablehlo.shift_right_logical")


def _binary(name, elements, bound=None, exact=None, kinds=(("small",),)):
    def family(graph):
        a = graph.pick(elements, kinds=kinds)
        # XLA folds true + true, both constant, to false.
        second = graph.argument if (name, a.element) == ("stablehlo.add", "i1") else graph.operand
        b = second(a.shape, a.element)
        most = bound(a.bound, b.bound) if bound else None
        graph.op(name, [a, b], [(a.shape, a.element)], exact=exact, bound=most)

    return family


FAMILIES |= {name: _binary(name, ANY, bound) for name, bound in ARITHMETIC.items() if name != "stablehlo.subtract"}
FAMILIES["stablehlo.subtract"] = _binary("stablehlo.subtract", NUMBERS, _sum)
FAMILIES |= {name: _binary(name, FLOATS + INTEGERS + ("i1",), bound, True, WILD) for name, bound in ORDER.items()}
FAMILIES |= {name: _binary(name, (*INTEGERS, "i1"), exact=True, kinds=WILD) for name in BITS}
FAMILIES |= {name: _binary(name, INTEGERS, exact=True) for name in SHIFTS}


def quotient(name, elements):
    def family(graph):
        a = graph.pick(elements, bounded=True)
        b = graph.argument(a.shape, a.element, ("real", 1.0, 3.0) if is_float(a.element) else ("small",))
        graph.op(name, [a, b], [(a.shape, a.element)], exact=None if not is_float(a.element) else False)

    return family


FAMILIES["stablehlo.divide"] = quotient("stablehlo.divide", ROUNDED + INTEGERS + COMPLEX)
FAMILIES["stablehlo.remainder"] = quotient("stablehlo.remainder", INTEGERS)


def two_reals(name, elements):
    def family(graph):
        a = graph.argument(graph.shape(), graph.choose(elements), ("real", 0.5, 1.5))
        b = graph.argument(a.shape, a.element, ("real", 0.5, 1.5))
        graph.op(name, [a, b], [(a.shape, a.element)], exact=False)

    return family


FAMILIES |= {name: two_reals(name, ROUNDED) for name in ("stablehlo.power", "stablehlo.atan2")}
FAMILIES |= {name: two_reals(name, ("f32", "f64")) for name in ("chlo.polygamma",)}


def zeta(graph):
    a = graph.argument(graph.shape(), graph.choose(WIDE), ("real", 1.5, 3.0))
    b = graph.argument(a.shape, a.element, ("real", 0.5, 1.5))
    graph.op("chlo.zeta", [a, b], [(a.shape, a.element)], exact=False)


FAMILIES["chlo.zeta"] = zeta


def next_after(graph):
    a = graph.pick(WIDE, exact=True)
    b = graph.operand(a.shape, a.element, exact=True)
    graph.op("chlo.next_after", [a, b], [(a.shape, a.element)], exact=True)


FAMILIES["chlo.next_after"] = next_after


def mulhi(graph):
    a = graph.pick(("i32", "ui32", "i8", "ui8", "i16", "ui16"), kinds=WILD)
    b = graph.operand(a.shape, a.element)
    graph.op("chlo.mulhi", [a, b], [(a.shape, a.element)], exact=True)


FAMILIES["chlo.mulhi"] = mulhi

#
# Comparisons and choices
#


def compare(graph):
    a = graph.pick(ANY, kinds=WILD, exact=True)
    b = graph.operand(a.shape, a.element, exact=True)
    directions = ("EQ", "NE") if a.element.startswith("complex") else ("LT", "GE", "EQ", "NE", "GT", "LE")
    total = is_float(a.element) and not a.element.startswith("complex") and graph.chance(20)
    kind = ", compare_type = #stablehlo<comparison_type TOTALORDER>" if total else ""
    direction = f"comparison_direction = #stablehlo<comparison_direction {graph.choose(directions)}>"
    graph.op("stablehlo.compare", [a, b], [(a.shape, "i1")], direction + kind, exact=True, bound=1)


def select(graph):
    a = graph.pick(ANY, kinds=WILD)
    b = graph.operand(a.shape, a.element)
    scalar = graph.chance(30)
    predicate = graph.operand(() if scalar else a.shape, "i1")
    graph.op("stablehlo.select", [predicate, a, b], [(a.shape, a.element)], exact=True, bound=_most(a.bound, b.bound))


def clamp(graph):
    a = graph.pick(FLOATS + INTEGERS)
    shapes = [() if graph.chance(40) else a.shape for _ in range(2)]
    low, high = (graph.operand(shape, a.element) for shape in shapes)
    graph.op("stablehlo.clamp", [low, a, high], [(a.shape, a.element)], exact=True,
             bound=_most(_most(a.bound, low.bound), high.bound))


CONVERTED = ("f32", "bf16", "f16", "f64", "i32", "i8", "ui8", "i64", "i4", "i1", "complex<f32>", "f8E4M3FN")


def convert(graph):
    a = graph.pick(CONVERTED, bounded=True, exact=True)
    to = graph.choose(
        [element for element in CONVERTED if not a.element.startswith("complex") or element.startswith("complex")]
    )
    # Out of range is not defined: bounded values stay within every type.
    if to.startswith(("ui", "i")) and a.bound > 3:
        to = "i64"
    exact = not is_float(to) or a.bound <= 2 ** 4
    graph.op("stablehlo.convert", [a], [(a.shape, to)], exact=exact, bound=a.bound if exact else None)


def reduce_precision(graph):
    a = graph.pick(ROUNDED, kinds=WILD, exact=True)
    exponent, mantissa = graph.choose(((5, 2), (8, 7), (4, 3), (2, 0)))
    graph.op("stablehlo.reduce_precision", [a], [(a.shape, a.element)],
             f"exponent_bits = {exponent} : i32, mantissa_bits = {mantissa} : i32", exact=True,
             bound=a.bound and 2 * a.bound)


def mapped(graph):
    a = graph.pick(("f32", "i32", "f64", "bf16"))
    b = graph.operand(a.shape, a.element)
    out, product = graph.fresh(), graph.fresh()
    body = region(
        graph,
        a.element,
        2,
        lambda names: (
            [
                f"{product} = stablehlo.multiply {names[0]}, {names[1]} : T",
                f"{out} = stablehlo.subtract {product}, {names[0]} : T",
            ],
            out,
            "T",
        ),
    )
    dims = f"dimensions = array<i64{': ' if a.rank else ''}{', '.join(map(str, range(a.rank)))}>"
    graph.op(
        "stablehlo.map", [a, b], [(a.shape, a.element)], dims, [body], bound=_sum(_product(a.bound, b.bound), a.bound)
    )


FAMILIES |= {"stablehlo.compare": compare, "stablehlo.select": select, "stablehlo.clamp": clamp,
             "stablehlo.convert": convert, "stablehlo.reduce_precision": reduce_precision, "stablehlo.map": mapped}

#
# CHLO's broadcasts
#


def _suffixes(graph, shape):
    """A shape that broadcasts with `shape`: some leading dims left out, some of size 1."""
    short = shape[graph.int(0, len(shape)) :]
    return tuple(1 if graph.chance(30) else size for size in short)


def _broadcast(name, elements, bound=None, exact=None, element=None, kind=("small",), properties=""):
    def family(graph):
        a = graph.argument(graph.shape(0, 3), graph.choose(elements), kind)
        b = graph.argument(_suffixes(graph, a.shape), a.element, kind)
        operands = [a, b] if graph.chance(50) else [b, a]
        to = element(a.element) if element else a.element
        graph.op(
            name, operands, [(a.shape, to)], properties, exact=exact, bound=bound(a.bound, b.bound) if bound else None
        )

    return family


BROADCASTS = {
    **{f"chlo.broadcast_{name}": (NUMBERS, bound)
       for name, bound in (("add", _sum), ("subtract", _sum), ("multiply", _product))},
    **{f"chlo.broadcast_{name}": (FLOATS + INTEGERS, _most) for name in ("maximum", "minimum")},
    **{f"chlo.broadcast_{name}": ((*INTEGERS, "i1"), None) for name in ("and", "or", "xor")},
    **{f"chlo.broadcast_{name}": (INTEGERS, None) for name in
       ("shift_left", "shift_right_arithmetic", "shift_right_logical", "remainder")},
}
FAMILIES |= {name: _broadcast(name, elements, bound) for name, (elements, bound) in BROADCASTS.items()}
FAMILIES |= {
    f"chlo.broadcast_{name}": _broadcast(f"chlo.broadcast_{name}", ("f32", "f64"), exact=False, kind=("real", 1.5, 2.5))
    for name in ("divide", "power", "atan2", "polygamma", "zeta")
}
FAMILIES["chlo.broadcast_next_after"] = _broadcast("chlo.broadcast_next_after", WIDE, exact=True)
FAMILIES["chlo.broadcast_complex"] = _broadcast(
    "chlo.broadcast_complex", WIDE, _sum, True, lambda real: f"complex<{real}>"
)
FAMILIES["chlo.broadcast_compare"] = _broadcast(
    "chlo.broadcast_compare", FLOATS + INTEGERS, exact=True, element=lambda _: "i1",
    properties="comparison_direction = #chlo<comparison_direction LT>")


def broadcast_select(graph):
    a = graph.argument(graph.shape(0, 3), graph.choose(ANY))
    b = graph.argument(_suffixes(graph, a.shape), a.element)
    predicate = graph.argument(_suffixes(graph, a.shape), "i1")
    graph.op("chlo.broadcast_select", [predicate, a, b], [(a.shape, a.element)], exact=True)


FAMILIES["chlo.broadcast_select"] = broadcast_select


def constant_like(graph):
    a = graph.pick(("f32", "i32", "bf16", "f64", "i8"))
    value = "3.0" if is_float(a.element) else "3"
    graph.op("chlo.constant_like", [a], [(a.shape, a.element)], f"value = {value} : {a.element}", exact=True, bound=3)


FAMILIES["chlo.constant_like"] = constant_like


def barrier(graph):
    values = [graph.pick(ANY) for _ in range(graph.int(1, 3))]
    for result, value in zip(
        graph.op("stablehlo.optimization_barrier", values, [(v.shape, v.element) for v in values], exact=True),
        values,
        strict=True,
    ):
        assert result.type == value.type


FAMILIES["stablehlo.optimization_barrier"] = barrier
