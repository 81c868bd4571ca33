"""`spmd.fetch_window`, run on eight devices: every window holds the positions that its op says, and `fill` outside."""

import itertools
import subprocess
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from shardonnay import engine

SDY_OPT = Path(__file__).resolve().parents[3] / "build/bin/sdy-opt"
DEVICE_IDS = [3, 1, 0, 2, 7, 6, 4, 5]
SIZES = {"x": 2, "y": 4}
FILL = 77


def shards(axes):
    return int(np.prod([SIZES[axis] for axis in axes], dtype=int))


def index(axes, position):
    """The index along `axes` of a position in the mesh."""
    coordinates, result = {"x": position // 4, "y": position % 4}, 0
    for axis in axes:
        result = result * SIZES[axis] + coordinates[axis]
    return result


def axis_list(axes):
    return "{" + ", ".join(f'"{axis}"' for axis in axes) + "}"


class Window:
    """One op: of a dim of `size` that `axes` shard (`local` each), `count` positions from start + step * index."""

    def __init__(self, size, axes, start, step, count, windows=None, fill=True, slack=0):
        self.size, self.axes, self.start, self.step, self.count, self.fill = size, axes, start, step, count, fill
        self.windows = axes if windows is None else windows
        self.local = -(-size // shards(axes)) + slack

    def op(self, number, kind):
        fill, fill_type = (" fill %f", f", tensor<{kind}>") if self.fill else ("", "")
        mesh = f" @mesh {axis_list(self.axes)} to {axis_list(self.windows)}" if self.axes or self.windows else ""
        return (
            f"%w{number} = spmd.fetch_window %a{number} dim=1 global_size={self.size} start={self.start} "
            f"step={self.step} size={self.count}{mesh}{fill} : "
            f"(tensor<2x{self.local}x{kind}>{fill_type}) -> tensor<2x{self.count}x{kind}>"
        )

    def held(self, position, dtype):
        """The shards of rows 1, 2, ... and -1, -2, ...; behind the dim stands what must not be seen."""
        at = index(self.axes, position) * self.local + np.arange(self.local)
        rows = np.stack([at + 1, -at - 1]).astype(dtype)
        return np.where(at < self.size, rows, np.array(np.nan if dtype.kind == "f" else 55, dtype))

    def check(self, position, found, dtype):
        at = self.start + self.step * index(self.windows, position) + np.arange(self.count)
        inside = (at >= 0) & (at < self.size)
        expected = np.where(inside, np.stack([at + 1, -at - 1]), FILL).astype(dtype)
        seen = inside | self.fill
        np.testing.assert_array_equal(found[:, seen], expected[:, seen], err_msg=str(vars(self)))


def run_windows(windows, kind, dtype):
    arguments = ", ".join(f"%a{n}: tensor<2x{w.local}x{kind}>" for n, w in enumerate(windows))
    types = ", ".join(f"tensor<2x{w.count}x{kind}>" for w in windows)
    names = ", ".join(f"%w{n}" for n in range(len(windows)))
    body = "\n".join(w.op(n, kind) for n, w in enumerate(windows))
    text = f"""sdy.mesh @mesh = <["x"=2, "y"=4], device_ids={DEVICE_IDS}>
func.func @main(%f: tensor<{kind}>, {arguments}) -> ({types}) {{
{body}
return {names} : {types}
}}"""
    local = subprocess.run([SDY_OPT, "--sdy-emit-stablehlo"], input=text, capture_output=True, text=True, check=True)
    position_of = np.argsort(DEVICE_IDS)
    inputs = [[np.array(FILL, dtype)] * 8] + [[w.held(p, dtype) for p in position_of] for w in windows]
    outputs = engine.Executable(local.stdout, 8)(inputs)
    for window, results in zip(windows, outputs, strict=True):
        for position, found in zip(position_of, results, strict=True):
            window.check(position, found, dtype)


def halos():
    for size, axes in itertools.product((16, 10, 5, 3, 1, 0), ("y", "xy")):
        local = -(-size // shards(axes))
        for left, right in ((1, 1), (2, 0), (0, 3), (7, 7)):
            yield Window(size, axes, -left, local, local + left + right)


def strides():
    for size, axes, step, count in itertools.product((16, 10, 3), ("y", "yx"), (1, 2, 5), (1, 3)):
        yield Window(size, axes, 1, step, count)


def turned():
    for size, axes in itertools.product((16, 10, 5, 1), ("x", "y", "xy")):
        local = -(-size // shards(axes))
        yield Window(size, axes, size - local, -local, local)


def resharded():
    for size, (axes, windows) in itertools.product(
        (16, 10, 5, 1), itertools.permutations(("", "x", "y", "xy", "yx"), 2)
    ):
        local = -(-size // shards(windows))
        yield Window(size, axes, 0, local, local, windows, fill=False, slack=size % 2)


def paddings():
    for size, axes in itertools.product((8, 6), ("", "y")):
        yield Window(size, axes, -40, 21, 21)
        yield Window(size, axes, 2, 0, 3)
        yield Window(size, axes, 100, 5, 4)


@pytest.mark.parametrize("windows", [halos, strides, turned, resharded, paddings], ids=lambda family: family.__name__)
@pytest.mark.parametrize("kind, dtype", [("f32", np.float32), ("i8", np.int8)])
def test_windows(windows, kind, dtype):
    run_windows(list(windows()), kind, np.dtype(dtype))


@pytest.mark.parametrize(
    "kind, dtype", [("bf16", ml_dtypes.bfloat16), ("complex<f32>", np.complex64), ("f64", np.float64)]
)
def test_other_types(kind, dtype):
    some = list(halos())[::5] + list(resharded())[::7]
    run_windows(some, kind, np.dtype(dtype))
