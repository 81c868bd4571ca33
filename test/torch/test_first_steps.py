"""Optimizers of somebody's, whose first step says what states they have: against eager PyTorch, and what is refused."""

import functools
import math

import models
import pytest
import torch
from running import difference, run_whole
from stepping import check_parts, check_whole, eager_steps, program_steps
from torch.distributed.tensor import Replicate, Shard

from shardonnay.torch import capture_step, partition
from shardonnay.torch.optimizers import OptimizerError


class Own(torch.optim.Optimizer):
    """One whose `update` is given by a subclass."""

    def __init__(self, parameters, lr=0.01, **more):
        super().__init__(parameters, {"lr": lr, "decay": 0.1, **more})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            self.before(group)
            for parameter in group["params"]:
                if parameter.grad is not None:
                    self.update(group, parameter, parameter.grad, self.state[parameter])

    def before(self, group):
        pass


class Lion(Own):
    def update(self, group, x, gradient, state):
        if len(state) == 0:
            state["average"] = torch.zeros_like(x)
        x.mul_(1 - group["lr"] * group["decay"])
        x.add_(torch.tanh(50 * state["average"].lerp(gradient, 0.1)), alpha=-group["lr"])
        state["average"].lerp_(gradient, 0.01)


class AdamOfIntegers(Own):
    """Counts its steps in Python: in each parameter's state, and in the group."""

    def before(self, group):
        group["steps"] = group.get("steps", 0) + 1

    def update(self, group, x, gradient, state):
        if "step" not in state:
            state.update(step=0, mean=torch.zeros_like(x), square=torch.zeros_like(x), tag="adam")
        state["step"] += 1
        assert state["tag"] == "adam"
        mean, square = state["mean"], state["square"]
        mean.mul_(0.9).add_(gradient, alpha=0.1)
        square.mul_(0.99).addcmul_(gradient, gradient, value=1 - 0.99)
        size = group["lr"] * math.sqrt(1 - 0.99 ** state["step"]) / (1 - math.pow(0.9, group["steps"]))
        x.addcdiv_(mean, square.sqrt().add_(1e-3), value=-size)


class Lamb(AdamOfIntegers):
    """Keeps what it has computed last, and warms up."""

    def update(self, group, x, gradient, state):
        before = x.clone()
        super().update(group, x, gradient, state)
        state["ratio"] = before.norm() / (x - before).norm().clamp(min=1e-3)
        rate = group["lr"] * min(1.0, group["steps"] / 10)
        x.copy_(before + (x - before) * state["ratio"].clamp(max=10) * float(rate))


class Momentum(Own):
    def update(self, group, x, gradient, state):
        if "buffer" not in state:
            state["buffer"] = gradient.clone()
        else:
            state["buffer"].mul_(0.9).add_(gradient)
        x.add_(state["buffer"], alpha=-group["lr"])


class ScheduleFree(Own):
    """Begins with the parameters, and keeps the sum of its weights in the group."""

    def __init__(self, parameters, lr=0.1):
        super().__init__(parameters, lr, weights=0.0, largest=-1.0, mode=torch.float32)

    def before(self, group):
        group["largest"] = max(group["lr"], group["largest"])
        weight = group["largest"] ** 2
        group["weights"] += weight
        group["share"] = weight / group["weights"]

    def update(self, group, x, gradient, state):
        z = state.setdefault("z", x.clone())
        x.lerp_(end=z, weight=group["share"])
        x.add_(gradient, alpha=group["lr"] * (0.9 * (1 - group["share"]) - 1))
        z.sub_(gradient, alpha=group["lr"])


class Shampoo(Own):
    """A list of matrices for each parameter, and lists of tensors for all."""

    def update(self, group, x, gradient, state):
        if not state:
            state["factors"] = [torch.eye(extent) * 0.1 for extent in x.shape]
        for at, factor in enumerate(state["factors"]):
            rows = gradient.movedim(at, 0).reshape(x.shape[at], -1)
            factor += rows @ rows.T
            gradient = torch.linalg.solve(factor, rows).reshape(gradient.movedim(at, 0).shape).movedim(0, at)
        torch._foreach_add_([x], [gradient], alpha=-group["lr"])


KINDS = (Lion, AdamOfIntegers, Lamb, Momentum, ScheduleFree, Shampoo)


@pytest.mark.parametrize("kind", KINDS)
def test_optimizer(kind):
    check_whole(*models.build("mlp"), kind, steps=4, slack=10)


@pytest.mark.parametrize("kind", [AdamOfIntegers, ScheduleFree, Shampoo])
def test_on_eight_devices(kind):
    model, loss, batch = models.build("mlp")
    for mesh, params, inputs in (
        ({"fsdp": 8}, {"*": Shard(0)}, Shard(0)),
        ({"dp": 2, "tp": 4}, {"*.weight": (Replicate(), Shard(1))}, {"dp": Shard(0)}),
    ):
        plan = partition(model, loss, batch, mesh, params=params, inputs=inputs, optimizer=kind)
        check_parts(plan, model, loss, batch, kind, slack=10)


def test_the_optimizer_stays():
    """The steps on copies change neither parameters, states and groups nor what follows of random numbers."""
    model, loss, batch = models.build("mlp")
    optimizer = AdamOfIntegers(model.parameters(), scale=torch.tensor(2.0))
    optimizer.seen = {"first": list(model.parameters())[0], "count": torch.zeros(1)}
    before, state = [x.detach().clone() for x in model.parameters()], torch.get_rng_state()
    captured = capture_step(model, loss, batch, optimizer=optimizer)
    assert all(torch.equal(x, y) for x, y in zip(before, model.parameters()))
    assert torch.equal(state, torch.get_rng_state())
    assert not optimizer.state and "steps" not in optimizer.param_groups[0]
    names = {entry.name: entry.dtype for entry in captured.arguments}
    assert names["param_groups.0.steps"] == names["state.layers.0.weight.step"] == torch.int64
    assert "param_groups.0.lr" not in names


@pytest.mark.parametrize("kind", KINDS)
def test_one_that_has_made_steps(kind):
    """It goes on from where it is, with counts that Python keeps."""
    model, loss, batch = models.build("mlp")
    _, expected = eager_steps(model, loss, batch, kind, 5)
    optimizer = kind(model.parameters())
    for _ in range(2):
        optimizer.zero_grad()
        loss(model, *batch).backward()
        optimizer.step()
    captured = capture_step(model, loss, batch, optimizer=optimizer)
    found = program_steps(captured, batch, 3, functools.partial(run_whole, captured))[1]
    assert not "".join(difference(found[name], value, 10) for name, value in expected.items())


class FirstOfOthers(Momentum):
    def update(self, group, x, gradient, state):
        if "buffer" not in state:
            state["buffer"] = gradient / 2
        super().update(group, x, gradient, state)


class Growing(Own):
    def update(self, group, x, gradient, state):
        state.setdefault("all", [])
        state["all"] = [*state["all"], gradient]



class Object(Own):
    def update(self, group, x, gradient, state):
        state.setdefault("held", models)


class Apart(Own):
    def update(self, group, x, gradient, state):
        self.state["all"]["count"] = 1


class Aside(Own):
    """Counts where no state is."""

    def __init__(self, parameters):
        super().__init__(parameters)
        self.counts = {"steps": 0}

    def update(self, group, x, gradient, state):
        self.counts["steps"] += 1


class Later(Own):
    """A fifth step changes what the others have left."""

    def __init__(self, parameters):
        super().__init__(parameters, last=0, now=[0, 0, 0, 0])

    def before(self, group):
        group["last"], group["now"] = group["now"][0], [*group["now"][1:], group["now"][-1] + 1]

    def update(self, group, x, gradient, state):
        x.sub_(gradient * group["last"])


class Closure(Own):
    def step(self, closure):
        closure()


REFUSED = {
    FirstOfOthers: "which differs from those that follow", Growing: "leave other entries in 'state.layers.0.weight'",
    Object: "is <module", Apart: "an entry of str", Aside: "changes its 'counts'",
    Later: "other entries in 'param_groups.0.now.0'", Closure: "step on copies of the parameters fails",
}  # fmt: skip


@pytest.mark.parametrize("kind", REFUSED)
def test_refused(kind):
    model, loss, batch = models.build("mlp")
    with pytest.raises(OptimizerError, match=f"{kind.__name__}: .*{REFUSED[kind]}"):
        capture_step(model, loss, batch, optimizer=kind)


def test_parameters_without_numbers():
    model, loss, batch = models.build("mlp")
    with pytest.raises(OptimizerError, match="which parameters without numbers"):
        capture_step(model.to("meta"), loss, batch, optimizer=Lion)
