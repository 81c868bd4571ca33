"""Ops as StableHLO against eager PyTorch, by random cases; `--long` (scripts/check) runs 20,000."""

import itertools
import math

import models
import pytest
import random_ops
import rare_ops
import torch
import torch.nn.functional as F
from cases import wrong
from stepping import check_parts
from torch.distributed.tensor import Replicate, Shard

from shardonnay.torch import capture, partition

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


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64])
def test_powers_of_integers(dtype):
    """Exponents of all bits, and negative ones."""
    bound = torch.iinfo(dtype)
    x = torch.tensor([-5, -2, -1, 0, 1, 2, 3, 7, bound.max, bound.min]).to(dtype)
    y = torch.tensor([0, 1, 2, 3, 31, 32, 63, 64, 65, 97, 127, -1, -2, -128, bound.max - 4, bound.min]).to(dtype)
    numbers = lambda x: [x**number for number in (0, 1, 2, 5, 33, 64, 65, 127)]
    of_numbers = lambda y: [number**y for number in (0, 1, 2, 3)] + ([(-1) ** y] if dtype.is_signed else [])
    cases = [
        random_ops.Case("tensors", lambda x, y: x[:, None] ** y, [x, y]),
        random_ops.Case("of a tensor", numbers, [x]),
        random_ops.Case("of a number", of_numbers, [y]),
    ]
    assert not (lines := wrong(cases)), "\n".join(lines)


# Of a half tensor and a number that the type does not hold.
OF_A_NUMBER = {
    "eq": torch.eq, "ne": torch.ne, "lt": torch.lt, "le": torch.le, "gt": torch.gt, "ge": torch.ge,
    "eq of a tensor": lambda x, n: x == torch.tensor(n), "fmod": torch.fmod, "remainder": torch.remainder,
    "remainder of a number": lambda x, n: torch.remainder(n, x), "floor_divide": torch.floor_divide,
    "floor_divide of a number": lambda x, n: n // x,
    "floor_divide by a tensor": lambda x, n: torch.floor_divide(x, x.flip(0)),
    "trunc_div": lambda x, n: torch.div(x, n, rounding_mode="trunc"),
    "trunc_div of a number": lambda x, n: torch.div(torch.tensor(n), x, rounding_mode="trunc"), "mul": torch.mul,
    "div": torch.div, "add": torch.add, "sub": torch.sub, "rsub": torch.rsub, "pow": lambda x, n: torch.pow(x.abs(), n),
    "add alpha": lambda x, n: torch.add(x, x.flip(0), alpha=n), "xlogy": torch.xlogy,
    "xlogy of a number": lambda x, n: torch.xlogy(n, x.abs()),
    "where": lambda x, n: torch.where(x > n, x, n),
    "masked_fill": lambda x, n: x.masked_fill(x >= n, n),
    "clamp": lambda x, n: x.clamp(min=n),
    "addcmul": lambda x, n: torch.addcmul(x, x, x, value=n),
    "isclose": lambda x, n: torch.isclose(x, torch.full_like(x, n), 0, 0),
    "clamp gradient": lambda x, n: x.clamp(min=n), "clamp_max gradient": lambda x, n: x.clamp_max(n),
    "threshold gradient": lambda x, n: F.threshold(x, n, 0.3), "leaky_relu gradient": F.leaky_relu,
    "elu gradient": F.elu, "hardtanh gradient": lambda x, n: F.hardtanh(x, -n, n), "hardshrink gradient": F.hardshrink,
    "softshrink gradient": F.softshrink, "logit gradient": torch.logit,
    "logit without bounds gradient": lambda x, n: torch.logit(x),
}  # fmt: skip


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("number", [0.1, 1 / 3, 0.7])
def test_numbers_are_rounded_to_half_types(number, dtype):
    """As eager PyTorch rounds them, which some ops do and others do not, at the numbers beside them."""
    near = torch.tensor([number, -number, 1 - number], dtype=dtype)
    steps = torch.tensor([-1, 0, 1], dtype=torch.int16)
    x = (near.view(torch.int16)[:, None] + steps).view(dtype).flatten()
    x = torch.cat([x, torch.tensor([-8.5, 3.0, 7.4, 100.0, 0.25], dtype=dtype)])
    cases = []
    for name, function in OF_A_NUMBER.items():
        case = random_ops.Case(name, lambda x, function=function: function(x, number), [x])
        cases.append(random_ops.with_gradient(case) if name.endswith("gradient") else case)
    assert not (lines := wrong(cases)), "\n".join(lines)


def test_quotients_of_half_tensors():
    """XLA divides by what is broadcast by way of its reciprocal: of these, rounded to float16, 5 and not 4.996."""
    x, y = (
        torch.tensor([[-1.638671875], [3.0]], dtype=torch.float16),
        torch.tensor([-0.327880859375, 0.1], dtype=torch.float16),
    )
    ways = {mode: lambda x, y, mode=mode: torch.div(x, y, rounding_mode=mode) for mode in ("trunc", "floor")}
    assert not wrong([random_ops.Case(mode, function, [x, y]) for mode, function in ways.items()])


def test_numbers_beyond_float16():
    x = torch.tensor([1.0, 0.0, -2.0, 65504.0, math.inf], dtype=torch.float16)
    functions = [torch.xlogy, torch.eq, torch.ge, torch.fmod, torch.remainder, torch.mul, torch.div, torch.add]
    assert not wrong([random_ops.Case(f.__name__, lambda x, f=f: f(x, 1e5), [x]) for f in functions])


@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
def test_sampling_by_a_grid(mode):
    """Every padding, corners aligned or not, positions inside and outside, and the gradients."""
    cases = []
    for number, (padding, corners) in enumerate(
        itertools.product(["zeros", "border", "reflection"], [False, True])
    ):
        m = random_ops.CaseBuilder(number)
        pairs = [(m.tensor([2, 3, m.draw.randint(1, 5), 5]), m.tensor([2, m.draw.randint(1, 4), 3, 2]))]
        if mode != "bicubic":
            pairs.append((m.tensor([2, 3, 3, 2, 4]), m.tensor([2, 2, 3, 1, 3])))

        def function(x, grid, padding=padding, corners=corners):
            return F.grid_sample(x, grid, mode, padding, corners)

        for x, grid in pairs:
            dtype = m.pick(torch.float32, torch.float64)
            case = random_ops.Case(f"{padding} {corners}", function, [x.to(dtype), (grid * 0.6).to(dtype)], 4)
            cases.append(random_ops.with_gradient(case))
    assert not (lines := wrong(cases)), "\n".join(lines)


@pytest.mark.parametrize("number", range(2))
@pytest.mark.parametrize("family", rare_ops.FAMILIES)
def test_rare_ops(family, number):
    """Random sizes and types, each op of the family once."""
    cases = []
    for name, (function, arguments) in family(random_ops.CaseBuilder(number)).items():
        case = random_ops.Case(name, function, arguments, 8)
        cases.append(random_ops.with_gradient(case) if name.endswith("gradient") else case)
    assert not (lines := wrong(cases)), "\n".join(lines)


@pytest.mark.parametrize("name", rare_ops.BY_HAND)
def test_by_hand(name):
    case = random_ops.Case(name, *rare_ops.BY_HAND[name], 4)
    assert not wrong([random_ops.with_gradient(case) if name.endswith("gradient") else case])


class Warped(torch.nn.Module):
    """Images padded by reflection, and sampled where a layer says."""

    def __init__(self):
        super().__init__()
        self.features, self.places = torch.nn.Conv2d(3, 4, 3), torch.nn.Linear(3, 6)

    def forward(self, x):
        grid = F.affine_grid(self.places(x.mean((2, 3))).view(-1, 2, 3), (len(x), 4, 5, 7), align_corners=False)
        return F.grid_sample(self.features(F.pad(x, (1, 2, 2, 0), mode="reflect")), grid, align_corners=False)


class Related(torch.nn.Module):
    """Distances, products of pairs, and what rows explain each other."""

    def __init__(self):
        super().__init__()
        self.pairs, self.centers = torch.nn.Bilinear(5, 5, 4), torch.nn.Parameter(models.numbers(6, 5))

    def forward(self, x):
        near, y = torch.cdist(x, self.centers), self.pairs(x, x.flip(1))
        factor = torch.linalg.cholesky(y[:, :, None] * y[:, None, :] + 3 * torch.eye(4))
        solved = torch.linalg.solve_triangular(factor, y[..., None], upper=False)
        return solved.sum((1, 2)) + near.sum(1) + torch.special.i0e(y).sum(1) + torch.pdist(x).mean()


class Solved(torch.nn.Module):
    """A matrix for each row: its solution, determinant, exponential, factors; and a loss over labels."""

    def __init__(self):
        super().__init__()
        self.entries = torch.nn.Linear(5, 16)

    def forward(self, x):
        a = self.entries(x).view(-1, 4, 4) + 3 * torch.eye(4)
        inner = torch.linalg.solve(a, x[:, :4, None]).sum((1, 2)) + torch.linalg.slogdet(a).logabsdet
        log_probs = a.log_softmax(2).transpose(0, 1)
        labels, lengths = torch.tensor([[1, 3]]).expand(len(x), 2), torch.full([len(x)], 2)
        aligned = F.ctc_loss(log_probs, labels, 2 * lengths, lengths, reduction="none")
        inner = inner + torch.linalg.matrix_exp(a / 8).sum((1, 2))
        return inner + aligned + torch.linalg.svdvals(a).sum(1) + torch.linalg.qr(a).R.abs().sum((1, 2))


SHARDINGS = {
    "rows": ({"dp": 4}, {}, Shard(0)),
    "uneven": ({"a": 3, "b": 2}, {}, (Shard(0), Replicate())),
    "inner": ({"a": 2, "b": 2}, {}, (Shard(0), Shard(1))),
    "parameters": ({"x": 4}, {"*weight": Shard(0), "centers": Shard(0)}, Replicate()),
}


@pytest.mark.parametrize("sharding", SHARDINGS)
@pytest.mark.parametrize("kind", [Warped, Related, Solved])
def test_rare_ops_in_parts(kind, sharding):
    mesh, params, inputs = SHARDINGS[sharding]
    torch.manual_seed(0)
    model, batch = kind(), (models.numbers(7, 3, 6, 9) if kind is Warped else models.numbers(7, 5),)
    loss = lambda model, x: (model(x) ** 2).mean()
    params = {name: placement for name, placement in params.items() if kind is Related or name != "centers"}
    plan = partition(model, loss, batch, mesh, params=params, inputs=inputs, optimizer=models.ADAMW)
    check_parts(plan, model, loss, batch, models.ADAMW, slack=10)


def test_a_batch_of_images_stays_where_it_is():
    """Only gradients of parameters and the loss are sent."""
    torch.manual_seed(0)
    loss = lambda model, x: (model(x) ** 2).mean()
    plan = partition(Warped(), loss, (models.numbers(8, 3, 6, 9),), {"dp": 8}, inputs=Shard(0), optimizer=models.ADAMW)
    assert {entry["kind"] for entry in plan.report()["collectives"]} == {"all_reduce"}
