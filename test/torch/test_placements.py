"""DTensor placements and `sdy` shardings."""

import itertools

import pytest
from torch.distributed.tensor import Partial, Replicate, Shard
from torch.distributed.tensor.placement_types import _StridedShard

from shardonnay.torch import PlacementError
from shardonnay.torch.placements import axes_of, mesh_text, placements_of, sharding_of

AXES = {"dp": 2, "cp": 3, "tp": 4}


def every_sharding():
    """All shardings of two dims by three axes, in all orders of the axes."""
    for dims in itertools.product((None, 0, 1), repeat=3):
        for order in itertools.permutations(AXES):
            sharding = [[axis for axis in order if dims[list(AXES).index(axis)] == dim] for dim in (0, 1)]
            dims_text = ", ".join("{" + ", ".join(f'"{axis}"' for axis in axes) + "}" for axes in sharding)
            yield f"#sdy.sharding<@mesh, [{dims_text}]>"


def test_every_sharding_there_and_back():
    found = set(every_sharding())
    assert len(found) == 49
    for text in found:
        placed = placements_of(text, 2, AXES)
        assert not placed.unsaid and sharding_of(placed.placements, AXES, 2) == text


def test_fully_shard_over_tensor_parallel():
    placements = (_StridedShard(0, split_factor=4), Replicate(), Shard(0))
    assert sharding_of(placements, AXES, 2) == '#sdy.sharding<@mesh, [{"tp", "dp"}, {}]>'


def test_partial_is_unreduced():
    text = sharding_of((Partial(), Replicate(), Shard(1)), AXES, 2)
    assert text == '#sdy.sharding<@mesh, [{}, {"tp"}], unreduced={"dp"}>'
    assert placements_of(text, 2, AXES).placements == (Partial(), Replicate(), Shard(1))


def test_what_placements_cannot_say():
    placed = placements_of('[{"tp":(1)2}, {}]', 2, AXES)
    assert placed.placements == (Replicate(),) * 3 and "part of axis" in placed.unsaid[0]
    placed = placements_of('[{"dp", "tp"}, {}]', 2, AXES, (10, 4))
    assert placed.placements == (Shard(0), Replicate(), Shard(0)) and "10 elements in 8 parts" in placed.unsaid[0]
    assert not placements_of('[{"dp"}, {}]', 2, AXES, (5, 4)).unsaid


@pytest.mark.parametrize(
    "placements, message",
    [
        ((Shard(0),), "expected one for each axis"),
        ((Shard(2), Replicate(), Replicate()), "rank 2"),
        ((Partial("max"), Replicate(), Replicate()), "is a sum here"),
        ((_StridedShard(0, split_factor=5), Replicate(), Shard(0)), "split factor"),
        ((0, Replicate(), Replicate()), "expected Shard, Replicate or Partial"),
    ],
)
def test_refused(placements, message):
    with pytest.raises(PlacementError, match=message):
        sharding_of(placements, AXES, 2, "w")


def test_meshes():
    assert mesh_text(AXES) == 'sdy.mesh @mesh = <["dp"=2, "cp"=3, "tp"=4]>'
    assert axes_of({"x": 2}) == {"x": 2}
    for wrong in ({"x": 0}, {"a b": 2}, [("x", 2)]):
        with pytest.raises(PlacementError, match="mesh"):
            axes_of(wrong)
