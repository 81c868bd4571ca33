"""`partition`: steps on eight devices against eager PyTorch, and what a plan says."""

import copy
import functools

import models
import pytest
import torch
import torch.distributed as dist
from stepping import check_parts
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import Replicate, Shard
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

from shardonnay import CompileError
from shardonnay.torch import PlacementError, partition, shard
from shardonnay.torch.engine import EngineError, load
from shardonnay.torch.step import Step

R = Replicate()
MEGATRON = {
    "*.w[qkv].weight": {"tp": Shard(0)},
    "*.w1.weight": {"tp": Shard(0)},
    "*.wo.weight": {"tp": Shard(1)},
    "*.w2.weight": {"tp": Shard(1)},
    "head.weight": {"tp": Shard(0)},
}
STRATEGIES = {
    "data parallel": ({"dp": 8}, {}, Shard(0), {}),
    "megatron and data parallel": ({"dp": 2, "tp": 4}, MEGATRON, {"dp": Shard(0)}, {}),
    "fully sharded": ({"fsdp": 8}, {"*": Shard(0)}, Shard(0), {}),
    "states sharded": ({"dp": 8}, {"*": R}, Shard(0), {"state.*.exp_avg*": Shard(0)}),
    "uneven": ({"a": 3, "b": 2}, {"*.w[qkv1].weight": (Shard(0), R), "*.w[o2].weight": (Shard(1), R)}, (R, Shard(0)),
               {}),
    "nothing given": ({"x": 4}, {}, None, {}),
}


@pytest.fixture(scope="module")
def fake_group():
    """A process group of eight in one process: placements can be made, nothing is sent."""
    from torch.testing._internal.distributed.fake_pg import FakeStore

    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=8)
    yield
    dist.destroy_process_group()


@pytest.mark.parametrize("name", STRATEGIES)
def test_strategy(name):
    mesh, params, inputs, states = STRATEGIES[name]
    model, loss, batch = models.build("gpt")
    plan = partition(model, loss, batch, mesh, params=params, inputs=inputs, states=states, optimizer=models.ADAMW)
    check_parts(plan, model, loss, batch, models.ADAMW, slack=5)
    before = {entry["name"]: entry["sharding"] for entry in plan.manifest["inputs"]}
    for returned, entry in zip(plan.captured.results, plan.manifest["outputs"], strict=True):
        if returned.updates:
            assert entry["sharding"] == before[returned.updates], returned.name


@pytest.mark.parametrize(
    "name", ["gpt_dropout", "gpt_checkpointed", "experts", "resnet", "dlrm", "lstm", "graph", "unet"]
)
def test_data_parallel(name):
    model, loss, batch = models.build(name)
    plan = partition(
        model, loss, batch, {"dp": 8}, inputs=Shard(0) if name != "graph" else {"0": Shard(0)}, optimizer=models.ADAMW
    )
    check_parts(plan, model, loss, batch, models.ADAMW, slack=5)


def test_clipping_and_accumulation():
    model, loss, batch = models.build("gpt")
    both = {"clip_grad_norm": 0.05, "accumulate": 2}
    plan = partition(
        model, loss, batch, {"dp": 2, "tp": 4}, params=MEGATRON, inputs={"dp": Shard(0)}, optimizer=models.ADAMW, **both
    )
    check_parts(plan, model, loss, batch, models.ADAMW, slack=5, **both)


class Sequential(torch.nn.Module):
    """A model whose activations are sharded by its own word."""

    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(8, 16), torch.nn.Linear(16, 8)

    def forward(self, x):
        return self.second(shard(torch.relu(self.first(x)), {"dp": Shard(0), "tp": Shard(1)}))


def test_shard_within_forward():
    torch.manual_seed(0)
    model, batch = Sequential(), (models.numbers(8, 8),)
    loss = lambda model, x: (model(x) ** 2).mean()
    plan = partition(model, loss, batch, {"dp": 2, "tp": 4}, inputs={"dp": Shard(0)}, optimizer=models.ADAMW)
    constraints = [line for line in plan.source.splitlines() if "sdy.sharding_constraint" in line]
    assert len(constraints) == 2 and any("backward" in line for line in constraints)
    assert all('[{"dp"}, {"tp"}]' in line for line in constraints)
    check_parts(plan, model, loss, batch, models.ADAMW, slack=5)
    assert torch.equal(shard(batch[0], (Shard(0), R)), batch[0])


def test_shard_names_an_axis_that_is_not_there():
    torch.manual_seed(0)
    with pytest.raises(CompileError, match=r"test_partition.py:\d+: .*axis 'tp' is not in the mesh"):
        partition(Sequential(), lambda model, x: model(x).sum(), (models.numbers(8, 8),), {"dp": 2})


def test_parameters_that_are_placed(fake_group):
    model, loss, batch = models.build("gpt")
    plain = copy.deepcopy(model)
    mesh = init_device_mesh("cpu", (2, 4), mesh_dim_names=("dp", "tp"))
    for block in model.blocks:
        plan = {"w1": ColwiseParallel(), "w2": RowwiseParallel(), "attention.wq": ColwiseParallel(),
                "attention.wo": RowwiseParallel()}
        parallelize_module(block, mesh["tp"], plan)
        fully_shard(block, mesh=mesh["dp"])
    plan = partition(model, loss, batch, mesh, inputs={"dp": Shard(0)}, optimizer=models.ADAMW)
    given = {entry["name"]: entry["sharding"] for entry in plan.manifest["inputs"]}
    assert '[{"tp", "dp"}' in given["blocks.0.w1.weight"]
    assert '[{"dp"}, {"tp"}' in given["blocks.0.w2.weight"]
    assert plan.placements["blocks.0.w1.weight"] == model.blocks[0].w1.weight.placements
    object.__setattr__(plan.captured, "values", {**plan.captured.values, **dict(plain.named_parameters())})
    check_parts(plan, plain, loss, batch, models.ADAMW, slack=5)


def _sources(report):
    return [entry for entry in report["collectives"]]


def test_what_a_plan_says():
    model, loss, batch = models.build("gpt")
    plan = partition(
        model, loss, batch, {"dp": 2, "tp": 4}, params=MEGATRON, inputs={"dp": Shard(0)}, optimizer=models.ADAMW
    )
    assert plan.placements["blocks.0.w1.weight"] == (R, Shard(0))
    assert plan.placements["state.blocks.0.w1.weight.exp_avg"] == (R, Shard(0))
    report = str(plan.report())
    assert "models.py" in report and "(backward)" in report
    nodes = {node.name for node in plan.captured.graph.graph.nodes}
    named = [entry["name"].removesuffix(" (backward)").rpartition("/")[2] for entry in _sources(plan.report())]
    assert named and set(named) <= nodes
    explanation = str(plan.explain("blocks.0.w1.bias"))
    assert 'dim 0 "tp"' in explanation and "models.py" in explanation


def test_gradients_are_sharded_as_their_parameters():
    model, loss, batch = models.build("mlp")
    plan = partition(model, loss, batch, {"fsdp": 8}, params={"*": Shard(0)}, inputs=Shard(0))
    for name, _ in model.named_parameters():
        assert plan.placements[f"grad.{name}"] == plan.placements[name] == (Shard(0),)


class NamedAsResults(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.loss, self.grad = torch.nn.Parameter(models.numbers(8, 8)), torch.nn.Linear(8, 8, bias=False)

    def forward(self, x):
        return self.grad(x) @ self.loss


def test_parameters_named_as_results():
    """The step's own `loss` is a number, and not sharded as the parameter of that name."""
    loss = lambda model, x: (model(x) ** 2).mean()
    batch = (models.numbers(8, 8),)
    plan = partition(NamedAsResults(), loss, batch, {"fsdp": 8}, params={"*": Shard(1)}, inputs=Shard(0))
    for name in ("loss", "grad.weight"):
        assert plan.placements[f"grad.{name}"] == (Shard(1),)


class Stacked(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.randn(64))

    def forward(self, x):
        a, b = torch.stack([x * self.w, x + self.w]).unbind(0)
        return a * b


def test_what_is_stacked_stays_where_it_is():
    """A new dim is no batch: stacks and unstacks, and the gradients of both, need nothing of other devices."""
    plan = partition(Stacked(), lambda model, x: (model(x) ** 3).sum(), (torch.randn(512, 64),), {"dp": 8},
                     inputs=Shard(0), params={"w": (R,)})
    assert {entry["kind"] for entry in plan.report()["collectives"]} == {"all_reduce"}


@pytest.mark.parametrize("batch_first", [False, True])
def test_sequences_before_batches(batch_first):
    """PyTorch's attention has the batch behind the sequence, and merges both for its products and sums."""
    torch.manual_seed(0)
    model = torch.nn.TransformerEncoderLayer(16, 2, 32, 0.0, batch_first=batch_first)
    batch = (torch.randn(*((8, 6) if batch_first else (6, 8)), 16),)

    def loss(model, x):
        return (model(x) ** 3).mean()

    plan = partition(model, loss, batch, {"dp": 4}, params={"*": (R,)}, inputs=Shard(0 if batch_first else 1),
                     optimizer=models.ADAMW, device_model="bytes")
    assert {entry["kind"] for entry in plan.report()["collectives"]} == {"all_reduce"}
    check_parts(plan, model, loss, batch, models.ADAMW, slack=5)


def test_what_is_resized_by_whole_factors_stays_where_it_is():
    resizes = torch.nn.Upsample(scale_factor=2), torch.nn.AdaptiveAvgPool2d(8)
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 1), *resizes)
    plan = partition(
        model, lambda model, x: model(x).square().mean(), (torch.randn(2, 3, 16, 16),), {"dp": 4}, inputs=(Shard(2),),
        params={"*": R}
    )  # fmt: skip
    assert {entry["kind"] for entry in plan.report()["collectives"]} == {"all_reduce"}


def test_what_users_hold(fake_group):
    """DTensors of a module and its optimizer, as the plan places them, and a state dict that the module loads."""
    model, loss, batch = models.build("gpt")
    mesh = init_device_mesh("cpu", (2, 4), mesh_dim_names=("dp", "tp"))
    plan = partition(model, loss, batch, mesh, params=MEGATRON, inputs={"dp": Shard(0)}, optimizer=models.ADAMW)
    state = plan.shard(model)
    assert plan.shard(model).keys() == state.keys() and plan.step() is plan.step()
    for name, value in state.items():
        assert value.placements == plan.placements[name]
    weight = model.blocks[0].w1.weight
    assert weight.placements == (R, Shard(0)) and weight.to_local().shape == (16, 16)
    assert state["state.blocks.0.w1.weight.exp_avg"].to_local().shape == (16, 16)
    assert not model.load_state_dict(plan.state_dict(state)).missing_keys


def nested_step(batch):
    """A step whose batch is a dictionary, on a mesh of devices that each compute all of it."""
    torch.manual_seed(0)
    model = torch.nn.Linear(4, 3)
    mesh = init_device_mesh("cpu", (8,), mesh_dim_names=("dp",))

    def loss(model, batch):
        return torch.nn.functional.mse_loss(model(batch["x"]), batch["y"]) * batch["scale"]

    plan = partition(model, loss, (batch,), mesh)
    return loss(model, batch), plan.step(), plan.shard(model)


def test_a_number_in_a_batch(fake_group):
    """The program has it as it was, unless the batch had a tensor there."""
    batch = {"x": torch.randn(5, 4), "y": torch.randn(5, 3), "scale": 2.0}
    _, step, state = nested_step(batch)
    with pytest.raises(EngineError, match=r"inputs\.0\.scale: the program was made for 2\.0, got 3\.0"):
        step(state, {**batch, "scale": 3.0})
    wanted, step, state = nested_step({**batch, "scale": torch.tensor(3.0)})
    torch.testing.assert_close(step(state, {**batch, "scale": 3.0})["loss"], wanted.detach())
    step.load_state_dict(state, {"bias": torch.zeros(3)})


def test_numbers_that_a_buffer_had(fake_group):
    """The program was made for them: a branch of forward's asks for them."""

    class Scaled(torch.nn.Linear):
        def forward(self, x):
            return super().forward(x) * (2 if self.is_scaled else 1)

    model = Scaled(4, 3)
    model.register_buffer("is_scaled", torch.tensor(True))
    mesh = init_device_mesh("cpu", (8,), mesh_dim_names=("dp",))
    plan = partition(model, lambda model, x: model(x).sum(), (torch.ones(8, 4),), mesh)
    step, state = plan.step(), plan.shard(model)
    for found in (lambda: step.load_state_dict(state, {"is_scaled": False}), lambda: step.shard({
        "weight": torch.ones(3, 4), "bias": torch.ones(3), "is_scaled": torch.tensor(False)
    })):  # fmt: skip
        with pytest.raises(EngineError, match="is_scaled: the program was made for other numbers of this buffer"):
            found()
    step.load_state_dict(state, {"is_scaled": True})


def test_a_batch_is_nested_as_it_was(fake_group):
    """By name, in whatever order a dictionary has them."""
    batch = {"x": torch.randn(5, 4), "y": torch.randn(5, 3), "scale": 2.0}
    wanted, step, state = nested_step(batch)
    for given, named in (
        ((dict(reversed(batch.items())),), {}),
        ((), {"inputs.0.y": batch["y"], "inputs.0.x": batch["x"]}),
    ):
        torch.testing.assert_close(step(state, *given, **named)["loss"], wanted.detach())


def test_mistakes_in_a_step(fake_group):
    batch = {"x": torch.randn(5, 4), "y": torch.randn(5, 3), "scale": 2.0}
    _, step, state = nested_step(batch)
    one = {name: batch[name] for name in ("x", "scale")}
    for call, message in (
        (lambda: step(state, one), r"no value for inputs\.0\.y: expected inputs inputs\.0\.x, inputs\.0\.y"),
        (lambda: step(state, batch, batch["x"]), r"there is no inputs\.1: expected"),
        (lambda: step(state, batch, z=batch["x"]), "there is no z: expected"),
        (
            lambda: step(state, **{"inputs.0.x": "x", "inputs.0.y": batch["y"]}),
            r"inputs\.0\.x: expected a tensor, got str",
        ),
        (lambda: step(batch["x"], batch), "state: got Tensor, expected what shard.. returns"),
        (lambda: Step(step.program, {"dp": 8}), "mesh: got {'dp': 8}, expected a DeviceMesh"),
        (lambda: step({}, batch), "no state for weight, bias; expected what shard.. returns"),
    ):
        with pytest.raises(EngineError, match=message):
            call()
    for sizes, names in ((8,), ("x",)), ((2, 4), ("dp", "tp")), ((8,), None):
        with pytest.raises(EngineError, match=r"for a mesh of \{'dp': 8\}, got one of .* mesh_dim_names=\('dp',\)"):
            Step(step.program, init_device_mesh("cpu", sizes, mesh_dim_names=names))


def test_scalars_are_whole_whatever_fits_all():
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.BatchNorm1d(8))
    plan = partition(
        model, lambda m, x: (m(x) ** 3).mean(), (torch.randn(8, 8),), {"dp": 8}, params={"*": Shard(0)}, inputs=Shard(0)
    )
    assert plan.placements["1.running_mean"] == (Shard(0),) and plan.placements["1.num_batches_tracked"] == (R,)


def test_what_is_no_saved_step(tmp_path):
    path = tmp_path / "step.shard"
    path.write_text("x = 1")
    with pytest.raises(EngineError, match="step.shard: no saved program, expected what save.. wrote"):
        load(path)


def test_what_is_no_training_step():
    model, loss, batch = models.build("mlp")
    for keywords, message in (
        ({"model": lambda x: x}, "expected a torch.nn.Module"),
        ({"accumulate": 0}, "accumulate=0: expected 1 or more"),
        ({"optimizer": "adam"}, "optimizer: got 'adam', expected a torch.optim.Optimizer"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            partition(keywords.pop("model", model), loss, batch, {"dp": 8}, **keywords)


def test_a_plan_without_devices():
    model, loss, batch = models.build("mlp")
    with pytest.raises(PlacementError, match="expected step.mesh. with a DeviceMesh"):
        partition(model, loss, batch, {"dp": 8}).shard(model)


@pytest.mark.parametrize(
    "keywords, message",
    [
        ({"params": {"*.wx.weight": Shard(0)}}, r"no name matches '\*\.wx\.weight'"),
        ({"params": {"*": (Shard(0),)}}, "expected one for each axis"),
        ({"params": [("*", Shard(0))]}, "expected a dict of patterns and their placements"),
        ({"params": {"*": {"ep": Shard(0)}}}, "axis 'ep' is not in the mesh"),
        ({"params": {"head.weight": {"tp": Shard(3)}}}, "head.weight: .*rank 2"),
        ({"inputs": {"9": {"dp": Shard(0)}}}, "no name matches '9'"),
    ],
)
def test_mistakes(keywords, message):
    model, loss, batch = models.build("gpt")
    with pytest.raises(PlacementError, match=message):
        partition(model, loss, batch, {"dp": 2, "tp": 4}, **keywords)


def test_plans_are_priced_by_gloo():
    """Whose collectives take long whatever they send: parameters are gathered at once, and gradients summed at once."""
    model, batch = models.GPT(512, 128, heads=8, length=64), models.tokens(8, 64, 512)

    def collectives(**keywords):
        plan = partition(model, models.cross_entropy, batch, {"fsdp": 8}, params={"*": Shard(0)}, inputs=Shard(0),
                         optimizer=models.ADAMW, **keywords)
        return sum(
            plan.text.count(f'"stablehlo.{kind}"')
            for kind in ("all_gather", "all_reduce", "reduce_scatter", "all_to_all")
        )

    assert collectives() <= 5 < 15 < collectives(device_model="cpu")


def test_options_reach_the_compiler():
    model, loss, batch = models.build("mlp")
    compiled = functools.partial(partition, model, loss, batch, {"dp": 8}, inputs=Shard(0), optimizer=models.ADAMW)
    assert compiled(no_bucketing=True).text.count("all_reduce") > compiled().text.count("all_reduce")
    with pytest.raises(TypeError, match="there is no option"):
        compiled(no_such=1)
