"""Manual computations in a program that no partitioner sees: every device holds each tensor whole, and runs the bodies.

A body (of a `jax.shard_map`) says what a device does with its local shards along the manual axes, and has collectives
of its own, so it needs as many devices as the mesh has. Outside of the bodies all devices compute the same. At the
boundary a device takes its local shards of the operands, and the results' local shards are gathered to whole tensors on
every device. Along the axes that are not manual all devices do the same there too.
"""

import math
import re

import numpy as np
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import sdy, stablehlo

from . import boundary
from .errors import ShardonnayError

NAME = "sdy.manual_computation"


class BodyError(ShardonnayError, ValueError):
    """The manual computations of a program do not run together on one set of devices."""


class _Mesh:
    """A mesh: the coordinates of each device along any axes."""

    def __init__(self, attribute):
        axes = [sdy.MeshAxisAttr(axis) for axis in attribute.axes]
        ids = ", ".join(map(str, attribute.device_ids))
        sizes = ", ".join(f'"{axis.name}"={axis.size}' for axis in axes)
        self.names = [axis.name for axis in axes]
        self.devices = math.prod(axis.size for axis in axes)
        self._text = f"<[{sizes}]{f', device_ids=[{ids}]' if ids else ''}>"
        self._sizes = {axis.name: axis.size for axis in axes}

    def size(self, axis):
        part = sdy.SubAxisInfoAttr(axis.sub_axis_info) if axis.sub_axis_info else None
        return part.size if part else self._sizes[axis.name]

    def coordinates(self, axes):
        """For each device its coordinates along axis references."""
        texts = []
        for axis in axes:
            part = sdy.SubAxisInfoAttr(axis.sub_axis_info) if axis.sub_axis_info else None
            texts.append(f'"{axis.name}"' + (f":({part.pre_size}){part.size}" if part else ""))
        return self.coordinates_of(texts)

    def coordinates_of(self, texts):
        return boundary.coordinates(texts, self._text, self.devices)


class _Shards:
    """One operand or result: where the local shard of each device starts, and its coordinates along unreduced axes."""

    def __init__(self, sharding, mesh, manual, local_shape):
        self.starts = np.zeros((mesh.devices, len(local_shape)), np.int64)
        for dim, entry in enumerate(sharding.dimension_shardings):
            axes = [sdy.AxisRefAttr(axis) for axis in sdy.DimensionShardingAttr(entry).axes]
            axes = [axis for axis in axes if axis.name in manual]
            for device, coordinates in enumerate(mesh.coordinates(axes)):
                index = 0
                for axis, coordinate in zip(axes, coordinates, strict=True):
                    index = index * mesh.size(axis) + coordinate
                self.starts[device, dim] = index * local_shape[dim]
        unreduced = [sdy.AxisRefAttr(axis) for axis in sharding.unreduced_axes]
        self.terms = mesh.coordinates([axis for axis in unreduced if axis.name in manual])


class _Writer:
    """Writes StableHLO before an operation."""

    def __init__(self, operation):
        self._at = ir.InsertionPoint(operation)
        self._location = operation.location

    def _op(self, name, operands, kind, **attributes):
        operation = ir.Operation.create(
            f"stablehlo.{name}", [kind], operands, attributes, ip=self._at, loc=self._location
        )
        return operation.results[0]

    def constant(self, array):
        return self._op("constant", [], (value := ir.DenseElementsAttr.get(array)).type, value=value)

    def typed(self, value, shape):
        return ir.RankedTensorType.get(list(shape), ir.RankedTensorType(value.type).element_type)

    def reshape(self, value, shape):
        return self._op("reshape", [value], self.typed(value, shape))

    def of_this_device(self, numbers):
        """The scalar that stands for this device in a list of one for each."""
        device = self._op("partition_id", [], ir.RankedTensorType.get([], ir.IntegerType.get_unsigned(32)))
        table = self.constant(np.asarray(numbers, np.int32))
        return self.reshape(self.dynamic_slice(table, [device], [1]), [])

    def dynamic_slice(self, value, starts, sizes):
        """Set apart: XLA merges slices of slices and loses the clamp of one."""
        sizes_attribute = ir.DenseI64ArrayAttr.get(list(sizes))
        found = self._op("dynamic_slice", [value, *starts], self.typed(value, sizes), slice_sizes=sizes_attribute)
        return self._op("optimization_barrier", [found], found.type)

    def slice(self, value, starts, sizes):
        limits = [start + size for start, size in zip(starts, sizes, strict=True)]
        attributes = {"start_indices": starts, "limit_indices": limits, "strides": [1] * len(starts)}
        attributes = {name: ir.DenseI64ArrayAttr.get([int(n) for n in entry]) for name, entry in attributes.items()}
        return self._op("slice", [value], self.typed(value, sizes), **attributes)

    def concatenate(self, values, dim):
        if len(values) == 1:
            return values[0]
        shape = list(ir.RankedTensorType(values[0].type).shape)
        shape[dim] *= len(values)
        number = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), dim)
        return self._op("concatenate", values, self.typed(values[0], shape), dimension=number)

    def add(self, left, right):
        return self._op("add", [left, right], left.type)

    def only_where(self, condition, value):
        """The value on devices where a number is not 0, and zeros on the others."""
        boolean = ir.RankedTensorType.get([], ir.IntegerType.get_signless(1))
        zero = self.constant(np.asarray(0, np.int32))
        direction = stablehlo.ComparisonDirectionAttr.get("NE")
        condition = self._op("compare", [condition, zero], boolean, comparison_direction=direction)
        element = ir.RankedTensorType(value.type).element_type
        number = ir.Attribute.parse(f"dense<{'false' if str(element) == 'i1' else _zero(element)}> : {value.type}")
        return self._op("select", [condition, value, self._op("constant", [], value.type, value=number)], value.type)

    def all_gather(self, value, groups):
        """The values of each group's devices, one behind the other on a new first dim."""
        shape = list(ir.RankedTensorType(value.type).shape)
        dim = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 0)
        return self._op(
            "all_gather",
            [self.reshape(value, [1, *shape])],
            self.typed(value, [len(groups[0]), *shape]),
            all_gather_dim=dim,
            replica_groups=ir.DenseElementsAttr.get(np.asarray(groups, np.int64)),
            channel_handle=stablehlo.ChannelHandle.get(1, 1),
            use_global_device_ids=ir.UnitAttr.get(),
        )


def _zero(element):
    text = str(element)
    if text.startswith("complex"):
        return "(0.0, 0.0)"
    return "0" if re.fullmatch(r"u?i\d+", text) else "0.0"


def _take(writer, operand, argument, shards):
    """What a device sees of an operand."""
    shape = ir.RankedTensorType(argument.type).shape
    if argument.type != operand.type:
        starts = [writer.of_this_device(numbers) for numbers in shards.starts.T]
        operand = writer.dynamic_slice(operand, starts, shape)
    if any(map(any, shards.terms)):  # the first device of unreduced axes has all, the others have nothing
        operand = writer.only_where(writer.of_this_device([not any(term) for term in shards.terms]), operand)
    return operand


def _join(writer, rows, dim, rank):
    """The tensor that local shards form, given as {where it starts: local shard}."""
    if dim == rank:
        (value,) = rows.values()
        return value
    inside = {}
    for starts, value in rows.items():
        inside.setdefault(starts[dim], {})[starts] = value
    return writer.concatenate([_join(writer, inside[start], dim + 1, rank) for start in sorted(inside)], dim)


def _give(writer, local, shards, groups):
    """The whole tensor, on each device, of which the devices of a group have local shards."""
    rank = shards.starts.shape[1]
    if not shards.starts.any() and not any(map(any, shards.terms)):
        return local
    gathered = writer.all_gather(local, groups)
    shape, rows, seen = list(ir.RankedTensorType(local.type).shape), {}, set()
    for row, device in enumerate(groups[0]):
        starts, term = tuple(shards.starts[device]), shards.terms[device]
        if (starts, term) in seen:  # a copy
            continue
        seen.add((starts, term))
        value = writer.slice(gathered, [row] + [0] * rank, [1, *shape])
        value = writer.reshape(value, shape)
        rows[starts] = writer.add(rows[starts], value) if starts in rows else value
    return _join(writer, rows, 0, rank)


def _mesh_of(sharding, meshes):
    reference = sharding.mesh_or_ref
    if isinstance(reference, ir.FlatSymbolRefAttr):
        return _Mesh(sdy.MeshAttr(meshes[reference.value]))
    return _Mesh(sdy.MeshAttr(reference))


def _groups(mesh, manual):
    """The devices that differ in manual axes only, in the order of their coordinates."""
    inside, outside = [[f'"{name}"' for name in mesh.names if (name in manual) == kind] for kind in (True, False)]
    return grouped(mesh.coordinates_of(inside), mesh.coordinates_of(outside))


def grouped(inside, outside):
    """The devices of the same coordinates `outside`, in the order of those `inside`: both are lists, by device."""
    groups = {}
    for device, key in enumerate(outside):
        groups.setdefault(key, []).append(device)
    return [sorted(group, key=inside.__getitem__) for group in groups.values()]


def _inline(operation, meshes):
    """Puts the body in the operation's place; returns the number of devices."""
    manual = set(re.findall(r'"((?:[^"\\]|\\.)*)"', str(operation.manual_axes)))
    sides = [[sdy.TensorShardingAttr(one) for one in sdy.TensorShardingPerValueAttr(attribute).shardings]
             for attribute in (operation.in_shardings, operation.out_shardings)]  # fmt: skip
    (block,), writer = operation.regions[0].blocks, _Writer(operation)
    mesh = _mesh_of((sides[0] + sides[1])[0], meshes) if sides[0] + sides[1] else None

    def shards(sharding, kind):
        return _Shards(sharding, mesh, manual, ir.RankedTensorType(kind).shape)

    def take(argument, operand, sharding):
        if not isinstance(argument.type, ir.RankedTensorType):
            return operand
        return _take(writer, operand, argument, shards(sharding, argument.type))

    def give(value, sharding):
        if not isinstance(value.type, ir.RankedTensorType):
            return value
        return _give(writer, value, shards(sharding, value.type), _groups(mesh, manual))

    operands = list(map(take, block.arguments, operation.operands, sides[0]))
    put_in_place(operation, operands, lambda values: map(give, values, sides[1]))
    return mesh.devices if mesh else 1


def put_in_place(operation, operands, results_of=list):
    """Puts the body of an operation in its place, on `operands`; its results are `results_of` what the body returns."""
    (block,) = operation.regions[0].blocks
    for argument, operand in zip(block.arguments, operands, strict=True):
        argument.replace_all_uses_with(operand)
    *body, end = block.operations
    for inner in body:
        inner.move_before(operation)
    for result, value in zip(operation.results, results_of(end.operands), strict=True):
        result.replace_all_uses_with(value)
    operation.operation.erase()


def inline(module, found):
    """Puts bodies in the places of the manual computations `found`, those inside others first.

    Returns how many devices the program runs on; with none found 1.
    """
    meshes = {op.sym_name.value: op.mesh for op in module.body.operations if op.operation.name == "sdy.mesh"}
    counts = {_inline(operation, meshes) for operation in found} or {1}
    if len(counts) > 1:
        raise BodyError(
            f"manual computations on meshes of {sorted(counts)} devices do not run together; expected one number"
        )
    return counts.pop()
