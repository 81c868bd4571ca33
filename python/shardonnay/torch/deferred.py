"""Numbers that Python asks of a tensor while a step is captured, `loss.item()`, and that only a run knows.

A stand-in is handed out for such a number. Arithmetic with it is arithmetic of the program, in Python's types; what
asks for the number itself, a branch, a shape or `float`, is refused as it is of a tensor. A stand-in that is returned,
or that Python keeps when the step is over, is a result of the program.
"""

from __future__ import annotations

import collections
import functools
import gc
import os
import warnings
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.utils._pytree as pytree

from .builder import Site, UnsupportedError

WIDE = {bool: torch.bool, int: torch.int64, float: torch.float64, complex: torch.complex128}
_PLAIN = (bool, int, float, complex)
# How many containers, one in the other, are asked for a name.
_DEPTH = 4


def _kind_of(dtype: torch.dtype) -> type:
    if dtype == torch.bool:
        return bool
    return complex if dtype.is_complex else float if dtype.is_floating_point else int


class Number:
    """Stands for a number.

    kind: of Python's types, of which it seems to be one. value: the number as a tensor without dims, None when the step
    is captured. site: the line that asked for it. owner: the numbers of its trace.
    """

    def __init__(self, value: torch.Tensor, site: Site, owner: Numbers) -> None:
        value = owner.either(value)
        self.kind, self.site, self.owner = _kind_of(value.dtype), site, owner
        self.value: torch.Tensor | None = value.to(WIDE[self.kind])
        owner.made.append(weakref.ref(self))

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return self.kind

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """What a trace that runs has not taken out of the arguments."""
        for leaf in pytree.tree_leaves((args, kwargs)):
            if type(leaf) is Number:
                leaf.known()
        return NotImplemented

    def known(self) -> torch.Tensor:
        """The tensor, while there is one."""
        if self.value is None:
            raise UnsupportedError(
                "a number that a captured step has asked for, which only a run of the step knows; expected the result "
                "of the run, where it is called 'logged...' if it was not returned",
                self.site,
            )
        return self.value

    def __repr__(self) -> str:
        return f"<the number of a run, {os.path.basename(self.site.file)}:{self.site.line}>"

    def __format__(self, _: str) -> str:
        return repr(self)

    def __bool__(self) -> bool:
        return bool(self.known())

    def __int__(self) -> int:
        return int(self.known().to(torch.int64))

    def __float__(self) -> float:
        return float(self.known())

    def __complex__(self) -> complex:
        return complex(self.known())

    def __index__(self) -> int:
        return int(self.known())

    def __hash__(self) -> int:
        return hash(float(self.known()))

    def made(self, function: Callable[..., Any], kind: type, *operands: Any) -> Any:
        """The number that a function of tensors of this kind gives."""
        for operand in operands:
            if type(operand) is Number:
                operand.known()
        with torch.no_grad():
            return Number(function(*(_as(kind, operand) for operand in operands)), self.site, self.owner)

    def __round__(self, digits: int | None = None) -> Any:
        if self.kind in (bool, int) and (digits is None or digits >= 0):
            return self.made(torch.clone, int, self)
        if digits is None:
            return self.made(lambda x: torch.round(x).to(torch.int64), float, self)
        return self.made(lambda x: torch.round(x, decimals=digits), float, self)


def _as(kind: type, operand: Any) -> Any:
    return operand.known().to(WIDE[kind]) if type(operand) is Number else kind(operand)


def _is_number(x: Any) -> bool:
    return type(x) is Number or type(x) in _PLAIN


def common_type(*operands: Any) -> type:
    """The type of what Python computes of numbers, which are at least integers."""
    kinds = [operand.kind if type(operand) is Number else type(operand) for operand in operands]
    return max((int, *kinds), key=_PLAIN.index)


def _arithmetic(function: Callable[..., Any], kind: Callable[..., type] = common_type) -> tuple[Any, Any]:
    """The methods of an operator: with the number on the left, and on the right."""

    def left(self: Number, other: Any) -> Any:
        return self.made(function, kind(self, other), self, other) if _is_number(other) else NotImplemented

    def right(self: Number, other: Any) -> Any:
        return self.made(function, kind(other, self), other, self) if _is_number(other) else NotImplemented

    return left, right


def _quotient(*operands: Any) -> type:
    return max(float, common_type(*operands), key=_PLAIN.index)


def _power(base: Any, exponent: Any) -> type:
    """An integer to the power of one that is not negative is one; of another exponent Python's type is not known."""
    found = common_type(base, exponent)
    if found is int and (type(exponent) is Number or exponent < 0):
        return int if type(exponent) is Number and exponent.kind is bool else float
    return found


def _difference(left: Any, right: Any) -> torch.Tensor:
    return left - right


def _enter_operators() -> None:
    binary: dict[str, tuple[Any, Callable[..., type]]] = {
        "add": (torch.add, common_type), "sub": (_difference, common_type), "mul": (torch.mul, common_type),
        "truediv": (torch.true_divide, _quotient), "floordiv": (torch.floor_divide, common_type),
        "mod": (torch.remainder, common_type), "pow": (torch.pow, _power),
    }  # fmt: skip
    for name, (function, kind) in binary.items():
        left, right = _arithmetic(function, kind)
        setattr(Number, f"__{name}__", left)
        setattr(Number, f"__r{name}__", right)
    for name in ("lt", "le", "gt", "ge", "eq", "ne"):
        setattr(Number, f"__{name}__", _arithmetic(getattr(torch, name))[0])
    for name, of_one in {"neg": torch.neg, "abs": torch.abs, "pos": torch.clone}.items():
        setattr(Number, f"__{name}__", functools.partialmethod(_of_one, of_one))
    for name, of_one in {"floor": torch.floor, "ceil": torch.ceil, "trunc": torch.trunc}.items():
        setattr(Number, f"__{name}__", functools.partialmethod(_whole, of_one))


def _of_one(self: Number, function: Callable[..., Any]) -> Any:
    return self.made(function, common_type(self), self)


def _whole(self: Number, function: Callable[..., Any]) -> Any:
    return self.made(lambda x: function(x).to(torch.int64), float if self.kind is float else int, self)


_enter_operators()


# Functions whose result has the numbers of their first arguments, or of the one that follows a tensor.
_OF_DATA = (torch.tensor, torch.as_tensor, torch.asarray, torch.scalar_tensor, torch.Tensor.new_tensor)
# Where functions have the number that they fill a tensor with.
_FILLED = {torch.full: 1, torch.full_like: 1, torch.Tensor.new_full: 2}
_SUBSCRIPTS = (torch.Tensor.__getitem__, torch.Tensor.__setitem__)


def _leaves(tree: Any, kind: type) -> list[Any]:
    return [leaf for leaf in pytree.tree_leaves(tree) if type(leaf) is kind or kind in type(leaf).__mro__]


def _among(tree: Any, tensors: Sequence[torch.Tensor]) -> Any:
    """Numbers as tensors of the type that they have in a function of these tensors."""

    def given(leaf: Any) -> Any:
        if type(leaf) is not Number:
            return leaf
        kinds = [torch.result_type(x, leaf.kind(1)) for x in tensors] or [torch.result_type(leaf.kind(1), 1)]
        return leaf.known().to(functools.reduce(torch.promote_types, kinds))

    return pytree.tree_map(given, tree)


def _stacked(data: Any) -> torch.Tensor:
    if isinstance(data, (list, tuple)):
        return torch.stack([_stacked(part) for part in data])
    if type(data) is not Number:
        return torch.as_tensor(data)
    return data.known().to(torch.get_default_dtype()) if data.kind is float else data.known()


def _of_data(func: Any, *args: Any, dtype: Any = None, requires_grad: bool = False, **keywords: Any) -> torch.Tensor:
    found = _stacked(keywords["data"] if "data" in keywords else args[func is torch.Tensor.new_tensor])
    like = args[0].dtype if func is torch.Tensor.new_tensor else torch.float32 if func is torch.scalar_tensor else None
    return found.detach().clone().to(dtype or like or found.dtype).requires_grad_(requires_grad)


@dataclass(frozen=True)
class Alternative:
    """`number if condition else other`, of which Python takes the number, by `answer`, and a run either.

    is_here: whether what runs makes the number.
    """

    condition: torch.Tensor
    answer: bool
    other: int | float
    is_here: Callable[[], bool]
    file: str
    line: int

    def of(self, x: torch.Tensor) -> torch.Tensor | None:
        """The number that a run takes, None if its type is not known."""
        if type(self.other) is float and not x.is_floating_point():
            return None
        taken = self.condition.reshape(()) != 0
        return torch.where(taken if self.answer else ~taken, x, torch.full_like(x, self.other))


class Numbers:
    """The numbers of one trace. alternative: the one that Python has begun to make."""

    def __init__(self) -> None:
        self.made: list[weakref.ref[Any]] = []
        self.alternative: Alternative | None = None

    def item(self, x: torch.Tensor, site: Site) -> Any:
        """`x.item()`."""
        return Number(x.detach().reshape(()).clone(), site, self)

    def text(self, x: torch.Tensor, site: Site) -> str:
        """`f"{x:.3f}"`."""
        return repr(self.item(x, site))

    def either(self, value: torch.Tensor) -> torch.Tensor:
        """What a run has for a number that is made: if Python has chosen it, both alternatives."""
        found = self.alternative.of(value) if self.alternative is not None and self.alternative.is_here() else None
        if found is None:
            return value
        self.alternative = None
        return found

    def tolist(self, x: torch.Tensor, site: Site) -> Any:
        """`x.tolist()`."""
        return [self.tolist(part, site) for part in x.unbind()] if x.dim() else self.item(x, site)

    def run(self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any], run: Callable[..., Any]) -> Any:
        """The result of a function of numbers, in place of which are tensors of the types that PyTorch gives numbers;
        run: what runs it.
        """
        if func in _OF_DATA:
            return _of_data(func, *args, **kwargs)
        if func in _SUBSCRIPTS:
            args = [args[0], _among(args[1], []), *args[2:]]
        args, kwargs = list(args), dict(kwargs)
        number = None
        if func in _FILLED:
            place = _FILLED[func]
            held, key = (kwargs, "fill_value") if "fill_value" in kwargs else (args, place)
            number = held[key] if type(held[key]) is Number else None  # type: ignore[index]
            held[key] = held[key] if number is None else number.kind(0)  # type: ignore[index]
        args, kwargs = _among((args, kwargs), _leaves((args, kwargs), torch.Tensor))
        result = run(func, args, kwargs)
        return result if number is None else result.fill_(number.known())

    def kept(self, returned: Sequence[Any]) -> dict[str, torch.Tensor]:
        """Of the numbers that Python keeps beside those that are returned, the tensors by name."""
        if self.alternative is not None:
            raise UnsupportedError(
                "a choice of two values depends on the numbers in a tensor, which a program that is compiled once does "
                "not know; expected numbers of one type (x.item() if n > 0 else 0.0), or torch.where",
                Site(self.alternative.file, self.alternative.line),
            )
        places = {id(leaf) for leaf in returned}
        found = [number for ref in self.made if (number := ref()) is not None and id(number) not in places]
        names = [_name_of(number) or f"{os.path.basename(number.site.file)}:{number.site.line}" for number in found]
        names = [f"logged.{name}" for name in names]
        names = [f"{name}.{at}" if (at := names[:place].count(name)) else name for place, name in enumerate(names)]
        if names:
            warnings.warn_explicit(
                f"Python keeps numbers that only a run knows; each step returns them, as {', '.join(names)}, and does "
                "nothing else with them again",
                UserWarning,
                found[0].site.file,
                found[0].site.line,
            )
        return {name: number.known() for name, number in zip(names, found)}

    def close(self) -> None:
        """The trace is over: the numbers are results of it, or none."""
        for ref in self.made:
            if (number := ref()) is not None:
                number.value = None
        self.made.clear()


def _name_of(held: Any) -> str | None:
    """The name of the attribute, or the key, under which Python keeps something, in lists perhaps."""
    for _ in range(_DEPTH):
        around = None
        for holder in gc.get_referrers(held):
            entries = holder if isinstance(holder, dict) else getattr(holder, "__dict__", None)
            if isinstance(entries, dict):
                name = next((key for key, value in entries.items() if value is held and isinstance(key, str)), None)
                if name is not None:
                    return name
            if isinstance(holder, (list, tuple, collections.deque)):
                around = holder
        if around is None:
            return None
        held = around
    return None
