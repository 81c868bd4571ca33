"""Training steps in eager PyTorch and as captured programs, side by side."""

import copy

import torch
from running import difference, run_parts, run_whole

from shardonnay.torch import capture_step, seeded
from shardonnay.torch.training import as_arguments


def eager_steps(model, loss_fn, batch, optimizer, steps, clip_grad_norm=None, accumulate=1):
    """(losses, parameters and buffers by name) after steps on copies; random numbers are those of seeds 0, 1, ..."""
    model = copy.deepcopy(model)
    trained = optimizer([parameter for parameter in model.parameters() if parameter.requires_grad])
    losses = []
    for step in range(steps):
        trained.zero_grad()
        with seeded(step):
            parts = [batch] if accumulate == 1 else list(zip(*(part.chunk(accumulate) for part in batch)))
            total = 0
            for part in parts:
                loss = loss_fn(model, *as_arguments(part))
                loss = (loss[0] if isinstance(loss, tuple) else loss) / len(parts)
                loss.backward()
                total += loss.detach()
        if clip_grad_norm is not None:
            torch.nn.utils.clip_grad_norm_(model.parameters(), clip_grad_norm)
        trained.step()
        losses.append(total)
    named = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    return losses, {name: value.detach() for name, value in named.items()}


def program_steps(captured, batch, steps, run):
    """(losses, values by name) after steps of a program; `run`: from values by name to results by name."""
    values = dict(captured.values)
    inputs = [argument.name for argument in captured.arguments if argument.kind == "input"]
    leaves = [leaf for leaf in torch.utils._pytree.tree_leaves(as_arguments(batch)) if isinstance(leaf, torch.Tensor)]
    values.update(zip(inputs, leaves, strict=True))
    losses = []
    for step in range(steps):
        values["seed"] = torch.tensor(step)
        found = run(values)
        losses.append(found["loss"])
        values.update({entry.updates: found[entry.name] for entry in captured.results if entry.updates})
    return losses, values


def check_steps(found, expected, slack=1.0):
    """Losses and values after the steps agree."""
    wrong = [difference(a, b.detach(), slack) for a, b in zip(found[0], expected[0], strict=True)]
    wrong += [
        f"{name}: {text}" for name, value in expected[1].items() if (text := difference(found[1][name], value, slack))
    ]
    assert not any(wrong), "\n".join(filter(None, wrong))


def check_whole(model, loss_fn, batch, optimizer, steps=3, slack=1.0, **options):
    """The captured step on one device against eager PyTorch; returns what was captured."""
    captured = capture_step(model, loss_fn, batch, optimizer=optimizer, **options)
    found = program_steps(captured, batch, steps, lambda values: run_whole(captured, values))
    check_steps(found, eager_steps(model, loss_fn, batch, optimizer, steps, **options), slack)
    return captured


def check_parts(plan, model, loss_fn, batch, optimizer, steps=3, slack=1.0, **options):
    """The partitioned step on its devices against eager PyTorch."""
    found = program_steps(plan.captured, batch, steps, lambda values: run_parts(plan.captured, plan.program, values))
    check_steps(found, eager_steps(model, loss_fn, batch, optimizer, steps, **options), slack)
