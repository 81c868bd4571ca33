"""The vocabulary of a generated case: a small graph of ops on cut values, drawn by hypothesis.

A case's lines are StableHLO in which `$3` is a value of its own; `runner.program` renames them, so that many cases share
one module. Values know how exact they are, which decides how their numbers are compared:

    bound   integral, and at most this large: sums and products are exact while they stay below 2^mantissa
    exact   the same bits wherever and in whatever order the op is computed; else compared with a tolerance
"""

import math
import re
from dataclasses import dataclass, field, replace

import ml_dtypes
import numpy as np
from hypothesis import strategies as st
from shardonnay import boundary

FLOATS = ("f32", "bf16", "f16", "f64", "f8E4M3FN", "f8E5M2")
WIDE = ("f32", "f64")
SIGNED = ("i32", "i8", "i64", "i16", "i4")
UNSIGNED = ("ui32", "ui8", "ui64", "ui16", "ui4")
INTEGERS = SIGNED + UNSIGNED
COMPLEX = ("complex<f32>", "complex<f64>")
NUMBERS = FLOATS + INTEGERS + COMPLEX
ANY = (*NUMBERS, "i1")
# Bits of a significand, the hidden one too.
MANTISSA = {"f64": 53, "f32": 24, "f16": 11, "bf16": 8, "f8E4M3FN": 4, "f8E5M2": 3}
SIZES = (2, 4, 8, 3, 5, 1, 10, 7, 16, 0, 9, 12)
LARGEST = 2048  # elements of a value

MESHES = (
    (("x", 2), ("y", 4)),
    (("x", 8),),
    (("x", 4), ("y", 2)),
    (("x", 2), ("y", 2), ("z", 2)),
    (("x", 2), ("y", 3)),
    (("x", 5),),
    (("x", 7),),
    (("x", 3), ("y", 1), ("z", 2)),
)


def tensor(shape, element):
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


def scalar_of(element):
    """The real type of a complex one; else itself."""
    return element[8:-1] if element.startswith("complex") else element


def is_float(element):
    return scalar_of(element) in MANTISSA


def array_text(numbers):
    """An array attribute; an empty one has no colon."""
    return f"array<i64: {', '.join(map(str, numbers))}>" if len(numbers) else "array<i64>"


#
# Data
#


def data(kind, shape, element, seed):
    """The array of an argument: what it holds is said by `kind`, (name, parameters ...)."""
    random, dtype = np.random.default_rng(seed), boundary.dtype_of(element)
    name, *parameters = kind
    if element == "i1":
        return random.random(shape) < 0.5
    found = DATA[name](random, shape, dtype, *parameters)
    return np.asarray(found).astype(dtype)


def _limits(dtype):
    return ml_dtypes.iinfo(dtype) if dtype.kind == "V" else np.iinfo(dtype)


def _small(random, shape, dtype):
    """Integers whose sums are exact in every type."""
    if dtype.kind == "c":
        return random.integers(-3, 4, shape) + 1j * random.integers(-3, 4, shape)
    return random.integers(0 if "uint" in dtype.name else -3, 4, shape)


def _wild(random, shape, dtype):
    """NaN, infinities and both zeros among floats; the extremes among integers."""
    found = _small(random, shape, dtype)
    if boundary.is_inexact(dtype):
        special = [np.nan, np.inf, -np.inf, -0.0, 1.5]
        return np.where(random.random(shape) < 0.4, random.choice(special, shape), found)
    limits = _limits(dtype)
    extremes = np.array([int(limits.min), int(limits.max)], object)
    return np.where(random.random(shape) < 0.4, random.choice(extremes, shape), found.astype(object))


def _real(random, shape, dtype, low=-2.0, high=2.0):
    found = random.uniform(low, high, shape)
    return found + 1j * random.uniform(low, high, shape) if dtype.kind == "c" else found


def _place(random, shape, dtype, size):
    """Indices of a dim of `size`: within, on its bounds, and far outside."""
    limits = _limits(dtype)
    outside = [-1, 0, size - 1, size, size + 3, -size - 7, int(limits.min), int(limits.max)]
    outside = [place for place in outside if limits.min <= place <= limits.max]
    within = random.integers(0, max(1, min(size, int(limits.max))), shape)
    return np.where(random.random(shape) < 0.3, random.choice(np.array(outside, object), shape), within).astype(object)


def _apart(random, shape, dtype, size):
    """Different indices, where there are as many: rows of `shape` are places of one dim."""
    count = math.prod(shape)
    return random.permutation(max(count, size, 1))[:count].reshape(shape)


def _definite(random, shape, dtype):
    factor = random.integers(-2, 3, shape).astype(float)
    if dtype.kind == "c":
        factor = factor + 1j * random.integers(-2, 3, shape)
    return factor @ np.conj(factor.swapaxes(-1, -2)) + 2 * shape[-1] * np.eye(shape[-1])


def _triangle(random, shape, dtype):
    """Well-conditioned in both triangles: the solver reads one."""
    return 0.25 * random.integers(-2, 3, shape) + 4 * np.eye(shape[-1])


def _extreme(random, shape, dtype, side):
    """The least or the largest of the type."""
    if boundary.is_inexact(dtype):
        return np.full(shape, -np.inf if side == "low" else np.inf)
    limits = _limits(dtype)
    return np.full(shape, int(limits.min if side == "low" else limits.max), object)


DATA = {
    "extreme": _extreme, "small": _small, "wild": _wild, "real": _real, "place": _place, "apart": _apart, "definite": _definite,
    "triangle": _triangle,
}


def capped_power(value, terms):
    """Of a product of so many factors of at most `value`; at most 2**60."""
    return 2.0 ** min(60, terms * math.log2(max(1, value)))


def bound_of(kind, element):
    """|value| at most, if the data are integral."""
    if element == "i1":
        return 1
    return {"small": 5 if element.startswith("complex") else 3}.get(kind[0])


#
# Values and the graph
#


@dataclass(frozen=True)
class Value:
    name: str
    shape: tuple
    element: str
    bound: float = None
    exact: bool = True
    terms: int = 1  # the longest sum that it went through

    @property
    def rank(self):
        return len(self.shape)

    @property
    def type(self):
        return tensor(self.shape, self.element)


@dataclass(frozen=True)
class Argument:
    value: Value
    sharding: str
    kind: tuple
    seed: int


@dataclass
class Case:
    family: str
    mesh: tuple
    arguments: list
    lines: list
    results: list  # (value, sharding or "")
    ops: list = field(default_factory=list)
    functions: list = field(default_factory=list)  # private ones

    @property
    def devices(self):
        return math.prod(size for _, size in self.mesh)


class Graph:
    """What a family draws its ops into."""

    def __init__(self, draw, family, mesh=None):
        self._draw, self.family = draw, family
        self.mesh = mesh or self.choose(MESHES)
        self.arguments, self.lines, self.values, self.ops, self.functions, self._used = [], [], [], [], [], set()
        self._names = 0

    # Choices; the first or smallest is the simplest.

    def choose(self, options):
        return self._draw(st.sampled_from(options))

    def chance(self, percent):
        return self._draw(st.integers(0, 99)) >= 100 - percent

    def int(self, low, high):
        return self._draw(st.integers(low, high))

    def permutation(self, items):
        return self._draw(st.permutations(list(items)))

    def subset(self, items, least=0):
        found = [item for item in items if self.chance(40)]
        return found if len(found) >= least else list(items)[:least]

    def size(self, least=0):
        return max(least, self.choose(SIZES))

    def shape(self, low=0, high=3, least=0):
        found = []
        for _ in range(self.int(low, high)):
            size = self.size(least)
            found.append(size if math.prod(found) * size <= LARGEST else max(1, least))
        return tuple(found)

    # Shardings

    def _pieces(self):
        """The mesh's axes, each whole or as two sub-axes."""
        pieces = []
        for name, size in self.mesh:
            if size in (4, 8) and self.chance(25):
                pieces += [(name, 1, 2), (name, 2, size // 2)]
            else:
                pieces.append((name, 1, size))
        return self.permutation(pieces) if len(pieces) > 1 else pieces

    def sharding(self, shape, open_dims=False):
        """The text of a sharding: every axis on some dim, or on none."""
        dims = [[] for _ in shape]
        for piece in self._pieces() if shape else []:
            dim = self.int(-1, len(shape) - 1)
            if dim >= 0:
                dims[dim].append(piece)
        texts = []
        for pieces in dims:
            merged = []
            for name, pre, size in pieces:
                if merged and merged[-1][0] == name and merged[-1][1] * merged[-1][2] == pre:
                    merged[-1] = (name, merged[-1][1], merged[-1][2] * size)
                else:
                    merged.append((name, pre, size))
            whole = dict(self.mesh)
            axes = [f'"{name}"' if size == whole[name] else f'"{name}":({pre}){size}' for name, pre, size in merged]
            texts.append("{" + ", ".join(axes + ["?"] * (open_dims and self.chance(30))) + "}")
        unused = [name for name, _ in self.mesh if not any(name == piece[0] for pieces in dims for piece in pieces)]
        whole = f', replicated={{"{self.choose(unused)}"}}' if unused and self.chance(10) else ""
        return f"#sdy.sharding<@mesh, [{', '.join(texts)}]{whole}>"

    # Values

    def argument(self, shape, element, kind=("small",), cut=True):
        name = f"${self._names}"
        self._names += 1
        value = Value(name, tuple(shape), element, bound_of(kind, element))
        sharding = self.sharding(shape, open_dims=True) if cut and self.chance(85) else ""
        self.arguments.append(Argument(value, sharding, tuple(kind), len(self.arguments) + sum(shape)))
        self.values.append(value)
        return value

    def operand(self, shape, element, kind=("small",), exact=False, bounded=False):
        """A value of this type: an earlier one (perhaps one that the op takes already), or an argument."""
        known = [
            value
            for value in self.values
            if (value.shape, value.element) == (tuple(shape), element)
            and (value.exact or not exact) and (value.bound is not None or not bounded)
        ]
        if known and kind == ("small",) and self.chance(50):
            return self.choose(known)
        return self.argument(shape, element, kind)

    def pick(self, elements=NUMBERS, low=0, high=3, least=0, kinds=(("small",),), exact=False, bounded=False, fits=None):
        """A value to start an op from, of any shape within bounds: an earlier one, or an argument."""
        known = [
            value
            for value in self.values
            if value.element in elements and low <= value.rank <= max(high, low) and min(value.shape, default=9) >= least
            and math.prod(value.shape) <= LARGEST and (fits is None or fits(value))
            and (value.exact or not exact) and (value.bound is not None or not bounded)
        ]
        if known and self.chance(75):
            return self.choose(known[::-1])
        element = self.choose(elements)
        kind = self.choose([kind for kind in kinds if kind[0] != "real" or is_float(element)] or [("small",)])
        return self.argument(self.shape(low, high, least), element, kind)

    def op(self, name, operands, results, properties="", regions=(), exact=None, bound=None, terms=1, attributes=True):
        """Adds an op in its generic form; `results` are (shape, element). Returns its values.

        exact: whether it moves and compares only; None: as exact as its operands and `bound` make it.
        """
        found = []
        for shape, element in results:
            found.append(self._result(tuple(shape), element, operands, exact, bound, terms))
        cuts = ""
        if attributes and results and self.chance(25):
            texts = ", ".join(self.sharding(value.shape, True).removeprefix("#sdy.sharding") for value in found)
            cuts = f" {{sdy.sharding = #sdy.sharding_per_value<[{texts}]>}}"
        self.raw(found, name, operands, properties, regions, cuts)
        return found

    def constraint(self, value, sharding):
        found = replace(value, name=self.fresh())
        self.lines.append(f"{found.name} = sdy.sharding_constraint {value.name} {sharding} : {value.type}")
        self.ops.append("sdy.sharding_constraint")
        self._used.add(value.name)
        self.values.append(found)
        return found

    def raw(self, found, name, operands, properties="", regions=(), attributes=""):
        inside = f" ({', '.join(regions)})" if regions else ""
        names = ", ".join(value.name for value in operands)
        left = ", ".join(value.name for value in found)
        types, to = ", ".join(value.type for value in operands), ", ".join(value.type for value in found)
        held = f" <{{{properties}}}>" if properties else ""
        self.lines.append(
            f'{left}{" = " if left else ""}"{name}"({names}){held}{inside}{attributes} : ({types}) -> '
            f"{to if len(found) == 1 else f'({to})'}"
        )
        self._used.update(value.name for value in operands)
        self.ops.append(name)
        self.values += found

    def attach(self, attributes):
        """Adds discardable attributes to the op that came last."""
        cut = "}> {sdy.sharding = "
        line = self.lines[-1]
        self.lines[-1] = (line.replace(cut, f"}}> {{{attributes}, sdy.sharding = ") if cut in line
                          else line.replace("}> :", f"}}> {{{attributes}}} :"))

    def fresh(self):
        self._names += 1
        return f"${self._names - 1}"

    def _result(self, shape, element, operands, exact, bound, terms):
        all_exact = all(value.exact for value in operands)
        most = max([terms] + [value.terms * terms for value in operands])
        if exact is None:
            exact = not is_float(element) or (bound is not None and bound <= 2 ** MANTISSA[scalar_of(element)])
        if is_float(element) and bound is not None and bound > 2 ** MANTISSA[scalar_of(element)]:
            bound = None
        return Value(self.fresh(), shape, element, bound if all_exact else None, exact and all_exact, most)

    def constant(self, array, element, shape=None):
        """A constant of listed elements."""
        array = np.asarray(array)
        value = Value(self.fresh(), tuple(array.shape if shape is None else shape), element, float(np.abs(array).max(initial=0)))
        text = _dense(array, element) if array.size else ""
        self.lines.append(f"{value.name} = stablehlo.constant dense<{text}> : {value.type}")
        self.ops.append("stablehlo.constant")
        self.values.append(value)
        return value

    def case(self):
        """The case: all that is not used is returned, and something that is."""
        made = [value for value in self.values if value.name not in {argument.value.name for argument in self.arguments}]
        used = self._used
        kept = [value for value in made if value.name not in used or self.chance(15)] or made
        if not kept:  # the op did not fit: what is left is the boundary
            kept = [self.values[0] if self.values else self.argument((2,), "f32")]
        results = [(value, self.sharding(value.shape, True) if self.chance(75) else "") for value in kept]
        return Case(self.family, self.mesh, self.arguments, self.lines, results, self.ops, self.functions)


def _dense(array, element):
    if array.ndim:
        return "[" + ", ".join(_dense(row, element) for row in array) + "]"
    if element == "i1":
        return str(bool(array)).lower()
    if element.startswith("complex"):
        return f"({float(array.real)}, {float(array.imag)})"
    return str(float(array)) if is_float(element) else str(int(array))


def region(graph, element, count, body):
    """The text of a region on scalars: `body` of their names, one line each, `T` for their type, and what it returns."""
    names = [graph.fresh() for _ in range(count)]
    kind = tensor((), element)
    lines, returned, result = body(names)
    block = ", ".join(f"{name}: {kind}" for name in names)
    text = "\n".join(re.sub(r"\bT\b", kind, line) for line in lines)
    return f"{{\n^bb0({block}):\n{text}\nstablehlo.return {returned} : {re.sub(chr(92) + 'bT' + chr(92) + 'b', kind, result)}\n}}"


def combiner(graph, op, element):
    """A region of two scalars that combines them by `op`."""
    out = graph.fresh()
    return region(graph, element, 2, lambda names: ([f"{out} = stablehlo.{op} {names[0]}, {names[1]} : T"], out, "T"))
