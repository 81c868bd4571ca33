"""The table: which function writes which aten op."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from ..builder import Builder, Number, Value, is_inexact

Operand = Value | Number
TABLE: dict[Any, Callable[..., Any]] = {}


@dataclass(frozen=True)
class Result:
    """What torch says of a result."""

    shape: tuple[int, ...]
    dtype: torch.dtype


def lowers(*ops: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enters a function for these ops (all overloads of a packet), or for one that a library may register later, by the
    name that a graph shows.

    It is called with the builder, the result's type (a list of types where there are several) and the op's arguments,
    tensors among them as values, and returns the result's value (or a list).
    """

    def enter(function: Callable[..., Any]) -> Callable[..., Any]:
        for op in ops:
            is_packet = isinstance(op, torch._ops.OpOverloadPacket)
            overloads = [getattr(op, name) for name in op.overloads()] if is_packet else [op]
            for overload in overloads:
                TABLE[overload] = function
        return function

    return enter


def written(op: Any) -> Callable[..., Any] | None:
    """The function that is entered for an overload."""
    return TABLE.get(op) or TABLE.get(str(op))


def is_half(dtype: torch.dtype) -> bool:
    return dtype in (torch.float16, torch.bfloat16)


def real_of(dtype: torch.dtype) -> torch.dtype:
    """The type of a complex type's parts."""
    return {torch.complex64: torch.float32, torch.complex128: torch.float64}.get(dtype, dtype)


def wide(dtype: torch.dtype) -> torch.dtype:
    """The type in which torch computes on a half type."""
    return torch.float32 if is_half(dtype) else dtype


def promoted(operands: Sequence[Operand]) -> torch.dtype:
    """The type to which torch promotes operands."""
    from torch._prims_common import ELEMENTWISE_TYPE_PROMOTION_KIND, elementwise_dtypes

    stand_ins = [
        torch.empty((1,) * operand.rank, dtype=operand.dtype, device="meta") if isinstance(operand, Value) else operand
        for operand in operands
    ]
    return elementwise_dtypes(*stand_ins, type_promotion_kind=ELEMENTWISE_TYPE_PROMOTION_KIND.DEFAULT)[1]


def rounded(b: Builder, x: Operand, dtype: torch.dtype) -> Operand:
    """A number, or a tensor of another type, as a half type has it; any other type leaves it as it is."""
    if not is_half(dtype):
        return x
    return b.cast(x, dtype) if isinstance(x, Value) else float(torch.tensor(x, dtype=torch.float64).to(dtype))


def given(b: Builder, x: Operand, shape: Sequence[int], dtype: torch.dtype) -> Value:
    """A tensor or number with the shape and type that an elementwise op computes in."""
    if isinstance(x, Value):
        return b.broadcast(b.cast(x, dtype), shape)
    return b.full(x, shape, dtype)


def dim_of(dim: int, rank: int) -> int:
    """A dim counted from the front."""
    return dim % rank if rank else 0


def dims_of(dims: int | Sequence[int] | None, rank: int) -> list[int]:
    """Dims counted from the front; None or () are all of them."""
    if dims is None:
        return list(range(rank))
    if isinstance(dims, int):
        dims = [dims]
    return sorted({dim_of(dim, rank) for dim in dims}) if rank and len(dims) else list(range(rank))


def lowest(dtype: torch.dtype) -> Number:
    """The neutral element of a maximum."""
    if dtype == torch.bool:
        return False
    return float("-inf") if is_inexact(dtype) else torch.iinfo(dtype).min


def highest(dtype: torch.dtype) -> Number:
    """The neutral element of a minimum."""
    if dtype == torch.bool:
        return True
    return float("inf") if is_inexact(dtype) else torch.iinfo(dtype).max
