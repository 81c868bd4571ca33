"""`shard(x, placements)` as a sharding constraint."""

from __future__ import annotations

from ..builder import Builder, Value
from ..constraints import read, shard_op
from ..placements import PlacementError, sharding_of
from .table import Result, lowers


@lowers(shard_op._opoverload)
def shard(b: Builder, out: Result, x: Value, placements: str) -> Value:
    if b.axes is None:  # captured without a mesh
        return x
    try:
        text = sharding_of(read(placements, b.axes, "shard"), b.axes, x.rank, "shard")
    except PlacementError as error:
        raise b.refuse(str(error)) from None
    return b.op("sdy.sharding_constraint", [x], x.shape, x.dtype, f"sharding = {text}")
