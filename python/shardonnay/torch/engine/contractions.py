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


@rule("chlo.ragged_dot")
def ragged_dot(lower: Lower, op: Op, x: Value, y: Value, sizes: Value) -> Value:
    """Rows of x by consecutive groups, each group with its own matrix y; rows behind all groups are zero."""
    numbers = op.attributes["ragged_dot_dimension_numbers"]
    dims = {name: value for name, value in numbers.items() if value}
    plain = {"lhs_ragged_dimensions": [0], "rhs_group_dimensions": [0], "lhs_contracting_dimensions": [1]}
    if dims != {**plain, "rhs_contracting_dimensions": [1]} or len(op.operand(2).shape) != 1:
        raise op.refuse(f"only rows by groups ([m, k], [g, k, n]) are supported, got {dims}")
    target = op.tensor()
    count, groups = op.operand(0).shape[0], op.operand(1).shape[0]
    x, y = (_summand(op.operand(at).element, target, value) for at, value in enumerate((x, y)))
    ends = torch.cumsum(to_index(op.operand(2).element, sizes), 0)
    group = (lower.arange(count).reshape(-1, 1) >= ends.reshape(1, -1)).sum(1)
    found = torch.zeros_like(x[:, :1]).expand(count, target.shape[1])
    for at in range(groups):
        found = torch.where((group == at).reshape(-1, 1), torch.matmul(x, y[at]), found)
    return found.to(target.dtype)
