"""The ops that a Python function of fake tensors runs, below autograd, in their order."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.utils._pytree as pytree
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode, autograd_would_have_decomposed

from .builder import Site

aten = torch.ops.aten
_KNOWN = (torch.Tensor, FakeTensor, torch.nn.Parameter, torch.nn.Buffer)
# What says something to a profiler, or checks what tracing has checked or a program can not stop for.
_REMARKS = (
    "profiler.",
    "aten._assert",
    "aten._linalg_check_errors",
    "aten.sym_constrain",
    "aten._local_scalar_dense",
    "aten.allclose",
    "aten.equal",
)


@dataclass
class Call:
    """A call of an op. args, kwargs, result: with the tensors of the trace in them. site: who asked for it."""

    op: Any
    args: Any
    kwargs: Any
    result: Any
    site: Site | None


@dataclass(frozen=True)
class Kind:
    """What is known of an op.

    is_silent: a program has no call of it. written: the places of arguments that it changes, numbers or names.
    viewed: the place of the argument that its results are views of. is_composite: it may have to be taken apart, as
    autograd does. is_reshaping: it changes the shape or the strides of its first argument. has_outputs: it
    writes to tensors that it is given by name. returns_written: its results are the arguments that it changes.
    """

    is_silent: bool
    written: tuple[int | str, ...]
    viewed: int | None
    is_composite: bool
    is_reshaping: bool
    has_outputs: bool
    returns_written: bool


@functools.lru_cache(maxsize=None)
def kind_of(op: Any) -> Kind:
    if op is torch.ops.prim.device.default or not isinstance(op, torch._ops.OpOverload):
        return Kind(op is torch.ops.prim.device.default, (), None, False, False, False, False)
    written: list[int | str] = []
    viewed = None
    sets = [entry.alias_info.before_set for entry in op._schema.returns if entry.alias_info]
    for place, entry in enumerate(op._schema.arguments):
        if entry.alias_info is None:
            continue
        if entry.alias_info.is_write:
            written.append(entry.name if entry.kwarg_only else place)
        elif any(entry.alias_info.before_set & own for own in sets):
            viewed = place
    is_composite = torch._C._dispatch_has_kernel_for_dispatch_key(op.name(), "CompositeImplicitAutograd")
    return Kind(
        str(op).startswith(_REMARKS), tuple(written), viewed, is_composite,
        torch.Tag.inplace_view in op.tags, any(isinstance(place, str) for place in written),
        any(entry.alias_info is not None and entry.alias_info.is_write for entry in op._schema.returns),
    )  # fmt: skip


def tensors_of(tree: Any) -> Iterator[torch.Tensor]:
    """The tensors in nested lists, tuples and dicts."""
    if isinstance(tree, torch.Tensor):
        yield tree
    elif isinstance(tree, (list, tuple)):
        for part in tree:
            yield from tensors_of(part)
    elif isinstance(tree, dict):
        for part in tree.values():
            yield from tensors_of(part)


class Mode(TorchDispatchMode):
    """A mode whose calls TorchDynamo has no part in: to keep it out takes as long as a call, and its import a second."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False


class Recorder(Mode):
    """While it lasts, lists the ops that run, but for those of a table, which are taken apart."""

    def __init__(self, mode: FakeTensorMode, table: Mapping[Any, Callable[..., Any]]) -> None:
        super().__init__()
        self.mode, self.table = mode, table
        # Tensors that come from outside.
        self.inputs: list[torch.Tensor] = []
        self.calls: list[Call] = []
        # Who asks for the ops that follow.
        self.site: Site | None = None

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if any(kind not in _KNOWN for kind in types):
            return NotImplemented
        kind = kind_of(func)
        if kind.is_silent:
            return func(*args, **kwargs)
        if func in self.table:
            with self:
                found = self.table[func](*args, **kwargs)
            if found is not NotImplemented:
                return found
        if kind.is_composite and autograd_would_have_decomposed(func, pytree.arg_tree_leaves(*args, **kwargs)):
            with self:
                found = func.decompose(*args, **kwargs)
            if found is not NotImplemented:
                return found
        if kind.is_reshaping:
            return self._reshape(func, args, kwargs)
        shapes = [(out, out.shape) for name, out in kwargs.items() if kind.has_outputs and name in kind.written]
        result = func(*args, **kwargs)
        for out, shape in shapes:
            if out.shape != shape:
                self._resize(out, shape)
        self.calls.append(Call(func, args, kwargs, result, self.site))
        return result

    def _replace(self, x: torch.Tensor, stand_in: torch.Tensor) -> None:
        """What has been recorded of a tensor is of `stand_in`, as the tensor is about to be another one."""

        def replaced(leaf: Any) -> Any:
            return stand_in if leaf is x else leaf

        self.inputs = [replaced(leaf) for leaf in self.inputs]
        for call in self.calls:
            if any(leaf is x for leaf in tensors_of((call.args, call.kwargs, call.result))):
                call.args, call.kwargs, call.result = pytree.tree_map(replaced, (call.args, call.kwargs, call.result))

    def _reshape(self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Records an op that makes its first argument a view as that view of what it was."""
        x = args[0]
        with self.mode:
            before = aten.detach.default(x)
        result = func(*args, **kwargs)
        self._replace(x, before)
        args = (before, *args[1:])
        if func is aten.set_.source_Tensor:
            op, args = aten.alias.default, args[1:]
        elif func is aten.resize_.default:
            op = aten.resize.default
            if x.numel() <= before.numel():
                op, args, kwargs = aten.as_strided.default, (before, x.shape, x.stride()), {}
        else:
            packet = getattr(aten, func._schema.name.removeprefix("aten::").removesuffix("_"))
            op = getattr(packet, func._overloadname)
        self.calls.append(Call(op, args, kwargs, x, self.site))
        return result

    def _resize(self, out: torch.Tensor, shape: Sequence[int]) -> None:
        """An op is about to be recorded that has given a tensor, into which it writes, another shape than this."""
        with self.mode:
            before = torch.empty(shape, dtype=out.dtype)
        self._replace(out, before)
        self.calls.append(Call(aten.empty.memory_format, (list(out.shape),), {"dtype": out.dtype}, out, self.site))
