"""Models under four strategies: three steps on eight ranks equal those of eager PyTorch. A few in every run, all with
--long.

The ranks are threads of this process (threads.py); for two pairs, and for all with --gloo, processes that send by gloo.
"""

import functools
from pathlib import Path

import models
import pytest
import shardonnay.torch.plan
import torch
import transformer_models
from running import difference
from shardonnay.torch import UnsupportedError, capture_step, partition
from stepping import eager_steps
from torch.distributed.tensor import Replicate, Shard

HERE = Path(__file__).resolve().parent
R = Replicate()
STEPS = 3
# What Megatron shards by rows; all other weights are sharded by columns.
ROWS = (
    "wo.weight",
    "w2.weight",
    "o_proj.weight",
    "out_proj.weight",
    "down_proj.weight",
    "fc2.weight",
    "output.dense.weight",
    "wo",
)


def megatron(name, shape):
    if len(shape) < 2:
        return R, R
    return R, Shard(1) if name.endswith(ROWS) else Shard(0)


# Name -> (mesh, placements of a parameter by name and shape, placements of the batch)
STRATEGIES = {
    "data": ({"dp": 8}, lambda name, shape: (R,), {"dp": Shard(0)}),
    "fsdp": ({"fsdp": 8}, lambda name, shape: (Shard(0) if shape else R,), {"fsdp": Shard(0)}),
    "megatron": ({"dp": 2, "tp": 4}, megatron, {"dp": Shard(0)}),
    "uneven": ({"a": 3, "b": 2}, lambda name, shape: (Shard(0), Shard(len(shape) - 1)) if shape else (R, R),
               {"a": Shard(0)}),
}
BUILDS = {
    **{name: models.build for name in models.MODELS},
    **{f"hf-{name}": transformer_models.build for name in transformer_models.MODELS},
}
# The batch of a graph is its nodes, beside the edges; bfloat16 rounds otherwise when the program is sharded.
INPUTS = {"graph": ("0",)}
SLACK = {"gpt_autocast": 200}
QUICK = {
    ("gpt_dropout", "fsdp"),
    ("rnn", "data"),
    ("resnet", "data"),
    ("unet", "uneven"),
    ("hf-llama", "fsdp"),
    ("hf-mixtral", "megatron"),
    ("mlp", "uneven"),
}


def build(name):
    return BUILDS[name](name.removeprefix("hf-"))


def optimizer_of(name):
    return functools.partial(torch.optim.SGD, lr=0.1) if name in SLACK else models.ADAMW


@functools.lru_cache(1)
def captured(name):
    model, loss_fn, batch = build(name)
    return capture_step(model, loss_fn, batch, optimizer=optimizer_of(name)), eager_steps(
        model, loss_fn, batch, optimizer_of(name), STEPS
    )


def saved(name, strategy, folder, monkeypatch):
    """The partitioned step in a file, with the job that runs it."""
    mesh, placements, inputs = STRATEGIES[strategy]
    # once for all strategies
    monkeypatch.setattr(shardonnay.torch.plan, "capture_step", lambda *_, **__: captured(name)[0])
    model, loss_fn, batch = build(name)
    params = {key: placements(key, tuple(value.shape)) for key, value in model.named_parameters()}
    inputs = {path: inputs for path in INPUTS.get(name, ["*"])}
    plan = partition(model, loss_fn, batch, mesh, params=params, inputs=inputs, optimizer=optimizer_of(name))
    plan.save(folder / "step.shard")
    leaves = [leaf for leaf in torch.utils._pytree.tree_leaves(batch) if isinstance(leaf, torch.Tensor)]
    names = [argument.name for argument in plan.captured.arguments if argument.kind == "input"]
    held = {
        entry.name: plan.captured.values[entry.name].detach()
        for entry in plan.captured.arguments
        if entry.kind in ("parameter", "buffer")
    }
    torch.save({**held, **dict(zip(names, leaves, strict=True))}, folder / "values.pt")
    return dict(kind="call", file=str(HERE / "on_ranks.py"), function="train", program=str(folder / "step.shard"),
                times=STEPS, values=str(folder / "values.pt"), sizes=list(mesh.values()), names=list(mesh),
                outputs=str(folder / "whole.pt"))  # fmt: skip


def pairs():
    for name in BUILDS:
        for strategy in STRATEGIES:
            yield pytest.param(
                name, strategy, id=f"{name}-{strategy}", marks=() if (name, strategy) in QUICK else pytest.mark.long
            )


def check(name, strategy, ranks, folder, monkeypatch):
    """Three steps on ranks; their answers."""
    job = saved(name, strategy, folder, monkeypatch)
    answers = ranks(**job)
    losses, values = captured(name)[1]
    whole, slack = torch.load(job["outputs"]), SLACK.get(name, 10)
    wrong = [
        difference(torch.tensor(found, dtype=loss.dtype), loss, slack)
        for found, loss in zip(answers[0]["losses"], losses, strict=True)
    ]
    wrong += [f"{key}: {text}" for key, value in values.items() if key in whole
              and (text := difference(whole[key], value, slack))]
    assert not any(wrong), "\n".join(filter(None, wrong))
    assert set(whole) <= set(values) and len(whole) >= len(dict(build(name)[0].named_parameters()))
    return answers


@pytest.mark.parametrize("name, strategy", list(pairs()))
def test_three_steps(name, strategy, any_ranks, tmp_path, monkeypatch):
    check(name, strategy, any_ranks, tmp_path, monkeypatch)


@pytest.mark.parametrize("name, strategy", [("gpt_dropout", "megatron"), ("hf-t5", "uneven")])
def test_three_steps_by_gloo(name, strategy, ranks, tmp_path, monkeypatch):
    """Processes without JAX and without the compiler."""
    assert all(answer["foreign"] == [] for answer in check(name, strategy, ranks, tmp_path, monkeypatch) if answer)


def test_experts_that_sort_tokens_are_refused():
    """transformers' default for experts divides tokens into parts whose sizes are numbers in a tensor."""
    model, loss_fn, batch = build("hf-mixtral")
    model.set_experts_implementation("eager")
    with pytest.raises(UnsupportedError, match="depends on the numbers in a tensor"):
        capture_step(model, loss_fn, batch)
