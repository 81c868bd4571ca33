"""Modules that are no tree of parameters of their own: held twice, scripted, changed by their forward."""

import copy
import functools
import random
import types

import models
import numpy as np
import pytest
import torch
import torch.nn as nn
from running import difference, run_parts, run_whole
from stepping import check_parts, check_steps, check_whole, eager_steps, program_steps
from torch.distributed.tensor import Shard
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

from shardonnay.torch import UnsupportedError, capture, capture_step, partition

SGD = functools.partial(torch.optim.SGD, lr=0.1)


def squares(model, x):
    return (model(x) ** 2).mean()


class HeldTwice(nn.Module):
    """One module by two names, with a buffer that it changes."""

    def __init__(self):
        super().__init__()
        self.a = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
        self.b = nn.Sequential(self.a, nn.ReLU())

    def forward(self, x):
        return self.b(self.a(x))


class Clipped(nn.Module):
    """Keeps its weights within bounds."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        self.linear.weight.data.clamp_(-0.1, 0.1)
        with torch.no_grad():
            self.linear.weight[1].zero_()
        return self.linear(x)


class Averaged(nn.Module):
    """Has a second encoder, the running average of the first, which is not trained."""

    def __init__(self):
        super().__init__()
        self.trained, self.average = nn.Linear(4, 4), nn.Linear(4, 4).requires_grad_(False)

    def forward(self, x):
        with torch.no_grad():
            for mine, other in zip(self.average.parameters(), self.trained.parameters()):
                mine.mul_(0.9).add_(other, alpha=0.1)
        return self.trained(x) - self.average(x)


class AveragedByData(Averaged):
    def forward(self, x):
        for mine, other in zip(self.average.parameters(), self.trained.parameters()):
            mine.data = mine.data * 0.9 + other.data * 0.1
        return self.trained(x) - self.average(x)


class SharedByData(Averaged):
    """Gives the average the memory of what is trained: the optimizer changes both."""

    def forward(self, x):
        for mine, other in zip(self.average.parameters(), self.trained.parameters()):
            mine.data = other.data
        return self.trained(x) * (1 - self.average(x))


class Dropped(nn.Module):
    """Layers that are never or always dropped, by a number that Python asks for; and a mean with random weights."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        if torch.rand([]) < 0.0 or torch.rand(1).item() >= 1:
            return x
        x = self.first(x) if torch.rand(1) > 0.0 else x
        share = torch.rand(1).item()
        return x * share + (1 - share) * self.second(x)


class AveragedByTorch(nn.Module):
    """Weights and running statistics, of which torch keeps the averages; the first update copies."""

    def __init__(self, function=None, of_each=None, buffers=False):
        super().__init__()
        self.trained = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
        keywords = {"avg_fn": of_each, "multi_avg_fn": function, "use_buffers": buffers}
        self.average = torch.optim.swa_utils.AveragedModel(self.trained, **keywords).requires_grad_(False)

    def forward(self, x):
        x = self.trained.to("cpu")(x)
        self.average.update_parameters(self.trained)
        return x - self.average(x)


class Exchanged(nn.Module):
    """Puts a new parameter in the place of one that is not trained, or that is."""

    def __init__(self, trained=False):
        super().__init__()
        self.trained, self.other = nn.Linear(4, 4), nn.Linear(4, 4).requires_grad_(trained)

    def forward(self, x):
        mean = (self.other.weight + self.trained.weight).detach() / 2
        self.other.weight = nn.Parameter(mean, requires_grad=self.other.weight.requires_grad)
        return self.trained(x) - self.other(x)


class Listed(nn.Module):
    """Has a parameter in a list, and a buffer in an object that is no module, as transformers' caches are."""

    def __init__(self):
        super().__init__()
        self.weight, self.register = nn.Parameter(torch.randn(4, 4)), types.SimpleNamespace(mean=torch.zeros(4))
        self.weights = [self.weight]
        self.register_buffer("mean", self.register.mean)

    def forward(self, x):
        self.register.mean[1:].add_(x.detach().mean(0)[1:])
        return x @ torch.stack(self.weights).sum(0) - self.mean


class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear, self.total = nn.Linear(4, 4), torch.zeros(4)

    def forward(self, x):
        self.total += x.detach().sum(0)
        return self.linear(x) + self.total


class Flagged(nn.Module):
    """Branches by a buffer, and takes the places of another one, as VectorQuantize does."""

    def __init__(self, ready=True):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.register_buffer("ready", torch.tensor(ready))
        self.register_buffer("mask", ~torch.eye(4, dtype=torch.bool))
        self.register_buffer("scale", torch.ones(4))
        self.register_buffer("mean", torch.zeros(4))

    def forward(self, x):
        x = self.linear(x)
        if not self.ready:
            self.scale.copy_(x.detach().abs().amax(0))
            self.ready.fill_(True)
        self.mean[1:].copy_(x.detach().mean(0)[1:])
        return (x.T @ x)[self.mask].view(4, 3) * self.scale[:, None]


class Ring(nn.Module):
    """Keeps what has passed by, in a place that a buffer says, which moves on."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.register_buffer("at", torch.tensor(2))
        self.register_buffer("kept", torch.zeros(3, 4))
        self.register_buffer("counts", torch.zeros(3, dtype=torch.int64))

    def forward(self, x):
        x, place = self.linear(x), self.kept[self.at % 3]
        self.counts[self.at % 3] += 1
        self.at += 1
        place.copy_(x.detach().mean(0))
        self.kept[self.at % 3].mul_(0.5)
        return x - self.kept.sum(0)


class Attending(nn.Module):
    """Attention within segments, with a bias by the distance; `flex_attention`'s gradients eager PyTorch has on no CPU.
    """

    def __init__(self, flexible):
        super().__init__()
        self.qkv, self.bias, self.flexible = nn.Linear(8, 24), nn.Parameter(torch.randn(15)), flexible

    def forward(self, x, segments):
        q, k, v = self.qkv(x).view(len(x), 8, 3, 2, 4).permute(2, 0, 3, 1, 4)
        k, v, at, heads = k[:, :1], v[:, :1], torch.arange(8), torch.arange(1, 3)
        if self.flexible:
            mask = create_block_mask(
                lambda b, h, i, j: (i >= j) & (segments[b, i] == segments[b, j]), len(x), None, 8, 8, device="cpu"
            )
            return flex_attention(
                q, k, v, lambda score, b, h, i, j: score + self.bias[i - j + 7] * (h + 1), mask, enable_gqa=True
            )
        mask = (at[:, None] >= at) & (segments[:, None, :, None] == segments[:, None, None])
        scores = q @ k.mT / 2 + self.bias[at[:, None] - at + 7] * heads[:, None, None]
        return scores.masked_fill(~mask, -torch.inf).softmax(-1) @ v


class Scripted(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.outer = torch.jit.script(nn.Sequential(nn.Linear(4, 4), nn.ReLU())), nn.Linear(4, 4)

    def forward(self, x):
        return self.outer(self.inner(x))


class Synchronized(nn.Module):
    """The batch is whole to a program, however it is sharded; eager PyTorch has no such norm on CPUs."""

    def __init__(self, momentum=0.1):
        super().__init__()
        self.linear, self.norm = nn.Linear(4, 4), nn.BatchNorm1d(4, momentum=momentum)

    def forward(self, x):
        return self.norm(self.linear(x))


@pytest.mark.parametrize("momentum", [0.1, None])
def test_synchronized_batch_norm(momentum):
    torch.manual_seed(0)
    model, batch = Synchronized(momentum), (models.numbers(8, 4),)
    check_whole(model, squares, batch, SGD, slack=5)
    given = nn.SyncBatchNorm.convert_sync_batchnorm(copy.deepcopy(model))
    plan = partition(given, squares, batch, {"dp": 8}, inputs=Shard(0), optimizer=SGD)
    check_parts(plan, model, squares, batch, SGD, slack=5)


@torch.library.custom_op("shardonnay_test::scaled", mutates_args=())
def scaled(x: torch.Tensor, by: float) -> torch.Tensor:
    result = torch.empty_like(x)
    return result.copy_(x).mul_(by)


scaled.register_fake(lambda x, by: torch.empty_like(x))
scaled.register_autograd(lambda ctx, gradient: (gradient * 1.5, None))


def test_an_op_of_the_users():
    """Its function is captured, and the gradient that it says."""
    model, batch = nn.Linear(4, 4), (models.numbers(8, 4),)
    check_whole(model, lambda model, x: (scaled(model(x), 1.5) ** 2).mean(), batch, SGD)


class Remembering(nn.Module):
    """Keeps what is no buffer: a state, a cache that it makes, a count."""

    def __init__(self):
        super().__init__()
        self.linear, self.state, self.cache, self.count = nn.Linear(4, 4), torch.zeros(4), None, 0
        self.register_buffer("late", None)

    def forward(self, x):
        self.count += 1
        self.late = x.mean(0)
        self.cache = [torch.arange(4.0)]
        y = self.linear(x + self.state)
        self.state = y.detach().mean(0)
        return y + self.cache[0]


def test_what_forward_keeps_in_attributes():
    model, x = Remembering(), models.numbers(8, 4)
    with pytest.warns(UserWarning, match="forward sets the attribute '.*' of 'Remembering', which") as said:
        capture_step(model, squares, (x,))
    assert [str(warning.message).split("'")[1] for warning in said] == ["state", "cache", "count", "late"]
    assert (model.count, model.cache, type(model.state), model.late) == (0, None, torch.Tensor, None)
    model(x)


def test_a_tensor_that_is_no_buffer_and_changes():
    with pytest.raises(UnsupportedError, match=r"test_modules\.py:\d+: error: 'aten.add_.Tensor' changes a tensor"):
        capture_step(Counting(), squares, (models.numbers(8, 4),))


KINDS = [HeldTwice, Clipped, Averaged, AveragedByData, SharedByData, Exchanged, Listed, Flagged, Ring]


@pytest.mark.parametrize("kind", KINDS)
def test_step(kind):
    torch.manual_seed(0)
    model, batch = kind(), (models.numbers(8, 4),)
    before = dict(model.named_parameters())
    check_whole(model, squares, batch, SGD, slack=5)
    assert all(parameter is before[name] for name, parameter in model.named_parameters())
    plan = partition(model, squares, batch, {"dp": 8}, inputs=Shard(0), optimizer=SGD)
    check_parts(plan, model, squares, batch, SGD, slack=5)


def test_a_buffer_that_is_asked_for_and_changes():
    with pytest.raises(UnsupportedError, match=r"test_modules\.py:\d+: .* the buffer 'ready', which a step changes"):
        capture_step(Flagged(ready=False), squares, (models.numbers(8, 4),))
    captured = capture_step(Flagged(), squares, (models.numbers(8, 4),))
    assert {name: value.tolist() for name, value in captured.constants.items() if name != "mask"} == {"ready": True}


class Renamed(nn.Linear):
    """Has parameters by a function of its own, as TorchRL's losses do."""

    def named_parameters(self, prefix="", recurse=True):
        return super().named_parameters(prefix, recurse)


def test_parameters_by_a_function_of_the_users():
    check_whole(nn.Sequential(Renamed(3, 3)), squares, (models.numbers(5, 3),), models.ADAMW)


class Viewed(nn.Linear):
    """Holds a view of its weight, which vmap takes without a call that anyone sees."""

    def __init__(self):
        super().__init__(3, 3)
        self.held = [self.weight.detach()[:2]]

    def forward(self, x):
        return super().forward(x) + torch.vmap(lambda row: row.sum())(self.held[0]).sum()


def test_a_parameter_from_elsewhere():
    with pytest.raises(UnsupportedError, match=r"test_modules\.py:\d+: .* weight: forward takes this parameter from"):
        capture_step(Viewed(), squares, (models.numbers(5, 3),))


class Growing(nn.Linear):
    def forward(self, x):
        x = super().forward(x)
        self.kept = torch.cat([self.kept, x.detach()])
        return x


def test_a_buffer_that_grows():
    model = Growing(4, 4)
    model.register_buffer("kept", torch.zeros(2, 4))
    with pytest.raises(TypeError, match=r"kept: was torch\.float32\[2, 4\] and is torch\.float32\[10, 4\] after"):
        capture_step(model, squares, (models.numbers(8, 4),))


def test_dropped_layers():
    torch.manual_seed(0)
    model, batch = Dropped(), (models.numbers(8, 4),)
    plan = partition(model, squares, batch, {"dp": 8}, inputs=Shard(0), optimizer=SGD)
    check_parts(plan, model, squares, batch, SGD, slack=5)


@pytest.mark.parametrize("draw", [random.random, lambda: np.random.randint(5)])
def test_random_numbers_of_python(draw):
    with pytest.warns(UserWarning, match="random numbers of Python's or NumPy's"):
        capture(lambda x: x * draw(), [models.numbers(3)])


def test_averages_of_torch():
    torch.manual_seed(0)
    of_all, of_each = torch.optim.swa_utils.get_ema_multi_avg_fn(0.9), torch.optim.swa_utils.get_ema_avg_fn(0.9)
    for keywords in ({"function": of_all, "buffers": True}, {"of_each": of_each}, {}):
        check_whole(AveragedByTorch(**keywords), squares, (models.numbers(8, 4),), SGD, slack=5)


def test_a_module_that_forward_converts():
    model = nn.Linear(4, 4)
    with pytest.raises(UnsupportedError, match=r"test_modules\.py:\d+: .* converts the parameters of a module, Linear"):
        capture_step(model, lambda model, x: model.half()(x.half()).sum(), (models.numbers(8, 4),))


def test_flex_attention():
    torch.manual_seed(0)
    model, expected = Attending(True), Attending(False)
    expected.load_state_dict(model.state_dict())
    batch = models.numbers(8, 8, 8), torch.arange(64).view(8, 8) // 5 % 2

    def loss(model, x, segments):
        return (model(x, segments) ** 2).mean()

    plan = partition(model, loss, batch, {"dp": 8}, inputs=Shard(0), optimizer=SGD)
    found = program_steps(plan.captured, batch, 2, lambda values: run_parts(plan.captured, plan.program, values))
    check_steps(found, eager_steps(expected, loss, batch, SGD, 2), slack=5)


@pytest.mark.filterwarnings("ignore:.*torch.jit.script.*")
def test_gradients_of_a_scripted_module():
    torch.manual_seed(0)
    model, x = Scripted(), models.numbers(8, 4)  # torch copies no scripted module with its gradients
    captured = capture_step(model, squares, (x,))
    found = run_whole(captured, {**captured.values, "inputs.0": x})
    squares(model, x).backward()
    for name, parameter in model.named_parameters():
        assert not difference(found[f"grad.{name}"], parameter.grad)


def test_a_trained_parameter_that_is_exchanged():
    with pytest.raises(TypeError, match=r"other\.weight: forward puts another parameter in its place"):
        capture_step(Exchanged(trained=True), squares, (models.numbers(8, 4),), optimizer=SGD)


def test_an_error_of_a_branch_for_the_compiler():
    """As transformers' Switch Transformers have without a mask."""

    def forward(x, mask=None):
        if mask is None and not torch.compiler.is_compiling():
            mask = torch.ones(2)
        return x * mask[:, None]

    with pytest.raises(TypeError, match="not subscriptable") as raised:
        capture(forward, [models.numbers(2, 3)])
    assert "test_modules.py:" in raised.value.__notes__[0] and "is_compiling() is true" in raised.value.__notes__[0]


def test_trained_parameters_that_share_their_data():
    model = SharedByData().requires_grad_()
    with pytest.raises(TypeError, match=r"average\.weight: forward gives it the memory of 'trained\.weight'"):
        capture_step(model, squares, (models.numbers(8, 4),), optimizer=SGD)


def test_data_of_another_shape():
    def narrow(x):
        x = x.clone()
        x.data = x[:1]
        return x

    with pytest.raises(UnsupportedError, match=r"test_modules\.py:\d+: error: the data of a tensor, torch.float32\[2"):
        capture(narrow, [models.numbers(2, 3)])


@pytest.mark.filterwarnings("ignore:.*torch.jit.script.*")
@pytest.mark.parametrize("kind", [*KINDS, Scripted])
def test_forward(kind):
    torch.manual_seed(0)
    model, x = kind(), models.numbers(8, 4)
    captured = capture(model, [x])
    found = run_whole(captured, {**captured.values, "inputs.0": x})
    expected = model(x)
    assert not difference(found["result"], expected.detach())
    named = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    updated = [entry.name for entry in captured.results if entry.updates]
    assert not [name for name in updated if difference(found[name], named[name].detach())]
    assert bool(updated) == (kind is not Scripted)
