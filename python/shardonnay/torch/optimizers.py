"""torch.optim's optimizers as functions: of parameters, gradients and states to new parameters and states.

The optimizer's own `step` runs in the trace, on traced parameters and states that are set into a copy of it.
"""

from __future__ import annotations

import collections
import contextlib
import functools
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
import torch.utils._pytree as pytree
from torch.overrides import TorchFunctionMode

from .deferred import Number
from .first_step import Beginning, Groups, OptimizerError, as_tensor, beginning, groups_name, state_name
from .python_numbers import BUILTINS, Replaced, others_of
from .replacing import replaced
from .trees import named_leaves

Factory = Callable[[list[torch.nn.Parameter]], torch.optim.Optimizer]


@contextlib.contextmanager
def _without_update(optimizer: torch.optim.Optimizer) -> Iterator[None]:
    """While it lasts, `step` makes the states and updates nothing."""
    updates = []
    for kind in type(optimizer).__mro__:
        # Where the class is written: what Adafactor says is where it is exported.
        place, name = getattr(vars(kind).get("step"), "__module__", ""), kind.__name__.lower()
        module = sys.modules.get(place)
        if place.startswith("torch.optim.") and callable(getattr(module, name, None)):
            updates.append((module, name))
    if not updates:
        raise OptimizerError(
            f"{type(optimizer).__name__}: its states are not known before its first step; expected an optimizer that "
            "has made a step, or one of torch.optim whose update is a function of tensors, such as AdamW"
        )
    with contextlib.ExitStack() as stack:
        for module, name in updates:
            stack.enter_context(replaced(module, name, lambda *_, **__: None))
        yield


def _tensor_state(name: str, key: str, value: Any) -> torch.Tensor:
    if isinstance(value, torch.Tensor):
        return value.detach()
    if isinstance(value, (int, float)) and key == "step":
        return torch.tensor(float(value))
    raise OptimizerError(f"the optimizer's state '{key}' of {name} is {value!r}, expected a tensor")


def _settings(group: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in group.items() if key != "params"}


def _settings_of(index: int, group: Mapping[str, Any]) -> tuple[list[str], list[Any], pytree.TreeSpec]:
    """What a group has besides its parameters: names, values, structure."""
    return named_leaves(groups_name(index), _settings(group))


def _is_deferred(x: Any) -> bool:
    """Whether torch takes it as a number only if it has one."""
    return isinstance(x, torch.Tensor) or type(x) is Number


def _known(x: Any) -> Any:
    return x.known() if type(x) is Number else x


class _NumbersAsTensors(TorchFunctionMode):
    """What torch takes as a number may be a tensor: `x.add_(y, alpha=rate)`, and `item()` leaves it one."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        name = getattr(func, "__name__", "").removesuffix("_")
        if func is torch.Tensor.item:
            return args[0].clone().reshape(())
        deferred = [kwargs.get("alpha"), kwargs.get("value"), args[-1] if name.endswith("lerp") else None]
        if name.startswith("_foreach_") and any(map(_is_deferred, deferred)):
            return self._one_by_one(func, types, args, kwargs)
        if name in ("add", "sub") and _is_deferred(deferred[0]):
            args = (args[0], args[1] * kwargs.pop("alpha"))
        elif name == "lerp" and _is_deferred(deferred[2]):
            args = (*args[:-1], _known(args[-1]).to(args[0].dtype))
        elif name in ("addcmul", "addcdiv") and _is_deferred(deferred[1]):
            part = args[1] * args[2] if name == "addcmul" else args[1] / args[2]
            func = torch.Tensor.add_ if func.__name__.endswith("_") else torch.Tensor.add
            args = (args[0], part * kwargs.pop("value"))
        return func(*args, **kwargs)

    def _one_by_one(self, func: Any, types: Any, args: Any, kwargs: Any) -> list[Any]:
        of_one = getattr(torch.Tensor, func.__name__.removeprefix("_foreach_"))
        lists = [part if isinstance(part, (list, tuple)) else [part] * len(args[0]) for part in args]
        return [self.__torch_function__(of_one, types, parts, kwargs) for parts in zip(*lists)]


def _extreme(name: str, function: Callable[..., torch.Tensor]) -> Callable[..., Any]:
    """`min` or `max`, of tensors too."""
    of_numbers = BUILTINS[name]

    def both(x: Any, y: Any) -> torch.Tensor:
        like = x if isinstance(x, torch.Tensor) else y
        return function(*(torch.as_tensor(part, dtype=like.dtype) for part in (x, y)))

    def result(*parts: Any, **options: Any) -> Any:
        if len(parts) > 1 and any(isinstance(part, torch.Tensor) for part in parts):
            return functools.reduce(both, parts)
        return of_numbers(*parts, **options)

    return result


_EXTREMES = {"min": _extreme("min", torch.minimum), "max": _extreme("max", torch.maximum)}


@contextlib.contextmanager
def _numbers_as_tensors(optimizer: torch.optim.Optimizer) -> Iterator[None]:
    """While it lasts, an optimizer that asks a tensor for its number goes on with the tensor.

    `min`, `max` and the functions of `math` are others in the modules that it is written in, and nowhere else.
    """
    with _NumbersAsTensors(), contextlib.closing(Replaced()) as modules:
        for kind in type(optimizer).__mro__:
            step = inspect.unwrap(vars(kind)["step"]).__globals__ if "step" in vars(kind) else None
            if step is not None:
                modules.enter(step, {**others_of(step), **_EXTREMES})
            elif kind.__module__ in sys.modules and not kind.__module__.startswith(("torch.", "builtins")):
                modules.enter(vars(sys.modules[kind.__module__]))
        yield


def _exact(key: str, state: torch.Tensor) -> torch.Tensor:
    """A state for a step to change. The count of steps is double, as what eager PyTorch computes of it (1 - beta**step)
    is; in a float as it is stored, RAdam is off by a thousandth after a few steps.
    """
    return state.double() if key == "step" and state.is_floating_point() else state.clone()


def _writer_of_step(optimizer: torch.optim.Optimizer) -> str:
    """The module in which its `step` is written."""
    return next(vars(kind)["step"].__module__ for kind in type(optimizer).__mro__ if "step" in vars(kind))


def _numbers_of(optimizer: torch.optim.Optimizer) -> dict[str, Any]:
    """The numbers that an optimizer has besides its states and groups, by what they are called."""
    return {name: value for name, value in vars(optimizer).items() if type(value) in (int, float)}


def _check_numbers(optimizer: torch.optim.Optimizer, before: Mapping[str, Any]) -> None:
    """A program has these as they were: no step may change them."""
    for name, value in _numbers_of(optimizer).items():
        if before.get(name, value) != value:
            raise OptimizerError(
                f"{type(optimizer).__name__}: a step changes its '{name}' from {before[name]} to {value}, which a "
                "program does not hand on to the next one; expected a tensor in the state of each parameter, or an "
                "optimizer of torch.optim"
            )


class FunctionalOptimizer:
    """An optimizer of the parameters of a model.

    states: {parameter's name: {place: tensor}}, as they are before a step. settings: learning rates and the like that
    are tensors, by name (`param_groups.<index>.lr`), and numbers that a step changes; others are constants of the
    program.
    """

    def __init__(self, given: torch.optim.Optimizer | Factory, parameters: Mapping[str, torch.nn.Parameter]) -> None:
        trained = {name: parameter for name, parameter in parameters.items() if parameter.requires_grad}
        optimizer = given(list(trained.values())) if callable(given) else given
        if not isinstance(optimizer, torch.optim.Optimizer):
            raise OptimizerError(
                f"optimizer: got {optimizer!r}, expected a torch.optim.Optimizer, or a function of parameters that "
                "makes one, such as functools.partial(torch.optim.AdamW, lr=1e-3)"
            )
        if isinstance(optimizer, torch.optim.SparseAdam):
            raise OptimizerError(
                "SparseAdam updates the rows that a sparse gradient has, and gradients are dense here; expected Adam"
            )
        self._optimizer = optimizer
        # Others' optimizers take tensors as numbers too, but may refuse to be capturable on a CPU.
        self._is_torchs = _writer_of_step(optimizer).startswith("torch.optim.")
        names = {id(parameter): name for name, parameter in parameters.items()}
        unknown = [p for group in optimizer.param_groups for p in group["params"] if id(p) not in names]
        if unknown:
            raise OptimizerError(
                f"the optimizer has a parameter of shape {list(unknown[0].shape)} that the model has not"
            )
        self._groups = [[names[id(p)] for p in group["params"]] for group in optimizer.param_groups]
        self._before = Beginning({}, [_settings(group) for group in optimizer.param_groups], frozenset())
        self._before = self._beginning(parameters)
        self.states = {name: self._tensors_of(name, state) for name, state in self._before.states.items()}
        self.settings = {
            name: as_tensor(leaf) if name in self._before.numbers else leaf
            for index, group in enumerate(self._before.groups)
            for name, leaf in zip(*_settings_of(index, group)[:2])
            if isinstance(leaf, torch.Tensor) or name in self._before.numbers
        }

    @property
    def names(self) -> list[str]:
        """The parameters that it updates."""
        return [name for group in self._groups for name in group]

    def _with_groups(self, parameters: Mapping[str, torch.Tensor], groups: Groups) -> torch.optim.Optimizer:
        self._before = self._before._replace(groups=groups)
        return self._copy(parameters, {})

    def _copy(self, parameters: Mapping[str, torch.Tensor], settings: Mapping[str, Any]) -> torch.optim.Optimizer:
        """The optimizer with other parameters, in the form that asks no tensor for its numbers.

        `copy.copy` would leave out its hooks and what else a subclass has. A `step` of its own is that of a scheduler,
        which counts the steps of the original.
        """
        result = object.__new__(type(self._optimizer))
        vars(result).update({key: value for key, value in vars(self._optimizer).items() if key != "step"})
        forms = {"capturable": self._is_torchs, "foreach": False, "fused": None, "differentiable": False}
        result.param_groups = []
        for index, (group, names) in enumerate(zip(self._before.groups, self._groups)):
            places, leaves, spec = _settings_of(index, group)
            own = pytree.tree_unflatten([settings.get(place, leaf) for place, leaf in zip(places, leaves)], spec)
            changed = {key: value for key, value in forms.items() if key in group}
            result.param_groups.append({**own, **changed, "params": [parameters[name] for name in names]})
        result.state = collections.defaultdict(dict)
        return result

    def _beginning(self, parameters: Mapping[str, torch.nn.Parameter]) -> Beginning:
        """States as they are; of parameters that have none yet, as they are before a first step."""
        given = self._optimizer.state
        own = {name: dict(given[parameters[name]]) for name in self.names if given.get(parameters[name])}
        if not self._is_torchs:
            mine = {name: parameters[name] for name in self.names}
            found = beginning(self._with_groups, mine, own, self._before.groups, type(self._optimizer).__name__)
            return found._replace(states={name: found.states.get(name, {}) for name in self.names})
        blank = {} if len(own) == len(self.names) else self._blank(parameters, own)
        return self._before._replace(states={**blank, **own})

    def _tensors_of(self, name: str, state: Mapping[str, Any]) -> dict[str, torch.Tensor]:
        """The tensors of a state, and the numbers that a step changes, by their places."""
        if self._is_torchs:
            return {key: _tensor_state(name, key, value) for key, value in state.items()}
        places, leaves, _ = named_leaves("", state)
        return {
            place: leaf.detach() if isinstance(leaf, torch.Tensor) else as_tensor(leaf)
            for place, leaf in zip(places, leaves)
            if isinstance(leaf, torch.Tensor) or f"{state_name(name)}.{place}" in self._before.numbers
        }

    def _blank(
        self, parameters: Mapping[str, torch.nn.Parameter], own: Mapping[str, Any]
    ) -> dict[str, dict[str, Any]]:
        """States of torch's own optimizers before a first step; own: of the parameters that have made one."""
        blank = {}
        for name in self.names:
            parameter = parameters[name]
            device = "meta" if parameter.is_meta else "cpu"
            blank[name] = torch.zeros(tuple(parameter.shape), dtype=parameter.dtype, device=device)
            blank[name].grad = torch.zeros_like(blank[name])
        dummy = self._copy(blank, {})
        dummy._optimizer_step_pre_hooks = dummy._optimizer_step_post_hooks = collections.OrderedDict()
        with _without_update(self._optimizer), as_compiled(), torch.no_grad():
            dummy.step()
        states: dict[str, dict[str, Any]] = {}
        for name, group in ((name, group) for group, names in zip(dummy.param_groups, self._groups) for name in names):
            found = states[name] = dict(dummy.state.get(blank[name], {}))
            if "momentum_buffer" in found and found["momentum_buffer"] is None:
                if group.get("dampening") and name not in own:
                    raise OptimizerError(
                        "SGD with dampening: its first step differs from those that follow; make the first one in "
                        "eager mode and give the optimizer, or use dampening=0"
                    )
                found["momentum_buffer"] = torch.zeros_like(blank[name])
        return states

    def _given(self, name: str, value: torch.Tensor) -> Any:
        """What a place has in a step: a tensor, or a number that a run says."""
        if name not in self._before.numbers:
            return value
        number = value.item()  # no truth that `checks` may answer, as what is returned is
        return number

    def _state(self, name: str, values: Mapping[str, torch.Tensor]) -> dict[str, Any]:
        """A parameter's state for a step to change."""
        if self._is_torchs:
            return {key: _exact(key, value) for key, value in values.items()}
        places, leaves, spec = named_leaves("", self._before.states[name])
        given = {
            place: self._given(f"{state_name(name)}.{place}", _exact(place, value)) for place, value in values.items()
        }
        return pytree.tree_unflatten([given.get(place, leaf) for place, leaf in zip(places, leaves)], spec)

    def _left(self, name: str, tree: Any, before: Any, values: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        """The new values of tensors by their places, of a tree that a step has left; before: what it was."""
        places, leaves, spec = named_leaves("", tree)
        _, were, spec_before = named_leaves("", before)
        found = dict(zip(places, leaves))
        constant = [entry for entry in zip(places, leaves, were) if entry[0] not in values]
        other = [place for place, leaf, was in constant if leaf is not was and (type(leaf) is Number or leaf != was)]
        other += [place for place in values if not _is_deferred(found.get(place))]
        if spec != spec_before or other:
            raise OptimizerError(
                f"{type(self._optimizer).__name__}: a step leaves other entries in '{'.'.join([name, *other[:1]])}' "
                "than it has found, or no tensor; expected the same tensors and numbers before and after each step"
            )
        tensors = {place: _known(found[place]) for place in values}
        return {
            place: tensors[place].to(value.dtype) if place == "step" else tensors[place]
            for place, value in values.items()
        }

    def step(
        self,
        parameters: Mapping[str, torch.Tensor],
        gradients: Mapping[str, torch.Tensor | None],
        states: Mapping[str, Mapping[str, torch.Tensor]],
        settings: Mapping[str, torch.Tensor],
    ) -> tuple[dict[str, torch.Tensor], dict[str, dict[str, torch.Tensor]], dict[str, torch.Tensor]]:
        """New parameters, states and settings."""
        with torch.no_grad():
            updated = {name: parameters[name].detach().clone() for name in self.names}
        given = {name: self._given(name, setting.clone()) for name, setting in settings.items()}
        optimizer = self._copy(updated, given)
        for name, parameter in updated.items():
            parameter.grad = gradients[name]
            optimizer.state[parameter] = self._state(name, states[name])
        before, groups = _numbers_of(optimizer), [dict(group) for group in optimizer.param_groups]
        with torch.no_grad(), _numbers_as_tensors(optimizer):
            optimizer.step()
        _check_numbers(optimizer, before)
        after = {
            name: self._left(
                state_name(name), dict(optimizer.state[parameter]), self._before.states[name], states[name]
            )
            for name, parameter in updated.items()
        }
        new = {}
        for index, (group, was) in enumerate(zip(optimizer.param_groups, groups)):
            name = groups_name(index)
            mine = {place.removeprefix(f"{name}."): x for place, x in settings.items() if place.startswith(f"{name}.")}
            found = self._left(name, _settings(group), _settings(was), mine)
            new.update({f"{name}.{place}": x for place, x in found.items()})
        return {name: parameter.detach() for name, parameter in updated.items()}, after, new


def as_compiled() -> contextlib.AbstractContextManager[None]:
    """Optimizers ask whether they are being compiled before they take the branches that need no numbers."""
    return replaced(torch.compiler, "_is_compiling_flag", True)
