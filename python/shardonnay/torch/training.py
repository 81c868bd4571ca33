"""A training step as one program: forward, torch's autograd, clipping, the optimizer, buffers."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
import torch.utils._pytree as pytree
from torch.nn.utils import stateless
from torch.overrides import TorchFunctionMode

from .capturing import Captured, Inputs, captured
from .deferred import Number
from .optimizers import Factory, FunctionalOptimizer
from .sharing import noted, shared
from .trees import named_leaves

Loss = Callable[..., Any]


def _is_of_placement(hook: Any) -> bool:
    """A hook by which torch moves parameters or activations between devices, which is the compiler's work here."""
    function = getattr(hook, "func", hook)
    return str(getattr(function, "__module__", "")).startswith("torch.distributed.")


@contextlib.contextmanager
def _without_placement_hooks(model: torch.nn.Module) -> Iterator[None]:
    """While it lasts, `model` runs as if `parallelize_module` and `fully_shard` had not seen it."""
    removed = []
    for module in model.modules():
        for hooks in (module._forward_pre_hooks, module._forward_hooks):
            removed += [(hooks, dict(hooks))]
            for key in [key for key, hook in hooks.items() if _is_of_placement(hook)]:
                del hooks[key]
    try:
        yield
    finally:
        for hooks, before in removed:
            hooks.clear()
            hooks.update(before)


class _Aliases(TorchFunctionMode):
    """Gives functions what stands for a parameter or buffer where they are given the tensor itself, out of a list or an
    object that is no module, as the layers of a cache are.
    """

    def __init__(self, model: torch.nn.Module, tensors: Mapping[str, torch.Tensor]) -> None:
        super().__init__()
        mine = dict(itertools.chain(model.named_parameters(), model.named_buffers()))
        self.pairs = {id(mine[name]): (mine[name], tensor) for name, tensor in tensors.items() if name in mine}

    def _stand_in(self, leaf: Any) -> Any:
        return self.pairs[id(leaf)][1] if id(leaf) in self.pairs else leaf

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if any(id(leaf) in self.pairs for leaf in pytree.tree_leaves((args, kwargs))):
            args, kwargs = pytree.tree_map(self._stand_in, (args, kwargs))
        return func(*args, **kwargs)


@contextlib.contextmanager
def swapped(model: torch.nn.Module, tensors: dict[str, torch.Tensor]) -> Iterator[None]:
    """While it lasts, `model` has these parameters and buffers; then `tensors` has what they became."""
    recurrent = [module for module in model.modules() if isinstance(module, torch.nn.RNNBase)]
    kept = [module._flat_weights for module in recurrent]
    held = _by_holder(model, tensors)
    aliases = _Aliases(model, tensors)
    with _without_placement_hooks(model), aliases, stateless._reparametrize_module(model, held):
        for module in recurrent:  # they hold their weights a second time
            module._flat_weights = [getattr(module, name, None) for name in module._flat_weights_names]
        try:
            yield
        finally:
            for module, weights in zip(recurrent, kept):
                module._flat_weights = weights
    tensors.update({name: held[name] for name in tensors})


def _by_holder(model: torch.nn.Module, tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """`tensors`, and each besides for the other modules that hold the tensor that it replaces.

    A module that is held by two others is there by one of its names: swapped twice, it would not get its own back.
    """
    mine = itertools.chain(model.named_parameters(), model.named_buffers())
    names = {id(tensor): name for name, tensor in mine if name in tensors}
    held = {}
    for prefix, module in model.named_modules():
        own = itertools.chain(module._parameters.items(), module._buffers.items())
        held.update({f"{prefix}.{name}".lstrip("."): tensors[names[id(x)]] for name, x in own if id(x) in names})
    return held


def as_arguments(batch: Any) -> tuple[Any, ...]:
    """A batch as the arguments that follow the model in a call of the loss."""
    return tuple(batch) if isinstance(batch, (tuple, list)) else (batch,)


def _micro_batches(batch: tuple[Any, ...], count: int) -> list[tuple[Any, ...]]:
    """The batch in `count` equal parts along the first dim of each tensor."""
    if count == 1:
        return [batch]
    leaves, spec = pytree.tree_flatten(batch)
    for leaf in leaves:
        if isinstance(leaf, torch.Tensor) and (not leaf.dim() or leaf.shape[0] % count):
            raise ValueError(
                f"accumulate={count} does not divide the first dim of a batch's tensor of {list(leaf.shape)}"
            )
    parts = [leaf.chunk(count) if isinstance(leaf, torch.Tensor) else [leaf] * count for leaf in leaves]
    return [pytree.tree_unflatten([part[at] for part in parts], spec) for at in range(count)]


def _clip(gradients: Mapping[str, torch.Tensor | None], norm: float) -> None:
    """torch.nn.utils.clip_grad_norm_, on gradients."""
    holders = []
    for gradient in gradients.values():
        if gradient is not None:
            holder = torch.empty_like(gradient)
            holder.grad = gradient
            holders.append(holder)
    torch.nn.utils.clip_grad_norm_(holders, norm, foreach=False)


class Step:
    """A training step as a function of parameters, buffers, states and a batch by name."""

    def __init__(
        self,
        model: torch.nn.Module,
        loss_fn: Loss,
        batch: Any,
        optimizer: torch.optim.Optimizer | Factory | None,
        clip_grad_norm: float | None,
        accumulate: int,
    ) -> None:
        if not isinstance(model, torch.nn.Module):
            raise TypeError(
                f"model: got {model!r}, expected a torch.nn.Module; of a function, `capture` makes a program"
            )
        if accumulate < 1:
            raise ValueError(f"accumulate={accumulate}: expected 1 or more")
        self.model, self.loss_fn = model, loss_fn
        self.clip_grad_norm, self.accumulate = clip_grad_norm, accumulate
        self.parameters = dict(model.named_parameters())
        self.buffers = dict(model.named_buffers())
        self.trained = [name for name, parameter in self.parameters.items() if parameter.requires_grad]
        later = [name for name in self.trained if self.parameters[name]._post_accumulate_grad_hooks]
        if later:
            raise TypeError(
                f"{later[0]}: has a hook for when its gradient is accumulated, which a step has no place for; expected "
                "one of Tensor.register_hook, or what it does in the optimizer"
            )
        self.optimizer = None if optimizer is None else FunctionalOptimizer(optimizer, self.parameters)
        self.names, self.leaves, self.spec = named_leaves("inputs", as_arguments(batch))
        self.inputs = self._inputs()
        # Of the parameters and buffers to which forward gives the memory of another one, the names of both.
        self.shared: dict[str, str] = {}

    def _inputs(self) -> Inputs:
        inputs = Inputs()
        for name, parameter in self.parameters.items():
            inputs.add(name, "parameter", parameter)
        for name, buffer in self.buffers.items():
            inputs.add(name, "buffer", buffer)
        if self.optimizer is not None:
            for name, state in self.optimizer.states.items():
                for key, value in state.items():
                    inputs.add(f"state.{name}.{key}", "state", value)
            for name, setting in self.optimizer.settings.items():
                inputs.add(name, "state", setting)
        inputs.add_batch(self.names, self.leaves)
        return inputs

    def _loss(self, batch: tuple[Any, ...]) -> tuple[torch.Tensor, Any]:
        """(the loss, a tree of what else the loss function returned)."""
        result = self.loss_fn(self.model, *batch)
        loss, others = result if isinstance(result, tuple) and len(result) == 2 else (result, None)
        loss = loss.known() if type(loss) is Number else loss
        if not isinstance(loss, torch.Tensor) or loss.numel() != 1:
            found = f"a tensor of {list(loss.shape)}" if isinstance(loss, torch.Tensor) else type(loss).__name__
            raise TypeError(
                f"loss_fn: got {found}, expected a tensor of one element, or a pair of one and other results"
            )
        return loss.reshape(()), others

    def _is_trained(self, loss: torch.Tensor, parameters: Mapping[str, torch.Tensor]) -> bool:
        """Without gradients (`torch.no_grad`) and an optimizer, the program is an evaluation."""
        has_run = any(parameters[name].grad is not None for name in self.trained)  # the loss function's own `backward`
        if not loss.requires_grad and not has_run and self.trained and self.optimizer is not None:
            raise TypeError(
                "loss_fn: the loss depends on no parameter that is trained; expected one computed outside of "
                "torch.no_grad, or no optimizer, for a program that evaluates"
            )
        return loss.requires_grad

    def _hook(self, parameters: Mapping[str, torch.Tensor]) -> None:
        """Gives what stands for a parameter the parameter's own hooks."""
        for name in self.trained:
            for hook in (self.parameters[name]._backward_hooks or {}).values():
                parameters[name].register_hook(hook)

    def _exchanged(self, parameters: Mapping[str, torch.Tensor], after: Mapping[str, torch.Tensor]) -> list[str]:
        """The parameters for which forward has put another tensor into the model."""
        names = [name for name, parameter in parameters.items() if after[name] is not parameter]
        for name in names:
            if name in self.trained:
                raise TypeError(
                    f"{name}: forward puts another parameter in its place, which is trained no more; expected its "
                    "value changed under torch.no_grad (copy_), or a tensor of another name"
                )
        return names

    def _sharing(self, found: dict[str, str]) -> dict[str, str]:
        for name, other in found.items():
            if name in self.trained:
                raise TypeError(
                    f"{name}: forward gives it the memory of '{other}', and both are trained; expected a copy of the "
                    "value (copy_ under torch.no_grad), or one parameter with two names"
                )
        return found

    def _gradients(
        self, values: dict[str, torch.Tensor]
    ) -> tuple[torch.Tensor, Any, dict[str, torch.Tensor | None], dict[str, torch.Tensor]]:
        """(loss, other results, gradients, the parameters and buffers that forward leaves)."""
        given = [values.get(name, leaf) for name, leaf in zip(self.names, self.leaves)]
        batches = _micro_batches(pytree.tree_unflatten(given, self.spec), self.accumulate)
        held = {name: values[name].clone() for name in [*self.parameters, *self.buffers]}
        gradients: dict[str, torch.Tensor | None] = dict.fromkeys(self.trained)
        total, others = None, None
        for batch in batches:
            # What forward changes in place of these is changed in `held`.
            parameters = {
                name: held[name].detach().requires_grad_(self.parameters[name].requires_grad)
                for name in self.parameters
            }
            tensors = {**held, **parameters}
            self._hook(parameters)
            with noted() as pairs, swapped(self.model, tensors), torch.enable_grad():
                loss, others = self._loss(batch)
                loss = loss / len(batches) if len(batches) > 1 else loss
                wanted = [parameters[name] for name in self.trained] if self._is_trained(loss, parameters) else []
                found = torch.autograd.grad(loss, wanted, allow_unused=True) if wanted else ()
            self.shared.update(self._sharing(shared(pairs, {**held, **parameters})))
            renewed = [*self.buffers, *self._exchanged(parameters, tensors)]
            held.update({name: tensors[name].detach() for name in renewed})
            total = loss.detach() if total is None else total + loss.detach()
            # What the loss function has called `backward` of is in `grad`, all of it if it returns a number.
            parts = [(name, parameters[name].grad) for name in self.trained]
            if not loss.requires_grad:
                parts = [(name, None if gradient is None else gradient / len(batches)) for name, gradient in parts]
            for name, gradient in [*parts, *zip(self.trained, found)]:
                before = gradients[name]
                gradients[name] = gradient if before is None else before if gradient is None else before + gradient
        assert total is not None
        others = pytree.tree_map(lambda leaf: leaf.detach() if isinstance(leaf, torch.Tensor) else leaf, others)
        return total, others, gradients, held

    def __call__(self, values: dict[str, torch.Tensor]) -> tuple[Any, dict[str, torch.Tensor]]:
        loss, others, gradients, updates = self._gradients(values)
        if self.clip_grad_norm is not None:
            _clip(gradients, self.clip_grad_norm)
        results: dict[str, Any] = {"loss": loss}
        if others is not None:
            results["others"] = others
        if self.optimizer is None:
            results["grad"] = {name: gradient for name, gradient in gradients.items() if gradient is not None}
            return results, updates
        states = {
            name: {key: values[f"state.{name}.{key}"] for key in state} for name, state in self.optimizer.states.items()
        }
        settings = {name: values[name] for name in self.optimizer.settings}
        parameters, after, left = self.optimizer.step({**values, **updates}, gradients, states, settings)
        updates.update({**left, **parameters})
        updates.update({name: updates[other] for name, other in self.shared.items()})
        for name, state in after.items():
            updates.update({f"state.{name}.{key}": value for key, value in state.items()})
        return results, updates


def capture_step(
    model: torch.nn.Module,
    loss_fn: Loss,
    batch: Any,
    *,
    optimizer: torch.optim.Optimizer | Factory | None = None,
    clip_grad_norm: float | None = None,
    accumulate: int = 1,
) -> Captured:
    """The program of one training step.

    loss_fn: called as `loss_fn(model, *batch)`; returns the loss, or a pair of the loss and a tree of other results.
    optimizer: an optimizer of the model's parameters, or a function of parameters that makes one; without it the
        program returns gradients, called `grad.<FQN>`.
    clip_grad_norm: the norm to which gradients are clipped together.
    accumulate: into how many parts the batch is divided; gradients are the mean over them.

    Results are called `loss`, `others.<path>`, and for new values by the argument that they update.
    """
    step = Step(model, loss_fn, batch, optimizer, clip_grad_norm, accumulate)
    return captured(step, step.inputs, model, results="")
