"""Numbers that Python asks of tensors: returned, kept, computed with, printed, chosen, and what is refused."""

import functools
import math
import operator
import sys

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from models import build
from running import difference, run_whole
from stepping import program_steps

from shardonnay.torch import UnsupportedError, capture, capture_step

X = torch.tensor([1.5, 2.25, -0.75])
LOG = {"entropies": [], "seen": 0}


def found(function, x=X, other=None):
    """What a program of `function` returns for x; it is captured for `other` numbers."""
    captured = capture(function, [torch.zeros_like(x) if other is None else other])
    return run_whole(captured, {"inputs.0": x, "seed": torch.tensor(0)})


OPERATORS = (
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.lt,
    operator.le, operator.gt, operator.ge, operator.eq, operator.ne,
)  # fmt: skip
ALONE = (operator.neg, operator.pos, abs, round, functools.partial(round, ndigits=1), math.floor, math.ceil, math.trunc)


def arithmetic(x):
    number = x.item()
    results = [function(number) for function in ALONE] + [number**2, number**-1, 2.0**number]
    for function in OPERATORS:
        for other in (2, -3, 1.5, True):
            results += [function(number, other), function(other, number)]
    return results


@pytest.mark.parametrize("value", [3, -7, 2.5, -1.25, 0.1, True])
def test_arithmetic(value):
    x = torch.tensor(value)
    for result, expected in zip(found(arithmetic, x).values(), arithmetic(x), strict=True):
        assert type(result.item()) is type(expected) and math.isclose(result.item(), expected, rel_tol=1e-12)


def types(x):
    """Types of what is computed of numbers and tensors are those that a number gives, not a tensor."""
    number, count = x.sum().item(), (x > 0).sum().item()
    return (
        x * number, number - x.bfloat16(), x.int() * count, x.int() * number, torch.ones(()) * x[0].double().item(),
        torch.tensor([number, 1.0]), torch.tensor(count), torch.full((2,), number), torch.full_like(x, count),
        x.new_tensor(count), torch.as_tensor(number, dtype=torch.float64), x.clamp(max=number / 3), x[count - 1],
        torch.where(x > 0, x, number), x.masked_fill(x > 0, number), F.one_hot(torch.tensor([0, 1]), 2) * number,
    )  # fmt: skip


def test_with_tensors():
    for result, expected in zip(found(types).values(), types(X), strict=True):
        assert not difference(result, expected)


def sums(x):
    total, history = 0.0, []
    for number in x.tolist():
        total += number
        history.append(total)
    y = x.clone()
    before = y.sum().item()
    y.mul_(2)
    return [*history, before, y.sum().item(), sum(history) / len(history), x[None, :2].tolist()]


def test_numbers_do_not_change():
    leaves = torch.utils._pytree.tree_leaves(sums(X))
    assert [result.item() for result in found(sums).values()] == pytest.approx(leaves)


def test_kept():
    def metrics(x):
        LOG["entropies"].append(x.mean().item())
        LOG["seen"] += (x > 0).sum().item()
        return x + 1

    with pytest.warns(UserWarning, match="each step returns them, as logged.entropies, logged.seen, and does nothing"):
        results = found(metrics)
    assert results["logged.entropies"] == X.mean() and results["logged.seen"] == 2
    stale = LOG["entropies"][0]
    for use in (float, bool, lambda x: x + 1, lambda x: x * X, lambda x: x == 2, lambda x: {x}):
        with pytest.raises(UnsupportedError, match=r"test_numbers\.py:\d+: error: a number that a captured step has"):
            use(stale)
    assert isinstance(stale, float) and "the number of a run, test_numbers.py" in f"{stale:.3f}"


def test_kept_in_a_module():
    class Model(torch.nn.Linear):
        def forward(self, x):
            self.norm = x.norm().item()
            return super().forward(x)

    model = Model(3, 3)
    with pytest.warns(UserWarning) as warned:
        captured = capture(model, [X])
    assert "logged.norm" in str(warned[0].message) and "sets the attribute 'norm'" in str(warned[1].message)
    assert run_whole(captured, {**captured.values, "inputs.0": X})["logged.norm"].item() == X.norm().item()
    assert not hasattr(model, "norm")


@pytest.mark.parametrize("parts", [1, 2])
def test_loss_that_is_a_number(parts):
    """As Pyro's `loss_and_grads` returns it, which runs `backward` by itself."""
    model, loss, batch = build("mlp")

    def number(model, *batch):
        found = loss(model, *batch)
        found.backward()
        return found.item()

    optimizer = functools.partial(torch.optim.SGD, lr=0.1)
    runs = []
    for function in (number, loss):
        captured = capture_step(model, function, batch, optimizer=optimizer, accumulate=parts)
        runs.append(program_steps(captured, batch, 2, functools.partial(run_whole, captured)))
    assert [x.item() for x in runs[0][0]] == pytest.approx([x.item() for x in runs[1][0]], rel=1e-6)
    assert not any(difference(value, runs[1][1][name]) for name, value in runs[0][1].items() if name != "seed")


def choices(x):
    total, count = x.sum(), (x > 0).sum().item()
    return [
        (total / total.abs()).item() if total > 0 else 0.0,
        0.0 if count == 0 else total.item() / count,
        total.item() if total.item() < 0 else -1.0,
        (total.item() * 2 if count > 1 else 1.0) + (round(total.item(), 1) if count else 3.0),
        count * 3 if total > 2 else 0,
    ]


@pytest.mark.parametrize("x", [X, -X, torch.zeros(3)])
def test_choice(x):
    for other in (X, -X):
        assert [part.item() for part in found(choices, x, other).values()] == pytest.approx(choices(x))


def test_what_is_printed(capsys):
    def printing(x):
        print("loss %.4f, %d" % (x.sum().item(), (x > 0).sum()), float(x.sum()))
        print(f"{x.sum().item():.3f}")
        return x.sum()

    assert found(printing)["result"] == 3
    assert capsys.readouterr().out == "loss nan, 0 nan\nnan\n"


def test_numbers_that_are_bounded():
    def checked(x):
        number = x.sum().item()
        if not math.isfinite(number):
            print("stopping")
            sys.exit(1)
        return x * number

    assert not difference(found(checked)["result"], checked(X))


def drawn(x, *sizes):
    """As torchvision's detectors draw one of the sizes that they have for images."""
    return x * sizes[int(torch.empty(1).uniform_(0.0, float(len(sizes))).item())]


def test_draw_of_one():
    assert not difference(found(lambda x: drawn(x, 2.0))["result"], 2 * X)


def changed_draw(x):
    draw = torch.rand([])
    draw.mul_(5)
    return x if draw < 1 else -x


REFUSED = {
    "branch": lambda x: x if x.sum().item() > 3 else -x,
    "conversion": lambda x: float(x.sum()) * x,  # of a module that uses `float` for more than calls
    "root": lambda x: np.float64(x[0].item()) * x,
    "size": lambda x: x[: x.sum().long().item()],
    "range": lambda x: sum(range(x.sum().long().item())) + x,
    "full size": lambda x: torch.full((x.sum().long().item(),), 2.0),
    "new size": lambda x: x.new_zeros(x.sum().long().item()),
    "key": lambda x: x if x.sum().item() in {3.0, 2.0} else -x,
    "place": lambda x: x if x.sum().item() in [3.0, 2.0] else -x,
    "extreme": lambda x: max(x.tolist(), key=abs) * x,
    "array": lambda x: x * x.numpy().sum(),
    "choice of types": lambda x: (x > 0).sum().item() if x.sum() > 2 else 0.0,
    "choice of a tensor": lambda x: x.sum() * 2 if x.sum() > 2 else 0.0,
    "choice with effects": lambda x: x.add_(1).sum().item() if x.sum() > 2 else 0.0,
    "print with effects": lambda x: print(LOG["entropies"].append(float(x.sum()))) or x,
    "changed draw": changed_draw,
    "draw of two": lambda x: drawn(x, 2.0, 3.0),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    with pytest.raises(UnsupportedError, match=r"test_numbers\.py:\d+: error: .*depends on the numbers in a tensor"):
        capture(REFUSED[name], [X.clone()])
