"""Ops as StableHLO against eager PyTorch, by random cases; `--long` (scripts/check) runs 20,000."""

import pytest
import random_ops
import torch
from cases import wrong

from shardonnay.torch import capture

GROUP = 10


def check(family, first, count):
    for numbers in random_ops.batches(first, count, GROUP):
        group = []
        for number in numbers:
            case = random_ops.generate(number, family)
            case.text = f"{family} {number}: {case.text}"
            group.append(case)
        lines = wrong(group)
        assert not lines, "\n".join(lines)


@pytest.mark.parametrize("family", random_ops.FAMILY_BY_NAME)
def test_random_cases(family):
    check(family, 0, 2 * GROUP)


@pytest.mark.long
@pytest.mark.parametrize("family", random_ops.FAMILY_BY_NAME)
def test_many_random_cases(family):
    check(family, 1000, 1340)


@pytest.mark.parametrize("dtype", [torch.int64, torch.float32])
@pytest.mark.parametrize("shape", [(0,), (1,), (3, 0, 2), ()])
def test_empty_and_single(shape, dtype):
    x = torch.ones(shape, dtype=dtype)
    cases = [
        random_ops.Case("sum", lambda x: x.sum(), [x]),
        random_ops.Case("prod", lambda x: x.prod(), [x]),
        random_ops.Case("cat", lambda x: torch.cat([x.reshape(-1), x.reshape(-1)]), [x]),
        random_ops.Case("cumsum", lambda x: x.reshape(-1).cumsum(0), [x]),
        random_ops.Case("sort", lambda x: tuple(torch.sort(x.reshape(-1), stable=True)), [x]),
        random_ops.Case("matmul", lambda x: x.reshape(1, -1).float() @ x.reshape(-1, 1).float(), [x]),
        random_ops.Case("any", lambda x: x.any(), [x]),
        random_ops.Case("where", lambda x: torch.where(x > 0, x, 0), [x]),
        random_ops.Case("index", lambda x: x.reshape(-1)[torch.zeros(0, dtype=torch.int64)], [x]),
    ]
    assert not wrong(cases)


def test_a_wrong_entry_is_seen(monkeypatch):
    """The comparison is one: an entry that computes something else fails."""
    from shardonnay.torch.aten import TABLE

    monkeypatch.setitem(TABLE, torch.ops.aten.tanh.default, TABLE[torch.ops.aten.sin.default])
    assert wrong([random_ops.Case("tanh", torch.tanh, [torch.ones(3)])])


def test_attributes_of_integers_wrap():
    x = torch.tensor([127, -128, 100], dtype=torch.int8)
    assert not wrong([random_ops.Case("wrap", lambda x: x + x * 2 - 5, [x])])


def test_constants_keep_their_bits():
    values = torch.tensor([0.1, -0.0, float("inf"), float("-inf"), float("nan"), 1e-45, 3.4e38] * 4)
    captured = capture(lambda x: x + 0 * x, [values])
    assert "dense" in captured.text
    assert not wrong([random_ops.Case("constant", lambda x: values * torch.ones_like(x), [values])])
