"""The ops that a Python function of fake tensors runs, below autograd, in their order."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import torch
import torch.utils._pytree as pytree
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode, in_kernel_invocation_manager
from torch.utils._python_dispatch import TorchDispatchMode, autograd_would_have_decomposed
from torch.utils.weak import WeakTensorKeyDictionary

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


class Type(NamedTuple):
    """What torch says of a tensor; size: of its memory, in bytes."""

    shape: torch.Size
    dtype: torch.dtype
    stride: tuple[int, ...]
    offset: int
    size: int
    device: torch.device
    is_conj: bool
    is_neg: bool

    @classmethod
    def of(cls, x: torch.Tensor) -> Type:
        if x.layout != torch.strided or x.is_nested:  # it is refused
            return cls(x.shape, x.dtype, (), 0, -1, x.device, False, False)
        return cls(
            x.shape, x.dtype, x.stride(), x.storage_offset(), x.untyped_storage().nbytes(), x.device, x.is_conj(),
            x.is_neg(),
        )  # fmt: skip

    def is_all(self) -> bool:
        """Whether it has memory of its own, all of which it shows as it is."""
        last = sum((extent - 1) * step for extent, step in zip(self.shape, self.stride))
        count = 0 if 0 in self.shape else last + 1
        return not (self.offset or self.is_conj or self.is_neg) and self.size == count * self.dtype.itemsize


@dataclass(eq=False)
class Token:
    """Stands for a tensor as it was when an op has made it. constant: the tensor, if it is none of the trace.
    is_plain: of its numbers nothing is known.
    """

    type: Type
    constant: torch.Tensor | None = None
    is_plain: bool = True


@dataclass
class Call:
    """A call of an op, in which tokens stand for tensors. site: who asked for it."""

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
    is_repeatable: what torch says of its results follows from what it says of its arguments. They have memory of their
    own, or are views of the first argument, or are the first argument, which it changes.
    """

    is_silent: bool
    written: tuple[int | str, ...] = ()
    viewed: int | None = None
    is_composite: bool = False
    is_reshaping: bool = False
    has_outputs: bool = False
    returns_written: bool = False
    is_repeatable: bool = False


@functools.lru_cache(maxsize=None)
def kind_of(op: Any) -> Kind:
    if op is torch.ops.prim.device.default or not isinstance(op, torch._ops.OpOverload):
        return Kind(is_silent=op is torch.ops.prim.device.default)
    written: list[int | str] = []
    viewed = None
    for place, entry in enumerate(op._schema.arguments):
        if entry.alias_info is None:
            continue
        if entry.alias_info.is_write:
            written.append(entry.name if entry.kwarg_only else place)
        else:
            viewed = place
    is_in_place = written == [0] and len(op._schema.returns) == 1
    returns_written = any(entry.alias_info is not None and entry.alias_info.is_write for entry in op._schema.returns)
    is_reshaping = torch.Tag.inplace_view in op.tags
    is_repeatable = (
        op.namespace in ("aten", "prims")
        and (not written or is_in_place and returns_written and not is_reshaping)
        and viewed in (None, 0)
        and len(op._schema.returns) > 0
        and not any(tag in op.tags for tag in (torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape))
    )
    return Kind(
        is_silent=str(op).startswith(_REMARKS),
        written=tuple(written),
        viewed=viewed,
        is_composite=torch._C._dispatch_has_kernel_for_dispatch_key(op.name(), "CompositeImplicitAutograd"),
        is_reshaping=is_reshaping,
        has_outputs=any(isinstance(place, str) for place in written),
        returns_written=returns_written,
        is_repeatable=is_repeatable,
    )


def leaves_of(tree: Any, kind: Any) -> Iterator[Any]:
    """What is of a kind in nested lists, tuples and dicts."""
    if isinstance(tree, kind):
        yield tree
    elif isinstance(tree, (list, tuple)):
        for part in tree:
            yield from leaves_of(part, kind)
    elif isinstance(tree, dict):
        for part in tree.values():
            yield from leaves_of(part, kind)


def mapped(tree: Any, kind: Any, function: Callable[[Any], Any]) -> Any:
    """Nested lists, tuples and dicts with the function of what is of a kind in its place."""
    if isinstance(tree, kind):
        return function(tree)
    if isinstance(tree, (list, tuple)):
        return [mapped(part, kind, function) for part in tree]
    if isinstance(tree, dict):
        return {name: mapped(part, kind, function) for name, part in tree.items()}
    return tree


def written_by(op: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
    """The arguments that a call writes to."""
    return [
        kwargs.get(place) if isinstance(place, str) else args[place]
        for place in kind_of(op).written
        if isinstance(place, str) or place < len(args)
    ]


class Mode(TorchDispatchMode):
    """A mode whose calls torch does not hide from TorchDynamo, which sees none of them: it takes as long as a call."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False


def key_of(tree: Any) -> Any:
    """Of arguments with tokens what a result's type follows from."""
    if isinstance(tree, Token):
        return tree.type
    if isinstance(tree, (list, tuple)):
        return tuple([key_of(part) for part in tree])
    if isinstance(tree, dict):
        return tuple([(name, key_of(part)) for name, part in tree.items()])
    # Numbers that are equal may be of two types, and zeros of two signs.
    return repr(tree) if isinstance(tree, (float, complex)) else (type(tree), tree)


@functools.lru_cache(maxsize=None)
def _view_of(op: Any) -> Any:
    """Of an op that makes its first argument a view of what it was, the op that has this view as its result."""
    packet = getattr(aten, op._schema.name.removeprefix("aten::").removesuffix("_"))

    def taken(found: Any) -> list[tuple[str, str]]:
        return [(entry.name, str(entry.type)) for entry in found._schema.arguments]

    overloads = [getattr(packet, name) for name in packet.overloads()]
    return next((found for found in overloads if taken(found) == taken(op)), op)


_FIRST, _UNKNOWN = "the first argument", "unknown"
# Modes of torch's that see a call behind a recorder: those of a `make_fx` in the step, as torch.func.linearize has it.
_FURTHER = (torch._C._TorchDispatchModeKey.PROXY, torch._C._TorchDispatchModeKey.FUNCTIONAL)


class Results:
    """The results of ops as fake tensors, which are found once for all calls alike.

    FakeTensorMode's own memory, which does the same for more ops, takes longer for its keys than a call here.
    """

    # Of all traces.
    found: ClassVar[dict[Any, Any]] = {}

    def __init__(self, mode: FakeTensorMode) -> None:
        self.mode = mode
        mode.cache_enabled = False

    def of(self, call: Call, args: Any, kwargs: Any) -> Any:
        """The result of a call with these arguments."""
        is_plain = all(token.is_plain for token in leaves_of((call.args, call.kwargs), Token))
        if not is_plain or any(map(torch._C._get_dispatch_mode, _FURTHER)):
            return call.op(*args, **kwargs)
        surroundings = torch.get_default_dtype(), torch.is_inference_mode_enabled()
        key = call.op, surroundings, key_of(call.args), key_of(call.kwargs)
        known = self.found.get(key)
        base = args[0] if kind_of(call.op).viewed == 0 else None
        if known is None:
            result = call.op(*args, **kwargs)
            self.found[key] = _FIRST if args and result is args[0] else self._found(result, base)
            return result
        if known is _UNKNOWN:
            return call.op(*args, **kwargs)
        if known is _FIRST:
            return args[0]
        return self._made(known, base) if isinstance(known, Type) else [self._made(part, base) for part in known]

    def _found(self, result: Any, base: torch.Tensor | None) -> Any:
        """What is to be made for the next call, as a view of `base` if there is one."""
        if isinstance(result, (list, tuple)):
            parts = [part if part is None else self._found(part, base) for part in result]
            return _UNKNOWN if _UNKNOWN in parts else parts
        if type(result) is not FakeTensor or result.fake_mode is not self.mode or result.constant is not None:
            return _UNKNOWN
        if result._is_zerotensor():
            return _UNKNOWN
        found = Type.of(result)
        if base is None:
            return found if found.is_all() and result.layout == torch.strided else _UNKNOWN
        is_shown = result.untyped_storage()._cdata == base.untyped_storage()._cdata
        is_alike = found._replace(shape=base.shape, stride=base.stride(), offset=base.storage_offset()) == Type.of(base)
        return found if is_shown and is_alike else _UNKNOWN

    def _made(self, known: Type | None, base: torch.Tensor | None) -> torch.Tensor | None:
        if known is None:
            return None
        if base is not None:
            with in_kernel_invocation_manager(self.mode):
                found = torch.as_strided(base, known.shape, known.stride, known.offset)
        else:
            with torch._C._DisableTorchDispatch():
                found = torch.empty_strided(known.shape, known.stride, dtype=known.dtype, device="meta")
        return FakeTensor(self.mode, found, known.device)


class Recorder(Mode):
    """While it lasts, lists the ops that run, but for those of a table, which are taken apart.

    It holds no tensor of the trace: torch hands on what nobody else holds, and copies it otherwise.
    """

    def __init__(self, results: Results, table: Mapping[Any, Callable[..., Any]]) -> None:
        super().__init__()
        self.results, self.table = results, table
        self.calls: list[Call] = []
        # Who asks for the ops that follow.
        self.site: Site | None = None
        self._tokens: Any = WeakTensorKeyDictionary()
        # Of tensors that are none of the trace, by their identity.
        self._constants: dict[int, Token] = {}

    def enter(self, x: torch.Tensor) -> Token:
        """A token for a tensor that is there, or has changed its shape."""
        is_plain = type(x) is FakeTensor and x.fake_mode is self.results.mode and x.constant is None
        is_plain = is_plain and not x._is_zerotensor()
        found = self._tokens[x] = Token(Type.of(x), is_plain=is_plain)
        return found

    def token(self, x: torch.Tensor) -> Token:
        """The token of a tensor as it is now; of one that is none of the trace it is a constant."""
        found = self._tokens.get(x) or self._constants.get(id(x))
        if found is None:
            found = self._constants[id(x)] = Token(Type.of(x), x, is_plain=False)
        return found

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
        return self._record(func, kind, args, kwargs)

    def _record(self, func: Any, kind: Kind, args: Any, kwargs: Any) -> Any:
        own, named = (mapped(part, torch.Tensor, self.token) for part in (args, kwargs))
        call = Call(func, own, named, None, self.site)
        result = self.results.of(call, args, kwargs) if kind.is_repeatable else func(*args, **kwargs)
        if kind.is_reshaping:
            self._reshaped(call, args[0])
            return result
        if kind.has_outputs:
            for out in leaves_of(written_by(func, args, kwargs), torch.Tensor):
                if out.shape != self.token(out).type.shape:
                    self._resized(out)
            call.kwargs = mapped(kwargs, torch.Tensor, self.token)
        call.result = mapped(result, torch.Tensor, lambda x: self._tokens.get(x) or self.enter(x))
        if kind.written or next(leaves_of(call.result, Token), None) is not None:
            self.calls.append(call)
        return result

    def _reshaped(self, call: Call, x: torch.Tensor) -> None:
        """Records a call that has made its first argument a view as that view of what it was."""
        before, call.result = call.args[0], self.enter(x)
        if call.op is aten.set_.source_Tensor:
            call.op, call.args = aten.alias.default, call.args[1:]
        elif call.op is aten.resize_.default and x.numel() <= before.type.shape.numel():
            call.op, call.args, call.kwargs = aten.as_strided.default, [before, list(x.shape), list(x.stride())], {}
        elif call.op is aten.resize_.default:
            call.op = aten.resize.default
        else:
            call.op = _view_of(call.op)
        self.calls.append(call)

    def _resized(self, out: torch.Tensor) -> None:
        """An op has given a tensor, into which it writes, another shape: nothing is left of what was in it."""
        shape, keywords = list(out.shape), {"dtype": out.dtype}
        self.calls.append(Call(aten.empty.memory_format, [shape], keywords, self.enter(out), self.site))
