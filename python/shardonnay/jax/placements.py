"""The sharding of an input or output of a compiled program: the manifest's words as JAX's.

A `NamedSharding` says whole axes only. What the compiler may say beyond that (a sub-axis `"x":(1)2`, several meshes
in one program) is said on a refined mesh of the same devices, whose axes are the common factors; it never leaves the
program.
"""

import math
import re
from dataclasses import dataclass

import jax
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec

from .meshes import MeshError, match, refined

_AXIS = re.compile(r'"([^"]*)"(?::\((\d+)\)(\d+))?')
# How partial values become whole, in JAX's words; JAX 0.10 has none, its partial values are sums.
KINDS = {kind.name: {"unreduced_kind": kind} for kind in getattr(jax.sharding, "UnreducedKind", ())} or {"sum": {}}


@dataclass(frozen=True)
class Axis:
    """A mesh axis, or the part of it of `size` that has `before` parts in front of it."""

    name: str
    before: int = 1
    size: int = 0  # the whole axis


def parse(text, rank):
    """(dims, unreduced, kind) of `#sdy.sharding<@mesh, [{"x"}, {"y":(1)2}], unreduced=max{"z"}>`: tuples of Axis.

    kind: of the partial values, "sum" where it is not written.
    """
    if text is None:
        return ((),) * rank, (), "sum"
    body = text[text.index("[") + 1 : text.index("]")]
    dims = tuple(_axes(dim) for dim in re.findall(r"\{([^}]*)\}", body))
    unreduced = re.search(r"unreduced=(\w*)\s*\{([^}]*)\}", text)
    return (dims, _axes(unreduced[2]), unreduced[1] or "sum") if unreduced else (dims, (), "sum")


def _axes(text):
    return tuple(Axis(name, int(before or 1), int(size or 0)) for name, before, size in _AXIS.findall(text))


def spec(axes, sizes):
    """What a PartitionSpec can say of (dims, unreduced, kind): a part of an axis is left out, with what follows it."""
    dims, unreduced, kind = axes
    entries = []
    for dim in dims:
        names = []
        for axis in dim:
            if axis.size not in (0, sizes[axis.name]):
                break
            names.append(axis.name)
        entries.append(tuple(names) if len(names) > 1 else names[0] if names else None)
    partial = {axis.name for axis in unreduced}
    return PartitionSpec(*entries, unreduced=partial, **KINDS.get(kind, {})) if partial else PartitionSpec(*entries)


def explicit_part(sharding):
    """What types say of a NamedSharding: its axes that are explicit."""
    mesh, found = sharding.mesh, sharding.spec
    explicit = {name for name, kind in zip(mesh.axis_names, mesh.axis_types) if kind == AxisType.Explicit}

    def kept(entry):
        names = tuple(name for name in (entry if isinstance(entry, tuple) else (entry,)) if name in explicit)
        return names if len(names) > 1 else names[0] if names else None

    return sharding.update(spec=found.update(partitions=tuple(map(kept, found.partitions))))


class Placements:
    """Of each input and output of a manifest its sharding as JAX says it, and its spec for one `shard_map`.

    meshes: those of the program, none on one device. mesh: the shard_map's.
    """

    def __init__(self, manifest, meshes, kinds=("sum",)):
        """`meshes`: meshes that the user named, one of which has the devices of each of the program's.

        kinds: of the partial values that inputs may be. Outputs are sums: JAX takes no others back from a `shard_map`.
        """
        self.devices = manifest["devices"]
        self.mesh = None
        self.meshes, self.inputs, self.outputs = [], [], []
        if self.devices == 1:
            return
        self._main = manifest["mesh"] or _mesh_of_size(self.devices, meshes)
        entries = [*manifest["inputs"], *manifest["outputs"]]
        parsed = [parse(entry["sharding"], len(entry["global_shape"])) for entry in entries]
        count = len(manifest["inputs"])
        _check_kinds("argument", parsed[:count], kinds)
        _check_kinds("result", parsed[count:], ("sum",))
        found = {text: match(text, meshes) for text in {self._mesh_of(entry) for entry in entries} | {self._main}}
        shardings = [
            NamedSharding(mesh, spec(axes, mesh.shape))
            for entry, axes in zip(entries, parsed)
            for mesh in [found[self._mesh_of(entry)]]
        ]
        self.meshes = list(dict.fromkeys(found.values()))
        self.mesh, specs = self._manual(entries, parsed, found, shardings)
        self.inputs, self.outputs = shardings[:count], shardings[count:]
        self.in_specs, self.out_specs = tuple(specs[:count]), tuple(specs[count:])

    def _mesh_of(self, entry):
        return entry.get("mesh") or self._main

    def _manual(self, entries, parsed, found, shardings):
        whole = all(
            axis.size in (0, found[self._mesh_of(entry)].shape[axis.name])
            for entry, (dims, *_) in zip(entries, parsed)
            for dim in dims
            for axis in dim
        )
        if whole and len(self.meshes) == 1:
            return self.meshes[0], [sharding.spec for sharding in shardings]
        return self._refine(entries, parsed, found)

    def _refine(self, entries, parsed, found):
        parts = [
            (found[self._mesh_of(entry)], axis)
            for entry, (dims, *_) in zip(entries, parsed)
            for dim in dims
            for axis in dim
            if axis.size
        ]
        sizes = [tuple(mesh.shape.values()) for mesh in self.meshes]
        for mesh, axis in parts:  # as if the user had split the axis
            split = []
            for name, size in mesh.shape.items():
                parts = (axis.before, axis.size, size // axis.before // axis.size)
                split.extend(parts if name == axis.name else (size,))
            sizes.append(tuple(split))
        devices = self.meshes[0].devices.flatten()
        if any(list(mesh.devices.flat) != list(devices) for mesh in self.meshes):
            raise MeshError("meshes with the same devices in different orders in one program are not supported")
        sizes = refined(sizes)
        fine = Mesh(devices.reshape(sizes), tuple(f"axis{at}" for at in range(len(sizes))))
        specs = []
        for entry, (dims, unreduced, _) in zip(entries, parsed):
            mesh = found[self._mesh_of(entry)]
            specs.append(PartitionSpec(*(sum((_split(axis, mesh, fine) for axis in dim), ()) or None for dim in dims)))
            if unreduced:
                raise MeshError("a partial sum beside several meshes or sub-axes is not supported at the boundary")
        return fine, specs


def _check_kinds(what, parsed, kinds):
    for at, (_, unreduced, kind) in enumerate(parsed):
        if unreduced and kind not in kinds:
            raise MeshError(
                f"{what} {at} is a partial {kind}, which JAX {jax.__version__} cannot hand over here; expected a "
                f"partial {' or '.join(kinds)}, or a whole value: jax.sharding.reshard"
            )


def _mesh_of_size(devices, meshes):
    """The text of the mesh of a program that has none: everything is whole on all devices."""
    mesh = next((mesh for mesh in meshes if mesh.size == devices), None)
    if mesh is None:
        raise MeshError(f"the program is for {devices} devices, which nothing names; give mesh=")
    axes = ", ".join(f'"{name}"={size}' for name, size in mesh.shape.items())
    return f"#sdy.mesh<[{axes}]>"


def _split(axis, mesh, fine):
    """The axes of the refined mesh that `axis` of `mesh` is made of, major first."""
    names, sizes = list(mesh.shape), list(mesh.shape.values())
    at = names.index(axis.name)
    inner = math.prod(sizes[at + 1 :])
    size = axis.size or sizes[at]
    top = inner * sizes[at] // axis.before
    bottom = top // size
    found, stride = [], math.prod(fine.shape.values())
    for name, extent in fine.shape.items():
        if bottom <= stride // extent < top and extent > 1:
            found.append(name)
        stride //= extent
    return tuple(found)
