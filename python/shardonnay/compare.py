"""The unpartitioned program on one device of PJRT, to compare a partitioned one with (agreement.py says how)."""

from jaxlib.mlir import ir

from . import agreement, engine
from .agreement import Agreement, Reference, agreements, random_inputs
from .operations import operations

__all__ = ["Agreement", "Reference", "agreements", "is_exact", "random_inputs", "reference", "unpartitioned"]

_IDENTITIES = {
    "sdy.sharding_constraint",
    "sdy.reshard",
    "sdy.data_flow_edge",
    "sdy.propagation_barrier",
}
_SLICES = {"stablehlo.dynamic_slice", "stablehlo.gather"}
_DROPPED = {"sdy.mesh", "sdy.sharding_group"}
_ARGUMENT_ATTRIBUTES = {"sdy.sharding", "mhlo.sharding", "tf.aliasing_output", "jax.buffer_donor"}

# Operations that round nothing (a reduction is as exact as the operations of its body).
_EXACT = {
    "builtin.module",
    "func.func",
    "func.call",
    "func.return",
    *(
        f"stablehlo.{name}"
        for name in (
            "abs and bitcast_convert broadcast_in_dim ceil clamp compare concatenate constant convert dynamic_slice "
            "dynamic_update_slice floor gather iota maximum minimum negate not optimization_barrier or pad reduce "
            "reduce_window reshape return reverse scatter select sign slice sort transpose xor"
        ).split()
    ),
}


def unpartitioned(text):
    """The program without meshes, shardings, constraints and donation: what one device runs."""
    with engine.context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        for operation in operations(module):
            if _is_identity(operation):
                operation.results[0].replace_all_uses_with(operation.operands[0])
            elif operation.name not in _DROPPED:
                if operation.name.startswith("sdy.") and operation.name != "sdy.return":
                    raise engine.EngineError(
                        f"a program with {operation.name} has no unpartitioned form to compare with, as a manual "
                        "computation (shard_map) sees one device's pieces; run it without a check, or write it without"
                    )
                _strip(operation)
                if operation.name in _SLICES:
                    _set_apart(operation)
                continue
            operation.erase()
        module.operation.attributes["mhlo.num_partitions"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), 1)
        return module.operation.get_asm(enable_debug_info=False)


def _set_apart(operation):
    """XLA merges slices of slices and loses the clamp of one; the compiler sets them apart (emit/SliceGuard.h)."""
    (result,) = operation.results
    with ir.InsertionPoint.after(operation), operation.location:
        barrier = ir.Operation.create("stablehlo.optimization_barrier", [result.type], [result])
    result.replace_all_uses_except(barrier.results[0], barrier)


def _is_identity(operation):
    """Passes its operand on, on one device."""
    if operation.name == "stablehlo.custom_call":
        return ir.StringAttr(operation.attributes["call_target_name"]).value == "Sharding"
    return operation.name in _IDENTITIES


def _strip(operation):
    for name in ("sdy.sharding", "sdy.sharding_rule", "mhlo.sharding"):
        if name in operation.attributes:
            del operation.attributes[name]
    for name in ("arg_attrs", "res_attrs"):
        if operation.name == "func.func" and name in operation.attributes:
            kept = [
                ir.DictAttr.get({key: value for key, value in dict_items(entry) if key not in _ARGUMENT_ATTRIBUTES})
                for entry in operation.attributes[name]
            ]
            operation.attributes[name] = ir.ArrayAttr.get(kept)


def dict_items(attribute):
    """(name, attribute) of a dictionary attribute."""
    return [(named.name, named.attr) for named in attribute]


def is_exact(text):
    """True if no operation of the program rounds: it moves, compares and selects, and may not differ by a bit."""
    with engine.context(), ir.Location.unknown():
        return all(operation.name in _EXACT for operation in operations(ir.Module.parse(text)))


def reference(text, inputs):
    """Runs the unpartitioned program on one device, as it is and with its inputs perturbed."""
    whole = unpartitioned(text)
    executable = engine.Executable(whole, 1)

    def run(values):
        return [shards[0] for shards in executable([[value] for value in values])]

    return agreement.expected(whole, run, inputs, executable.memory(), is_exact(whole))
