"""A captured training step on ranks: DTensors in and out, sizes that divide nothing, checkpoints on other meshes, a
rank that dies.
"""

import functools
from pathlib import Path

import pytest
import torch
from cluster import Cluster, RankError
from shardonnay.torch import partition
from shardonnay.torch.engine import listing
from torch import nn
from torch.distributed.tensor import Replicate, Shard

HERE = Path(__file__).resolve().parent
R = Replicate()


class Net(nn.Module):
    """Widths that neither 2, 3 nor 4 divide, one smaller than the mesh, and a batch of a size that 8 does not."""

    def __init__(self):
        super().__init__()
        self.embed, self.norm = nn.Embedding(13, 10), nn.LayerNorm(10)
        self.up, self.down, self.head = nn.Linear(10, 7), nn.Linear(7, 10), nn.Linear(10, 3)

    def forward(self, x):
        y = self.embed(x)
        return self.head(self.norm(y + self.down(torch.tanh(self.up(y)))).mean(1))


def loss_fn(model, x, y):
    return nn.functional.cross_entropy(model(x), y)


def batch():
    generator = torch.Generator().manual_seed(3)
    return torch.randint(13, (5, 6), generator=generator), torch.randint(3, (5,), generator=generator)


def make_net():
    torch.manual_seed(0)
    return Net()


PARAMS = {
    "whole": {"*": (R, R)},
    "rows": {"*": (Shard(0), R)},
    "both axes": {"*": (Shard(0), Shard(0))},
    "columns": {"*.weight": (R, Shard(0)), "*": (R, R)},
    "two dims": {"up.weight": (Shard(0), Shard(1)), "down.weight": (Shard(1), Shard(0)), "*": (Shard(0), R)},
}
OPTIMIZER = functools.partial(torch.optim.AdamW, lr=1e-2)


def eager(times):
    model = make_net()
    optimizer = OPTIMIZER(model.parameters())
    losses = []
    for _ in range(times):
        optimizer.zero_grad()
        loss = loss_fn(model, *batch())
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, {name: value.detach() for name, value in model.named_parameters()}


def saved(folder, params, sizes=(2, 4), inputs=(Shard(0), R)):
    plan = partition(make_net(), loss_fn, batch(), {"a": sizes[0], "b": sizes[1]}, params=PARAMS[params], inputs=inputs,
                     optimizer=OPTIMIZER)
    path = folder / f"{params}.shard"
    plan.save(path)
    values = {**dict(make_net().named_parameters()), **{f"inputs.{at}": value for at, value in enumerate(batch())}}
    names = [name for name, kind in plan.executable.signature["arguments"] if kind == "input"]
    values.update(zip(names, batch()))
    torch.save({name: value.detach() for name, value in values.items()}, folder / "values.pt")
    return dict(kind="call", file=str(HERE / "on_ranks.py"), program=str(path), values=str(folder / "values.pt"),
                sizes=sizes, names=("a", "b"), outputs=str(folder / "whole.pt"))  # fmt: skip


def agree(job, answers, times):
    losses, parameters = eager(times)
    whole = torch.load(job["outputs"])
    assert answers[0]["losses"] == pytest.approx(losses[-len(answers[0]["losses"]) :], rel=1e-5)
    for name, value in parameters.items():
        torch.testing.assert_close(whole[name], value, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("params", PARAMS)
def test_uneven_steps(params, ranks, tmp_path):
    job = saved(tmp_path, params)
    answers = ranks(**job, function="train", times=3)
    agree(job, answers, 3)
    assert all(answer["foreign"] == [] for answer in answers)


def test_memory_is_reused(ranks, tmp_path):
    """The tensors that the user holds are those that the step writes."""
    job = saved(tmp_path, "whole")
    answers = ranks(**job, function="train", times=2)
    assert all(answer["moved"] == [] for answer in answers)


def test_three_by_two_and_a_checkpoint(ranks, tmp_path):
    """Saved on 3 x 2, loaded on 2 x 4 with other placements, and on."""
    small = Cluster(6)
    try:
        job = saved(tmp_path, "both axes", (3, 2))
        agree(job, small(**job, function="train", times=2, checkpoint=str(tmp_path / "checkpoint")), 2)
    finally:
        small.close()
    job = saved(tmp_path, "columns", (2, 4))
    agree(job, ranks(**job, function="train", times=2, restore=str(tmp_path / "checkpoint")), 4)


def test_steps_share_process_groups(ranks, tmp_path):
    """However many are loaded, a rank has no more groups, threads and descriptors than with one."""
    job, counts = saved(tmp_path, "both axes"), []
    for _ in range(4):
        ranks(**job, function="train", times=1)
        counts.append(ranks(kind="groups"))
    assert counts[1] == counts[3]


def test_modules(ranks, tmp_path):
    job = saved(tmp_path, "two dims")
    for answer in ranks(**job, function="shard_module"):
        assert answer == {"shares": True, "kinds": ["DTensor"], "missing": [], "back": True}


@pytest.mark.parametrize("sizes", [(2, 4), (4, 2)])
def test_exchanges(sizes, ranks):
    answers = ranks(kind="call", file=str(HERE / "on_ranks.py"), function="exchange", sizes=sizes, names=("a", "b"))
    assert all(answer["wrong"] == [] for answer in answers)


def test_what_placements_cannot_say(ranks, tmp_path):
    """13 in 8 parts: DTensor shards 7 + 6 and each by itself; the step is right, and says that it exchanges."""
    job = saved(tmp_path, "both axes")
    answers = ranks(**job, function="train", times=1)
    assert "13 elements in 8 parts of 2" in answers[0]["unsaid"]["embed.weight"][0]


ALL_REDUCE = """module attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {
    %r = "stablehlo.all_reduce"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
        replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %z = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %z : tensor<f32>
    }) : (tensor<4xf32>) -> tensor<4xf32>
    return %r : tensor<4xf32>
  }
}"""


def test_waited_for_late():
    """A collective begins where it stands and is waited for at its first use; what does not need it is computed
    meanwhile.
    """
    from shardonnay.torch.engine import Groups
    from shardonnay.torch.engine.executable import graph_of
    from torch.testing._internal.distributed.fake_pg import FakeStore

    text = ALL_REDUCE.replace("return %r", "%s = stablehlo.sine %a : tensor<4xf32>\n%t = stablehlo.cosine %s : "
                                           "tensor<4xf32>\n"
                              "%v = stablehlo.reshape %r : (tensor<4xf32>) -> tensor<2x2xf32>\n%w = "
                              "stablehlo.reshape %v : (tensor<2x2xf32>) -> tensor<4xf32>\n"
                              "%u = stablehlo.add %t, %w : tensor<4xf32>\nreturn %u")  # fmt: skip
    program = listing.read(text)
    torch.distributed.init_process_group("fake", store=FakeStore(), rank=0, world_size=4)
    try:
        groups = Groups(range(4))
        groups.prepare(program)
        names = [node.name for node in graph_of(program, 0, groups).graph.nodes]
    finally:
        torch.distributed.destroy_process_group()
    place = {
        part: next(at for at, name in enumerate(names) if part in name)
        for part in ("all_reduce", "sin", "cos", "wait_tensor", "add")
    }
    assert sorted(place, key=place.get) == ["all_reduce", "sin", "cos", "wait_tensor", "add"], names


@pytest.mark.parametrize("backend", ["aot_eager", pytest.param("inductor", marks=pytest.mark.long)])
def test_compiled_by_torch(backend, ranks, tmp_path):
    """torch.compile of the module of a device, collectives and all."""
    job = saved(tmp_path, "two dims")
    agree(job, ranks(**job, function="train", times=2, compile=backend), 2)


def test_a_checkpoint_outlives_a_rank(tmp_path, ranks):
    """A rank dies after a checkpoint: the others say so, and other ranks go on from it. In this step each has to do
    with each.
    """
    job = saved(tmp_path, "both axes")
    cluster = Cluster(8, timeout=20)
    try:
        agree(job, cluster(**job, function="train", times=2, checkpoint=str(tmp_path / "checkpoint")), 2)
        cluster.start({**job, "function": "train_until_it_fails", "victim": 3})
        answers = cluster.answers([0, 1, 2, 4, 5, 6, 7])
        assert all(answer["seconds"] < 25 and answer["message"] for answer in answers)
        with pytest.raises(RankError):
            cluster.answers([3])
    finally:
        cluster.close()
    agree(job, ranks(**job, function="train", times=2, restore=str(tmp_path / "checkpoint")), 4)


@pytest.mark.parametrize("world, hangs", [(4, 0), (5, 40)], ids=["dies", "hangs, in a group of its own"])
def test_a_rank_is_gone(world, hangs, tmp_path):
    """The others say so within the timeout of the default process group, whatever group they wait in."""
    listing.read(ALL_REDUCE).save(tmp_path / "program.shard")
    cluster = Cluster(world, timeout=20)
    try:
        job = dict(
            kind="call",
            file=str(HERE / "on_ranks.py"),
            function="until_it_fails",
            program=str(tmp_path / "program.shard"),
            victim=2,
        )
        cluster.start({**job, "hangs": hangs})
        answers = cluster.answers([0, 1, 3])
        assert all(answer["seconds"] < 35 and answer["message"] for answer in answers), answers
        with pytest.raises(RankError):
            cluster.answers([2])
    finally:
        cluster.close()
