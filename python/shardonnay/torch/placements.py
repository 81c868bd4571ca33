"""DTensor placements as `sdy` shardings, and back.

Placements say for each mesh axis what it does to a tensor; an `sdy` sharding says for each dim which axes shard it, in
which order. `Shard(0)` on two axes is the earlier axis first; a `_StridedShard` on the earlier one puts it behind axes
that come later in the mesh, as many as its split factor is the product of. `Partial` is `unreduced`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from torch.distributed.tensor.placement_types import Partial, Placement, Replicate, Shard, _StridedShard

from ..errors import ShardonnayError

MESH = "mesh"


class PlacementError(ShardonnayError, ValueError):
    """Placements that mean nothing here, or not on this tensor or mesh."""


def axes_of(mesh: Any) -> dict[str, int]:
    """The axes of a mesh, a torch DeviceMesh or a mapping from names to sizes; axes without names are called d0, d1."""
    if isinstance(mesh, Mapping):
        axes = dict(mesh)
    elif hasattr(mesh, "mesh_dim_names"):
        sizes = list(mesh.mesh.shape)
        names = mesh.mesh_dim_names or [f"d{index}" for index in range(len(sizes))]
        axes = dict(zip(names, sizes))
    else:
        raise PlacementError(f'mesh: got {mesh!r}, expected a DeviceMesh, or a mapping such as {{"dp": 2, "tp": 4}}')
    for name, size in axes.items():
        if not isinstance(name, str) or not isinstance(size, int) or size < 1 or not re.fullmatch(r"[\w.-]+", name):
            raise PlacementError(f"mesh: axis {name!r} of size {size!r}, expected a name and a size from 1")
    return axes


def mesh_text(axes: Mapping[str, int], name: str = MESH) -> str:
    """The mesh as `sdy` writes it."""
    sizes = ", ".join(f'"{axis}"={size}' for axis, size in axes.items())
    return f"sdy.mesh @{name} = <[{sizes}]>"


def _dim(placement: Any, rank: int, what: str) -> int:
    if not -rank <= placement.dim < rank:
        raise PlacementError(f"{what}: {placement} on a tensor of rank {rank}, expected a dim below it")
    return int(placement.dim) % rank


def _insert(order: list[str], axis: str, placement: Any, axes: Mapping[str, int], what: str) -> None:
    """Puts an axis in front of those that are later in the mesh, or behind as many as a split factor says."""
    at, shards, factor = 0, 1, placement.split_factor if isinstance(placement, _StridedShard) else 1
    while shards < factor and at < len(order):
        shards *= axes[order[at]]
        at += 1
    if shards != factor:
        sharding = {name: axes[name] for name in order}
        raise PlacementError(
            f"{what}: {placement} on axis '{axis}', whose split factor is no product of the sizes of the later axes "
            f"that shard this dim, which are {sharding}"
        )
    order.insert(at, axis)


def sharding_of(
    placements: Sequence[Placement], axes: Mapping[str, int], rank: int, what: str = "placements", mesh: str = MESH
) -> str:
    """The `sdy` sharding that placements mean, one for each axis of the mesh. what: what errors call the tensor."""
    if len(placements) != len(axes):
        raise PlacementError(
            f"{what}: {len(placements)} placements {tuple(placements)}, expected one for each axis of the mesh, "
            f"{list(axes)}"
        )
    dims: list[list[str]] = [[] for _ in range(rank)]
    partial: list[str] = []
    for axis, placement in reversed(list(zip(axes, placements))):
        if isinstance(placement, (Shard, _StridedShard)):
            _insert(dims[_dim(placement, rank, what)], axis, placement, axes, what)
        elif isinstance(placement, Partial):
            if placement.reduce_op != "sum":
                raise PlacementError(f"{what}: {placement}; a value that is computed in parts is a sum here")
            partial.insert(0, axis)
        elif not isinstance(placement, Replicate):
            raise PlacementError(f"{what}: {placement!r}, expected Shard, Replicate or Partial")
    text = ", ".join("{" + _quoted(order) + "}" for order in dims)
    unreduced = f", unreduced={{{_quoted(partial)}}}" if partial else ""
    return f"#sdy.sharding<@{mesh}, [{text}]{unreduced}>"


def _quoted(axes: Sequence[str]) -> str:
    return ", ".join(f'"{axis}"' for axis in axes)


class Placed(NamedTuple):
    """Placements of a tensor, and in words what they can't say of its sharding."""

    placements: tuple[Placement, ...]
    unsaid: tuple[str, ...]


_SUB_AXIS = re.compile(r'"([^"]+)":\((\d+)\)(\d+)')


def placements_of(
    sharding: str | None, rank: int, axes: Mapping[str, int], shape: Sequence[int] | None = None
) -> Placed:
    """The placements that an `sdy` sharding's text means. None is replicated.

    shape: of the global tensor, if what is uneven is to be said: DTensor shards a dim axis by axis, each part by
        itself.
    """
    found: dict[str, Placement] = {axis: Replicate() for axis in axes}
    unsaid = []
    text = sharding or "[]"
    body, _, tail = text[text.index("[") + 1 :].partition("]")
    names = list(axes)
    for dim, inner in enumerate(re.findall(r"\{([^}]*)\}", body)[:rank]):
        for name, before, size in _SUB_AXIS.findall(inner):
            unsaid.append(f'dim {dim}: "{name}":({before}){size} is a part of axis "{name}", which no placement names')
        order = [name for name in re.findall(r'"([^"]+)"(?!:\()', inner) if name in axes]
        for at, name in enumerate(order):
            factor = math.prod(axes[other] for other in order[:at] if names.index(other) > names.index(name))
            found[name] = Shard(dim) if factor == 1 else _StridedShard(dim, split_factor=factor)
        count = math.prod(axes[name] for name in order)
        if shape is not None and len(order) > 1 and shape[dim] % count:
            unsaid.append(
                f"dim {dim}: {shape[dim]} elements in {count} parts of {-(-shape[dim] // count)}, where DTensor shards "
                f"axis by axis into other parts"
            )
    partial = re.search(r"unreduced=\{([^}]*)\}", tail)
    for name in re.findall(r'"([^"]+)"', partial[1]) if partial else []:
        found[name] = Partial()
    return Placed(tuple(found.values()), tuple(unsaid))
