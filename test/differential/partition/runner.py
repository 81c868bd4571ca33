"""Many cases in one module: partitioned and not, run, and compared; what fails is found by halving."""

import functools
import json
import math
import re
import zlib

import numpy as np
import shardonnay
from graph import MANTISSA, Argument, Case, Value, data, is_float, scalar_of
from jaxlib.mlir import ir
from shardonnay import boundary, compare, engine

DEVICES = 8
# What is small is rather computed whole by the first, and cut by the others.
WAYS = (
    {"device_model": "cpu"},
    {"device_model": "bytes"},
    {"device_model": "bytes", "search_mode": "graph", "keep_functions_of": 2},
    {"device_model": "bytes", "arguments": "whole", "results": "whole", "keep_propagated": True},
)


def module(cases):
    """The text of one function with the arguments, ops and results of all cases; they share a mesh."""
    sizes = ", ".join(f'"{name}"={size}' for name, size in cases[0].mesh)
    arguments, results, lines, returned, types, functions = [], [], [], [], [], []
    for number, case in enumerate(cases):
        rename = functools.partial(re.sub, r"(@?)\$(\d+)", lambda found: f"{found[1] or '%'}c{number}_{found[2]}")
        for argument in case.arguments:
            cut = f" {{sdy.sharding = {argument.sharding}}}" if argument.sharding else ""
            arguments.append(rename(f"{argument.value.name}: {argument.value.type}{cut}"))
        lines += [rename(line) for line in case.lines]
        functions += [rename(function) + "\n" for function in case.functions]
        for value, sharding in case.results:
            results.append(value.type + (f" {{sdy.sharding = {sharding}}}" if sharding else ""))
            returned.append(rename(value.name))
            types.append(value.type)
    body = "\n".join(lines)
    return (
        f"sdy.mesh @mesh = <[{sizes}]>\nfunc.func @main({', '.join(arguments)}) -> ({', '.join(results)}) {{\n{body}\n"
        f"return {', '.join(returned)} : {', '.join(types)}\n}}\n{''.join(functions)}"
    )


def arrays(case):
    return [data(each.kind, each.value.shape, each.value.element, each.seed) for each in case.arguments]


def written(case, why):
    """The case as a file that `campaign --replay` runs again."""
    facts = [[list(each.kind), each.seed] for each in case.arguments]
    exact = [[value.exact, value.terms] for value, _ in case.results]
    comments = "".join(f"// {line}\n" for line in why.splitlines())
    return f"{comments}// arguments: {json.dumps(facts)}\n// results: {json.dumps(exact)}\n{module([case])}"


def read(text):
    """The case in the text of `written`, and nothing of how it came about; its module stays as it is."""
    facts = json.loads(re.search(r"^// arguments: (.*)", text, re.M)[1])
    exact = json.loads(re.search(r"^// results: (.*)", text, re.M)[1])
    signature, returned = re.search(r"@main\((.*?)\) -> \((.*)\) \{$", text, re.M).groups()

    def value(element, name="", **more):
        shape, kind = re.fullmatch(r"tensor<((?:\d+x)*)(.*)>", element).groups()
        return Value(name, tuple(map(int, shape.split("x")[:-1])), kind, **more)

    types = r"tensor<(?:\d+x)*(?:[^<>]|<[^<>]*>)*>"
    arguments = [
        Argument(value(found[1]), "", tuple(kind), seed)
        for found, (kind, seed) in zip(re.finditer(rf"%\w+: ({types})", signature), facts, strict=True)
    ]
    bare = re.sub(r"\{sdy\.sharding = #sdy\.sharding<@mesh, \[.*?\](, replicated=\{.*?\})?>\}", "", returned)
    results = [
        (value(found[0], f"result {at}", exact=same, terms=terms), "")
        for at, (found, (same, terms)) in enumerate(zip(re.finditer(types, bare), exact, strict=True))
    ]
    return Case("replay", (), arguments, [], results), "\n".join(line for line in text.splitlines() if not line.startswith("//"))


def poison(dtype):
    """What may stand behind the end of a piece: everything that comes through is seen."""
    if boundary.is_inexact(dtype):
        return np.nan
    return True if dtype.kind == "b" else 5


class Refused(Exception):
    """Ours: the compiler refuses. Theirs: the engine cannot run the unpartitioned program."""

    def __init__(self, ours, reason):
        super().__init__(reason)
        self.ours = ours


def _compiled(text, way):
    try:
        return shardonnay.compile(text, **way)
    except shardonnay.CompileError as error:
        raise Refused(True, str(error)) from None


def _partitioned(compiled, inputs):
    manifest = compiled.manifest
    shards = [
        boundary.shard(entry, value, manifest["mesh"], poison(value.dtype))
        for entry, value in zip(manifest["inputs"], inputs, strict=True)
    ]
    pieces = engine.Executable(compiled.text, manifest["devices"], optimize=False)(shards)
    return [
        boundary.assemble(entry, found, manifest["mesh"]) for entry, found in zip(manifest["outputs"], pieces, strict=True)
    ]


def _sorting(text):
    """With the dims of sorts counted from the front: along a negative one XLA's CPU now and then does nothing."""
    with engine.context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        for operation in engine.operations(module):
            if operation.name == "stablehlo.sort" and (dim := ir.IntegerAttr(operation.attributes["dimension"])).value < 0:
                rank = ir.RankedTensorType(operation.operands[0].type).rank
                operation.attributes["dimension"] = ir.IntegerAttr.get(dim.type, dim.value + rank)
        return str(module)


def _whole(text, inputs, moved):
    try:
        executable = engine.Executable(_sorting(compare.unpartitioned(text)), 1, optimize=False)
        return [[piece for (piece,) in executable([[value] for value in values])] for values in (inputs, *moved)]
    except Exception as error:
        raise Refused(False, str(error)) from None


def _perturbed(inputs, seed):
    found, random = [], np.random.default_rng(seed)
    for value in inputs:
        if boundary.is_inexact(value.dtype):
            eps = 2.0 ** (1 - MANTISSA.get(_element(value.dtype), 24))
            wide = np.complex128 if value.dtype.kind == "c" else np.float64
            with np.errstate(invalid="ignore"):
                value = (value.astype(wide) * (1 + eps * random.choice([-1, 1], value.shape))).astype(value.dtype)
        found.append(np.asarray(value))
    return found


def _element(dtype):
    names = {"float64": "f64", "complex128": "f64", "float32": "f32", "complex64": "f32", "float16": "f16", "bfloat16": "bf16",
             "float8_e4m3fn": "f8E4M3FN", "float8_e5m2": "f8E5M2"}
    return names.get(dtype.name)


def _tolerance(value, wanted, others):
    """Zero for what is exact; else the rounding of its sums, and ten times what rounding the arguments changes."""
    if value.exact or not is_float(value.element):
        return 0.0
    noise = max([boundary.difference(wanted, other) for other in others], default=0.0)
    wide = np.abs(wanted.astype(np.complex128 if wanted.dtype.kind == "c" else np.float64))
    largest = float(wide[np.isfinite(wide)].max(initial=0.0))
    eps = 2.0 ** (1 - MANTISSA[scalar_of(value.element)])
    return eps * (8 + 2 * math.sqrt(value.terms) + value.terms / 4) * largest + 10 * (noise if math.isfinite(noise) else 0.0)


def verdicts(cases, text=None):
    """Per case "" or what is wrong; raises Refused, or whatever the engine raises on our program."""
    text, inputs = text or module(cases), [array for case in cases for array in arrays(case)]
    # One case is tried in each way. First: a refusal is found before the engine has worked.
    ways = WAYS if len(cases) == 1 else [WAYS[zlib.crc32(text.encode()) % len(WAYS)]]
    compiled = [_compiled(text, way) for way in ways]
    inexact = any(not value.exact for case in cases for value, _ in case.results)
    moved = [_perturbed(inputs, seed) for seed in (1, 2)] if inexact else []
    wanted, *others = _whole(text, inputs, moved)
    outputs = [_partitioned(program, inputs) for program in compiled]
    found, place = [], 0
    for case in cases:
        problems = []
        for value, _ in case.results:
            tolerance = _tolerance(value, wanted[place], [other[place] for other in others])
            for output, spread in (each[place] for each in outputs):
                problems += _problem(value, output, spread, wanted[place], tolerance)
            place += 1
        found.append("\n".join(problems))
    return found


def _problem(value, output, spread, wanted, tolerance):
    if output.shape != wanted.shape or output.dtype != wanted.dtype:
        return [f"{value.name}: {output.dtype}{output.shape} for {wanted.dtype}{wanted.shape}"]
    error = boundary.difference(output, wanted)
    if max(error, spread) <= tolerance:
        return []
    return [f"{value.name}: error {error:g}, copies differ by {spread:g}, allowed {tolerance:g}\n{output}\nfor\n{wanted}"[:1500]]


def run(cases, done):
    """Calls done(case, kind, text) for each: kind "ok", "wrong", "refused", "engine" (cannot run it whole) or "crash"."""
    try:
        found = verdicts(cases)
    except Exception as error:
        if len(cases) > 1:
            middle = len(cases) // 2
            run(cases[:middle], done)
            run(cases[middle:], done)
            return
        kind = ("refused" if error.ours else "engine") if isinstance(error, Refused) else "crash"
        done(cases[0], kind, str(error))
        return
    for case, problem in zip(cases, found, strict=True):
        done(case, "wrong" if problem else "ok", problem)
