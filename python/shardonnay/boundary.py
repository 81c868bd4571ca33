"""What crosses the boundary of a per-device program: global arrays to shards and back.

The manifest of a compiled program lists its inputs and outputs. An entry says, for each device, which part of the
global array the device holds (`slices`, [start, limit) per dim; for many devices `pieces`, each distinct one once, and
`piece`, the index of each device's), the shape that its program expects (`local_shape`;
what exceeds limit - start is padding of unspecified content), and over which mesh axes the array is a partial sum.
Everything here is NumPy; nothing needs JAX.
"""

import re

import ml_dtypes
import numpy as np

from .errors import ShardonnayError

_NAMES = {
    "i1": "bool",
    "index": "int64",
    "bf16": "bfloat16",
    "complex<f32>": "complex64",
    "complex<f64>": "complex128",
}
_SMALL_FLOAT = re.compile(r"f(\d)E(.*)")
_PREFIXES = {"f": "float", "i": "int", "ui": "uint", "si": "int"}


class BoundaryError(ShardonnayError, ValueError):
    """An array does not fit the manifest's entry, or the entry's kind is not supported."""


def dtype_of(element_type):
    """The NumPy dtype of an MLIR element type's text, such as `f32`, `i1`, `bf16`, `ui8` or `complex<f32>`."""
    name = _NAMES.get(element_type)
    if name is None:
        small = _SMALL_FLOAT.fullmatch(element_type)
        if small:
            name = f"float{small[1]}_e{small[2].lower()}"
        else:
            prefix, width = re.fullmatch(r"([a-z]*)(.*)", element_type).groups()
            name = _PREFIXES.get(prefix, "") + width
    try:
        return np.dtype(getattr(ml_dtypes, name, name))
    except TypeError:
        raise BoundaryError(f"element type {element_type} has no array type") from None


def is_inexact(dtype):
    """True for floating point and complex types, ml_dtypes' included."""
    return dtype.kind in "fc" or (dtype.kind == "V" and "float" in dtype.name)


def check_array(entry, array):
    """Returns `array` as the global value of `entry`, or says what does not fit. Buffers are not checked by PJRT."""
    wanted, shape = dtype_of(entry["dtype"]), tuple(entry["global_shape"])
    array = np.asarray(array)
    if array.dtype.kind == "V" and array.dtype.itemsize == wanted.itemsize:
        array = array.view(wanted)  # how .npz stores bfloat16 and its like
    if array.dtype != wanted or array.shape != shape:
        raise BoundaryError(
            f"input {entry['index']} ({entry['name']}): expected {wanted.name}{list(shape)}, "
            f"got {array.dtype.name}{list(array.shape)}"
        )
    return array


def mesh_axes(mesh):
    """[(name, size)] of a mesh's `sdy` text such as `<["data"=2, "model"=4]>`."""
    return [(name, int(size)) for name, size in re.findall(r'"([^"]*)"=(\d+)', mesh)]


def _positions(mesh, devices):
    """For each device its position in the mesh, which may list its devices in an order of its own."""
    order = re.search(r"device_ids=\[([^]]*)\]", mesh)
    if not order:
        return range(devices)
    at = {int(device): position for position, device in enumerate(order[1].split(","))}
    return [at[device] for device in range(devices)]


def coordinates(axes, mesh, devices):
    """For each device, its coordinates along the axis references `axes` (`"x"` or `"x":(1)2`)."""
    sizes = dict(mesh_axes(mesh))
    stride, strides = devices, {}
    for name, size in mesh_axes(mesh):
        stride //= size
        strides[name] = stride
    parsed = []
    for axis in axes:
        name, pre, size = re.fullmatch(r'"?(.*?)"?(?::\((\d+)\)(\d+))?', axis).groups()
        pre, size = (int(pre), int(size)) if size else (1, sizes[name])
        parsed.append((strides[name] * sizes[name] // (pre * size), size))
    return [tuple(at // inner % size for inner, size in parsed) for at in _positions(mesh, devices)]


def slices(entry):
    """For each device what it holds of the global array, [start, limit) per dim."""
    if "slices" in entry:
        return entry["slices"]
    return [entry["pieces"][index] for index in entry["piece"]]


def _partial_coordinates(entry, mesh):
    devices = len(slices(entry))
    partial = entry.get("partial")
    if partial is None:
        return [()] * devices
    if partial["kind"] != "sum":
        raise BoundaryError(f"{entry['name']}: partial values of kind {partial['kind']} are not supported here")
    return coordinates(partial["axes"], entry.get("mesh", mesh), devices)


def _region(bounds):
    return tuple(slice(start, limit) for start, limit in bounds)


def shard(entry, array, mesh, padding=0):
    """The shard of a global array that each device is fed, in partition order; `padding` stands behind its end."""
    array, local = check_array(entry, array), tuple(entry["local_shape"])
    shards = []
    for bounds, coordinates in zip(slices(entry), _partial_coordinates(entry, mesh)):
        region = array[_region(bounds)]
        shard = np.full(local, padding).astype(array.dtype)
        # A partial sum is fed by the first device of its axes.
        shard[_region([(0, extent) for extent in region.shape])] = 0 if any(coordinates) else region
        shards.append(shard)
    return shards


def assemble(entry, shards, mesh):
    """The global array that the devices' shards form, and the largest difference between shards that should be equal.

    Shards of the same region are copies of each other, except along the axes of a partial sum, where they are added.
    """
    result = np.zeros(tuple(entry["global_shape"]), dtype_of(entry["dtype"]))
    regions = {}
    for bounds, coordinates, shard in zip(slices(entry), _partial_coordinates(entry, mesh), shards):
        if list(shard.shape) != list(entry["local_shape"]):
            raise BoundaryError(
                f"output {entry['index']} ({entry['name']}): expected a piece of shape {entry['local_shape']}, "
                f"got {list(shard.shape)}"
            )
        shard = shard[_region([(0, limit - start) for start, limit in bounds])]
        terms = regions.setdefault(tuple(map(tuple, bounds)), {})
        terms.setdefault(coordinates, []).append(shard)
    spread = 0.0
    for bounds, terms in regions.items():
        for copies in terms.values():
            spread = max([spread] + [difference(copies[0], copy) for copy in copies[1:]])
        first, *others = (copies[0] for copies in terms.values())
        result[_region(bounds)] = sum(others, start=first)  # and not zero, which added to -0.0 is 0.0
    return result, spread


def difference(a, b):
    """The largest |a - b|; infinite where only one is NaN or infinite."""
    if not a.size:
        return 0.0
    if not is_inexact(a.dtype):
        delta = np.abs(a.astype(np.float64) - b.astype(np.float64))
        return float(np.where(a == b, 0.0, np.maximum(delta, 1.0)).max())
    wide = np.complex128 if a.dtype.kind == "c" else np.float64
    a, b = a.astype(wide), b.astype(wide)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(invalid="ignore"):
        delta = np.where(same, 0.0, np.abs(a - b))
    return float(np.where(np.isnan(delta), np.inf, delta).max())
