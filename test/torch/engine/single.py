"""Ops on one device, many in one program: what the engine computes, and what PJRT does.

A case's `body` is StableHLO in which `$0`, `$1`, ... are its arguments, `$r` its result (or `$r:2` and so on), other
`$names` its own.
"""

import re
from dataclasses import dataclass, field

import numpy as np
import torch
from cluster import to_numpy, to_torch
from shardonnay import boundary
from shardonnay import engine as pjrt
from shardonnay.torch.engine import Groups, listing
from shardonnay.torch.engine.executable import graph_of

# Relative to the value, and to the largest of the result.
TOLERANCE = {"f64": 1e-12, "f32": 2e-6, "f16": 2e-3, "bf16": 1.6e-2, "complex<f32>": 4e-6, "complex<f64>": 1e-12}


def tensor(shape, element):
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


@dataclass
class Case:
    name: str
    arguments: list  # (array, element type)
    results: list  # (shape, element type)
    body: str
    tolerance: float | None = None
    functions: str = ""
    atol: float = field(default=0.0)

    def text(self, number):
        def rename(match):
            return f"%r{number}{match[2] or ''}" if match[1] == "r" else f"%c{number}_{match[1]}{match[2] or ''}"

        return re.sub(r"\$(\w+)([:#]\d+)?", rename, self.body)


def module(cases):
    arguments = [
        f"%c{n}_{i}: {tensor(np.shape(array), element)}"
        for n, case in enumerate(cases)
        for i, (array, element) in enumerate(case.arguments)
    ]
    types = [tensor(*result) for case in cases for result in case.results]
    values = [
        f"%r{n}" if len(case.results) == 1 else f"%r{n}#{i}"
        for n, case in enumerate(cases)
        for i in range(len(case.results))
    ]
    functions = dict.fromkeys(case.functions for case in cases)
    return "\n".join(
        [f"func.func public @main({', '.join(arguments)}) -> ({', '.join(types)}) {{",
         *(case.text(n) for n, case in enumerate(cases)), f"return {', '.join(values)} : {', '.join(types)}", "}",
         *functions]
    )  # fmt: skip


def compute(text, inputs):
    """The results of the text by the engine, inputs in NumPy, and the graph."""
    program = listing.read(text)
    graph = graph_of(program, 0, Groups([0]))
    values = [to_torch(value, type.element) for value, type in zip(inputs, program.main.body.types, strict=True)]
    with torch.no_grad():
        found = graph(*values)
    types = program.main.body.ops[-1].operand_types
    return [to_numpy(value, type.element) for value, type in zip(found, types, strict=True)], graph


def verdict(got, wanted, element, tolerance=None, atol=0.0):
    """"" if they agree, else how they differ: bit by bit but for floats, where NaN is like NaN."""
    if got.shape != wanted.shape or got.dtype != wanted.dtype:
        return f"got {got.dtype}{list(got.shape)}, expected {wanted.dtype}{list(wanted.shape)}"
    if not boundary.is_inexact(wanted.dtype):
        wrong = np.argwhere(got != wanted)
        return f"at {wrong[0]}: got {got[tuple(wrong[0])]}, expected {wanted[tuple(wrong[0])]}" if len(wrong) else ""
    wide = np.complex128 if wanted.dtype.kind == "c" else np.float64
    a, b = got.astype(wide), wanted.astype(wide)
    tolerance = TOLERANCE.get(element, 0.0) if tolerance is None else tolerance
    with np.errstate(all="ignore"):
        same = (a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= tolerance * np.abs(b) + atol)
    wrong = np.argwhere(~same)
    return (
        f"at {wrong[0]}: got {a[tuple(wrong[0])]}, expected {b[tuple(wrong[0])]} ({len(wrong)} of {a.size})"
        if len(wrong)
        else ""
    )


def compiled(text, inputs):
    """The results of the text by PJRT."""
    pjrt.prepare(8)
    return [shards[0] for shards in pjrt.Executable(text, 1, optimize=False)([[value] for value in inputs])]


def interpreted(text, inputs):
    """The results of the text by StableHLO's own interpreter, where XLA does not do as the specification says."""
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo

    with pjrt.context(), ir.Location.unknown():
        main = ir.Module.parse(text)
        kinds = [
            ir.RankedTensorType(kind) for kind in ir.FunctionType(main.body.operations[0].function_type.value).inputs
        ]
        given = [
            ir.Attribute.parse(f'dense<"0x{np.ascontiguousarray(value).tobytes().hex().upper()}"> : {kind}')
            for value, kind in zip(inputs, kinds, strict=True)
        ]
        found = []
        for attribute in stablehlo.eval_module(main, given):
            kind = ir.RankedTensorType(attribute.type)
            values = [attribute[at] for at in range(int(np.prod(kind.shape)))]
            found.append(np.array(values, dtype=boundary.dtype_of(str(kind.element_type))).reshape(kind.shape))
        return found


def check(cases, reference=compiled):
    """Every case agrees with the reference; else one line for each that differs."""
    text = module(cases)
    inputs = [np.asarray(array) for case in cases for array, _ in case.arguments]
    wanted = reference(text, inputs)
    got, _ = compute(text, inputs)
    complaints, at = [], 0
    for case in cases:
        for shape, element in case.results:
            found = verdict(got[at], np.asarray(wanted[at]), element, case.tolerance, case.atol)
            at += 1
            if found:
                complaints.append(f"{case.name} {tensor(shape, element)}: {found}")
    assert not complaints, "\n".join(complaints)


FLOATS, SMALL, COMPLEX = ["f32", "f64", "bf16", "f16"], ["f8E4M3FN", "f8E5M2"], ["complex<f32>", "complex<f64>"]
SIGNED, UNSIGNED = ["i8", "i16", "i32", "i64"], ["ui8", "ui16", "ui32", "ui64"]
INTEGERS = [*SIGNED, *UNSIGNED]


def edges(element, seed=0):
    """Values at which ops differ: zeros, ones, limits, halves, NaN and infinities."""
    dtype, random = boundary.dtype_of(element), np.random.default_rng(seed)
    if element == "i1":
        return np.array([False, True, True])
    if dtype.kind in "iu" or element in ("i4", "ui4", "i2", "ui2"):
        bits = int(element.lstrip("ui"))
        low, high = (0, 2**bits - 1) if element.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        chosen = [0, 1, 2, high, high - 1, low, low + 1, high // 2, high // 2 + 1, 3]
        chosen += [int(value) for value in random.integers(low, high, 4, dtype=np.uint64 if low == 0 else np.int64)]
        return np.array(chosen, dtype=np.uint64 if low == 0 else np.int64).astype(dtype)
    parts = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, -2.5, 3.0, 100.25, -7.75, np.inf, -np.inf, np.nan]
    if dtype.kind == "c":
        finite = [0.0, 1.0, -1.5, 2.25]
        return np.array([complex(a, b) for a in finite for b in finite]).astype(dtype)
    return np.concatenate([np.array(parts), random.standard_normal(6) * 3]).astype(dtype)


def pairs(element, seed=0):
    """Every edge with every other."""
    values = edges(element, seed)
    return np.repeat(values, len(values)), np.tile(values, len(values))


def numbers(shape, element, seed=0):
    """Small numbers, whole ones for integers."""
    dtype, random = boundary.dtype_of(element), np.random.default_rng(seed + 7 * len(shape) + sum(shape))
    if dtype.kind == "b":
        return random.random(shape) < 0.5
    if dtype.kind in "iu" or dtype.name.startswith(("int", "uint")):
        return np.asarray(random.integers(0 if "u" in element else -4, 5, shape)).astype(dtype)
    found = random.standard_normal(shape)
    return np.asarray(found + 1j * random.standard_normal(shape) if dtype.kind == "c" else found).astype(dtype)
