"""What users of DTensor complain of, each as a program that must be right here; the numbers are of issues and pull
requests of PyTorch and its neighbours.
"""

import functools
import time

import numpy as np
import pytest
import shardonnay
import torch
from cluster import OnRanks
from shardonnay.torch import capture, partition, shard
from shardonnay.torch.aten.table import TABLE, lowers
from shardonnay.torch.placements import sharding_of
from torch import nn
from torch.distributed.tensor import Replicate, Shard
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

R = Replicate()
COLLECTIVES = ("all_reduce", "all_gather", "all_to_all", "reduce_scatter", "collective_permute", "collective_broadcast")


def compiled(function, arguments, axes, placements, results=()):
    """A function of tensors, sharded: placements of its arguments, and of the results that are said."""
    captured = capture(function, arguments)
    names = [argument.name for argument in captured.arguments]
    given = {name: sharding_of(each, axes, value.dim()) for name, each, value in zip(names, placements, arguments)}
    said = {entry.name: sharding_of(each, axes, len(entry.shape)) for entry, each in zip(captured.results, results)}
    return shardonnay.compile(captured.module(axes, given, said))


def collectives(program):
    return {
        name: program.text.count(f"stablehlo.{name}") for name in COLLECTIVES if f"stablehlo.{name}" in program.text
    }


def agrees(program, function, arguments, ranks, folder):
    """What eight ranks compute is what eager PyTorch does."""
    found, spread = OnRanks(program, ranks, folder)([value.detach().numpy() for value in arguments])
    expected = function(*arguments)
    expected = expected if isinstance(expected, (list, tuple)) else [expected]
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b.detach().numpy(), rtol=2e-5, atol=2e-5)
    assert max(spread) <= 1e-5


def numbers(*shape, seed=1):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def test_products_that_need_no_gather():
    """pytorch#167106: a matrix product over a dim that is whole is local, forwards and backwards."""
    v, s, g = numbers(4, 4, 3), numbers(3, 1, seed=2), numbers(4, 4, 1, seed=3)
    axes, by_both = {"cp0": 2, "cp1": 2}, (Shard(0), Shard(1))
    forward = compiled(torch.matmul, [v, s], axes, [by_both, (R, R)])
    assert not collectives(forward) and forward.manifest["outputs"][0]["local_shape"] == [2, 2, 1]

    def backward(v, s, g):
        v = v.detach().requires_grad_()
        with torch.enable_grad():
            return torch.autograd.grad(torch.matmul(v, s), v, g)[0]

    gradient = compiled(backward, [v, s, g], axes, [by_both, (R, R), by_both])
    assert not collectives(gradient) and gradient.manifest["outputs"][0]["local_shape"] == [2, 2, 3]

    def of_weights(v, s, g):
        s = s.detach().requires_grad_()
        with torch.enable_grad():
            return torch.autograd.grad(torch.matmul(v, s), s, g)[0]

    assert collectives(compiled(of_weights, [v, s, g], axes, [by_both, (R, R), by_both])) == {"all_reduce": 1}


def test_attention_that_needs_no_gather():
    """Products of batch and heads, which eager makes one dim of: sharded by both, queries, keys and values stay where
    they are.
    """
    q, k = numbers(4, 8, 6, 2), numbers(4, 8, 6, 2, seed=2)
    by_both = (Shard(0), Shard(1))
    weights = compiled(
        lambda q, k: torch.softmax(q @ k.transpose(-2, -1), -1) @ k, [q, k], {"dp": 2, "tp": 4}, [by_both, by_both]
    )
    assert not collectives(weights) and weights.manifest["outputs"][0]["local_shape"] == [2, 2, 6, 2]


def test_uneven_gathers(ranks, tmp_path):
    """pytorch#194457: five rows by two axes, gathered, are all there."""
    function = lambda x: x * 2
    x = torch.arange(15.0).reshape(5, 3)
    program = compiled(function, [x], {"a": 2, "b": 4}, [(Shard(0), Shard(0))], [(R, R)])
    assert collectives(program)
    agrees(program, function, [x], ranks, tmp_path)


@pytest.mark.parametrize("shape, view", [((6, 256), (-1,)), ((6, 4, 5), (24, 5)), ((6, 4), (2, 3, 4)), ((7, 3), (21,))])
def test_views_of_uneven_parts(shape, view, ranks, tmp_path):
    """pytorch#143372: six rows on eight devices, of which some have none, are viewed otherwise."""
    function = lambda x: x.view(view) + 1
    x = numbers(*shape)
    agrees(compiled(function, [x], {"tp": 8}, [(Shard(0),)]), function, [x], ranks, tmp_path)


class Uneven(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(6, 5), nn.Linear(5, 6)

    def forward(self, x):
        return self.second(torch.relu(self.first(x)))


def test_uneven_modules_that_are_parallelized():
    """pytorch#150336: widths that the mesh does not divide, under parallelize_module's plans with local outputs."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.testing._internal.distributed.fake_pg import FakeStore

    torch.manual_seed(0)
    model = Uneven()
    plain = {name: value.detach().clone() for name, value in model.named_parameters()}
    torch.distributed.init_process_group("fake", store=FakeStore(), rank=0, world_size=8)
    try:
        parallelize_module(
            model,
            init_device_mesh("cpu", (8,), mesh_dim_names=("tp",)),
            {"first": ColwiseParallel(), "second": RowwiseParallel()},
        )
        assert model.first.weight.placements == (Shard(0),)
        plan = partition(model, lambda model, x: (model(x) ** 2).mean(), (numbers(3, 6),), {"tp": 8})
    finally:
        torch.distributed.destroy_process_group()
    from running import difference, run_parts

    found = run_parts(plan.captured, plan.program, {**plain, "inputs.0": numbers(3, 6)})
    eager = Uneven()
    eager.load_state_dict(plain)
    (eager(numbers(3, 6)) ** 2).mean().backward()
    for name, parameter in eager.named_parameters():
        assert not difference(found[f"grad.{name}"], parameter.grad)


# DTensor has no strategy for these, or had none when it was asked for one.
OPS = {
    "diagonal": lambda x: x.diagonal(0, 0, 1).clone(),
    "unfold": lambda x: x.unfold(1, 3, 2).clone(),
    "topk": lambda x: torch.topk(x, 3, dim=1).values,
    "sort": lambda x: torch.sort(x, 0).values,
    "masked_fill": lambda x: x.clone().masked_fill_(x > 0, 2.0),
    "select": lambda x: x.select(0, 5) * 2,
    "amax": lambda x: x.amax(0),
    "roll": lambda x: x.roll(3, 0),
    "flip": lambda x: x.flip([0]),
    "cumsum": lambda x: x.cumsum(0),
    "logcumsumexp": lambda x: x.logcumsumexp(0),
    "tril": torch.tril,
    "scatter_add": lambda x: x.scatter_add(0, torch.zeros(2, 8, dtype=torch.int64), x[:2]),
    "detach_": lambda x: (x * 2).detach_() + 1,
}  # fmt: skip


@pytest.mark.parametrize("name", OPS)
def test_ops_without_a_strategy(name, ranks, tmp_path):
    """pytorch#167917, #147724, #147578, #152249: an op that the table has is sharded by what it says of its dims."""
    x = numbers(8, 8)
    agrees(compiled(OPS[name], [x], {"a": 2, "b": 4}, [(Shard(0), Shard(1))]), OPS[name], [x], ranks, tmp_path)


def test_an_op_of_ones_own(ranks, tmp_path, monkeypatch):
    """torchtitan#3645, pytorch#167677: a library's op is entered by what it computes; its sharding follows from that.
    """
    library = torch.library.Library("complaints", "FRAGMENT")
    library.define("scaled_softmax(Tensor x, float scale) -> Tensor")
    library.impl("scaled_softmax", lambda x, scale: torch.softmax(x * scale, -1), "CompositeExplicitAutograd")
    op = torch.ops.complaints.scaled_softmax.default

    def softmax(builder, result, x, scale):
        scaled = TABLE[torch.ops.aten.mul.Tensor](builder, result, x, scale)
        top = TABLE[torch.ops.aten.amax.default](builder, _row(result), scaled, [-1], True)
        powers = TABLE[torch.ops.aten.exp.default](
            builder, result, TABLE[torch.ops.aten.sub.Tensor](builder, result, scaled, top)
        )
        total = TABLE[torch.ops.aten.sum.dim_IntList](builder, _row(result), powers, [-1], True)
        return TABLE[torch.ops.aten.div.Tensor](builder, result, powers, total)

    monkeypatch.setattr("shardonnay.torch.aten.table.TABLE", TABLE)
    lowers(op)(softmax)
    try:
        x, function = numbers(8, 6), lambda x: op(x, 0.5)
        by_rows = compiled(function, [x], {"a": 2, "b": 4}, [(Shard(0), Shard(0))])
        assert not collectives(by_rows)
        agrees(by_rows, function, [x], ranks, tmp_path)
        agrees(compiled(function, [x], {"a": 2, "b": 4}, [(R, Shard(1))]), function, [x], ranks, tmp_path)
    finally:
        del TABLE[op]


def _row(result):
    return type(result)((*result.shape[:-1], 1), result.dtype)


class Sequence(nn.Module):
    """Tokens are flattened for a layer and apart again behind it, heads and all; their dim is sharded by two axes."""

    def __init__(self):
        super().__init__()
        self.inner, self.outer = nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x):
        batch, length, width = x.shape
        x = shard(x, {"cp": Shard(1), "tp": Shard(1)})
        y = torch.tanh(self.inner(x.flatten(0, 1))).view(batch, length, 2, width // 2)
        y = shard(y, {"cp": Shard(1), "tp": Shard(1)})
        return self.outer(y.flatten(2)).unflatten(1, (2, length // 2)).sum(1)


def test_views_under_two_axes():
    """pytorch#186282: gradients through views of a dim that context and tensor parallelism shard together."""
    from running import difference, run_parts

    torch.manual_seed(0)
    model, x = Sequence(), numbers(3, 16, 8)
    loss = lambda model, x: (model(x) ** 3).mean()
    plan = partition(model, loss, (x,), {"cp": 2, "tp": 4}, params={"*": (R, R)}, inputs=(Shard(1), Shard(1)))
    found = run_parts(plan.captured, plan.program, {**plan.captured.values, "inputs.0": x})
    loss(model, x).backward()
    for name, parameter in model.named_parameters():
        assert not difference(found[f"grad.{name}"], parameter.grad)


def test_gradients_travel_together():
    """pytorch#170367: twenty-four gradients are reduced by a collective or two, not one by one."""
    model = nn.Sequential(*(nn.Linear(8, 8) for _ in range(12)))
    plan = partition(model, lambda model, x: model(x).mean(), (numbers(8, 8),), {"dp": 8}, params={"*": (R,)},
                     inputs=Shard(0), optimizer=functools.partial(torch.optim.AdamW, foreach=True))  # fmt: skip
    assert sum(collectives(plan.program).values()) <= 2


@pytest.mark.parametrize("backend", ["aot_eager", pytest.param("inductor", marks=pytest.mark.long)])
def test_other_sizes_under_compile(backend, ranks, tmp_path):
    """pytorch#183021: what torch.compile has seen of one size is not used for another."""
    function = lambda x: (x - x.mean(0)).sum(1)
    for size in (8, 16, 5):
        x = numbers(size, 4)
        program = compiled(function, [x], {"a": 8}, [(Shard(0),)])
        found, _ = OnRanks(program, ranks, tmp_path, compile=backend, times=2)([x.numpy()])
        np.testing.assert_allclose(found[0], function(x).numpy(), rtol=2e-5, atol=2e-5)


@pytest.mark.long
def test_a_large_model_in_seconds():
    """autoparallel#354, #18: minutes to enumerate and to solve for Llama-3 8B. Here its step is compiled, and nothing
    is allocated.
    """
    transformers = pytest.importorskip("transformers")
    with torch.device("meta"):
        config = transformers.LlamaConfig(hidden_size=4096, intermediate_size=14336, num_hidden_layers=32,
                                          num_attention_heads=32, num_key_value_heads=8, vocab_size=128256,
                                          max_position_embeddings=8192)  # fmt: skip
        model = transformers.LlamaForCausalLM(config)
        tokens = torch.zeros(16, 2048, dtype=torch.int64)
    start = time.monotonic()
    plan = partition(model, lambda model, x, y: model(input_ids=x, labels=y).loss, (tokens, tokens),
                     {"dp": 16, "tp": 8}, params={
        "*.[qkv]_proj.weight": (Shard(1), Shard(0)), "*.gate_proj.weight": (Shard(1), Shard(0)),
        "*.up_proj.weight": (Shard(1), Shard(0)), "*.o_proj.weight": (Shard(0), Shard(1)),
        "*.down_proj.weight": (Shard(0), Shard(1)), "*embed_tokens.weight": (Shard(1), Shard(0)),
        "lm_head.weight": (Shard(1), Shard(0)), "*": (Shard(0), R)}, inputs={"dp": Shard(0)},
        optimizer=torch.optim.AdamW)  # fmt: skip
    assert plan.manifest["devices"] == 128
    assert time.monotonic() - start < 170
