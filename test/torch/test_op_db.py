"""PyTorch's own samples of its ops (op_db), partitioned over eight devices, against eager PyTorch; --long takes a draw
of them.
"""

import random

import numpy as np
import pytest
import shardonnay
import torch
from running import difference, run_parts
from torch.distributed.tensor import Replicate, Shard
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils import _pytree as pytree

from shardonnay.torch import UnsupportedError, capture, seeded
from shardonnay.torch.placements import sharding_of

DRAWN, SAMPLES = 40, 4
DTYPES = [torch.float32, torch.float32, torch.bfloat16, torch.int64, torch.bool, torch.complex64]
# What is in memory, time steps by the hundred, numbers too small for XLA on CPUs, vectors that are right with either
# sign or in any basis, rounding only.
LEFT_OUT = ("empty", "ctc_loss", "frexp", "svd", "eig", "lowrank", "layer_norm")
PAIRS = [(op, dtype) for op in op_db for dtype in DTYPES if not any(name in op.name for name in LEFT_OUT)]


class Sample:
    """A call of an op: `arguments` are its tensors; its function gives results and gradients."""

    def __init__(self, op, sample):
        self.op = op
        self.leaves, self.spec = pytree.tree_flatten((sample.input, sample.args, sample.kwargs))
        self.at = [at for at, leaf in enumerate(self.leaves) if isinstance(leaf, torch.Tensor)]
        self.arguments = [self.leaves[at].detach() for at in self.at]
        self.trained = [self.leaves[at].requires_grad for at in self.at]

    def __call__(self, *tensors):
        leaves = list(self.leaves)
        given = [x.detach().clone().requires_grad_(wanted) for x, wanted in zip(tensors, self.trained)]
        for at, x in zip(self.at, given):
            leaves[at] = x
        first, args, kwargs = pytree.tree_unflatten(leaves, self.spec)
        results = [x for x in pytree.tree_leaves(self.op(first, *args, **kwargs)) if isinstance(x, torch.Tensor)]
        parts = [
            x.abs().sum() if x.is_complex() else (x * (torch.arange(x.numel()).reshape(x.shape) % 5 - 1.5)).sum()
            for x in results if x.requires_grad
        ]  # fmt: skip
        found = [x.detach().clone() for x in results]
        leaves = [x for x, wanted in zip(given, self.trained) if wanted]
        if parts and leaves:
            total = sum(part.double() for part in parts)
            found += [x for x in torch.autograd.grad(total, leaves, allow_unused=True) if x is not None]
        return found


def samples_of(op, dtype):
    for draw in (random.seed, np.random.seed, torch.manual_seed):
        draw(0)
    trains = op.supports_autograd and dtype in op.supported_backward_dtypes("cpu")
    given = [Sample(op, sample) for sample in op.sample_inputs("cpu", dtype, requires_grad=trains)]
    plain = [x for x in given if all(y.layout == torch.strided and not y.is_nested for y in x.arguments)]
    return [x for x in plain if sum(y.numel() for y in x.arguments) < 5000][:SAMPLES]


def wrong(sample, draw):
    """What is wrong of a sample under random placements; "" too where it is refused, or where eager PyTorch raises."""
    try:
        with seeded(0):
            expected = sample(*sample.arguments)
    except Exception:  # noqa: BLE001 -- samples that are to fail, and ops for other devices
        return ""
    axes = draw.choice([{"a": 2, "b": 4}, {"a": 4, "b": 2}])
    try:
        captured = capture(lambda given: sample(*given), (sample.arguments,))
        tensors = [argument for argument in captured.arguments if argument.kind != "seed"]
        given = {}
        for argument in tensors:
            dims = len(argument.shape)
            each = [Shard(draw.randrange(dims)) if dims and draw.random() < 0.7 else Replicate() for _ in axes]
            given[argument.name] = sharding_of(each, axes, dims, argument.name)
        text = captured.module(axes, given)
    except UnsupportedError:
        return ""
    values = dict(zip((argument.name for argument in tensors), sample.arguments)) | {"seed": torch.tensor(0)}
    found = run_parts(captured, shardonnay.compile(text, name="<torch>"), values).values()
    lines = []
    for x, y in zip(found, expected, strict=True):
        y = y.resolve_conj().resolve_neg()
        largest = float(y.abs().nan_to_num(0, 0, 0).max()) if y.numel() and y.dtype != torch.bool else 0
        lines.append(difference(x, y, 10 * max(1, min(largest, 1000))))
    return "; ".join(filter(None, lines)) and f"{given}: {'; '.join(filter(None, lines))}"


@pytest.mark.parametrize("number", [pytest.param(number, marks=pytest.mark.long) for number in range(5)])
def test_samples(number):
    draw, lines = random.Random(number), []
    for op, dtype in draw.sample(PAIRS, DRAWN):
        if dtype in op.supported_dtypes("cpu"):
            for at, sample in enumerate(samples_of(op, dtype)):
                text = wrong(sample, draw)
                lines += [f"{op.name} {op.variant_test_name} {dtype}, sample {at}: {text}"] if text else []
    assert not lines, "\n".join(lines)
