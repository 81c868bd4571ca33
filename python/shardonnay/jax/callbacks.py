"""Calls back into Python from within a program that is compiled apart.

The text of a program names such a call by a number, its place in a list that JAX keeps of the module that it lowered.
The device's program is part of another module, with a list of its own. So the functions are taken from JAX as it lowers
the user's function once more, the program has numbers that nobody else has, and where it is called an operation of
ours, lowered behind it, puts the functions on the list there and their places into the program.
"""

import dataclasses
import itertools
import re

import jax
import numpy as np
from jax.extend import core
from jax.extend.mlir import ir
from jax.interpreters import mlir

from ..operations import operations
from . import artefacts

_TARGET = re.compile(r"xla_ffi_(partitioned_)?python_(cpu|gpu)_callback")
_CONFIG = "mhlo.backend_config"
# Numbers that are no places in a list; not used twice in a process.
_numbers = itertools.count(1 << 40)


@dataclasses.dataclass(eq=False)
class _Found:
    """What the lowering of an operation saw; as its parameter, it is itself and no other."""

    functions: tuple = ()


def calls(module):
    """The operations of a module that call back into Python."""
    return [op for op in operations(module) if op.name == "stablehlo.custom_call" and _TARGET.match(_target(op))]


def _target(operation):
    return operation.attributes["call_target_name"].value


def _place(call):
    return ir.IntegerAttr(ir.DictAttr(call.attributes[_CONFIG])["index"]).value


def _set_place(call, place):
    kind = ir.IntegerType.get_unsigned(64)
    call.attributes[_CONFIG] = ir.DictAttr.get({"index": ir.IntegerAttr.get(kind, place)})


def _refuse(call, function, what, instead):
    artefacts.refuse(call.location, f"a call back into Python {what}; expected none: {instead}", function)


def check_none(source, text, where, instead):
    """Refuses, where it is written, a call back into Python: `where` it is, what to do `instead`."""
    if _TARGET.search(text):
        module = source.lowered.compiler_ir("stablehlo")  # held as long as its operations are
        for call in calls(module):
            _refuse(call, source.function, where, instead)


def functions_of(source):
    """The functions that a lowered function calls, by the places in its text; a CompileError where they can't be."""
    module = source.lowered.compiler_ir("stablehlo")
    found, traced, function = calls(module), source.traced, source.function
    if not found:
        return {}
    for call in found:
        if any(str(value.type) == "!stablehlo.token" for value in (*call.operands, *call.results)):
            _refuse(call, function, "that is ordered", "call it with ordered=False, or outside the function")
        if "partitioned" in _target(call):
            instead = "call it with partitioned=False, or in a jax.shard_map"
            _refuse(call, function, "with the shards of a value", instead)
    if not traced.jaxpr.out_avals:
        _refuse(found[0], function, "of a function without results, of which nothing would be run", "return a value")
    again, functions = _lowered_again(traced)
    if [_signature(call) for call in calls(again)] != [_signature(call) for call in found]:
        _refuse(found[0], function, "that JAX lowers differently each time", "call it outside the function")
    return {place: functions[place] for place in map(_place, found)}


def _signature(call):
    return _place(call), _target(call), *(str(value.type) for value in (*call.operands, *call.results))


def _lowered_again(traced):
    """(module, functions) of a traced function: JAX shows its list to the lowering of an operation alone."""
    run, found = core.jaxpr_as_fun(traced.jaxpr), _Found()
    kinds = [jax.ShapeDtypeStruct(aval.shape, aval.dtype, weak_type=aval.weak_type) for aval in traced.jaxpr.in_avals]
    jitted = jax.jit(lambda *leaves: (run(*leaves), _look_p.bind(into=found)), keep_unused=True)
    return jitted.trace(*kinds).lower().compiler_ir("stablehlo"), found.functions


def taken(source, text):
    """(functions, change): those that a function calls, by numbers of their own; `change` gives these to a program.

    text: of the function; most have none.
    """
    if not _TARGET.search(text):
        return {}, None
    functions = functions_of(source)
    numbers = {place: next(_numbers) for place in functions}

    def change(module):
        for call in calls(module):
            _set_place(call, numbers[_place(call)])

    return {numbers[place]: function for place, function in functions.items()}, change


def linked(results, functions):
    """`results` of a program that is being traced, whose calls find `functions`, by their numbers."""
    return _link_p.bind(*results, functions=tuple(functions.items())) if functions else results


def _look(context, *, into):
    into.functions = tuple(context.module_context.host_callbacks)
    return [mlir.ir_constant(np.float32(0))]


def _link(context, *results, functions):
    places = {}
    for number, function in functions:
        places[number] = len(context.module_context.host_callbacks)
        context.module_context.add_host_callback(function)
    for call in calls(context.module_context.module):
        if _place(call) in places:
            _set_place(call, places[_place(call)])
    return results


_look_p = core.Primitive("shardonnay_look")
_look_p.def_abstract_eval(lambda *, into: jax.core.ShapedArray((), np.float32))
mlir.register_lowering(_look_p, _look, cacheable=False)
_link_p = core.Primitive("shardonnay_link")
_link_p.multiple_results = True
_link_p.def_abstract_eval(lambda *results, functions: list(results))
mlir.register_lowering(_link_p, _link, cacheable=False)
