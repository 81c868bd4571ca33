"""Linear maps of single dims, each given by a matrix: resizes, averages of windows, and the gradients of both.

As a product with the matrix an infinity reaches all elements of its row, for nothing times an infinity is no number,
and each element costs the whole row. So the product is the last resort: what a matrix repeats or sums in blocks is said
so, which passes shards on, and of few elements for each result these are read.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from ..builder import Builder, Value
from .indexing import gather
from .table import wide

# So many are what a cubic resize reads for a result. Of more the product takes less time.
_MOST_TAPS = 4


def separable(b: Builder, x: Value, matrices: Sequence[torch.Tensor], dtype: torch.dtype) -> Value:
    """The last dims of x, each multiplied by its matrix [result, x]."""
    x = b.cast(x, wide(dtype))
    for at, matrix in enumerate(matrices):
        x = _mapped(b, x, x.rank - len(matrices) + at, matrix)
    return b.cast(x, dtype)


def _mapped(b: Builder, x: Value, dim: int, matrix: torch.Tensor) -> Value:
    weight = _weight_of_blocks(matrix)
    if weight:
        return _scaled(b, _repeated(b, x, dim, matrix.shape[0] // matrix.shape[1]), weight)
    weight = _weight_of_blocks(matrix.T)
    if weight:
        return _scaled(b, _summed(b, x, dim, matrix.shape[0]), weight)
    counts = (matrix != 0).sum(1)
    if 0 < counts.min() and counts.max() <= min(_MOST_TAPS, matrix.shape[1] - 1):
        return _read(b, x, dim, matrix, int(counts.max()))
    product = b.dot(x, b.tensor(matrix.to(x.dtype)), ([dim], [1]))
    return b.transpose(product, [*range(dim), x.rank - 1, *range(dim, x.rank - 1)])


def _weight_of_blocks(matrix: torch.Tensor) -> float:
    """What each element is multiplied by if the matrix only repeats elements in place; 0 if it does not."""
    rows, columns = matrix.shape
    if not columns or not rows or rows % columns:
        return 0
    weight = float(matrix[0, 0])
    blocks = torch.eye(columns, dtype=matrix.dtype).repeat_interleave(rows // columns, 0)
    return weight if torch.equal(matrix, weight * blocks) else 0


def _scaled(b: Builder, x: Value, weight: float) -> Value:
    count = round(1 / weight)
    if weight == 1:
        return x
    return b.div(x, b.like(count, x)) if 1 / count == weight else b.mul(x, b.like(weight, x))


def _repeated(b: Builder, x: Value, dim: int, times: int) -> Value:
    shape = [*x.shape[: dim + 1], times, *x.shape[dim + 1 :]]
    apart = b.broadcast_dims(x, shape, [at for at in range(len(shape)) if at != dim + 1])
    return b.reshape(apart, [*x.shape[:dim], x.shape[dim] * times, *x.shape[dim + 1 :]])


def _summed(b: Builder, x: Value, dim: int, count: int) -> Value:
    return b.sum(b.reshape(x, [*x.shape[:dim], count, x.shape[dim] // count, *x.shape[dim + 1 :]]), [dim + 1])


def _read(b: Builder, x: Value, dim: int, matrix: torch.Tensor, taps: int) -> Value:
    """The sum of `taps` elements for each result, by their weights; of fewer the last is taken in parts."""
    counts = (matrix != 0).sum(1, keepdim=True)
    behind = torch.arange(taps) - (counts - 1)
    nonzeros_first = (matrix == 0).to(torch.int8).argsort(dim=1, stable=True)
    places = nonzeros_first.gather(1, torch.arange(taps).minimum(counts - 1))
    halvings = torch.where(behind < 0, 0, (behind + 1).minimum(taps - counts))
    weights = matrix.gather(1, places) * 2.0**-halvings
    read = gather(b, x, b.tensor(places[..., None]), [dim])
    read = b.mul(read, b.broadcast_dims(b.tensor(weights.to(x.dtype)), read.shape, [0, 1]))
    total = b.sum(read, [1])
    return b.transpose(total, [*range(1, dim + 1), 0, *range(dim + 1, x.rank)])
