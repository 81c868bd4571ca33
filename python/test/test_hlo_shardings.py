"""HLO shardings to `sdy` and back: every device holds what jaxlib's own HloSharding says that it holds."""

import itertools
import math
import random
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from jax._src.lib import xla_client

SDY_OPT = Path(__file__).resolve().parents[2] / "build/bin/sdy-opt"
SEPARATOR = "// -----\n"
DEVICES = (2, 4, 6, 8, 12, 16, 24, 32)
COUNT, PER_MODULE = 10_000, 10


def run(pass_name, modules):
    done = subprocess.run(
        [SDY_OPT, "-split-input-file", f"--{pass_name}"],
        input=SEPARATOR.join(modules), capture_output=True, text=True,
    )
    assert done.returncode == 0, done.stderr[:2000]
    return done.stdout.split(SEPARATOR)


def factors(rng, n, count):
    result = []
    for _ in range(count - 1):
        result.append(rng.choice([d for d in range(1, n + 1) if n % d == 0]))
        n //= result[-1]
    return [*result, n]


def hlo_sharding(rng, devices, rank):
    """A random text; lists and iotas, of any tiles and subgroups."""
    subgroups = rng.choice([[], ["replicated"], ["replicated"], ["unreduced"], ["unreduced", "replicated"]])
    tiles = factors(rng, devices, rank + len(subgroups))
    shape = factors(rng, devices, rng.randint(1, 4))
    order = rng.sample(range(len(shape)), len(shape))
    array = np.arange(devices).reshape(shape).transpose(order).flatten()
    if rng.random() < 0.2:
        rng.shuffle(array)
        listed = True
    else:
        listed = rng.random() < 0.3
    text = f"devices=[{','.join(map(str, tiles))}]"
    if listed:
        text += ",".join(map(str, array))
    else:
        text += f"<=[{','.join(map(str, shape))}]"
        text += f"T({','.join(map(str, order))})" if len(order) > 1 else ""
    if subgroups == ["replicated"] and rng.random() < 0.5:
        text += " last_tile_dim_replicate"
    elif subgroups:
        text += f" last_tile_dims={{{', '.join(subgroups)}}}"
    return f"{{{text}}}"


def shape_for(rank, devices):
    """So large that every sharding divides it."""
    return (devices,) * rank


def their_slices(text, shape, devices):
    """Per device its (start, limit)s, and the sets of devices that hold the same, the same summand where it is one."""
    sharding = xla_client.HloSharding.from_string(text)
    if sharding.is_replicated() or sharding.is_unreduced():
        slices = [tuple((0, size) for size in shape)] * devices
        return slices, copies(slices, range(devices) if sharding.is_unreduced() else [0] * devices)
    dims, kinds = sharding.tile_assignment_dimensions(), sharding.subgroup_types()
    if sharding.replicate_on_last_tile_dim():
        kinds = [xla_client.OpSharding.Type.REPLICATED]
    array = np.reshape(sharding.tile_assignment_devices(), dims)
    assert array.ndim == len(shape) + len(kinds)
    slices, summands = [None] * devices, [None] * devices
    for index, device in np.ndenumerate(array):
        slices[device] = tuple((i * size // n, (i + 1) * size // n) for i, size, n in zip(index, shape, dims))
        subgroups = zip(index[len(shape) :], kinds, strict=True)
        summands[device] = tuple(i for i, kind in subgroups if kind == xla_client.OpSharding.Type.UNREDUCED)
    return slices, copies(slices, summands)


def copies(slices, summands):
    groups = {}
    for device, what in enumerate(zip(slices, summands, strict=True)):
        groups.setdefault(what, set()).add(device)
    return {frozenset(group) for group in groups.values()}


class Mesh:
    def __init__(self, text):
        self.axes = {name: int(size) for name, size in re.findall(r'"(\w+)"=(\d+)', text)}
        ids = re.search(r"device_ids=\[([\d, ]*)\]", text)
        count = math.prod(self.axes.values())
        self.devices = [int(i) for i in ids[1].split(",")] if ids else list(range(count))

    def coordinates(self, axes, position):
        """Of the device at `position` along each of `axes`, texts such as `"x"` or `"x":(2)4`, and the sizes."""
        found = []
        for name, pre, size in re.findall(r'"(\w+)"(?::\((\d+)\)(\d+))?', axes):
            names = list(self.axes)
            stride = math.prod(self.axes[n] for n in names[names.index(name) + 1 :])
            whole = position // stride % self.axes[name]
            pre, size = (int(pre), int(size)) if size else (1, self.axes[name])
            found.append((whole // (self.axes[name] // (pre * size)) % size, size))
        return found


def our_slices(sharding, meshes, shape, devices):
    """The same of the text of an `sdy.sharding`."""
    name, dims, unreduced = re.fullmatch(
        r"<@(\w+), \[(.*?)\](?:, unreduced=\{(.*?)\})?>", sharding
    ).groups()
    mesh = meshes[name]
    dims = re.findall(r"\{(.*?)\}", dims)
    assert len(dims) == len(shape)
    slices, summands = [None] * devices, [None] * devices
    for position, device in enumerate(mesh.devices):
        bounds = []
        for axes, size in zip(dims, shape, strict=True):
            index, count = 0, 1
            for coordinate, axis_size in mesh.coordinates(axes, position):
                index, count = index * axis_size + coordinate, count * axis_size
            bounds.append((index * size // count, (index + 1) * size // count))
        slices[device] = tuple(bounds)
        summands[device] = tuple(index for index, _ in mesh.coordinates(unreduced or "", position))
    return slices, copies(slices, summands)


def module(arguments, mesh=""):
    text = ", ".join(f"%a{i}: {type} {{{attribute}}}" for i, (type, attribute) in enumerate(arguments))
    return f"{mesh}func.func @main({text}) {{\n  return\n}}\n"


def tensor(rank, devices):
    return f"tensor<{f'{devices}x' * rank}f32>"


def meshes_of(text):
    return {name: Mesh(rest) for name, rest in re.findall(r"sdy.mesh @(\w+) = <(.*)>", text)}


def test_import():
    rng = random.Random(0)
    inputs = []
    for _ in range(COUNT // PER_MODULE):
        devices = rng.choice(DEVICES)
        ranks = [rng.randint(1, 3) for _ in range(PER_MODULE)]
        inputs.append((devices, [(rank, hlo_sharding(rng, devices, rank)) for rank in ranks]))
    modules = [
        module([(tensor(rank, devices), f'mhlo.sharding = "{text}"') for rank, text in shardings])
        for devices, shardings in inputs
    ]
    outputs = run("sdy-import-gspmd-shardings", modules)
    several = checked = 0
    for (devices, shardings), output in zip(inputs, outputs, strict=True):
        meshes = meshes_of(output)
        several += len(meshes) > 1
        found = re.findall(r"#sdy.sharding(<@.*?>)}", output)
        for (rank, text), ours in zip(shardings, found, strict=True):
            shape = shape_for(rank, devices)
            assert our_slices(ours, meshes, shape, devices) == their_slices(text, shape, devices), (text, ours)
            checked += 1
    assert checked == COUNT
    assert 0 < several < len(inputs)


def one_mesh(rng, devices):
    return [size for size in factors(rng, devices, rng.randint(1, 4)) if size > 1] or [devices]


def pieces(rng, sizes):
    """The axes of a mesh, some in parts, in random order."""
    found = []
    for index, size in enumerate(sizes):
        parts = [part for part in factors(rng, size, rng.randint(1, 2)) if part > 1]
        pre = 1
        for part in parts:
            found.append(f'"a{index}"' + ("" if part == size else f":({pre}){part}"))
            pre *= part
    rng.shuffle(found)
    return found


def braces(axes):
    return "{" + ", ".join(axes) + "}"


def merge_free(axes):
    """No neighbours that have to be written as one: `"x":(1)2, "x":(2)2`."""
    for first, second in itertools.pairwise(axes):
        a, b = (re.fullmatch(r'"(\w+)":\((\d+)\)(\d+)', axis) for axis in (first, second))
        if a and b and a[1] == b[1] and int(a[2]) * int(a[3]) == int(b[2]):
            return False
    return True


def sdy_sharding(rng, sizes, rank):
    while True:
        parts, dims = pieces(rng, sizes), []
        for _ in range(rank):
            dims.append([parts.pop() for _ in range(rng.randint(0, min(2, len(parts))))])
        unreduced = [axis for axis in parts if ":" not in axis and rng.random() < 0.2]
        unreduced.sort()
        if all(map(merge_free, dims)):
            text = f"<@mesh, [{', '.join(map(braces, dims))}]"
            return text + (f", unreduced={braces(unreduced)}>" if unreduced else ">")


def test_export():
    rng = random.Random(1)
    inputs = []
    for _ in range(COUNT // PER_MODULE):
        devices = rng.choice(DEVICES)
        sizes = one_mesh(rng, devices)
        axes = ", ".join(f'"a{index}"={size}' for index, size in enumerate(sizes))
        ids = rng.sample(range(devices), devices)
        own = rng.random() < 0.3 and ids != sorted(ids)
        mesh = f"sdy.mesh @mesh = <[{axes}]{f', device_ids={ids}' if own else ''}>\n"
        ranks = [rng.randint(1, 3) for _ in range(PER_MODULE)]
        inputs.append((devices, mesh, [(rank, sdy_sharding(rng, sizes, rank)) for rank in ranks]))
    modules = [
        module([(tensor(rank, devices), f"sdy.sharding = #sdy.sharding{text}") for rank, text in shardings], mesh)
        for devices, mesh, shardings in inputs
    ]
    outputs = run("sdy-export-gspmd-shardings", modules)
    checked = 0
    for (devices, mesh, shardings), output in zip(inputs, outputs, strict=True):
        found = re.findall(r'mhlo.sharding = "(.*?)"', output)
        for (rank, ours), text in zip(shardings, found, strict=True):
            shape = shape_for(rank, devices)
            expected = our_slices(ours, meshes_of(mesh), shape, devices)
            assert their_slices(text, shape, devices) == expected, (text, ours)
            checked += 1
    assert checked == COUNT


@pytest.mark.parametrize("sizes", [(8,), (4, 2), (2, 2, 2)])
def test_spelled_as_jax_does(sizes):
    import jax
    from jax.sharding import NamedSharding, PartitionSpec

    names = [f"a{index}" for index in range(len(sizes))]
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:8]).reshape(sizes), names)
    choices = [None, *names, tuple(names), tuple(reversed(names))]
    specs = []
    for dims in itertools.product(choices, repeat=2):
        used = [name for dim in dims if dim for name in ([dim] if isinstance(dim, str) else dim)]
        if len(used) == len(set(used)):
            specs.append(dims)
    expected = [str(NamedSharding(mesh, PartitionSpec(*dims))._to_xla_hlo_sharding(2)) for dims in specs]

    def written(dim):
        axes = [] if dim is None else [dim] if isinstance(dim, str) else dim
        return braces(f'"{axis}"' for axis in axes)

    arguments = [
        ("tensor<8x8xf32>", f"sdy.sharding = #sdy.sharding<@mesh, [{', '.join(map(written, dims))}]>") for dims in specs
    ]
    axes = ", ".join(f'"{name}"={size}' for name, size in zip(names, sizes, strict=True))
    (output,) = run("sdy-export-gspmd-shardings", [module(arguments, f"sdy.mesh @mesh = <[{axes}]>\n")])
    assert re.findall(r'mhlo.sharding = "(.*?)"', output) == expected
