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
    is_repeatable: what torch says of its results follows from what it says of its arguments, and they share no memory
    with these unless they are the first argument, which it changes.
    """

    is_silent: bool
    written: tuple[int | str, ...]
    viewed: int | None
    is_composite: bool
    is_reshaping: bool
    has_outputs: bool
    returns_written: bool
    is_repeatable: bool


@functools.lru_cache(maxsize=None)
def kind_of(op: Any) -> Kind:
    if op is torch.ops.prim.device.default or not isinstance(op, torch._ops.OpOverload):
        return Kind(op is torch.ops.prim.device.default, (), None, False, False, False, False, False)
    written: list[int | str] = []
    viewed = None
    for place, entry in enumerate(op._schema.arguments):
        if entry.alias_info is None:
            continue
        if entry.alias_info.is_write:
            written.append(entry.name if entry.kwarg_only else place)
        else:
            viewed = place
    is_composite = torch._C._dispatch_has_kernel_for_dispatch_key(op.name(), "CompositeImplicitAutograd")
    is_in_place = written == [0] and len(op._schema.returns) == 1
    returns_written = any(entry.alias_info is not None and entry.alias_info.is_write for entry in op._schema.returns)
    is_reshaping = torch.Tag.inplace_view in op.tags
    is_repeatable = (
        op.namespace in ("aten", "prims")
        and (not written or is_in_place and returns_written and not is_reshaping)
        and viewed is None
        and len(op._schema.returns) > 0
        and not any(tag in op.tags for tag in (torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape))
    )
    return Kind(
        str(op).startswith(_REMARKS), tuple(written), viewed, is_composite,
        is_reshaping, any(isinstance(place, str) for place in written), returns_written, is_repeatable,
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


def written_by(op: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Iterator[torch.Tensor]:
    """The tensors that a call writes to."""
    for place in kind_of(op).written:
        if isinstance(place, str):
            yield from tensors_of(kwargs.get(place))
        elif place < len(args):
            yield from tensors_of(args[place])


class Mode(TorchDispatchMode):
    """A mode whose calls torch does not hide from TorchDynamo, which runs none of them: that takes as long as a call."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False


def key_of(tree: Any, type_of: Callable[[torch.Tensor], Any]) -> Any:
    """Of arguments what results follow from, but for the numbers in tensors."""
    if isinstance(tree, torch.Tensor):
        return type_of(tree)
    if isinstance(tree, (list, tuple)):
        return tuple([key_of(part, type_of) for part in tree])
    if isinstance(tree, dict):
        return tuple([(name, key_of(part, type_of)) for name, part in tree.items()])
    # Numbers that are equal may be of two types, and zeros of two signs.
    return repr(tree) if isinstance(tree, (float, complex)) else (type(tree), tree)


@functools.lru_cache(maxsize=None)
def _view_of(op: Any) -> Any:
    """Of an op that makes its first argument a view of what it was, the op that has this view as its result."""
    packet = getattr(aten, op._schema.name.removeprefix("aten::").removesuffix("_"))
    names = [entry.name for entry in op._schema.arguments]
    overloads = [getattr(packet, name) for name in packet.overloads()]
    return next(found for found in overloads if [entry.name for entry in found._schema.arguments] == names)


class _UnknownError(Exception):
    """A tensor of which more is to be known than its type."""


class _Results:
    """The results of ops as fake tensors, which are found once for all calls alike.

    FakeTensorMode's own memory, which does the same for more ops, takes longer for its keys than a call here.
    """

    def __init__(self, mode: FakeTensorMode) -> None:
        self.mode = mode
        self.found: dict[Any, Any] = {}

    def _type_of(self, x: torch.Tensor) -> Any:
        if type(x) is not FakeTensor or x.fake_mode is not self.mode or x.constant is not None:
            raise _UnknownError
        return x.shape, x.dtype, x.stride(), x.storage_offset(), x.fake_device, x.is_conj(), x.is_neg()

    def of(self, func: Any, args: Any, kwargs: Any) -> Any:
        try:
            key = (
                func, torch.get_default_dtype(), torch.is_inference_mode_enabled(), key_of(args, self._type_of),
                key_of(kwargs, self._type_of),
            )  # fmt: skip
            known = self.found.get(key)
        except (_UnknownError, TypeError):
            return func(*args, **kwargs)
        if known is None:
            result = func(*args, **kwargs)
            try:
                self.found[key] = self._layout(result, args)
            except _UnknownError:
                self.found[key] = _UnknownError
            return result
        return func(*args, **kwargs) if known is _UnknownError else self._made(known, args)

    def _layout(self, result: Any, args: Any) -> Any:
        """What is to be made for the next call."""
        if isinstance(result, (list, tuple)):
            return [self._layout(part, args) for part in result]
        if result is None:
            return _NOTHING
        if not isinstance(result, torch.Tensor):
            raise _UnknownError
        if args and result is args[0]:
            return _FIRST
        shape, dtype, stride, offset, device, is_conj, is_neg = self._type_of(result)
        extent = 1 + sum((size - 1) * step for size, step in zip(shape, stride)) if result.numel() else 0
        is_whole = result.untyped_storage().nbytes() == extent * result.element_size()
        if offset or is_conj or is_neg or result.layout != torch.strided or not is_whole:
            raise _UnknownError
        return shape, stride, dtype, device

    def _made(self, known: Any, args: Any) -> Any:
        if known is _FIRST:
            return args[0]
        if known is _NOTHING:
            return None
        if isinstance(known, list):
            return tuple([self._made(part, args) for part in known])
        shape, stride, dtype, device = known
        with torch._C._DisableTorchDispatch():
            found = torch.empty_strided(shape, stride, dtype=dtype, device="meta")
        return FakeTensor(self.mode, found, device)


_FIRST, _NOTHING = "the first argument", "nothing"


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
        self._results = _Results(mode)

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
        result = self._results.of(func, args, kwargs) if kind.is_repeatable else func(*args, **kwargs)
        for out, shape in shapes:
            if out.shape != shape:
                self._resize(out, shape)
        if kind.written or next(tensors_of(result), None) is not None:
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
            op = _view_of(func)
        self.calls.append(Call(op, args, kwargs, x, self.site))
        return result

    def _resize(self, out: torch.Tensor, shape: Sequence[int]) -> None:
        """An op is about to be recorded that has given a tensor, into which it writes, another shape than this."""
        with self.mode:
            before = torch.empty(shape, dtype=out.dtype)
        self._replace(out, before)
        self.calls.append(Call(aten.empty.memory_format, (list(out.shape),), {"dtype": out.dtype}, out, self.site))
