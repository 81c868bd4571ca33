"""Numbers that follow from no argument of a program: masks made of `torch.eye`, places in `torch.arange`.

A trace has no numbers, but of such tensors a program has the same ones in each step. They are computed beside the
trace, and given where Python or a shape asks for them: `int(lengths[0])`, `torch.nonzero(mask)`, `x[~eye]`. So are
those of the model's buffers (`if not self.ready`, `x[self.mask]`); a program is made for what it has asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
import torch.utils._pytree as pytree
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils.weak import WeakIdKeyDictionary

from .builder import Site
from .recording import Mode, leaves_of, written_by

aten = torch.ops.aten
# Masks of long sequences have their millions of elements; what is larger asks for more than it is worth.
_MOST = 1 << 22
# Their numbers follow from more than their arguments: a seed, or what memory holds.
_UNKNOWN = (torch.Tag.nondeterministic_seeded, torch.Tag.inplace_view)
# Random numbers from 0 to 1, compared with a probability that is 0 or 1 as for layers that are never dropped.
_DRAWING = (aten.rand.default, aten.rand.generator, aten.rand_like.default)
_COPIES = (aten.clone.default, aten._to_copy.default, aten.detach.default, aten.alias.default, aten.view.default)
_INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
_SURE = {aten.lt.Scalar: False, aten.le.Scalar: False, aten.gt.Scalar: True, aten.ge.Scalar: True}
_ASKING = (torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape)


def _asks(func: Any, args: Sequence[Any]) -> bool:
    """Whether a call has no result without the numbers of its arguments."""
    if func is aten.index.Tensor:
        return any(index is not None and index.dtype in (torch.bool, torch.uint8) for index in args[1])
    return any(tag in func.tags for tag in _ASKING)


def changed(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[torch.Tensor]:
    """The tensors that a call writes to."""
    if func is aten.native_batch_norm.default:  # its schema does not say it
        return [leaf for leaf in args[3:5] if leaf is not None]
    return list(leaves_of(written_by(func, args, kwargs), torch.Tensor))


class Constants(Mode):
    """While it lasts, computes what follows from constants, and answers what asks for their numbers."""

    def __init__(self, caller: Callable[[], tuple[str, int]]) -> None:
        """caller: the user's line that runs."""
        super().__init__()
        self.caller = caller
        self.values: Any = WeakIdKeyDictionary()
        # Single random numbers from 0 to 1.
        self.draws: Any = WeakIdKeyDictionary()
        # The memory, by its identity, that something else was written to.
        self.lost: dict[int, torch.UntypedStorage] = {}
        # The buffers that the numbers in a memory follow from, and the memory.
        self.origins: dict[int, tuple[set[str], torch.UntypedStorage]] = {}
        # The buffers whose numbers were asked for, and where.
        self.asked: dict[str, Site] = {}
        # The memory, by its identity, that calls have written to since someone has emptied this.
        self.written: dict[int, torch.UntypedStorage] = {}

    def enter(self, tensors: Sequence[torch.Tensor], buffers: Mapping[int, tuple[str, torch.Tensor]]) -> None:
        """Notes the numbers of buffers, which have a place among the tensors of a trace."""
        for place, (name, value) in buffers.items():
            if _is_constant(value):
                with _disable_current_modes():
                    self.values[tensors[place]] = value.detach()
                self._add_origins(value, {name})

    def _origins_of(self, tree: Any) -> set[str]:
        storages = [leaf.untyped_storage() for leaf in pytree.tree_leaves(tree) if isinstance(leaf, torch.Tensor)]
        return {name for storage in storages for name in self.origins.get(storage._cdata, (set(), None))[0]}

    def _add_origins(self, value: torch.Tensor, names: set[str]) -> None:
        storage = value.untyped_storage()
        before = self.origins.get(storage._cdata, (set(), storage))[0]
        self.origins[storage._cdata] = (before | names, storage)

    def _is_as_drawn(self, x: torch.Tensor, result: torch.Tensor) -> bool:
        """Whether a copy is not rounded, and so from 0 to 1 as a single random number is."""
        return x in self.draws and result.is_floating_point() and result.itemsize >= x.itemsize

    def value(self, x: torch.Tensor) -> torch.Tensor | None:
        """The numbers of a tensor of the trace, None if they follow from an argument."""
        if not isinstance(x, FakeTensor) and x not in self.values and _is_constant(x):
            with _disable_current_modes():
                self.values[x] = x.detach().clone()
        found = self.values.get(x)
        return None if found is None or found.untyped_storage()._cdata in self.lost else found

    def is_fixed(self, x: torch.Tensor) -> bool:
        """Whether the numbers of a tensor are the same in all steps: those of a buffer may change."""
        found = self.value(x)
        return found is not None and not self._origins_of(found)

    def _given(self, args: Any, kwargs: Any) -> tuple[Any, Any] | None:
        """The arguments of a call with numbers, None if those of one are not known."""
        if any(isinstance(x, FakeTensor) and x not in self.values for x in leaves_of((args, kwargs), torch.Tensor)):
            return None
        leaves, spec = pytree.tree_flatten((args, kwargs))
        found = [self.value(leaf) if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
        if any(value is None and leaf is not None for value, leaf in zip(found, leaves)):
            return None
        return pytree.tree_unflatten(found, spec)

    def _compute(self, func: Any, given: tuple[Any, Any]) -> Any:
        with _disable_current_modes(), torch._C.DisableTorchFunction(), torch.no_grad():
            return func(*given[0], **given[1])

    def _answer(self, func: Any, given: tuple[Any, Any]) -> Any:
        """What a call returns whose result the trace cannot have: a number, or tensors that are constants."""
        self.asked = dict.fromkeys(self._origins_of(given), Site(*self.caller())) | self.asked
        found = self._compute(func, given)

        def entered(value: Any) -> Any:
            if not isinstance(value, torch.Tensor):
                return value
            constant = aten.lift_fresh_copy.default(value)
            self.values[constant] = value
            return constant

        return pytree.tree_map(entered, found)

    def _follow(self, func: Any, given: tuple[Any, Any], result: Any) -> None:
        """Notes the numbers of a result."""
        leaves = [leaf for leaf in pytree.tree_leaves(result) if isinstance(leaf, torch.Tensor)]
        if not leaves or any(leaf.numel() > _MOST or leaf.layout != torch.strided for leaf in leaves):
            return self._forget(func, *given)
        try:
            found = pytree.tree_leaves(self._compute(func, given))
        except Exception:  # of another device, or what the trace has been taught and torch has not
            return self._forget(func, *given)
        found = [leaf for leaf in found if isinstance(leaf, torch.Tensor)]
        names = self._origins_of(given)
        for leaf, value in zip(leaves, found):
            if (leaf.shape, leaf.dtype) == (value.shape, value.dtype):
                self.values[leaf] = value
                if names:
                    self._add_origins(value, names)

    def _forget(self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """What a call may have changed is known no more, nor what shares memory with it."""
        for leaf in changed(func, args, kwargs):
            if leaf in self.values:
                storage = self.values[leaf].untyped_storage()
                self.lost[storage._cdata] = storage

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func is torch.ops.prim.device.default and isinstance(args[0], FakeTensor):  # autograd asks it all the time
            return args[0].fake_device
        kwargs = kwargs or {}
        is_followed = isinstance(func, torch._ops.OpOverload) and not any(tag in func.tags for tag in _UNKNOWN)
        given = self._given(args, kwargs) if is_followed and "empty" not in func.__name__ else None
        if given is not None and _asks(func, given[0]):
            return self._answer(func, given)
        result = func(*args, **kwargs)
        for leaf in changed(func, args, kwargs):
            storage = leaf.untyped_storage()
            self.written[storage._cdata] = storage
            for draw in [draw for draw in self.draws if draw.untyped_storage()._cdata == storage._cdata]:
                del self.draws[draw]
        if _is_draw(func, args, result) or func in _COPIES and self._is_as_drawn(args[0], result):
            self._forget(func, args, kwargs)
            self.draws[result] = None
        elif func is aten._to_copy.default and args[0] in self.draws and result.dtype in _INTEGERS:
            with _disable_current_modes():
                self.values[result] = torch.zeros(result.shape, dtype=result.dtype)
        elif func in _SURE and args[0] in self.draws and not 0 < args[1] < 1:
            with _disable_current_modes():
                self.values[result] = torch.full(result.shape, _SURE[func] == (args[1] <= 0))
        elif given is not None:
            self._follow(func, given, result)
        else:
            self._forget(func, args, kwargs)
        return result


def _is_draw(func: Any, args: Sequence[Any], result: Any) -> bool:
    """Whether a call draws one number from 0 to 1, which is never reached."""
    if func is aten.uniform_.default:
        low, high = (*args[1:], 0.0, 1.0)[:2] if len(args) != 2 else (args[1], 1.0)
        return result.numel() == 1 and 0 <= low and high <= 1
    return func in _DRAWING and result.numel() == 1


def _is_constant(x: torch.Tensor) -> bool:
    """Of a tensor that is none of the trace, whether it has numbers that a program may be made for."""
    if type(x) not in (torch.Tensor, torch.nn.Buffer) or torch._C._functorch.is_functorch_wrapped_tensor(x):
        return False
    return not x.is_meta and not x.requires_grad and x.layout == torch.strided and x.numel() <= _MOST
