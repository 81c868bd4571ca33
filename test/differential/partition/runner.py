"""Many cases in one module: partitioned and not, run, and compared; what fails is found by halving."""

import functools
import json
import math
import re

import interpreter
import manual
import numpy as np
import shardonnay
from elements import MANTISSA, data, is_float, scalar_of
from graph import Argument, Case, Value
from jaxlib.mlir import ir
from setting import Setting
from shardonnay import boundary, compare, engine
from shardonnay.operations import operations



def _rename(number, text):
    """The names and groups of a case among others in one module."""
    text = re.sub(r"(@?)\$(\d+)", lambda found: f"{found[1] or '%'}c{number}_{found[2]}", text)
    return re.sub(r"&(\d+)", lambda found: str(1000 * number + int(found[1])), text)


def module(cases):
    """The text of one function with the arguments, ops and results of all cases; they share a setting."""
    meshes = "".join(f"{mesh.text}\n" for mesh in cases[0].setting.meshes)
    arguments, results, lines, returned, types, functions = [], [], [], [], [], []
    for number, case in enumerate(cases):
        rename = functools.partial(_rename, number)
        for argument in case.arguments:
            sharding = f" {{sdy.sharding = {argument.sharding}}}" if argument.sharding else ""
            arguments.append(rename(f"{argument.value.name}: {argument.value.type}{sharding}"))
        lines += [rename(line) for line in case.lines]
        functions += [rename(function) + "\n" for function in case.functions]
        for value, sharding in case.results:
            results.append(value.type + (f" {{sdy.sharding = {sharding}}}" if sharding else ""))
            returned.append(rename(value.name))
            types.append(value.type)
    body = "\n".join(lines)
    return (
        f"{meshes}func.func @main({', '.join(arguments)}) -> ({', '.join(results)}) {{\n{body}\n"
        f"return {', '.join(returned)} : {', '.join(types)}\n}}\n{''.join(functions)}"
    )


def arrays(case):
    return [data(each.kind, each.value.shape, each.value.element, each.seed) for each in case.arguments]


def written(case, why):
    """The case as a file that `campaign --replay` runs again."""
    facts = [[list(each.kind), each.seed] for each in case.arguments]
    exact = [[value.exact, value.terms] for value, _ in case.results]
    comments = "".join(f"// {line}\n" for line in why.splitlines())
    options = dict(case.setting.options, memory=case.setting.memory)
    return (
        f"{comments}// options: {json.dumps(options)}\n// arguments: {json.dumps(facts)}\n// results: "
        f"{json.dumps(exact)}\n{module([case])}"
    )


def read(text):
    """The case in the text of `written`, and nothing of how it came about; its module stays as it is."""
    options, facts, exact = (
        json.loads(re.search(rf"^// {name}: (.*)", text, re.M)[1]) for name in ("options", "arguments", "results")
    )
    memory = options.pop("memory")
    text = "\n".join(line for line in text.splitlines() if not line.startswith("//"))

    def value(kind, name, **more):
        kind = ir.RankedTensorType(kind)
        return Value(name, tuple(kind.shape), str(kind.element_type), **more)

    with engine.context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        main = next(
            op for op in module.body.operations if op.operation.name == "func.func" and op.sym_name.value == "main"
        )
        kind = ir.FunctionType(main.function_type.value)
        arguments = [Argument(value(each, f"argument {at}"), "", tuple(data), seed)
                     for at, (each, (data, seed)) in enumerate(zip(kind.inputs, facts, strict=True))]
        results = [(value(each, f"result {at}", exact=same, terms=terms), "")
                   for at, (each, (same, terms)) in enumerate(zip(kind.results, exact, strict=True))]
    return Case("replay", Setting((), tuple(options.items()), memory), arguments, [], results), text


def poison(dtype):
    """What may stand behind the end of a shard: everything that comes through is seen."""
    if boundary.is_inexact(dtype):
        return np.nan
    return True if dtype.kind == "b" else 5


class Refused(Exception):
    """Ours: the compiler refuses. Theirs: the engine cannot run the unpartitioned program."""

    def __init__(self, ours, reason):
        super().__init__(ours, reason)
        self.kind = "refused" if ours else "engine"

    def __str__(self):
        return self.args[1]


def compiled(text, setting):
    options = dict(setting.options)
    try:
        found = shardonnay.compile(text, report=bool(setting.memory), **options)
    except shardonnay.CompileError as error:
        raise _refused(error) from None
    if not setting.memory:
        return found
    limit = int(found.report["peak_bytes"]["per_device"] * setting.memory)
    try:
        return shardonnay.compile(text, memory_limit=max(1, limit), **options)
    except shardonnay.CompileError as error:
        if "(memory-limit)" in str(error):
            return found
        raise _refused(error) from None


def _refused(error):
    found = [str(line) for line in error.diagnostics if line.severity == "error"] or map(str, error.diagnostics)
    return Refused(True, "\n".join(found))


def _partitioned(compiled, inputs, without=()):
    manifest = compiled.manifest
    shards = [
        boundary.shard(entry, value, manifest["mesh"], poison(value.dtype))
        for entry, value in zip(manifest["inputs"], inputs, strict=True)
    ]
    pieces = engine.Executable(compiled.text, manifest["devices"], optimize=False, without=without)(shards)
    return [
        boundary.assemble(entry, found, manifest["mesh"])
        for entry, found in zip(manifest["outputs"], pieces, strict=True)
    ]


def _sorting(text):
    """With the dims of sorts counted from the front: along a negative one XLA's CPU now and then does nothing."""
    with engine.context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        for operation in operations(module):
            if (
                operation.name == "stablehlo.sort"
                and (dim := ir.IntegerAttr(operation.attributes["dimension"])).value < 0
            ):
                rank = ir.RankedTensorType(operation.operands[0].type).rank
                operation.attributes["dimension"] = ir.IntegerAttr.get(dim.type, dim.value + rank)
        return str(module)


def _whole(text, inputs, moved):
    try:
        executable = engine.Executable(_sorting(compare.unpartitioned(manual.inlined(text))), 1, optimize=False)
        return [[piece for (piece,) in executable([[value] for value in values])] for values in (inputs, *moved)]
    except Exception as error:
        raise Refused(False, str(error)) from None


def _perturbed(inputs, seed, ulps=1):
    found, random = [], np.random.default_rng(seed)
    for value in inputs:
        if boundary.is_inexact(value.dtype):
            eps = 2.0 ** (1 - MANTISSA.get(_element(value.dtype), 24))
            wide = np.complex128 if value.dtype.kind == "c" else np.float64
            with np.errstate(invalid="ignore"):
                value = (value.astype(wide) * (1 + ulps * eps * random.choice([-1, 1], value.shape))).astype(
                    value.dtype
                )
        found.append(np.asarray(value))
    return found


def _element(dtype):
    names = {
        "float64": "f64",
        "complex128": "f64",
        "float32": "f32",
        "complex64": "f32",
        "float16": "f16",
        "bfloat16": "bf16",
        "float8_e4m3fn": "f8E4M3FN",
        "float8_e5m2": "f8E5M2",
    }
    return names.get(dtype.name)


def _tolerance(value, wanted, others):
    """Zero for what is exact; else the rounding of its sums, and ten times what rounding the arguments changes."""
    if value.exact or not is_float(value.element):
        return 0.0
    noise = max([boundary.difference(wanted, other) for other in others], default=0.0)
    wide = np.abs(wanted.astype(np.complex128 if wanted.dtype.kind == "c" else np.float64))
    largest = float(wide[np.isfinite(wide)].max(initial=0.0))
    eps = 2.0 ** (1 - MANTISSA[scalar_of(value.element)])
    return eps * (8 + 2 * math.sqrt(value.terms) + value.terms / 4) * largest + 10 * (
        noise if math.isfinite(noise) else 0.0
    )


def verdicts(cases, text=None, phase=lambda name: None, compile=compiled):
    """Per case "" or what is wrong; raises Refused, or whatever the engine raises on our program.

    phase: called with what is about to be done, "whole" or "run": the process may die of it.
    """
    text, inputs = text or module(cases), [array for case in cases for array in arrays(case)]
    program = compile(text, cases[0].setting)  # first: a refusal is found before the engine has worked
    inexact = any(not value.exact for case in cases for value, _ in case.results)
    moved = [_perturbed(inputs, seed) for seed in (1, 2)] if inexact else []
    phase("whole")
    wanted, *others = _whole(text, inputs, moved)
    phase("run")
    outputs = _partitioned(program, inputs)
    found = _compared(cases, text, outputs, wanted, others)
    if len(cases) == 1 and found[0]:
        if _interpreter_agrees(cases[0], text, inputs, outputs, others):
            raise Refused(False, f"StableHLO's interpreter agrees with ours, not with XLA's whole program: {found[0]}")
        plain = _partitioned(program, inputs, without=("algsimp",))
        if not _compared(cases, text, plain, wanted, others)[0]:
            raise Refused(False, f"ours agrees where XLA does not simplify it: {found[0]}")
    return found


def _compared(cases, text, outputs, wanted, others):
    found, place = [], 0
    for case in cases:
        problems, shardings = [], text if len(cases) == 1 else str(case.arguments)
        for value, _ in case.results:
            tolerance = _tolerance(value, wanted[place], [other[place] for other in others])
            output, spread = outputs[place]
            if "unreduced" in shardings and not value.exact:
                output = _with_kept_infinities(output, wanted[place])
            problems += _problem(value, output, spread, wanted[place], tolerance)
            place += 1
        found.append("\n".join(problems))
    return found


def _with_kept_infinities(output, wanted):
    """A sum times infinity is infinite; in parts, of which one is 0, it is NaN."""
    return (
        np.where(np.isnan(output) & np.isinf(wanted), wanted, output) if boundary.is_inexact(output.dtype) else output
    )


def _interpreter_agrees(case, text, inputs, outputs, others):
    right = interpreter.outputs(text, inputs)
    return right is not None and not any(
        _problem(value, *outputs[at], right[at], _tolerance(value, right[at], [other[at] for other in others]))
        for at, (value, _) in enumerate(case.results))


def _problem(value, output, spread, wanted, tolerance):
    if output.shape != wanted.shape or output.dtype != wanted.dtype:
        return [f"{value.name}: {output.dtype}{output.shape} for {wanted.dtype}{wanted.shape}"]
    error = boundary.difference(output, wanted)
    if max(error, spread) <= tolerance:
        return []
    return [f"{value.name}: error {error:g}, copies differ by {spread:g}, allowed "
            f"{tolerance:g}\n{output}\nfor\n{wanted}"[:1500]]


def run(cases, done, judge=None):
    """Calls done(case, kind, text) for each: kind "ok", "wrong", "refused", "engine" (cannot run it whole), "crash" or
    "hang".

    judge: what finds the verdicts of cases; in another process (worker.Worker) whatever becomes of it has a verdict.
    """
    try:
        found = (judge or verdicts)(cases)
    except Exception as error:
        if len(cases) > 1:
            print(
                f"  {len(cases)} cases: {getattr(error, 'kind', 'crash')}: {str(error).splitlines()[0][:200]}",
                flush=True,
            )
            middle = len(cases) // 2
            run(cases[:middle], done, judge)
            run(cases[middle:], done, judge)
            return
        done(cases[0], getattr(error, "kind", "crash"), str(error))
        return
    for case, problem in zip(cases, found, strict=True):
        if problem and len(cases) > 1:
            run([case], lambda case, kind, text: done(case,
                                                      *(("wrong", f"among others only: {problem}") if kind == "ok"
                                                        else (kind, text))),
                judge)
        else:
            done(case, "wrong" if problem else "ok", problem)
