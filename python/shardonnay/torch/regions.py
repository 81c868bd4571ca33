"""Which elements of a global tensor each device holds, and the exchange from one such arrangement into another.

DTensor shards a dim axis by axis, each part by itself; a program shards it once, into parts of one size with the last
ones short or empty. On sizes that do not divide these differ, so what crosses the boundary says of both which elements
they hold, dim by dim, and only what is not there yet is sent.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor.placement_types import Placement, Shard, _StridedShard

# For each dim the positions in the global tensor, in the order of the local one.
Region = tuple[tuple[int, ...], ...]


def placed_regions(shape: Sequence[int], mesh: DeviceMesh, placements: Sequence[Placement]) -> list[Region]:
    """Of each position of the mesh, in row-major order, what a DTensor of this shape has there."""
    return list(_placed_regions(tuple(shape), tuple(mesh.mesh.shape), tuple(placements)))


@functools.cache
def _placed_regions(
    shape: tuple[int, ...], sizes: tuple[int, ...], placements: tuple[Placement, ...]
) -> tuple[Region, ...]:
    found = []
    for place in itertools.product(*map(range, sizes)):
        dims = [list(range(extent)) for extent in shape]
        for at, size, placement in zip(place, sizes, placements, strict=True):
            if isinstance(placement, (Shard, _StridedShard)):
                dims[placement.dim] = _part(dims[placement.dim], size, at, getattr(placement, "split_factor", 1))
        found.append(tuple(map(tuple, dims)))
    return tuple(found)


def _part(positions: list[int], count: int, at: int, factor: int) -> list[int]:
    """Part `at` of `count`; with a factor, of each of so many parts of the dim."""
    return [p for chunk in _chunks(positions, factor) for p in _chunks(chunk, count)[at]]


def _chunks(positions: list[int], count: int) -> list[list[int]]:
    """As torch.chunk, with empty ones where it leaves some out."""
    size = -(-len(positions) // count)
    return [positions[at * size : (at + 1) * size] for at in range(count)]


def listed_regions(slices: Sequence[Sequence[Sequence[int]]]) -> list[Region]:
    """Of each device what a manifest's entry says that it holds."""
    return [tuple(tuple(range(start, limit)) for start, limit in bounds) for bounds in slices]


def select(tensor: torch.Tensor, positions: Sequence[Sequence[int]]) -> torch.Tensor:
    """The elements at these positions, dim by dim; a view where they are neighbours."""
    for dim, selected in enumerate(positions):
        if len(selected) == tensor.shape[dim] and all(a == b for a, b in enumerate(selected)):
            continue
        if list(selected) == list(range(selected[0], selected[0] + len(selected))) if selected else True:
            tensor = tensor.narrow(dim, selected[0] if selected else 0, len(selected))
        else:
            tensor = tensor.index_select(dim, torch.tensor(selected, device=tensor.device))
    return tensor


class Exchange:
    """From one arrangement of a tensor's elements among `ranks` into another."""

    def __init__(self, source: list[Region], target: list[Region], ranks: Sequence[int], own: int) -> None:
        """`own`: the number of this device among them."""
        self.needed = any(a != b for a, b in zip(source, target, strict=True))
        self._source, self._target, self._own = source, target, own
        self._ranks = list(ranks)
        if self.needed:
            holders: dict[Region, list[int]] = {}
            for device, region in enumerate(source):
                holders.setdefault(region, []).append(device)
            # Who sends what to whom: of the devices that hold the same one, itself where it can be.
            senders = [
                [
                    own_copy if (own_copy := device) in devices else devices[device % len(devices)]
                    for devices in holders.values()
                ]
                for device in range(len(target))
            ]
            self._gives = [self._common(own, to) if own in senders[to] else None for to in range(len(target))]
            self._gets = [self._common(of, own) if of in senders[own] else None for of in range(len(target))]

    def _common(self, source: int, target: int) -> tuple[list[list[int]], list[list[int]]] | None:
        """(places in the source's tensor, places in the target's) of the elements that both hold; None if there are
        none.
        """
        there, here = [], []
        for a, b in zip(self._source[source], self._target[target], strict=True):
            place = {position: at for at, position in enumerate(b)}
            shared = [(at, place[position]) for at, position in enumerate(a) if position in place]
            if not shared:
                return None
            there.append([at for at, _ in shared])
            here.append([at for _, at in shared])
        return there, here

    def __call__(self, local: torch.Tensor, group: dist.ProcessGroup | None = None) -> torch.Tensor:
        """The local tensor of the target; every rank of the group calls it."""
        if not self.needed:
            return local
        parts = [select(local, give[0]).reshape(-1) if give else local.new_empty(0) for give in self._gives]
        shapes = [[len(dim) for dim in get[1]] if get else [0] for get in self._gets]
        counts = [int(torch.Size(shape).numel()) for shape in shapes]
        sent = _as_bytes(torch.cat(parts))
        width = local.element_size()
        order = sorted(range(len(parts)), key=self._ranks.__getitem__)
        if order != list(range(len(parts))):
            sent = _as_bytes(torch.cat([parts[at] for at in order]))
        got = sent.new_empty(sum(counts) * width)
        dist.all_to_all_single(
            got, sent, [counts[at] * width for at in order], [parts[at].numel() * width for at in order], group
        )
        received = dict(zip(order, got.split([counts[at] * width for at in order]), strict=True))
        result = local.new_zeros([len(dim) for dim in self._target[self._own]])
        for at, (get, shape) in enumerate(zip(self._gets, shapes, strict=True)):
            if get:
                _write(result, get[1], received[at].clone().view(local.dtype).reshape(shape))
        return result


def _as_bytes(flat: torch.Tensor) -> torch.Tensor:
    return flat.contiguous().view(torch.uint8)


def _write(result: torch.Tensor, places: list[list[int]], shard: torch.Tensor) -> None:
    grids: list[Any] = [
        torch.tensor(place).reshape([-1 if at == dim else 1 for at in range(len(places))])
        for dim, place in enumerate(places)
    ]
    if grids:
        result[tuple(grids)] = shard
    else:
        result.copy_(shard.reshape(result.shape))
