"""Whether a partitioned program computes what the whole program computes.

The reference is the unpartitioned program on one device; one with manual computations runs on as many devices as these
have, each of which holds all tensors whole and runs the bodies (bodies.py). A difference is an error when it exceeds

    rtol * max|reference| + 10 * noise,

where the noise of an output is how far it moves when the inputs are perturbed by a relative rounding error: a result
that is all cancellation (Adam's update of a gradient that is mathematically zero) is no ground to blame a partitioner.
Integers, and every output of a program that rounds nothing, have to agree bit by bit, except where the noise alone
flips an integer. Copies of one piece on several devices have to agree as well; that catches wrong replica groups.
"""

import re
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxlib.mlir import ir

from . import bodies, boundary, engine
from .operations import operations

# Narrowest float type in the program -> relative perturbation of the inputs, rtol.
_ROUNDING = {
    "f8": (6e-2, 2e-1),
    "bf16": (4e-3, 1e-2),
    "f16": (5e-4, 1e-3),
    "f32": (1e-6, 1e-5),
    "f64": (1e-14, 1e-13),
}

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
_SLICES = {"stablehlo.dynamic_slice", "stablehlo.gather"}
_DROPPED = {"sdy.sharding_group"}
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
    with engine.context(), ir.Location.unknown():
        module, manual = ir.Module.parse(text), []
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
                if operation.name in _SLICES:
                    _set_apart(operation)
        devices = bodies.inline(module, [operation.opview for operation in manual])
        for operation in operations(module):
            if operation.name == "sdy.mesh":
                operation.erase()
        number = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), devices)
        module.operation.attributes["mhlo.num_partitions"] = number
        return Whole(module.operation.get_asm(enable_debug_info=False), devices)


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


def _rounding(text):
    """(perturbation, rtol) of the narrowest float type that the program computes in."""
    for name, found in _ROUNDING.items():
        if re.search(rf"[x<]{name}\w*>", text):
            return found
    return 0.0, 0.0


def random_inputs(entries, positive=False, seed=0):
    """Deterministic inputs: floats uniform in [-1, 1), or [0, 1) if `positive`; integers in 0..7; booleans either."""
    generator, inputs = np.random.default_rng(seed), []
    for entry in entries:
        dtype, shape = boundary.dtype_of(entry["dtype"]), tuple(entry["global_shape"])
        if boundary.is_inexact(dtype):
            value = generator.uniform(0.0 if positive else -1.0, 1.0, shape)
        else:
            value = generator.integers(0, 2 if dtype.kind == "b" else 8, shape)
        inputs.append(np.asarray(value).astype(dtype))
    return inputs


def _perturbed(inputs, relative, seed):
    generator, moved = np.random.default_rng(seed), []
    for value in inputs:
        if boundary.is_inexact(value.dtype):
            factor = 1.0 + relative * generator.choice([-1.0, 1.0], value.shape)
            wide = np.complex128 if value.dtype.kind == "c" else np.float64
            value = np.asarray(value.astype(wide) * factor).astype(value.dtype)
        moved.append(value)
    return moved


@dataclass
class Reference:
    """What the unpartitioned program yields, and what it may yield: per output the value and the allowed error."""

    outputs: list
    tolerances: list
    unstable: list  # per output: None, or where rounding alone changes an integer
    memory: dict


def reference(text, inputs):
    """Runs the unpartitioned program, as it is and with its inputs perturbed."""
    program = whole(text)
    executable = engine.Executable(program.text, program.devices)

    def run(values):
        return [shards[0] for shards in executable([[value] * program.devices for value in values])]

    return expected(program.text, run, inputs, executable.memory())


def expected(text, run, inputs, memory):
    """The Reference of a program that computes as `text` does; `run` takes global values and returns them."""
    outputs, exact = run(inputs), is_exact(text)
    relative, rtol = _rounding(text)
    moved = [] if exact or not relative else [run(_perturbed(inputs, relative, seed)) for seed in (1, 2)]
    tolerances, unstable = [], []
    for index, output in enumerate(outputs):
        others = [values[index] for values in moved]
        if exact or not boundary.is_inexact(output.dtype):
            tolerances.append(0.0)
            unstable.append(np.any([output != other for other in others], axis=0) if others else None)
        else:
            noise = max([boundary.difference(output, other) for other in others], default=0.0)
            tolerances.append(rtol * _largest(output) + 10 * noise)
            unstable.append(None)
    return Reference(outputs, tolerances, unstable, memory)


def _largest(array):
    wide = np.abs(array.astype(np.complex128 if array.dtype.kind == "c" else np.float64))
    return float(wide[np.isfinite(wide)].max(initial=0.0))


@dataclass
class Agreement:
    """How one output of the partitioned program compares."""

    name: str
    error: float
    spread: float  # the largest difference between copies on several devices
    tolerance: float
    largest: float

    @property
    def ok(self):
        return self.error <= self.tolerance and self.spread <= self.tolerance

    def __str__(self):
        verdict = "ok" if self.ok else "DISAGREES"
        copies = f", copies differ by {self.spread:.3g}" if self.spread else ""
        return (
            f"{self.name}: largest error {self.error:.3g} of {self.largest:.3g} "
            f"(allowed {self.tolerance:.3g}){copies}: {verdict}"
        )


def agreements(entries, outputs, spreads, expected):
    """One Agreement per output, `expected` being a Reference."""
    found = []
    for entry, output, spread, wanted, tolerance, unstable in zip(
        entries, outputs, spreads, expected.outputs, expected.tolerances, expected.unstable, strict=True
    ):
        if output.shape != wanted.shape or output.dtype != wanted.dtype:
            raise boundary.BoundaryError(
                f"{entry['name']}: expected {wanted.dtype.name}{list(wanted.shape)}, "
                f"got {output.dtype.name}{list(output.shape)}"
            )
        if unstable is not None:
            output = np.where(unstable, wanted, output)
        error = boundary.difference(output, wanted)
        found.append(Agreement(entry["name"], error, spread, tolerance, _largest(wanted)))
    return found
