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

from .replacing import replaced
from .trees import named_leaves

Factory = Callable[[list[torch.nn.Parameter]], torch.optim.Optimizer]


class OptimizerError(TypeError):
    """An optimizer that cannot be captured, or none."""


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


def _settings_of(index: int, group: Mapping[str, Any]) -> tuple[list[str], list[Any], pytree.TreeSpec]:
    """What a group has besides its parameters: names, values, structure."""
    return named_leaves(f"param_groups.{index}", {key: value for key, value in group.items() if key != "params"})


class _NumbersAsTensors(TorchFunctionMode):
    """What torch takes as a number may be a tensor: `x.add_(y, alpha=rate)`, and `item()` leaves it one."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        name = getattr(func, "__name__", "").removesuffix("_")
        if func is torch.Tensor.item:
            return args[0].clone()
        if name in ("add", "sub") and isinstance(kwargs.get("alpha"), torch.Tensor):
            args = (args[0], args[1] * kwargs.pop("alpha"))
        elif name == "lerp" and isinstance(args[-1], torch.Tensor):
            args = (*args[:-1], args[-1].to(args[0].dtype))
        elif name in ("addcmul", "addcdiv") and isinstance(kwargs.get("value"), torch.Tensor):
            part = args[1] * args[2] if name == "addcmul" else args[1] / args[2]
            func = torch.Tensor.add_ if func.__name__.endswith("_") else torch.Tensor.add
            args = (args[0], part * kwargs.pop("value"))
        return func(*args, **kwargs)


def _extreme(builtin: Callable[..., Any], function: Callable[..., torch.Tensor]) -> Callable[..., Any]:
    """`min` or `max`, of tensors too."""

    def both(x: Any, y: Any) -> torch.Tensor:
        like = x if isinstance(x, torch.Tensor) else y
        return function(*(torch.as_tensor(part, dtype=like.dtype) for part in (x, y)))

    def result(*parts: Any, **options: Any) -> Any:
        if len(parts) > 1 and any(isinstance(part, torch.Tensor) for part in parts):
            return functools.reduce(both, parts)
        return builtin(*parts, **options)

    return result


_EXTREMES = {"min": _extreme(min, torch.minimum), "max": _extreme(max, torch.maximum)}


@contextlib.contextmanager
def _numbers_as_tensors(optimizer: torch.optim.Optimizer) -> Iterator[None]:
    """While it lasts, an optimizer that asks a tensor for its number goes on with the tensor.

    `min` and `max` are others in the modules that its `step` is written in, and nowhere else.
    """
    steps = [vars(kind)["step"] for kind in type(optimizer).__mro__ if "step" in vars(kind)]
    with _NumbersAsTensors(), contextlib.ExitStack() as stack:
        for module in {id(found): found for found in (inspect.unwrap(step).__globals__ for step in steps)}.values():
            stack.enter_context(_shadowed(module))
        yield


@contextlib.contextmanager
def _shadowed(module: dict[str, Any]) -> Iterator[None]:
    before = {name: module[name] for name in _EXTREMES if name in module}
    module.update(_EXTREMES)
    try:
        yield
    finally:
        for name in _EXTREMES:
            del module[name]
        module.update(before)


def _exact(key: str, state: torch.Tensor) -> torch.Tensor:
    """A state for a step to change. The count of steps is double, as what eager PyTorch computes of it (1 - beta**step)
    is; in a float as it is stored, RAdam is off by a thousandth after a few steps.
    """
    return state.double() if key == "step" and state.is_floating_point() else state.clone()


def _writer_of_step(optimizer: torch.optim.Optimizer) -> str:
    """The module in which its `step` is written."""
    return next(vars(kind)["step"].__module__ for kind in type(optimizer).__mro__ if "step" in vars(kind))


def _numbers_of(optimizer: torch.optim.Optimizer) -> dict[str, Any]:
    """The numbers that an optimizer has besides its states, by what they are called."""
    found = {name: value for name, value in vars(optimizer).items() if name not in ("state", "param_groups")}
    for index, group in enumerate(optimizer.param_groups):
        found.update(zip(*_settings_of(index, group)[:2]))
    return {name: value for name, value in found.items() if type(value) in (int, float)}


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

    states: {parameter's name: {key: tensor}}, as they are. settings: learning rates and the like that are tensors, by
    name (`param_groups.<index>.lr`); those that are numbers are constants of the program.
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
        names = {id(parameter): name for name, parameter in parameters.items()}
        unknown = [p for group in optimizer.param_groups for p in group["params"] if id(p) not in names]
        if unknown:
            raise OptimizerError(
                f"the optimizer has a parameter of shape {list(unknown[0].shape)} that the model has not"
            )
        self._groups = [[names[id(p)] for p in group["params"]] for group in optimizer.param_groups]
        self.states = self._initial(parameters)
        self.settings = {
            name: leaf
            for index, group in enumerate(optimizer.param_groups)
            for name, leaf in zip(*_settings_of(index, group)[:2])
            if isinstance(leaf, torch.Tensor)
        }

    @property
    def names(self) -> list[str]:
        """The parameters that it updates."""
        return [name for group in self._groups for name in group]

    def _copy(
        self, parameters: Mapping[str, torch.Tensor], settings: Mapping[str, torch.Tensor]
    ) -> torch.optim.Optimizer:
        """The optimizer with other parameters, in the form that asks no tensor for its numbers.

        `copy.copy` would leave out its hooks and what else a subclass has. A `step` of its own is that of a scheduler,
        which counts the steps of the original.
        """
        result = object.__new__(type(self._optimizer))
        vars(result).update({key: value for key, value in vars(self._optimizer).items() if key != "step"})
        # Others' optimizers take tensors as numbers too, but may refuse to be capturable on a CPU.
        is_torchs = _writer_of_step(result).startswith("torch.optim.")
        forms = {"capturable": is_torchs, "foreach": False, "fused": None, "differentiable": False}
        result.param_groups = []
        for index, (group, names) in enumerate(zip(self._optimizer.param_groups, self._groups)):
            places, leaves, spec = _settings_of(index, group)
            own = pytree.tree_unflatten([settings.get(place, leaf) for place, leaf in zip(places, leaves)], spec)
            changed = {key: value for key, value in forms.items() if key in group}
            result.param_groups.append({**own, **changed, "params": [parameters[name] for name in names]})
        result.state = collections.defaultdict(dict)
        return result

    def _initial(self, parameters: Mapping[str, torch.nn.Parameter]) -> dict[str, dict[str, torch.Tensor]]:
        """States as they are; of parameters that have none yet, as they are before a first step."""
        given = self._optimizer.state
        own = {
            name: {key: _tensor_state(name, key, value) for key, value in given[parameters[name]].items()}
            for name in self.names
            if given.get(parameters[name])
        }
        if own and (len(own) == len(self.names) or not _writer_of_step(self._optimizer).startswith("torch.optim.")):
            return {name: own.get(name, {}) for name in self.names}
        return {**self._blank(parameters, own), **own}

    def _blank(
        self, parameters: Mapping[str, torch.nn.Parameter], own: Mapping[str, Any]
    ) -> dict[str, dict[str, torch.Tensor]]:
        """States before a first step; own: of the parameters that have made one."""
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
        states: dict[str, dict[str, torch.Tensor]] = {}
        for name, group in ((name, group) for group, names in zip(dummy.param_groups, self._groups) for name in names):
            found = dict(dummy.state.get(blank[name], {}))
            if "momentum_buffer" in found and found["momentum_buffer"] is None:
                if group.get("dampening") and name not in own:
                    raise OptimizerError(
                        "SGD with dampening: its first step differs from those that follow; make the first one in "
                        "eager mode and give the optimizer, or use dampening=0"
                    )
                found["momentum_buffer"] = torch.zeros_like(blank[name])
            states[name] = {key: _tensor_state(name, key, value) for key, value in found.items()}
        return states

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
        optimizer = self._copy(updated, {name: setting.clone() for name, setting in settings.items()})
        for name, parameter in updated.items():
            parameter.grad = gradients[name]
            optimizer.state[parameter] = {key: _exact(key, value) for key, value in states[name].items()}
        before = _numbers_of(optimizer)
        with torch.no_grad(), _numbers_as_tensors(optimizer):
            optimizer.step()
        _check_numbers(optimizer, before)
        after = {
            name: {
                key: value.to(states[name][key].dtype) if key == "step" else value
                for key, value in optimizer.state[parameter].items()
            }
            for name, parameter in updated.items()
        }
        left: dict[str, Any] = {}
        for index, group in enumerate(optimizer.param_groups):
            left.update(zip(*_settings_of(index, group)[:2]))
        return (
            {name: parameter.detach() for name, parameter in updated.items()},
            after,
            {name: left[name] for name in settings},
        )


def as_compiled() -> contextlib.AbstractContextManager[None]:
    """Optimizers ask whether they are being compiled before they take the branches that need no numbers."""
    return replaced(torch.compiler, "_is_compiling_flag", True)
