"""Products of tensors: dots, also of integers and ragged ones."""

from __future__ import annotations

import torch

from .elements import TensorType
from .elementwise import converted
from .integers import to_index
from .lowering import Lowering, Value, rule
from .program import Op
from .views import permuted, reshaped

Lower = Lowering
Dims = list[int]


@rule("stablehlo.dot_general")
def dot_general(lower: Lower, op: Op, x: Value, y: Value) -> Value:
    numbers = op.attributes["dot_dimension_numbers"]
    return contracted(
        op,
        x,
        y,
        (numbers.get("lhs_batching_dimensions", []), numbers.get("rhs_batching_dimensions", [])),
        (numbers.get("lhs_contracting_dimensions", []), numbers.get("rhs_contracting_dimensions", [])),
    )


@rule("stablehlo.dot")
def dot(lower: Lower, op: Op, x: Value, y: Value) -> Value:
    return contracted(op, x, y, ([], []), ([len(op.operand(0).shape) - 1], [0]))


def contracted(op: Op, x: Value, y: Value, batch: tuple[Dims, Dims], contracting: tuple[Dims, Dims]) -> Value:
    """Batch dims, then those of x alone, then those of y alone."""
    left, right, target = op.operand(0), op.operand(1), op.tensor()
    x, y = _summand(left.element, target, x), _summand(right.element, target, y)
    xs, ys = (
        [dim for dim in range(len(type.shape)) if dim not in batch[at] and dim not in contracting[at]]
        for at, type in enumerate((left, right))
    )
    groups = [left.shape[dim] for dim in batch[0]]

    def extent(type: TensorType, dims: Dims) -> int:
        return TensorType(tuple(type.shape[dim] for dim in dims), "f32").size

    inner = extent(left, contracting[0])
    a = permuted(x, batch[0] + xs + contracting[0])
    b = permuted(y, batch[1] + contracting[1] + ys)
    # Rows of any rank stay as they are where nothing is batched.
    rows = [left.shape[dim] for dim in xs] if not groups and len(contracting[0]) == 1 and xs else [extent(left, xs)]
    a = reshaped(a, _arranged(left, batch[0] + xs + contracting[0]), [*groups, *rows, inner])
    b = reshaped(b, _arranged(right, batch[1] + contracting[1] + ys), [*groups, inner, extent(right, ys)])
    found = torch.matmul(a, b)
    if target.element == "i1":
        found = found > 0
    return reshaped(found, [*groups, *rows, extent(right, ys)], target.shape)


def _arranged(type: TensorType, dims: Dims) -> list[int]:
    return [type.shape[dim] for dim in dims]


def _summand(element: str, target: TensorType, x: Value) -> Value:
    """An operand in the type in which the products are added."""
    return x.to(torch.int32) if target.element == "i1" else converted(element, target.element, x)


@rule("stablehlo.einsum", "stablehlo.unary_einsum")
def einsum(lower: Lower, op: Op, *operands: Value) -> Value:
    values = [_summand(op.operand(at).element, op.tensor(), value) for at, value in enumerate(operands)]
    return torch.einsum(op.attributes["einsum_config"], *values)


# What torch's product by groups takes.
_GROUPED = {"f32": 4, "bf16": 2, "f16": 2}


@rule("chlo.ragged_dot")
def ragged_dot(lower: Lower, op: Op, x: Value, y: Value, sizes: Value) -> Value:
    """Consecutive groups of rows of x, each with its own matrix of y, or of what is contracted, each with its own
    result; what is behind all groups counts as zero.
    """
    numbers = {name: dims for name, dims in op.attributes["ragged_dot_dimension_numbers"].items() if dims}
    by_rows = "rhs_group_dimensions" in numbers
    _check_ragged(op, numbers, by_rows)
    target = op.tensor()
    x, y = (_summand(op.operand(at).element, target, value) for at, value in enumerate((x, y)))
    x = x if numbers["lhs_contracting_dimensions"] == [1] else x.transpose(0, 1)
    group, (of_k,) = numbers.get("rhs_group_dimensions", []), numbers["rhs_contracting_dimensions"]
    y = y.permute(*group, of_k, 3 - sum(group) - of_k if by_rows else 1 - of_k)
    ends = torch.cumsum(to_index(op.operand(2).element, sizes), 0)
    ragged = numbers["lhs_ragged_dimensions"][0]
    place = lower.arange(op.operand(0).shape[ragged]).reshape(-1, 1)
    inside = place < ends[-1]
    width = _GROUPED.get(target.element, 0)
    # Its kernels want every row to begin at a multiple of 16 bytes.
    if width and not any(extent * width % 16 for at in range(2) for extent in op.operand(at).shape[-2:]):
        found = lower.call(torch.ops.aten._grouped_mm.default, x, y, ends.to(torch.int32))
        return torch.where(inside, found, 0) if by_rows else found
    of_each = (place >= ends.reshape(1, -1)).sum(1)
    return (_by_rows if by_rows else _by_parts)(x, y, of_each, op.operand(2).shape[0])


def _check_ragged(op: Op, numbers: dict[str, Dims], by_rows: bool) -> None:
    """Refuses products that have batches, several dims of a role, or groups of each row."""
    named = ["lhs_contracting_dimensions", "lhs_ragged_dimensions", "rhs_contracting_dimensions"]
    named += ["rhs_group_dimensions"] if by_rows else []
    plain = sorted(numbers) == named and all(len(dims) == 1 for dims in numbers.values())
    ranks = [len(op.operand(at).shape) for at in range(3)]
    if not plain or ranks != [2, 3 if by_rows else 2, 1]:
        raise op.refuse(f"only groups of rows ([m, k], [g, k, n]) or of what is contracted ([m, k], [k, n]) are "
                        f"supported, got {numbers}")  # fmt: skip


def _by_rows(x: Value, y: Value, of_each: Value, groups: int) -> Value:
    found = torch.zeros_like(torch.matmul(x, y[0]))
    for at in range(groups):
        found = torch.where((of_each == at).reshape(-1, 1), torch.matmul(x, y[at]), found)
    return found


def _by_parts(x: Value, y: Value, of_each: Value, groups: int) -> Value:
    return torch.stack([torch.matmul(torch.where(of_each == at, x, 0), y) for at in range(groups)])
