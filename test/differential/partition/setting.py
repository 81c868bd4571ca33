"""What the cases of one program have in common: its meshes, the order of their devices, and the compiler's options."""

import math
import random
from dataclasses import dataclass, replace
from pathlib import Path

MESHES = (
    (("x", 2), ("y", 4)),
    (("x", 8),),
    (("x", 4), ("y", 2)),
    (("x", 2), ("y", 2), ("z", 2)),
    (("x", 2), ("y", 3)),
    (("x", 5),),
    (("x", 7),),
    (("x", 3), ("y", 1), ("z", 2)),
    (("x", 2), ("y", 2)),
    (("x", 12),),
    (("x", 2), ("y", 6)),
    (("x", 1), ("y", 2), ("z", 1), ("w", 3)),
    (("x", 2), ("y", 1), ("z", 2), ("w", 2)),
    (("x", 2), ("y", 1), ("z", 2), ("w", 1), ("v", 2)),
    (("x", 1), ("y", 2), ("z", 3), ("w", 1), ("v", 1), ("u", 2)),
    (("x", 1),),
)
DEVICES = 12

# Programs are small here: where computing them takes long, they are sharded by axes that nothing uses.
MODELS = tuple(str(Path(__file__).with_name("models") / f"{name}.json") for name in ("slow-compute", "slow-axis"))

# What a program may be compiled with; the first of each is the default.
OPTIONS = {
    "device_model": ("cpu", "bytes", "gpu-cluster", "gpu-node", "tpu-torus", *MODELS),
    "search_mode": ("greedy", "graph"),
    "keep_propagated": (False, True),
    "arguments": ("split", "whole"),
    "results": ("split", "whole"),
    "keep_functions_of": (0, 2, 1, 5),
    "no_bucketing": (False, True),
}


@dataclass(frozen=True)
class Mesh:
    name: str
    axes: tuple  # of (name, size); none: the mesh of one device, which `order` names
    order: tuple = ()  # the device at each position; none: the natural order

    @property
    def text(self):
        axes = ", ".join(f'"{name}"={size}' for name, size in self.axes)
        order = f", device_ids={list(self.order)}" if self.order else ""
        return f"sdy.mesh @{self.name} = <[{axes}]{order}>"

    @property
    def devices(self):
        return math.prod(size for _, size in self.axes)


@dataclass(frozen=True)
class Setting:
    meshes: tuple  # the first is the one of most shardings
    options: tuple = ()  # of (name, value)
    memory: float = 0  # the share of the memory that the program needs without a limit; 0: no limit

    @property
    def devices(self):
        return self.meshes[0].devices


PLAIN = Setting((Mesh("mesh", MESHES[0]),))


def _factored(number, pick):
    """`number` as a product of some factors above 1."""
    found = []
    while number > 1:
        found.append(pick.choice([size for size in range(2, number + 1) if number % size == 0]))
        number //= found[-1]
    return found


def _order(devices, pick):
    """Some devices change places: two neighbours, all, or halves."""
    order = list(range(devices))
    kind = pick.randrange(3)
    if kind == 0:
        pick.shuffle(order)
    elif kind == 1:
        order = order[::2] + order[1::2]
    else:
        at = pick.randrange(max(1, devices - 1))
        order[at : at + 2] = order[at : at + 2][::-1]
    return () if order == sorted(order) else tuple(order)


def draw(number):
    """The setting of this number: half of them are plain in one respect or another."""
    pick = random.Random(number)
    axes = pick.choice(MESHES)
    devices = math.prod(size for _, size in axes)
    order = _order(devices, pick) if pick.random() < 0.35 else ()
    meshes = [Mesh("mesh", axes, order)]
    if pick.random() < 0.25:  # the same devices in other axes
        factors = _factored(devices, pick)
        meshes.append(Mesh("other", tuple((f"o{at}", size) for at, size in enumerate(factors)) or (("o0", 1),), order))
    if pick.random() < 0.1:
        meshes.append(Mesh("single", (), (pick.randrange(devices),)))
    options = [(name, pick.choice(values[1:] if pick.random() < 0.7 else values[:1]) if name == "device_model"
                or pick.random() < 0.2
                else values[0]) for name, values in OPTIONS.items()]
    memory = pick.choice((0.9, 0.6, 0.4)) if pick.random() < 0.12 else 0
    return Setting(tuple(meshes), tuple((name, value) for name, value in options if value != OPTIONS[name][0]), memory)


def simpler(setting):
    """Settings with one thing less, under which the text of a case still means something."""
    if setting.memory:
        yield replace(setting, memory=0)
    for option in setting.options:
        yield replace(setting, options=tuple(other for other in setting.options if other != option))
    for at in range(1, len(setting.meshes)):
        yield replace(setting, meshes=setting.meshes[:at] + setting.meshes[at + 1 :])
    if any(mesh.order and mesh.axes for mesh in setting.meshes):
        yield replace(setting, meshes=tuple(replace(mesh, order=()) if mesh.axes else mesh for mesh in setting.meshes))
