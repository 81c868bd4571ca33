"""Reshards between random layouts, over a hundred in one program: every device ends with the right slices, bit for bit.

Parts of axes, in any order, that shard dims or that a value is unreduced along; sizes that they divide, and that they
don't. Of a mesh of twelve devices in a process of its own: python test_reshards.py MESH RANK SIZES
"""

import random
import subprocess
import sys
from math import prod

import numpy as np
import pytest
import shardonnay
from shardonnay import run

MESHES = {
    "2x2": {"x": 2, "y": 2},
    "2x4": {"x": 2, "y": 4},
    "2x2x2": {"x": 2, "y": 2, "z": 2},
    "4x2": {"x": 4, "y": 2},
    "4x3": {"x": 4, "y": 3},
}
SHAPES = {"even": [8, 8, 8], "uneven": [10, 7, 5]}


def parts(rng, axes):
    """The axes in random order, some of them split in two."""
    result = []
    for name, size in axes.items():
        if size == 4 and rng.random() < 0.5:
            result += [f'"{name}":(1)2', f'"{name}":(2)2']
        else:
            result.append(f'"{name}"')
    rng.shuffle(result)
    return result


def layout(rng, axes, rank):
    """Each part shards a random dim, is one that the value is unreduced along, or none; neighbours are one axis."""
    dims, unreduced = [[] for _ in range(rank)], []
    for part in parts(rng, axes):
        place = rng.randrange(rank + 1)
        if place < rank:
            dims[place].append(part)
        elif rng.random() < 0.4:
            unreduced.append(part)
    text = "[" + ", ".join("{" + ", ".join(dim) + "}" for dim in dims) + "]"
    if unreduced:
        text += ", unreduced={" + ", ".join(sorted(unreduced)) + "}"
    for name in axes:
        text = text.replace(f'"{name}":(1)2, "{name}":(2)2', f'"{name}"')
    return f"<@mesh, {text}>"


def program(rng, axes, shape, count):
    rank = len(shape)
    kind = f"tensor<{'x'.join(map(str, shape))}xi32>"
    layouts = [layout(rng, axes, rank) for _ in range(count)]
    mesh = ", ".join(f'"{name}"={size}' for name, size in axes.items())
    results = ", ".join(f"{kind} {{sdy.sharding = #sdy.sharding{one}}}" for one in layouts)
    lines = [f"sdy.mesh @mesh = <[{mesh}]>"]
    lines.append(f"func.func @main(%0: {kind} {{sdy.sharding = #sdy.sharding{layouts[0]}}}) -> ({results}) {{")
    for i, one in enumerate(layouts):
        lines.append(f"  %{i + 1} = sdy.reshard %{i} {one} : {kind}")
    names = ", ".join(f"%{i + 1}" for i in range(count))
    lines += [f"  return {names} : {', '.join([kind] * count)}", "}"]
    return "\n".join(lines), np.arange(prod(shape), dtype=np.int32).reshape(shape)


def check(name, rank, sizes):
    """How many layouts a value was unreduced in."""
    text, array = program(random.Random(f"{name} {rank}"), MESHES[name], SHAPES[sizes][:rank], count=120)
    compiled = shardonnay.compile(text)
    outputs, spreads = run.LoadedProgram(compiled)([array])
    kinds = {entry["kind"] for entry in compiled.report["collectives"]}
    assert kinds >= {"all_gather", "collective_permute"} and (rank == 1 or "all_to_all" in kinds)
    assert kinds & {"all_reduce", "reduce_scatter"}
    assert all(np.array_equal(output, array) for output in outputs) and not any(spreads)
    return text.partition("{\n")[0].count("unreduced")


@pytest.mark.parametrize("sizes", SHAPES)
@pytest.mark.parametrize(
    ("name", "rank"), [("2x2", 3), ("2x4", 2), ("2x4", 3), ("2x2x2", 1), ("2x2x2", 2), ("4x2", 3)]
)
def test_random_layouts(name, rank, sizes):
    assert check(name, rank, sizes) > 10


@pytest.mark.parametrize("rank", [2, 3])
def test_twelve_devices(rank):
    done = subprocess.run([sys.executable, __file__, "4x3", str(rank), "uneven"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


if __name__ == "__main__":
    sys.exit(check(sys.argv[1], int(sys.argv[2]), sys.argv[3]) <= 10)
