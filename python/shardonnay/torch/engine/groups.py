"""Process groups of a program's collectives: made once, by all ranks in one order."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from weakref import WeakKeyDictionary

import torch.distributed as dist

from .program import Program
from .elements import EngineError

Devices = tuple[int, ...]
# Of a default process group: what has been made of its ranks. A group costs each rank threads and descriptors, and
# torch keeps it until it is destroyed, so programs share them.
_MADE: WeakKeyDictionary[dist.ProcessGroup, dict[tuple[Devices, timedelta | None], dist.ProcessGroup]] = (
    WeakKeyDictionary()
)


def partition_of(pairs: list[list[int]], devices: int) -> list[list[int]]:
    """The devices in groups such that no pair joins two: those that a permute has to do with each other."""
    root = list(range(devices))

    def find(device: int) -> int:
        while root[device] != device:
            device = root[device]
        return device

    for source, target in pairs:
        low, high = sorted((find(source), find(target)))
        root[high] = low
    found: dict[int, list[int]] = {}
    for device in range(devices):
        found.setdefault(find(device), []).append(device)
    return list(found.values())


def default_timeout() -> timedelta | None:
    """The default process group's, which `new_group` does not take over: by itself it has torch's, half an hour. None
    where there is no group.
    """
    if not dist.is_initialized():
        return None
    world = dist.group.WORLD
    options = (getattr(world._get_backend(device), "options", None) for device in world._device_types)
    return next((found for each in options if (found := getattr(each, "_timeout", None))), None)


def _group_of(ranks: Devices, timeout: timedelta | None) -> dist.ProcessGroup:
    """The group of these ranks, made by the first program that needs it."""
    made = _MADE.setdefault(dist.group.WORLD, {})
    if (ranks, timeout) not in made:
        made[ranks, timeout] = dist.new_group(list(ranks), timeout=timeout)
    return made[ranks, timeout]


class Groups:
    """The groups of a program's devices, device i being rank `ranks[i]` of the default process group.

    What programs have in common is made once, as long as the default process group lives.
    """

    def __init__(self, ranks: Sequence[int], timeout: timedelta | None = None) -> None:
        """`timeout`: of each new group, else the default group's."""
        self.ranks = list(ranks)
        self._timeout = timeout or default_timeout()
        self._made: dict[Devices, dist.ProcessGroup] = {}

    def prepare(self, program: Program) -> None:
        """Makes what the program needs, and a group of all devices. Every rank of the default group calls it, also one
        without a device.
        """
        self._make(tuple(range(program.devices)))
        for op in program.ops():
            if "groups" in op.attributes:
                rows = op.attributes["groups"]
            elif "pairs" in op.attributes:
                rows = partition_of(op.attributes["pairs"], program.devices)
            else:
                continue
            for row in rows:
                self._make(tuple(sorted(row)))

    def _make(self, devices: Devices) -> None:
        if devices in self._made or len(devices) < 2:
            return
        ranks = tuple(sorted(self.ranks[device] for device in devices))
        is_world = ranks == tuple(range(dist.get_world_size()))
        self._made[devices] = dist.group.WORLD if is_world else _group_of(ranks, self._timeout)

    def order(self, devices: Sequence[int]) -> list[int]:
        """The devices as their process group has them: by rank."""
        return sorted(devices, key=lambda device: self.ranks[device])

    def group(self, devices: Sequence[int]) -> dist.ProcessGroup:
        found = self._made.get(tuple(sorted(devices)))
        if found is None:
            raise EngineError(f"no process group of devices {list(devices)}; call prepare(program) on every rank first")
        return found

