"""`float(loss)`, `max`, `math.exp` and texts of numbers that only a run knows.

This module uses `float` and `int` for calls alone, so that others stand for them while a function is captured.
"""

import collections
import math
from math import sqrt

import pytest
import torch
from running import run_whole

from shardonnay.torch import UnsupportedError, capture

X = torch.tensor([1.5, 2.25, -0.75])


class Meter:
    """As many have one."""

    def __init__(self):
        self.total, self.count, self.texts = 0.0, 0, []

    def update(self, value, count=1):
        self.total += float(value) * count
        self.count += count
        self.texts.append(f"{value:.3f}")

    @property
    def mean(self):
        return self.total / self.count


def conversions(x):
    total = x.sum()
    meter = Meter()
    meter.update(total, 4)
    meter.update(total.item() + 1)
    hits = int((x > 0).sum())
    assert isinstance(total.item(), float) and isinstance(hits, (int, str)) and issubclass(bool, int)
    return [
        float(total), int(total), int(-total * 2), float(hits), hits, int(True), float("0.5"), int("11", 2), float(),
        meter.mean, meter.total, sum(map(float, x)), float(x[0].item()) / 2, float(total) * x, round(float(total), 1),
        max(2.0, float(total)), max(total.item(), hits / 8), min([total.item(), 7.5, 0.5]), max(2, 3), min(x.tolist()),
        math.exp(total.item()), math.sqrt(total), math.log(total.abs()), math.pow(total, 2), sqrt(float(x[0])), math.pi,
        math.exp(min(total.item(), 20)), math.copysign(2, total), collections.defaultdict(float)["none"],
    ]  # fmt: skip


def test_conversions():
    before = dict(globals())
    captured = capture(lambda x: [torch.as_tensor(y) for y in conversions(x)], [X])
    assert globals() == before
    for x in (X, 0.5 * X + 0.3):
        found = run_whole(captured, {"inputs.0": x}).values()
        for place, (result, expected) in enumerate(zip(found, conversions(x), strict=True)):
            assert torch.allclose(result.double(), torch.as_tensor(expected).double(), rtol=1e-6), place


def test_texts(capsys):
    def step(x):
        total = x.sum()
        texts = [f"{total:.4f}", f"{total}", "%.3f" % total.item(), "%g of %s" % (total, 3), "{:.2e}".format(total),
                 str(float(total)), format(float(total), ".2f")]
        print(*texts)
        return total

    assert run_whole(capture(step, [X]), {"inputs.0": X})["result"] == 3
    assert "nan" in capsys.readouterr().out


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x if float(x.sum()) > 2 else -x,
        lambda x: x[: int(x.sum())],
        lambda x: x if max(x.sum().item(), 1.0) == 2 else -x,
        lambda x: max([x.sum().item(), 1.0], key=abs) * x,
        lambda x: [x, -x][int(x.sum())],
    ],
)
def test_refused(function):
    with pytest.raises(UnsupportedError, match=r"test_python_numbers\.py:\d+: error: .*depends on the numbers"):
        capture(function, [X.clone()])
