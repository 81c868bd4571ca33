"""Tensors that share memory, and what is written to it; calls that are alike, and those that only look so."""

import random

import pytest
import torch
from cases import wrong
from random_ops import Case

from shardonnay.torch import capture

X = torch.arange(24.0).reshape(4, 6)


def chain(x):
    row = x.t()[1:3].unsqueeze(0)
    corner, diagonal = x[1], x.diagonal()
    row[0, 1].mul_(3)
    diagonal += 1
    corner[2:4] = -corner[:2]
    return x, row, corner, diagonal


def parts(x):
    left, right = x.split([2, 4], 1)
    rows = x.unbind()
    left.copy_(right[:, 1:3])
    rows[2].neg_()
    torch.sub(rows[3], 1, out=rows[0])
    return x, left, right, rows[2]


def shown_otherwise(x):
    blocks = x.view(2, 2, 6).permute(2, 0, 1)
    wide = x[:, :1].expand(4, 6)
    blocks[0].add_(100)
    pairs = torch.view_as_real(torch.complex(x, x))
    pairs[..., 1].zero_()
    return x, wide, pairs, x.flatten()[::5]


def reshaped_in_place(x):
    before = x[0]
    x.t_()
    x.unsqueeze_(0).transpose_(1, 2).mul_(2)
    x.unsqueeze_(-1).squeeze_((0, -1))
    other = torch.empty(0)
    torch.add(x, 1, out=other)
    other.resize_(3, 2)
    return x, before, other


def alike(x):
    y = x + 1
    products = x * x, x * y, y * y
    written = x.clone().mul_(x), x.clone().mul_(y), x.clone().sub_(y, alpha=2), x.clone().sub_(y, alpha=3)
    zeros = torch.copysign(y, torch.full_like(x, 0.0)), torch.copysign(y, torch.full_like(x, -0.0))
    sums = x.long() + 1, x.long() + 1.0, x.long() + True, x.bool() + True
    return products, written, zeros, sums


def changed_and_asked(x):
    first = x[0]
    seen = first.clone()
    x.data.mul_(2)
    x.detach()[1].add_(1)
    return seen, first, x


CASES = (chain, parts, shown_otherwise, reshaped_in_place, alike, changed_and_asked)


@pytest.mark.parametrize("function", CASES, ids=lambda function: function.__name__)
def test_as_eager(function):
    assert not wrong([Case(function.__name__, lambda x: function(x.clone()), [X])])


def of_gradients(x):
    y = x * 2
    y[:, 1:3].mul_(3)
    y[0] = y[1].clone() * x[2]
    return y


def test_gradients_of_what_is_written():
    def run(x):
        return torch.func.grad(lambda x: (of_gradients(x) ** 2).sum())(x)

    def by_autograd(x):
        x = x.detach().requires_grad_()
        return torch.autograd.grad((of_gradients(x) ** 2).sum(), x)[0]

    assert not wrong([Case("by a function", run, [X]), Case("by autograd", by_autograd, [X])])


VIEWS = (
    lambda x: x[0],
    lambda x: x[..., 1:],
    lambda x: x[::2],
    lambda x: x.transpose(0, -1),
    lambda x: x.unsqueeze(0),
    lambda x: x.diagonal(0, 0, -1),
    lambda x: x.split(1, -1)[0],
    lambda x: x.detach(),
    lambda x: x.squeeze(),
    lambda x: x.movedim(0, -1),
)
WRITES = (
    lambda x, y: x.mul_(2),
    lambda x, y: x.add_(y.sum()),
    lambda x, y: x.copy_(y.flatten()[:1].clone()),
    lambda x, y: x.zero_(),
    lambda x, y: x.clamp_(max=3),
    lambda x, y: x.masked_fill_(x > 5, -1),
)


def written_at_random(x, seed):
    """Views of views, and writes to any of them."""
    choose, tensors = random.Random(seed), [x.reshape(4, 2, 3).clone()]
    for _ in range(12):
        tensor = choose.choice(tensors)
        if choose.random() < 0.5:
            view = choose.choice(VIEWS)
            if tensor.dim() > 1 and tensor.numel():
                tensors.append(view(tensor))
        elif tensor.numel():
            choose.choice(WRITES)(tensor, choose.choice(tensors))
    return tensors


@pytest.mark.parametrize("seed", range(40))
def test_random_writes(seed):
    captured = capture(lambda x: written_at_random(x, seed), [X])
    for found, expected in zip(captured.graph(X), written_at_random(X, seed), strict=True):
        torch.testing.assert_close(found, expected)


def as_strided_of_a_view(x):
    y = x.clone()
    view = y.reshape(4, 6)
    view.as_strided((2,), (1,), 1).mul_(3)
    view.add_(1)
    return y, view


def linear_in_a_step(x):
    """Runs a `make_fx` of its own, which sees what is called; calls alike were made before."""
    return torch.zeros_like(x) * x + torch.sin(x) + torch.func.linearize(torch.sin, x)[1](x)


@pytest.mark.parametrize("function", [as_strided_of_a_view, linear_in_a_step])
def test_what_torch_takes_apart(function):
    captured = capture(lambda x: function(x.reshape(4, 6)), [X])
    expected = function(X.reshape(4, 6))
    for found, wanted in zip(captured.graph(X), expected if isinstance(expected, tuple) else [expected], strict=True):
        torch.testing.assert_close(found, wanted)
