"""The vocabulary of a generated case: a small graph of ops on sharded values, drawn by numbers.

A case's lines are StableHLO in which `$3` is a value of its own; `runner.program` renames them, so that many cases
share one module. Values know how exact they are, which decides how their numbers are compared:

    bound   integral, and at most this large: sums and products are exact while they stay below 2^mantissa
    exact   the same bits wherever and in whatever order the op is computed; else compared with a tolerance
"""

import math
import re
from dataclasses import dataclass, field, replace

import moves
import numpy as np
from elements import LARGEST, MANTISSA, NUMBERS, SIZES, bound_of, is_float, scalar_of, tensor
from setting import PLAIN, Setting


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
    setting: Setting
    arguments: list
    lines: list
    results: list  # (value, sharding or "")
    ops: list = field(default_factory=list)
    functions: list = field(default_factory=list)  # private ones


class Graph:
    """What a family draws its ops into."""

    def __init__(self, integer, family, setting=PLAIN):
        """integer: draws a number from low to high; all choices are such numbers, and the lowest is the simplest."""
        self._integer, self.family, self.setting = integer, family, setting
        self.mesh = setting.meshes[0].axes
        self.arguments, self.lines, self.values, self.ops, self.functions, self._used = [], [], [], [], [], set()
        self.held = []  # values that only a constraint sees
        self.parts = None  # of sizes that two dims are merged into: arguments, and results again, have these
        self._names = 0

    # Choices

    def int(self, low, high):
        return self._integer(low, high) if low < high else low

    def choose(self, options):
        return options[self.int(0, len(options) - 1)]

    def chance(self, percent):
        return self.int(0, 99) >= 100 - percent

    def permutation(self, items):
        left = list(items)
        return [left.pop(self.int(0, len(left) - 1)) for _ in range(len(left))]

    def subset(self, items, least=0):
        found = [item for item in items if self.chance(40)]
        return found if len(found) >= least else list(items)[:least]

    def size(self, least=0):
        return max(least, self.choose(SIZES))

    def shape(self, low=0, high=None, least=0):
        """At most `high` dims; where that is not said three, seldom up to eight."""
        if high is None:
            high = self.int(4, 8) if self.chance(6) else 3
        found = []
        for _ in range(self.int(low, high)):
            size = self.size(least)
            found.append(size if math.prod(found) * size <= LARGEST else max(1, least))
        return tuple(found)

    # Shardings

    def _parts_of(self, axes):
        """The axes of a mesh as (name, pre-size, size), each whole or as two sub-axes."""
        pieces = []
        for name, size in axes:
            parts = [part for part in range(2, size) if size % part == 0]
            if parts and self.chance(25):
                part = self.choose(parts)
                pieces += [(name, 1, part), (name, part, size // part)]
            else:
                pieces.append((name, 1, size))
        return self.permutation(pieces) if len(pieces) > 1 else pieces

    def _dim(self, pieces, sizes, open_dims):
        merged = []
        for name, pre, size in pieces:
            if merged and merged[-1][0] == name and merged[-1][1] * merged[-1][2] == pre:
                merged[-1] = (name, merged[-1][1], merged[-1][2] * size)
            else:
                merged.append((name, pre, size))
        axes = [f'"{name}"' if size == sizes[name] else f'"{name}":({pre}){size}' for name, pre, size in merged]
        axes += ["?"] * (open_dims and self.chance(30))
        return "{" + ", ".join(axes) + "}" + (f"p{self.int(0, 2)}" if axes and open_dims and self.chance(10) else "")

    def sharding(self, shape, open_dims=False, partial=False):
        """The text of a sharding: every axis on some dim, or on none. `partial`: perhaps of partial sums."""
        mesh = self.choose(self.setting.meshes) if self.chance(30) else self.setting.meshes[0]
        if not mesh.axes:
            return f"#sdy.sharding<@{mesh.name}, []>"
        dims = [[] for _ in shape]
        for piece in self._parts_of(mesh.axes) if shape else []:
            dim = self.int(-1, len(shape) - 1)
            if dim >= 0:
                dims[dim].append(piece)
        texts = [self._dim(pieces, dict(mesh.axes), open_dims) for pieces in dims]
        unused = [name for name, _ in mesh.axes if not any(name == piece[0] for pieces in dims for piece in pieces)]
        kind = "unreduced" if partial and self.chance(25) else "replicated" if self.chance(10) else ""
        taken = ", ".join(f'"{name}"' for name in self.subset(unused, 1)) if kind and unused else ""
        return f"#sdy.sharding<@{mesh.name}, [{', '.join(texts)}]{f', {kind}={{{taken}}}' if taken else ''}>"

    # Values

    def argument(self, shape, element, kind=("small",), sharded=True, **wanted):
        """An argument of this type, or what data movement makes of others (which are as `operand` wants them)."""
        if sharded and self.parts is not None and kind == ("small",) and self.chance(70):
            merged = moves.flattened(self, tuple(shape), element)
            if merged:
                return merged
        if sharded and self.chance(10):
            return moves.behind(self, tuple(shape), element, kind, **wanted)
        value = Value(self.fresh(), tuple(shape), element, bound_of(kind, element))
        # Sums are of what has one zero and no NaN.
        partial = kind == ("small",) and element != "i1"
        sharding = self.sharding(shape, open_dims=True, partial=partial) if sharded and self.chance(85) else ""
        self.arguments.append(Argument(value, sharding, tuple(kind), len(self.arguments) + sum(shape)))
        self.values.append(value)
        return value

    def operand(self, shape, element, kind=("small",), exact=False, bounded=False):
        """A value of this type: an earlier one (perhaps one that the op takes already), a window of one, or an
        argument.
        """
        alike = [value for value in self.values if (value.element, value.rank) == (element, len(shape))
                 and (value.exact or not exact) and (value.bound is not None or not bounded)]
        known = [value for value in alike if value.shape == tuple(shape)]
        if known and kind == ("small",) and self.chance(50):
            return self.choose(known)
        larger = [value for value in alike if all(mine >= size for mine, size in zip(value.shape, shape))]
        if shape and larger and kind == ("small",) and self.chance(25):
            return moves.window(self, self.choose(larger), tuple(shape))
        return self.argument(shape, element, kind, exact=exact, bounded=bounded)

    def pick(
        self, elements=NUMBERS, low=0, high=None, least=0, kinds=(("small",),), exact=False, bounded=False, fits=None
    ):
        """A value to start an op from, of any shape within bounds: an earlier one, or an argument."""
        known = [
            value
            for value in self.values
            if value.element in elements and low <= value.rank <= max(8 if high is None else high, low)
            and min(value.shape, default=9) >= least
            and math.prod(value.shape) <= LARGEST and (fits is None or fits(value))
            and (value.exact or not exact) and (value.bound is not None or not bounded)
        ]
        if known and self.chance(75):
            return self.choose(known[::-1])
        element = self.choose(elements)
        kind = self.choose([kind for kind in kinds if kind[0] != "real" or is_float(element)] or [("small",)])
        return self.argument(self.shape(low, high, least), element, kind, exact=exact, bounded=bounded)

    def op(self, name, operands, results, properties="", regions=(), exact=None, bound=None, terms=1, attributes=True):
        """Adds an op in its generic form; `results` are (shape, element). Returns its values.

        exact: whether it moves and compares only; None: as exact as its operands and `bound` make it.
        """
        found = []
        for shape, element in results:
            found.append(self._result(tuple(shape), element, operands, exact, bound, terms))
        shardings = ""
        if attributes and results and self.chance(25):
            texts = ", ".join(self.sharding(value.shape, True).removeprefix("#sdy.sharding") for value in found)
            shardings = f" {{sdy.sharding = #sdy.sharding_per_value<[{texts}]>}}"
        held = self.int(0, len(found) - 1) if attributes and found and self.chance(6) else None
        if held is not None:  # what all users see is behind a constraint
            found[held], final = replace(found[held], name=self.fresh()), found[held]
        self.raw(found, name, operands, properties, regions, shardings)
        if held is not None:
            self.values.remove(found[held])
            self.held.append(found[held])
            self.constraint(found[held], self.sharding(final.shape, True).removeprefix("#sdy.sharding"), final)
            found[held] = final
        return found

    def constraint(self, value, sharding, found=None):
        found = found or replace(value, name=self.fresh())
        self.lines.append(f"{found.name} = sdy.sharding_constraint {value.name} {sharding} : {value.type}")
        self.ops.insert(max(0, len(self.ops) - 1), "sdy.sharding_constraint")  # the family names the last one
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
        given = "}> {sdy.sharding = "
        at = max(at for at, line in enumerate(self.lines) if " = sdy.sharding_constraint " not in line)
        line = self.lines[at]
        self.lines[at] = (line.replace(given, f"}}> {{{attributes}, sdy.sharding = ") if given in line
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
        value = Value(
            self.fresh(), tuple(array.shape if shape is None else shape), element, float(np.abs(array).max(initial=0))
        )
        text = _dense(array, element) if array.size else ""
        self.lines.append(f"{value.name} = stablehlo.constant dense<{text}> : {value.type}")
        self.ops.append("stablehlo.constant")
        self.values.append(value)
        return value

    def case(self):
        """The case: most of what is not used is returned, and something that is."""
        arguments = {argument.value.name for argument in self.arguments}
        made = [value for value in self.values if value.name not in arguments]
        kept = [
            value for value in made if (not self.chance(6) if value.name not in self._used else self.chance(15))
        ] or made[-1:]
        if not kept:  # the op did not fit: what is left is the boundary
            kept = [self.values[0] if self.values else self.argument((2,), "f32")]
        if self.parts:
            kept = [moves.unflattened(self, value) for value in kept]
        results = [
            (value, self.sharding(value.shape, True, value.exact and value.element != "i1") if self.chance(75) else "")
            for value in kept
        ]
        return Case(self.family, self.setting, self.arguments, self.lines, results, self.ops, self.functions)


def _dense(array, element):
    if array.ndim:
        return "[" + ", ".join(_dense(row, element) for row in array) + "]"
    if element == "i1":
        return str(bool(array)).lower()
    if element.startswith("complex"):
        return f"({float(array.real)}, {float(array.imag)})"
    return str(float(array)) if is_float(element) else str(int(array))


def region(graph, element, count, body):
    """The text of a region on scalars: `body` of their names, one line each, `T` for their type, and what it returns.
    """
    names = [graph.fresh() for _ in range(count)]
    kind = tensor((), element)
    lines, returned, result = body(names)
    block = ", ".join(f"{name}: {kind}" for name in names)
    text = "\n".join(re.sub(r"\bT\b", kind, line) for line in lines)
    return (
        f"{{\n^bb0({block}):\n{text}\nstablehlo.return {returned} : "
        f"{re.sub(chr(92) + 'bT' + chr(92) + 'b', kind, result)}\n}}"
    )


def combiner(graph, op, element):
    """A region of two scalars that combines them by `op`."""
    out = graph.fresh()
    return region(graph, element, 2, lambda names: ([f"{out} = stablehlo.{op} {names[0]}, {names[1]} : T"], out, "T"))
