"""The unpartitioned program on one device of PJRT, to compare a partitioned one with (agreement.py says how)."""

import itertools
import math
import re
from typing import NamedTuple

import numpy as np
from jaxlib.mlir import ir

from . import _core, agreement, bodies, boundary, compiler, engine
from .agreement import Agreement, Reference, agreements, expected, random_inputs
from .operations import operations

__all__ = ["Agreement", "Reference", "agreements", "is_exact", "random_inputs", "reference", "unpartitioned"]

_IDENTITIES = {
    "sdy.sharding_constraint",
    "sdy.reshard",
    "sdy.data_flow_edge",
    "sdy.propagation_barrier",
    "sdy.all_gather",
    "sdy.all_reduce",
    "sdy.all_slice",
    "sdy.all_to_all",
    "sdy.collective_permute",
    "sdy.reduce_scatter",
    "sdy.replicated_to_unreduced",
    "sdy.sharded_to_unreduced",
}
# Boundaries of manual computations in HLO's spelling: import finds what is between them.
_MANUAL_CALLS = ("@SPMDFullToShardShape", "@xla.sdy.GlobalToLocalShape")
_SLICES = {"stablehlo.dynamic_slice", "stablehlo.gather"}
_DROPPED = {"sdy.sharding_group"}
_AXES = re.compile(r'axis_ref<name = "([^"]+)"(?:, sub_axis_info = \((\d+)\)(\d+))?>')
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


class Whole(NamedTuple):
    """A program without meshes, shardings, constraints and donation, and the number of devices that run it."""

    text: str
    devices: int


def unpartitioned(text):
    """The text of the program on whole tensors: `whole` without its number of devices."""
    return whole(text).text


def whole(text):
    """The program on whole tensors; one device runs it, unless it has manual computations."""
    text = _as_jaxlib_reads(text)
    with engine.context(), ir.Location.unknown():
        module, manual = ir.Module.parse(text), []
        meshes = {op.sym_name.value: op.mesh for op in module.body.operations if op.operation.name == "sdy.mesh"}
        for operation in operations(module):
            if operation.name == bodies.NAME:
                manual.append(operation)
            elif operation.name == "sdy.named_computation":
                bodies.put_in_place(operation.opview, operation.operands)
            elif operation.name == "sdy.constant":
                _make_constant(operation)
            elif _is_identity(operation):
                operation.results[0].replace_all_uses_with(operation.operands[0])
                operation.erase()
            elif operation.name in _DROPPED:
                operation.erase()
            else:
                _strip(operation)
                if "replica_groups" in operation.attributes:
                    _write_groups(operation, meshes)
                if operation.name in _SLICES:
                    _set_apart(operation)
        devices = bodies.inline(module, [operation.opview for operation in manual])
        for operation in operations(module):
            if operation.name == "sdy.mesh":
                operation.erase()
        if "mhlo.input_output_alias" in module.operation.attributes:
            del module.operation.attributes["mhlo.input_output_alias"]
        number = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), devices)
        module.operation.attributes["mhlo.num_partitions"] = number
        text = module.operation.get_asm(enable_debug_info=False)
    if "dense_resource<" in text and devices == 1:
        # XLA reads no resources; for one device the compiler only puts their elements into the ops.
        text = compiler.compile(text).text
    return Whole(text, devices)


def _as_jaxlib_reads(text):
    """The text, or bytecode, with manual computations in sdy's spelling and i1 constants in the form of jaxlib's MLIR
    (older ones, as TensorFlow's, print another).
    """
    if isinstance(text, bytes):
        if text.startswith(b"ML\xefR"):
            return text
        text = text.decode()
    if any(call in text for call in _MANUAL_CALLS):
        return compiler.compile(text, to="import").text
    return _core.unpack_bool_elements(text)


def _write_groups(operation, meshes):
    """Groups of devices for groups along mesh axes: XLA reads no order of devices there."""
    text = str(operation.attributes["replica_groups"])
    if "replica_group_mesh_axes" not in text:
        return
    if named := re.search(r"mesh = @([\w.$-]+)", text):
        mesh = str(meshes[named[1]])
    else:
        sizes = ", ".join(f'"{name}"={size}' for name, size in re.findall(r'name = "([^"]+)", size = (\d+)', text))
        ids = re.search(r"device_ids=dense<(\[[\d, ]+\])>", text)
        mesh = f"<[{sizes}]{f', device_ids={ids[1]}' if ids else ''}>"
    sizes = dict(boundary.mesh_axes(mesh))
    parts = [(name, int(pre or 1), int(size or sizes[name])) for name, pre, size in _AXES.findall(text)]
    inside, outside = [f'"{name}":({pre}){size}' for name, pre, size in parts], []
    for name, size in sizes.items():
        bounds = sorted({1, size, *(bound for axis, pre, part in parts if axis == name for bound in (pre, pre * part))})
        for low, high in itertools.pairwise(bounds):
            if not any(axis == name and pre <= low < pre * part for axis, pre, part in parts):
                outside.append(f'"{name}":({low}){high // low}')
    coordinates = [boundary.coordinates(axes, mesh, math.prod(sizes.values())) for axes in (inside, outside)]
    groups = np.asarray(bodies.grouped(*coordinates), np.int64)
    operation.attributes["replica_groups"] = ir.DenseElementsAttr.get(groups)


def _make_constant(operation):
    value = operation.attributes["value"]
    with ir.InsertionPoint(operation), operation.location:
        constant = ir.Operation.create("stablehlo.constant", [value.type], attributes={"value": value})
    operation.results[0].replace_all_uses_with(constant.results[0])
    operation.erase()


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
    """Runs the unpartitioned program, as it is and with its inputs perturbed."""
    program = whole(text)
    executable = engine.Executable(program.text, program.devices)

    def run(values):
        return [shards[0] for shards in executable([[value] * program.devices for value in values])]

    return expected(program.text, run, inputs, executable.memory(), is_exact(program.text))
