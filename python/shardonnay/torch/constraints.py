"""`shard(x, placements)`: a sharding for a value inside `forward`, in its gradient too.

Placements travel through the trace as text, since an op takes no objects: by position, "S0,R", or by axis, "dp=S0".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import torch
from torch.distributed.tensor.placement_types import Placement, Replicate, Shard, _StridedShard

from .placements import PlacementError

Placements: TypeAlias = Placement | Sequence[Placement] | Mapping[str, Placement]


def _spelled(placement: Placement) -> str:
    if isinstance(placement, _StridedShard):
        return f"S{placement.dim}:{placement.split_factor}"
    if isinstance(placement, Shard):
        return f"S{placement.dim}"
    if isinstance(placement, Replicate):
        return "R"
    raise PlacementError(f"shard: {placement!r}, expected Shard or Replicate for each axis of the mesh")


def _read(text: str) -> Placement:
    if text == "R":
        return Replicate()
    dim, _, factor = text[1:].partition(":")
    return _StridedShard(int(dim), split_factor=int(factor)) if factor else Shard(int(dim))


def resolved(placements: Placements, axes: Mapping[str, int], what: str) -> tuple[Placement, ...]:
    """Placements as users write them, one for each axis of the mesh: a single one is for a mesh of one axis."""
    if isinstance(placements, Placement):
        placements = (placements,)
    if not isinstance(placements, Mapping):
        return tuple(placements)
    unknown = [name for name in placements if name not in axes]
    if unknown:
        raise PlacementError(f"{what}: axis '{unknown[0]}' is not in the mesh, expected one of {list(axes)}")
    return tuple(placements.get(name, Replicate()) for name in axes)


def spelled(placements: Placements) -> str:
    """Placements as text."""
    if isinstance(placements, Mapping):
        return ",".join(f"{axis}={_spelled(placement)}" for axis, placement in placements.items())
    placements = (placements,) if isinstance(placements, Placement) else placements
    return ",".join(map(_spelled, placements))


def read(text: str, axes: Mapping[str, int], what: str) -> tuple[Placement, ...]:
    """Placements from their text, one for each axis of the mesh."""
    parts = text.split(",") if text else []
    if all("=" in part for part in parts):
        return resolved({axis: _read(own) for axis, _, own in (part.partition("=") for part in parts)}, axes, what)
    return tuple(map(_read, parts))


@torch.library.custom_op("shardonnay::shard", mutates_args=())
def shard_op(x: torch.Tensor, placements: str) -> torch.Tensor:
    return x.clone()


@shard_op.register_fake
def _(x: torch.Tensor, placements: str) -> torch.Tensor:
    return torch.empty_like(x)


def _remember(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    ctx.placements = inputs[1]


shard_op.register_autograd(lambda ctx, gradient: (shard_op(gradient, ctx.placements), None), setup_context=_remember)


def shard(x: torch.Tensor, placements: Placements) -> torch.Tensor:
    """`x`, which is sharded as `placements` say when the program is partitioned, and its gradient too.

    placements: one for each axis of the mesh, or those of some axes by name: {"dp": Shard(0)}; others replicate.
    In eager mode it is a copy of x.
    """
    return torch.ops.shardonnay.shard(x, spelled(placements))
