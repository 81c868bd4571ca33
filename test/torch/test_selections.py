"""What a mask takes, `x[mask]`: used for what needs no number of rows, and refused for the rest."""

import models
import pytest
import random_ops
import torch
import torch.nn.functional as F
from cases import wrong

from shardonnay.torch import UnsupportedError, capture

X, M = models.numbers(4, 5), torch.tensor([True, False, True, True])
WEIGHTS, LABELS = models.numbers(5, 6), torch.tensor([2, 0, 1, 4])


def written(x, m):
    """Each side of a mask by a function that has no finite value, or no finite slope, on the other."""
    y = torch.zeros_like(x)
    y[x > 0] = x[x > 0].sqrt().log()
    y[~(x > 0)] = (-x[~(x > 0)]).sqrt()
    y[m, :] += x[m, :] ** 2
    return y


def spline(x, m):
    inside = (x >= -1) & (x <= 1)
    y = torch.zeros_like(x)
    y[~inside] = x[~inside]
    taken = x[inside]
    if torch.min(taken) < -1 or torch.max(taken) > 1:
        raise ValueError("outside")
    widths = torch.softmax(taken[..., None] * torch.arange(4.0), -1)
    widths = 1e-3 + (1 - 1e-3 * widths.shape[-1]) * widths
    places = 2 * F.pad(torch.cumsum(widths, -1), (1, 0)) - 1
    places[..., 0], places[..., -1] = -1.0, 1.0
    at = (torch.sum(taken[..., None] >= places, -1) - 1).clamp(0, 3)
    y[inside] = widths.gather(-1, at[..., None])[..., 0] * taken
    return y


def changed(x, m):
    taken = x[m]
    taken += 1
    taken.mul_(2)
    taken[:, 0] = 3
    y = x * 1
    y[m] = taken
    return y, taken.sum()


def other_masks(x, m):
    """A mask that has changed is another one."""
    m = m.clone()
    before = x.detach()[m].sum()
    m[0] = False
    return before, x.detach()[m].sum(), x.sum()


def layers(x, m):
    return F.layer_norm(torch.relu(x[m] @ WEIGHTS + torch.arange(6.0)), [6]).softmax(-1).mean()


TAKEN = {
    "written": written, "spline": spline, "changed": changed, "other masks": other_masks, "layers": layers,
    "sums": lambda x, m: [x[m].sum(), x[m].sum(0), x[m].sum(1).mean(), x[m].mean(axis=0), x[m].mean((0, 1))],
    "kept dims": lambda x, m: [x[m].mean(0, keepdim=True), x[m].sum(0, True)],
    "extrema": lambda x, m: [x[m].max(), x[m].min(), torch.amax(x[m]), x[m].int().max()],
    "elements": lambda x, m: [x[x > 0].mean(), x.masked_select(m[:, None]).sum(), (x[x > 0] > 1).any()],
    "cross entropy": lambda x, m: F.cross_entropy(x[m], LABELS[m]) + F.cross_entropy(x[m], LABELS[m], ignore_index=4),
    "losses": lambda x, m: F.mse_loss(x[m], 2 * x[m].detach()) + F.smooth_l1_loss(x[m], x[m] ** 2, reduction="sum"),
    "binary": lambda x, m: F.binary_cross_entropy_with_logits(x[m], torch.ones_like(x[m])),
    "products": lambda x, m: [torch.einsum("ij,ij->i", x[m], x[m]).mean(), F.linear(x[m], torch.ones(2, 5)).sum(0)],
    "shapes": lambda x, m: x[m].sum() * x[m].shape[-1] * x[m].size(1) if x[m].dim() == 2 else x,
    "none": lambda x, m: [x[x > 100].sum() + x.sum(), written(x, x[:, 0] > 100)],
    "halves": lambda x, m: (100 * x.half())[m].mean(),
}  # fmt: skip


@pytest.mark.parametrize("name", TAKEN)
def test_taken(name):
    case = random_ops.with_gradient(random_ops.Case(name, TAKEN[name], [X, M]))
    assert not (lines := wrong([case])), "\n".join(lines)


class Centered(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return 2 * x

    @staticmethod
    def backward(ctx, gradient):
        return gradient - gradient.mean(0)


def hooked(x, m):
    taken = 2 * x[m]
    taken.register_hook(lambda gradient: gradient - gradient.mean())
    return taken.sum()


def by_another_mask(x, m):
    taken, m = x[m], m.clone()
    y = x * 1
    y[~m] = taken
    return y


REFUSED = {
    "rows": lambda x, m: x[m], "count": lambda x, m: x[m].sum() / x[m].shape[0], "numel": lambda x, m: x[m].numel() * x,
    "len": lambda x, m: len(x[m]) * x, "shape": lambda x, m: x if x[m].shape == x.shape else 2 * x,
    "two masks": lambda x, m: (x[m] + x[~m]).sum(), "order": lambda x, m: x[m].cumsum(0).sum(),
    "first": lambda x, m: x[m][0], "iteration": lambda x, m: sum(row.sum() for row in x[m]),
    "deviation": lambda x, m: x[m].std(), "norm": lambda x, m: x[m].norm(),
    "across": lambda x, m: x[m].softmax(0).sum(), "product": lambda x, m: (x[m].T @ x[m]).sum(),
    "batch norm": lambda x, m: F.batch_norm(x[m], None, None, training=True).sum(),
    "random": lambda x, m: F.dropout(x[m]).sum(), "joined": lambda x, m: torch.cat([x[m], x[m]]).mean(),
    "flat": lambda x, m: x[m].reshape(-1).sum(), "into": lambda x, m: torch.zeros(3, 5).add_(x[m]).sum(),
    "function": lambda x, m: Centered.apply(x[m]).sum(), "hook": hooked, "another mask": by_another_mask,
    "batch mean": lambda x, m: F.kl_div(x[m], x[m].softmax(-1), reduction="batchmean"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    x = X.clone().requires_grad_()
    with pytest.raises(UnsupportedError, match=r"test_selections\.py:\d+: error: x\[mask\], used for more"):
        capture(lambda x, m: REFUSED[name](x.requires_grad_(), m), [x, M])


def test_a_shape_makes_no_tensor():
    with pytest.raises((UnsupportedError, TypeError)):
        capture(lambda x, m: torch.ones(x[m].shape).sum() + x, [X, M])
