"""Replica groups that are said by a mesh's axes, as lists of devices: one meaning, which each tool writes in its own
way.
"""

import math
import re

import numpy as np

BY_AXES = re.compile(r"#stablehlo\.replica_group_mesh_axes<mesh = @(\w+), axes = \[(.*?)\]>(?=[,}])")
# StableHLO's own reference to an axis, or sdy's.
AXIS = re.compile(
    r'axis_ref(?:<name = )?"(\w+)"(?::\((\d+)\)(\d+)|, sub_axis_info = \((\d+)\)(\d+)|'
    r", sub_axis_info = #stablehlo\.sub_axis_info<pre_size = (\d+), size = (\d+)>)?"
)


def spelled_out(text):
    """The text with every group as numbers of devices."""
    return (
        BY_AXES.sub(lambda found: _dense(text, found[1], found[2]), text) if "replica_group_mesh_axes" in text else text
    )


def _dense(text, mesh, axes):
    said = re.search(rf"sdy\.mesh @{mesh} = <\[(.*?)\](?:, device_ids=\[(.*?)\])?>", text)
    sizes = {name: int(size) for name, size in re.findall(r'"(\w+)"=(\d+)', said[1])}
    devices = np.array(said[2].split(","), int) if said[2] else np.arange(math.prod(sizes.values()))
    # An axis is split in the parts before, of and behind a sub-axis.
    shape = []
    parts = {}
    for found in AXIS.finditer(axes):
        given = [number for number in found.groups()[1:] if number] or [1, sizes[found[1]]]
        parts[found[1]] = int(given[0]), int(given[1])
    assert len(parts) == len(AXIS.findall(axes)), f"two parts of an axis: {axes}"
    places = {}
    for name, size in sizes.items():
        before, part = parts.get(name, (1, 1))
        places[name] = len(shape) + 1
        shape += [before, part, size // (before * part)]
    grouped = [places[name] for name in parts]
    rest = [at for at in range(len(shape)) if at not in grouped]
    groups = devices.reshape(shape).transpose([*rest, *grouped]).reshape(-1, math.prod(shape[at] for at in grouped))
    return f"dense<{groups.tolist()}> : tensor<{groups.shape[0]}x{groups.shape[1]}xi64>"
