"""Every public function of JAX's namespaces, and its gradient, on random shardings: partitioned against whole.

Calls are run many in a program; of a program that fails as a whole, each half is tried.
"""

import random
import re
import sys
from pathlib import Path

import jax
import jax_functions
import numpy as np
import pytest
import runner
import setting as settings
import shardonnay
from graph import Graph
from jaxlib.mlir import ir
from shardonnay import boundary, compare, engine

BATCH = 25
PARTS = 8
# What changes arguments by a unit in the last place shows how roundings on the way fall. The order of a sum of a
# hundred may
# change it by ten of them: of one, the sum's own rounding may leave nothing to be seen. Some of these cancel.
ULPS = (1, 1, 10, 10, 10, 10)


def attributes(graph, types, percent):
    """Of arguments or results of these types: some are sharded."""
    texts = [graph.sharding(kind.shape, True) if graph.chance(percent) else "" for kind in types]
    return ir.ArrayAttr.get([ir.Attribute.parse(f"{{sdy.sharding = {text}}}" if text else "{}") for text in texts])


def lowered(calls):
    """(text, arguments, how many results each call has) of one program."""

    def run(values):
        return [call.function(*each) for call, each in zip(calls, values, strict=True)]

    values = [call.arguments for call in calls]
    program = jax.jit(run, keep_unused=True).lower(values)
    return program.as_text(), [np.asarray(value) for value in jax.tree.leaves(values)], [
        len(jax.tree.leaves(result)) for result in program.out_info]


def sharded(text, setting, number):
    meshes = "\n".join(mesh.text for mesh in setting.meshes)
    text = re.sub(r"^(module @.*\{)$", rf"\1\n{meshes}", text, count=1, flags=re.M)
    with engine.context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        main = next(
            op for op in module.body.operations if op.operation.name == "func.func" and op.sym_name.value == "main"
        )
        kind, graph = ir.FunctionType(main.function_type.value), Graph(random.Random(number).randint, "", setting)
        main.operation.attributes["arg_attrs"] = attributes(graph, kind.inputs, 85)
        main.operation.attributes["res_attrs"] = attributes(graph, kind.results, 60)
        return module.operation.get_asm(enable_debug_info=True)


def problem_of(name, output, spread, wanted, others):
    """What is wrong with a result of the call; `others` are of arguments that are off by as many units as ULPS says."""
    if not boundary.is_inexact(wanted.dtype):  # what rounding alone changes may be either
        others = [other for ulps, other in zip(ULPS, others, strict=True) if ulps == 1]
        output, allowed = np.where(np.any([wanted != other for other in others], axis=0), wanted, output), 0.0
    else:
        noise = max(
            max(ULPS) / ulps * boundary.difference(wanted, other) for ulps, other in zip(ULPS, others, strict=True)
        )
        largest = np.abs(wanted[np.isfinite(wanted)].astype(np.complex128)).max(initial=0.0)
        coarse = "float16" in name or wanted.dtype.itemsize == 2
        allowed = (1e-2 if coarse else 1e-5) * largest + (noise if np.isfinite(noise) else 0.0)
    error = boundary.difference(np.asarray(output), wanted)
    if output.shape == wanted.shape and max(error, spread) <= allowed:
        return ""
    return f"error {error:g}, copies differ by {spread:g}, allowed {allowed:g}\n{output}\nfor\n{wanted}"[:1000]


def problems(calls, setting, number):
    """[(call's name, what is wrong)]"""
    text, arguments, counts = lowered(calls)
    text = sharded(text, setting, number)
    compiled = shardonnay.compile(text, **dict(setting.options))
    whole = engine.Executable(compare.unpartitioned(text), 1, optimize=False)
    runs = [arguments, *(runner._perturbed(arguments, seed, ulps) for seed, ulps in enumerate(ULPS, 1))]
    wanted, *others = [[piece for (piece,) in whole([[value] for value in values])] for values in runs]
    outputs = runner._partitioned(compiled, arguments)
    names = [call.name for call, count in zip(calls, counts, strict=True) for _ in range(count)]
    found = [(name, problem_of(name, *output, right, [other[at] for other in others]))
             for at, (name, output, right) in enumerate(zip(names, outputs, wanted, strict=True))]
    return [(name, problem) for name, problem in found if problem]


def failures(calls, setting, number):
    try:
        return problems(calls, setting, number)
    except Exception as error:
        if len(calls) == 1:
            return [(calls[0].name, f"{type(error).__name__}: {error}"[:1000])]
    middle = len(calls) // 2
    return failures(calls[:middle], setting, number) + failures(calls[middle:], setting, number)


def check(calls, number):
    engine.prepare(settings.DEVICES)
    shuffled = random.Random(number).sample(calls, len(calls))
    found = []
    for at in range(0, len(calls), BATCH):
        found += failures(shuffled[at : at + BATCH], settings.draw(number + at), number + at)
    assert not found, "\n".join(f"{name} (number {number})\n{problem}" for name, problem in found)


@pytest.mark.parametrize("part", [0, *(pytest.param(part, marks=pytest.mark.long) for part in range(1, PARTS))])
def test_functions(part):
    check(jax_functions.calls()[part::PARTS], part)


@pytest.mark.long
@pytest.mark.parametrize("part", range(PARTS))
def test_gradients(part):
    check([found for call in jax_functions.calls()[part::PARTS] if (found := jax_functions.gradient(call))], part)


# Seen by devices, with effects, without a name, random, combined by no associative body; and an Adam step by gradients
# that are
# zero but for rounding.
LEFT_OUT = (
    "map_|sharded|constrained|shard_alike|callback|printed|ffi|random_uniform|reduced_mixed|window_mixed|train_step"
)


def value_of(shaped, draw):
    if shaped.dtype == bool:
        return draw.random(shaped.shape) < 0.5
    if np.issubdtype(shaped.dtype, np.integer):
        return draw.integers(0, 4, shaped.shape).astype(shaped.dtype)
    return draw.uniform(0.1, 0.9, shaped.shape).astype(shaped.dtype)


@pytest.mark.long
def test_programs():
    """Those of test/programs: every op that JAX, flax and optax emit."""
    engine.prepare(settings.DEVICES)  # their meshes are made as they are imported
    sys.path.append(str(Path(__file__).parents[2] / "programs"))
    import programs

    draw = np.random.default_rng(0)
    check([jax_functions.Call(name, function, [value_of(shaped, draw) for shaped in arguments])
           for name, (function, arguments, x64) in programs.PROGRAMS.items() if not x64
           and not re.match(LEFT_OUT, name)], 2)


def test_none_is_forgotten():
    for space, names in jax_functions.table().items():
        assert jax_functions.public(space) == set(names), space


def test_it_notices(monkeypatch):
    """Where a mask lets through what it keeps out, what stands behind the end arrives."""
    calls = [call for call in jax_functions.calls(r"jax\.numpy\.(sum|max|mean)$") if len(call.arguments) == 1]
    real, seen = shardonnay.compile, []

    def robbed(text, **options):
        compiled = real(text, **options)
        seen.append(compiled.text.count("compare LT"))
        return shardonnay.Program(
            compiled.text.replace("compare LT", "compare GE"), compiled.manifest, compiled.report, ()
        )

    assert not failures(calls, settings.PLAIN, 1)
    monkeypatch.setattr(shardonnay, "compile", robbed)
    assert failures(calls, settings.PLAIN, 1) and any(seen)
