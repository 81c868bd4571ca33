"""torch.optim's optimizers as functions: of parameters, gradients and states to new parameters and states.

The optimizer's own `step` runs in the trace, on traced parameters and states that are set into a copy of it.
"""

from __future__ import annotations

import collections
import contextlib
import copy
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch

from .replacing import replaced

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


class FunctionalOptimizer:
    """An optimizer of the parameters of a model.

    states: {parameter's name: {key: tensor}}, as they are. rates: learning rates that are tensors, by the index of
    their group; others are constants of the program.
    """

    def __init__(self, given: torch.optim.Optimizer | Factory, parameters: Mapping[str, torch.nn.Parameter]) -> None:
        trained = {name: parameter for name, parameter in parameters.items() if parameter.requires_grad}
        optimizer = given(list(trained.values())) if callable(given) else given
        if not isinstance(optimizer, torch.optim.Optimizer):
            raise OptimizerError(
                f"optimizer: got {optimizer!r}, expected a torch.optim.Optimizer, or a function of parameters that "
                "makes one, such as functools.partial(torch.optim.AdamW, lr=1e-3)"
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
        self.rates = {
            index: group["lr"]
            for index, group in enumerate(optimizer.param_groups)
            if isinstance(group.get("lr"), torch.Tensor)
        }

    @property
    def names(self) -> list[str]:
        """The parameters that it updates."""
        return [name for group in self._groups for name in group]

    def _copy(self, parameters: Mapping[str, torch.Tensor], rates: Mapping[int, torch.Tensor]) -> torch.optim.Optimizer:
        """The optimizer with other parameters, in the form that asks no tensor for its numbers."""
        result = copy.copy(self._optimizer)
        settings = {"capturable": True, "foreach": False, "fused": None, "differentiable": False}
        result.param_groups = []
        for index, (group, names) in enumerate(zip(self._optimizer.param_groups, self._groups)):
            changed = {key: value for key, value in settings.items() if key in group}
            if index in rates:
                changed["lr"] = rates[index]
            result.param_groups.append({**group, **changed, "params": [parameters[name] for name in names]})
        result.state = collections.defaultdict(dict)
        return result

    def _initial(self, parameters: Mapping[str, torch.nn.Parameter]) -> dict[str, dict[str, torch.Tensor]]:
        own = self._optimizer.state
        if all(own.get(parameters[name]) for name in self.names) and self.names:
            return {
                name: {key: _tensor_state(name, key, value) for key, value in own[parameters[name]].items()}
                for name in self.names
            }
        blank = {}
        for name in self.names:
            parameter = parameters[name]
            device = "meta" if parameter.is_meta else "cpu"
            blank[name] = torch.zeros(tuple(parameter.shape), dtype=parameter.dtype, device=device)
            blank[name].grad = torch.zeros_like(blank[name])
        dummy = self._copy(blank, {})
        with _without_update(self._optimizer), as_compiled(), torch.no_grad():
            dummy.step()
        states: dict[str, dict[str, torch.Tensor]] = {}
        for name, group in ((name, group) for group, names in zip(dummy.param_groups, self._groups) for name in names):
            found = dict(dummy.state.get(blank[name], {}))
            if "momentum_buffer" in found and found["momentum_buffer"] is None:
                if group.get("dampening"):
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
        rates: Mapping[int, torch.Tensor],
    ) -> tuple[dict[str, torch.Tensor], dict[str, dict[str, torch.Tensor]]]:
        """New parameters and states."""
        with torch.no_grad():
            updated = {name: parameters[name].detach().clone() for name in self.names}
        optimizer = self._copy(updated, rates)
        for name, parameter in updated.items():
            parameter.grad = gradients[name]
            optimizer.state[parameter] = {key: value.clone() for key, value in states[name].items()}
        with torch.no_grad():
            optimizer.step()
        after = {name: dict(optimizer.state[parameter]) for name, parameter in updated.items()}
        return {name: parameter.detach() for name, parameter in updated.items()}, after


def as_compiled() -> contextlib.AbstractContextManager[None]:
    """Optimizers ask whether they are being compiled before they take the branches that need no numbers."""
    return replaced(torch.compiler, "_is_compiling_flag", True)
