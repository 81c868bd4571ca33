"""A compiled program for another process, which neither traces nor partitions it again: XLA alone compiles it there.

The payload is a zip archive: the program as a portable artefact, its text, its source, manifest and report, and the
mesh. Trees are handed out beside it, as `jax.experimental.serialize_executable` does: they may hold the user's types.
"""

import dataclasses
import io
import json
import zipfile

import jax
import numpy as np
from jax.sharding import AxisType, Mesh

import shardonnay

from ..errors import ShardonnayError
from .building import Built
from .execution import Program, PropagatedProgram
from .signature import Signature
from .stages import Compiled, ahead_of_time

_FORMAT = 1
_PROGRAMS = {kind.kind: kind for kind in (Program, PropagatedProgram)}


class FormatError(ShardonnayError, ValueError):
    """Bytes that `serialize` did not write, or not for these devices."""


def serialize(compiled):
    """(payload, in_tree, out_tree) of a `Compiled`: bytes, and the trees of its arguments and results."""
    if not isinstance(compiled, Compiled):
        raise TypeError(f"expected what .lower(...).compile() of a partitioned function returns, got {compiled!r}")
    built = compiled.built
    program = built.program
    if program.functions:
        raise FormatError(
            f"{program.signature.name}: a program that calls back into Python, which another process does not have; "
            "expected none"
        )
    meshes = program.placements.meshes
    header = {
        "format": _FORMAT,
        "kind": program.kind,
        "signature": program.signature.to_json(),
        "platform": program.platform,
        "devices": [int(device.id) for device in meshes[0].devices.flat] if meshes else [],
        "meshes": [[list(mesh.shape.items()), [kind.name for kind in mesh.axis_types]] for mesh in meshes],
        "manifest": program.manifest,
        "diagnostics": [dataclasses.astuple(diagnostic) for diagnostic in built.diagnostics],
    }
    members = {
        "header.json": json.dumps(header),
        "report.json": json.dumps(built.report()),
        "artefact": program.portable(),
        "program.mlir": built.text,
        "source.mlir": built.source,
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)  # without the time of day
    return buffer.getvalue(), compiled.in_tree, compiled.out_tree


def _devices(header, devices):
    wanted = header["devices"]
    if devices is not None:
        if len(devices) != len(wanted):
            raise FormatError(f"the program runs on {len(wanted)} devices, got {len(devices)}")
        return list(devices)
    there = {device.id: device for device in jax.devices(header["platform"])}
    missing = [number for number in wanted if number not in there]
    if missing:
        raise FormatError(
            f"the program was compiled for the {header['platform']} devices {wanted}, of which {missing} are not "
            f"there; give devices=, {len(wanted)} of them in the order of its mesh"
        )
    return [there[number] for number in wanted]


def _mesh(entry, devices):
    axes, types = entry
    sizes = tuple(size for _, size in axes)
    names = tuple(name for name, _ in axes)
    return Mesh(np.array(devices).reshape(sizes), names, axis_types=tuple(AxisType[name] for name in types))


def deserialize(payload, in_tree, out_tree, *, devices=None):
    """The `Compiled` that `serialize` wrote.

    devices: those to run on, in the order of its mesh; by default those with the same ids.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(payload)) as archive:
            header = json.loads(archive.read("header.json"))
            report = json.loads(archive.read("report.json"))
            artefact = archive.read("artefact")
            text, source = (archive.read(name).decode() for name in ("program.mlir", "source.mlir"))
            written = header["format"]
    except (zipfile.BadZipFile, KeyError, TypeError, ValueError):
        raise FormatError("payload: expected what shardonnay.jax.serialize returned") from None
    if written != _FORMAT:
        raise FormatError(f"payload: expected format {_FORMAT}, got {written}")
    found = _devices(header, devices)
    meshes = [_mesh(entry, found) for entry in header["meshes"]]
    signature = Signature.from_json(header["signature"], in_tree, out_tree)
    trees = ("in_tree", in_tree, signature.in_types), ("out_tree", out_tree, signature.out_types)
    for name, tree, kinds in trees:
        if tree.num_leaves != len(kinds):
            raise FormatError(f"{name}: expected a tree of {len(kinds)} leaves, got {tree}")
    program = _PROGRAMS[header["kind"]](signature, artefact, header["manifest"], meshes, header["platform"])
    diagnostics = tuple(shardonnay.Diagnostic(*entry) for entry in header["diagnostics"])
    built = Built(program, text, source, header["manifest"], diagnostics, lambda: report)
    return Compiled(built, ahead_of_time(program))
