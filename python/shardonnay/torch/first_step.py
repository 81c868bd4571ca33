"""What an optimizer of somebody's has before its first step, and which of its numbers a step changes.

Only its `step` says what states it begins with, and it may begin with another step than those that follow. So it makes
steps on copies of the parameters, by gradients that are drawn: what it enters first is what a state was before, if a
step from there ends where the first one has ended. What depends on the gradient may be zeros, as a momentum is.
"""

from __future__ import annotations

import collections
import contextlib
import copy
import enum
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
import torch.utils._pytree as pytree

from .replacing import replaced
from .trees import named_leaves

Groups = list[dict[str, Any]]
# The optimizer with other parameters and groups, and without states.
Copying = Callable[[Mapping[str, torch.Tensor], Groups], torch.optim.Optimizer]
# A number that a first step leaves as it is may change in the next one.
_MORE = 2
_HELD = ("state", "param_groups")
_PLAIN = (type(None), bool, int, float, str, torch.dtype, torch.device, enum.Enum)


class OptimizerError(TypeError):
    """An optimizer that cannot be captured, or none."""


def _copied(tree: Any) -> Any:
    return pytree.tree_map(lambda leaf: leaf.detach().clone() if isinstance(leaf, torch.Tensor) else leaf, tree)


def _copied_group(group: Mapping[str, Any]) -> dict[str, Any]:
    own = {key: value for key, value in group.items() if key != "params"}
    return {**_copied(own), "params": group["params"]}


class _Noting(dict):
    """Notes what its keys are given first."""

    def __init__(self, given: Any = ()) -> None:
        super().__init__(given)
        self.first = self.ended()

    def ended(self) -> dict[str, Any]:
        """What it has, but for parameters."""
        return _copied({key: value for key, value in self.items() if key != "params"})

    def begun(self) -> dict[str, Any]:
        """What its keys were given first."""
        return {key: self.first.get(key, value) for key, value in self.ended().items()}

    def __setitem__(self, key: Any, value: Any) -> None:
        if key not in self.first:
            self.first[key] = _copied(value)
        super().__setitem__(key, value)

    def get(self, key: Any, default: Any = None) -> Any:
        if key not in self.first and isinstance(default, (int, float, torch.Tensor)):  # as `get("step", 0) + 1` has it
            self.first[key] = _copied(default)
        return super().get(key, default)

    def setdefault(self, key: Any, default: Any = None) -> Any:
        if key not in self:
            self[key] = default
        return self[key]

    def update(self, *args: Any, **entries: Any) -> None:
        for key, value in dict(*args, **entries).items():
            self[key] = value


class _NotingAll(collections.defaultdict):
    """States, which note what they are given first."""

    def __init__(self) -> None:
        super().__init__(_Noting)

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key, value if isinstance(value, _Noting) else _Noting(value))


def _same(one: Any, other: Any) -> bool:
    """Whether two trees have the same structure and values; what has other values each time it is made has no own."""
    (leaves, spec), (others, other_spec) = pytree.tree_flatten(one), pytree.tree_flatten(other)
    if spec != other_spec:
        return False
    for leaf, beside in zip(leaves, others):
        if isinstance(leaf, torch.Tensor) and isinstance(beside, torch.Tensor):
            if (leaf.shape, leaf.dtype) != (beside.shape, beside.dtype) or not leaf.equal(beside):
                if not torch.allclose(leaf, beside, rtol=0, atol=0, equal_nan=True):
                    return False
        elif type(leaf) is not type(beside) or isinstance(leaf, _PLAIN) and leaf != beside:
            return False
    return True


@dataclass(frozen=True)
class _Run:
    """A step on copies. first, after: states by the parameter's name; groups_first, groups: those of the optimizer;
    later: what further steps leave.
    """

    parameters: dict[str, torch.Tensor]
    first: dict[str, Any]
    after: dict[str, Any]
    groups_first: Groups
    groups: Groups
    later: list[_Run] = field(default_factory=list)


class Beginning(NamedTuple):
    """states: those before a step, by the parameter's name; groups: the optimizer's, with what a step enters there;
    numbers: names of the places of numbers that a step changes.
    """

    states: dict[str, dict[str, Any]]
    groups: Groups
    numbers: frozenset[str]


def groups_name(index: int) -> str:
    return f"param_groups.{index}"


def state_name(parameter: str) -> str:
    return f"state.{parameter}"


@contextlib.contextmanager
def _aside() -> Iterator[None]:
    """While it lasts, random numbers are drawn that nobody else is without afterwards."""
    with torch.random.fork_rng(devices=[]), torch.no_grad(), replaced(torch.compiler, "_is_compiling_flag", True):
        torch.manual_seed(0)
        yield


def _apart(value: Any, stand_ins: Mapping[int, torch.Tensor]) -> Any:
    """A copy of an attribute, which a step may change, with other parameters."""
    try:
        return copy.deepcopy(value, dict(stand_ins))
    except Exception:  # what can't be copied is no state
        return value


def _numbers_in(value: Any) -> list[Any]:
    """The numbers and tensors in an attribute, as they are now; parameters change."""
    leaves = [leaf for leaf in pytree.tree_leaves(value) if isinstance(leaf, (bool, int, float, torch.Tensor))]
    return _copied([leaf for leaf in leaves if not (isinstance(leaf, torch.Tensor) and leaf.requires_grad)])


def _run(
    copying: Copying, parameters: Mapping[str, torch.Tensor], states: Mapping[str, Any], groups: Groups, seed: int
) -> _Run:
    generator = torch.Generator().manual_seed(seed)
    copies = {name: parameter.detach().clone() for name, parameter in parameters.items()}
    for parameter in copies.values():
        drawn = torch.randn(tuple(parameter.shape), generator=generator, dtype=parameter.dtype)
        parameter.requires_grad_()
        parameter.grad = drawn.to(parameter.device)
    optimizer = copying(copies, groups)
    stand_ins = {id(parameter): copies[name] for name, parameter in parameters.items()}
    others = {key: value for key, value in vars(optimizer).items() if key not in _HELD}
    vars(optimizer).update({key: _apart(value, stand_ins) for key, value in others.items()})
    optimizer.state = _NotingAll()
    optimizer.param_groups = [_Noting(_copied_group(group)) for group in optimizer.param_groups]
    for name, state in states.items():
        if state:
            optimizer.state[copies[name]] = _copied(state)
    optimizer._optimizer_step_pre_hooks = optimizer._optimizer_step_post_hooks = collections.OrderedDict()
    attributes = {key: _numbers_in(vars(optimizer)[key]) for key in others}
    with _aside():
        optimizer.step()
    for key, before in attributes.items():
        if not _same(before, _numbers_in(vars(optimizer).get(key))):
            raise OptimizerError(
                f"{type(optimizer).__name__}: a step changes its '{key}', which a program does not hand on to the next "
                "one; expected numbers and tensors in its groups and in the states of its parameters"
            )
    found = _left(optimizer, copies)
    for _ in range(_MORE):
        with _aside():
            optimizer.step()
        found.later.append(_left(optimizer, copies))
    return found


def _left(optimizer: torch.optim.Optimizer, copies: dict[str, torch.Tensor]) -> _Run:
    """What a step of an optimizer that notes it has left."""
    unknown = [key for key in optimizer.state if not any(key is parameter for parameter in copies.values())]
    if unknown:
        raise OptimizerError(
            f"{type(optimizer).__name__}: its states have an entry of {type(unknown[0]).__name__}, expected entries of "
            "parameters alone"
        )
    held = {name: optimizer.state[parameter] for name, parameter in copies.items() if parameter in optimizer.state}
    return _Run(
        parameters={name: parameter.detach().clone() for name, parameter in copies.items()},
        first={name: state.begun() for name, state in held.items()},
        after={name: state.ended() for name, state in held.items()},
        groups_first=[group.begun() for group in optimizer.param_groups],
        groups=[group.ended() for group in optimizer.param_groups],
    )


def _before(one: Any, other: Any, after: Any) -> Any:
    """What a state was before a step, of what two steps have entered first: zeros where a gradient decides; and of what
    one has left: a number may become a tensor.
    """
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor) and not _same(one, other):
        return torch.zeros_like(one)
    if type(one) in (int, float) and isinstance(after, torch.Tensor):
        return torch.full_like(after, one)
    return one


def _changed(name: str, before: Any, after: Any, what: str) -> set[str]:
    """The places of numbers that differ, all else of which is of one kind."""
    names, leaves, spec = named_leaves(name, before)
    _, others, other_spec = named_leaves(name, after)
    if spec != other_spec:
        raise OptimizerError(
            f"{what}: its first steps leave other entries in '{name}' than they find; expected an optimizer that "
            "has made its first steps in eager mode"
        )
    found = set()
    for place, leaf, other in zip(names, leaves, others):
        if isinstance(leaf, torch.Tensor) and isinstance(other, torch.Tensor):
            continue
        if type(leaf) in (int, float) and type(other) in (int, float):
            if leaf != other or type(leaf) is not type(other):
                found.add(place)
        elif not isinstance(leaf, _PLAIN) or leaf != other:
            raise OptimizerError(
                f"{what}: '{place}' is {leaf!r} before a step and {other!r} after it, expected a tensor or a number"
            )
    return found


def beginning(
    copying: Copying, parameters: Mapping[str, torch.Tensor], given: Mapping[str, Any], groups: Groups, what: str
) -> Beginning:
    """What an optimizer has before a step.

    given, groups: the states and groups that it has already; what: its name.
    """
    if any(parameter.is_meta for parameter in parameters.values()):
        raise OptimizerError(
            f"{what}: its states are not known before its first step, which parameters without numbers (of the device "
            "'meta') can't make; expected an optimizer of torch.optim, or other parameters"
        )
    try:
        one, other = (_run(copying, parameters, given, groups, seed) for seed in (1, 2))
    except OptimizerError:
        raise
    except Exception as error:
        raise OptimizerError(
            f"{what}: its states are not known before its first step, and a step on copies of the parameters fails: "
            f"{error}; expected an optimizer whose step() needs gradients alone"
        ) from error
    states = {}
    for name, state in one.first.items():
        beside, after = other.first.get(name, {}), one.after[name]
        states[name] = {key: _before(value, beside.get(key), after.get(key)) for key, value in state.items()}
    again = _run(copying, parameters, states, one.groups_first, 2)
    if not _same((again.parameters, again.after, again.groups), (other.parameters, other.after, other.groups)):
        raise OptimizerError(
            f"{what}: its states are not known before its first step, which differs from those that follow; expected "
            "an optimizer that has made a step in eager mode"
        )
    numbers = set()
    for run in (one, *one.later):
        for name, state in states.items():
            numbers |= _changed(state_name(name), state, run.after[name], what)
        for index, (before, after) in enumerate(zip(one.groups_first, run.groups)):
            numbers |= _changed(groups_name(index), before, after, what)
    return Beginning(states, one.groups_first, frozenset(numbers))


def as_tensor(value: int | float) -> torch.Tensor:
    """A number that a step changes, as an argument of the program."""
    return torch.tensor(value, dtype=torch.int64 if isinstance(value, int) else torch.float64)
