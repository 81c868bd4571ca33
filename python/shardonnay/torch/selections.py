"""`x[mask]` where arguments say the mask, as all rows of x, of which those that the mask leaves out are no part.

How many rows a mask takes no program knows. But ops that treat rows one by one, sums and means over them, and
`y[mask] = ...` need not know it: a row that is left out is a copy of one that is not, so that no function has another
NaN, and is dropped where rows come together. What else is done with such rows is refused.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch.utils._pytree import tree_leaves

from .aten.table import highest, lowest
from .constants import changed
from .equality import equal
from .recording import Mode

aten = torch.ops.aten
WHAT_A_MASK_TAKES = (
    "x[mask], used for more than ops of each row, sums, means and losses of all rows, and y[mask] = ..."
)


@dataclass(frozen=True, eq=False)
class _Mask:
    """given: the user's tensor, in this version; rows: whether each row is taken; error: what is said of other uses."""

    given: torch.Tensor
    version: int
    rows: torch.Tensor
    error: Exception

    def is_(self, other: Any) -> bool:
        if other is self.given:
            return other._version == self.version
        return isinstance(other, torch.Tensor) and other.dtype == torch.bool and equal(other, self.given) is True

    def beside(self, x: torch.Tensor) -> torch.Tensor:
        """The mask, which broadcasts with rows."""
        return self.rows.view(-1, *[1] * (x.dim() - 1))


def mask_in(x: torch.Tensor, index: Any) -> Any:
    """The mask between the brackets, of the first dims of x, if nothing else is there."""
    first, *rest = index if isinstance(index, tuple) and index else (index,)
    if not isinstance(first, torch.Tensor) or first.dtype != torch.bool or not first.dim():
        return None
    is_all = all(part is Ellipsis or isinstance(part, slice) and part == slice(None) for part in rest)
    return first if is_all and x.shape[: first.dim()] == first.shape else None


def _tensors(tree: Any) -> list[torch.Tensor]:
    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, torch.Tensor)]


class Shape(Sequence):
    """The shape of rows, whose first number is not known. It is no tuple, which torch would read by itself."""

    def __init__(self, sizes: Sequence[int], error: Exception) -> None:
        self.sizes, self.error = sizes, error

    def __len__(self) -> int:
        return len(self.sizes)

    def __getitem__(self, at: Any) -> Any:
        asked = range(len(self))[at]
        if 0 in asked if isinstance(asked, range) else asked == 0:
            raise self.error
        return self.sizes[at]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Shape) or other.error is not self.error:
            raise self.error
        return self.sizes == other.sizes

    def __iter__(self) -> Any:
        raise self.error

    def numel(self) -> int:
        raise self.error


# Ops of one tensor and dims of it, which may not be the rows'; the names of the arguments that say which.
_DIMS = ("dim", "dims", "dim0", "dim1")
_ALONG = {
    aten.unsqueeze, aten.squeeze, aten.select, aten.slice, aten.split, aten.split_with_sizes, aten.unbind, aten.cumsum,
    aten.cumprod, aten.sum, aten.mean, aten.amax, aten.amin, aten.max, aten.min, aten.argmax, aten.argmin, aten.prod,
    aten.logsumexp, aten._softmax, aten._log_softmax, aten.cat, aten.stack, aten.sort, aten.topk, aten.any, aten.all,
    aten.transpose, aten.gather, aten.flip, aten.var, aten.std, aten.linalg_vector_norm, aten.norm,
}  # fmt: skip
_LIKE = {
    aten.detach, aten.alias, aten.clone, aten._to_copy, aten.lift_fresh, aten.zeros_like, aten.ones_like,
    aten.empty_like, aten.full_like, aten.fill_, aten.zero_, aten.copy_,
}  # fmt: skip
_LOSS_OPS = {
    aten.mse_loss, aten.smooth_l1_loss, aten.huber_loss, aten.binary_cross_entropy, aten.soft_margin_loss,
    aten.binary_cross_entropy_with_logits,
}  # fmt: skip
_GROWING = (aten.unsqueeze, aten.stack)
# Of rows, if what is asked is the same of a row as of its copies.
_WHETHER = (aten.any.default, aten.all.default)


def _given(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call by name, with those that are left out."""
    entries = func._schema.arguments
    defaults = {entry.name: entry.default_value for entry in entries if entry.has_default_value()}
    return defaults | dict(zip((entry.name for entry in entries), args)) | dict(kwargs)


def _keeps_rows(func: Any, given: Mapping[str, Any], rows: list[torch.Tensor], others: list[torch.Tensor]) -> bool:
    """Whether a call makes of each row a row; others: the tensors that are no rows."""
    op, rank = func.overloadpacket, rows[0].dim()
    if op is aten.nll_loss_forward:  # one number for each row
        return given["reduction"] == 0 and given["weight"] is None and len(rows) == 2
    if op in (aten.mm, aten.addmm):
        return len(rows) == 1 and rows[0] is given["self" if op is aten.mm else "mat1"]
    if op is aten.embedding:
        return len(rows) == 1 and rows[0] is given["indices"]
    if op is aten.index:
        first, *rest = given["indices"]
        return len(rows) == 1 and rows[0] is given["self"] and first is None and sum(x is not None for x in rest) == 1
    if any(x.dim() != rank for x in rows):
        return False
    if op in _LOSS_OPS and given["reduction"] != 0:
        return False
    if torch.Tag.pointwise in func.tags or op in _LIKE or op in _LOSS_OPS:
        return all(x.dim() < rank or x.dim() == rank and x.shape[0] == 1 for x in others)
    if op in _ALONG:
        dims = [given[name] for name in _DIMS if given.get(name) is not None]
        flat = [dim for entry in dims for dim in (entry if isinstance(entry, (list, tuple)) else [entry])]
        return bool(flat) and not others and all(dim % (rank + (op in _GROWING)) for dim in flat)
    if op is aten.expand:
        return len(given["size"]) == rank and given["size"][0] in (rows[0].shape[0], -1)
    if op in (aten.view, aten._unsafe_view):
        count, *rest = given["size"]
        return count == rows[0].shape[0] or count == -1 and math.prod(rest) == math.prod(rows[0].shape[1:])
    if op is aten.bmm:
        return not others
    if op is aten.permute:
        return given["dims"][0] % rank == 0
    if op is aten.constant_pad_nd:
        return len(given["pad"]) < 2 * rank
    return op is aten.native_layer_norm and len(given["normalized_shape"]) < rank


class _Verifying(Mode):
    """While it lasts, ops of rows make rows, or are refused."""

    def __init__(self, selections: Selections) -> None:
        super().__init__()
        self.selections = selections

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        tensors = _tensors((args, kwargs))
        rows = [x for x in tensors if self.selections.mask_of(x) is not None]
        if not rows or func.namespace == "prim":  # which asks for the device
            return func(*args, **kwargs)
        mask = self.selections.mask_of(rows[0])
        given = _given(func, args, kwargs)
        others = [x for x in tensors if self.selections.mask_of(x) is None]
        is_one = all(self.selections.mask_of(x) is mask for x in rows)
        written = [x for x in changed(func, args, kwargs) if self.selections.mask_of(x) is None]
        if not is_one or written or func not in _WHETHER and not _keeps_rows(func, given, rows, others):
            raise mask.error
        result = func(*args, **kwargs)
        if func not in _WHETHER:
            self.selections.note(_tensors(result), mask)
        return result


class Selections:
    """What masks have taken in one trace."""

    def __init__(self) -> None:
        self.masks: list[_Mask] = []
        # The memory that rows are in, by its identity.
        self.places: dict[int, tuple[_Mask, torch.UntypedStorage]] = {}
        # What a mask has taken, of what, and the mask.
        self.taken: list[tuple[torch.Tensor, torch.Tensor, torch.Tensor]] = []

    def note(self, tensors: Sequence[torch.Tensor], mask: _Mask) -> None:
        """These are rows."""
        for tensor in tensors:
            storage = tensor.untyped_storage()
            self.places[storage._cdata] = (mask, storage)

    def mask_of(self, x: torch.Tensor) -> Any:
        """The mask that has taken rows, None if a tensor is none of them."""
        if not self.places or x.layout != torch.strided:
            return None
        return self.places.get(x.untyped_storage()._cdata, (None,))[0]

    def check(self, tree: Any) -> None:
        """Raises what is said of rows if some are in the tree."""
        for tensor in _tensors(tree) if self.places else []:
            if (mask := self.mask_of(tensor)) is not None:
                raise mask.error

    def take(self, x: torch.Tensor, given: torch.Tensor, error: Exception) -> torch.Tensor:
        """`x[given]`."""
        found = [mask for mask in self.masks if mask.is_(given)]
        mask = found[0] if found else _Mask(given, given._version, given.reshape(-1).clone(), error)
        self.masks += [] if found else [mask]
        rows = x.reshape(-1, *x.shape[given.dim() :])
        first = torch.argmax(mask.rows.to(torch.uint8))[None]
        rows = torch.where(mask.beside(rows), rows, rows.detach().index_select(0, first))
        self.note([rows], mask)
        self.taken.append((rows, x, given))
        return rows

    def source(self, x: Any) -> tuple[torch.Tensor, torch.Tensor] | None:
        """What was taken as x, and by which mask."""
        return next(((of, mask) for rows, of, mask in self.taken if rows is x), None)

    def call(self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any], run: Any) -> Any:
        """The result of a function; run: what computes it."""
        rows = [x for x in _tensors((args, kwargs)) if self.mask_of(x) is not None] if self.places else []
        if not rows:
            return run()
        mask = self.mask_of(rows[0])
        if func in _GRADIENTS or any(isinstance(x.grad_fn, torch.autograd.function.BackwardCFunction) for x in rows):
            raise mask.error
        if func in _SIZES:
            return _size(func, args, kwargs, mask.error)
        if func is torch.Tensor.__setitem__ and self.mask_of(args[0]) is None:
            return self._put(args[0], args[1], args[2], mask)
        if func in _LOSSES:
            return self._loss(func, args, kwargs, mask)
        if func in _EXTREMA and len(args) == 1 and not kwargs:
            neutral = _EXTREMA[func](rows[0].dtype)
            return func(torch.where(mask.beside(args[0]), args[0], torch.tensor(neutral, dtype=rows[0].dtype)))
        if func in _SUMS and args and args[0] is rows[0]:
            keywords = {"dim" if name == "axis" else name: value for name, value in kwargs.items()}
            dims = keywords.get("dim", args[1] if len(args) > 1 else None)
            dims = list(range(rows[0].dim())) if dims is None else [dims] if isinstance(dims, int) else list(dims)
            if any(dim % rows[0].dim() == 0 for dim in dims):
                given = dict(zip(("dim", "keepdim"), args[1:])) | keywords | {"dim": dims}
                return self._sum(rows[0], dims, func in _MEANS, given, mask)
        with _Verifying(self):
            return run()

    def _put(self, x: torch.Tensor, index: Any, rows: Any, mask: _Mask) -> None:
        """`x[index] = rows`."""
        given = mask_in(x, index)
        if not mask.is_(given) or not isinstance(rows, torch.Tensor) or self.mask_of(rows) is not mask:
            raise mask.error
        rest = x.shape[given.dim() :]
        if tuple(rows.shape[1:]) != tuple(rest):
            raise mask.error
        beside = given.reshape(*given.shape, *[1] * len(rest))
        x.copy_(torch.where(beside, rows.to(x.dtype).reshape(x.shape), x))

    def _sum(
        self, x: torch.Tensor, dims: list[int], is_mean: bool, keywords: Mapping[str, Any], mask: _Mask
    ) -> torch.Tensor:
        kept = torch.where(mask.beside(x), x, torch.zeros((), dtype=x.dtype))
        if not is_mean:
            return kept.sum(**keywords)
        dtype = keywords.get("dtype") or x.dtype
        wide = torch.float32 if dtype in (torch.bfloat16, torch.float16) else dtype
        count = mask.rows.sum()
        for dim in {dim % x.dim() for dim in dims} - {0}:
            count = count * x.shape[dim]
        return (kept.sum(**{**keywords, "dtype": wide}) / count).to(dtype)

    def _loss(self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any], mask: _Mask) -> torch.Tensor:
        """A loss whose mean or sum is over rows."""
        bound = inspect.signature(func).bind(*args, **kwargs)
        bound.apply_defaults()
        asked = bound.arguments["reduction"]
        if bound.arguments.get("weight") is not None or any(
            bound.arguments.get(name) is not None for name in ("size_average", "reduce")
        ):
            raise mask.error
        bound.arguments["reduction"] = "none"
        with _Verifying(self):
            each = func(*bound.args, **bound.kwargs)
        if asked == "none":
            return each
        if asked not in ("mean", "sum") or self.mask_of(each) is not mask:
            raise mask.error
        total = self._sum(each, list(range(each.dim())), asked == "mean", {"dim": list(range(each.dim()))}, mask)
        if asked == "sum" or "ignore_index" not in bound.arguments:
            return total
        if bound.arguments.get("label_smoothing") or bound.arguments["target"].dim() != 1:
            raise mask.error
        counted = mask.rows & (bound.arguments["target"] != bound.arguments["ignore_index"])
        return torch.where(mask.rows, each, 0).sum() / counted.sum()


_MEANS = (torch.mean, torch.Tensor.mean)
_SUMS = (torch.sum, torch.Tensor.sum, *_MEANS)
_EXTREMA = {
    **dict.fromkeys((torch.max, torch.amax, torch.Tensor.max, torch.Tensor.amax), lowest),
    **dict.fromkeys((torch.min, torch.amin, torch.Tensor.min, torch.Tensor.amin), highest),
}
_LOSSES = (
    F.mse_loss, F.l1_loss, F.smooth_l1_loss, F.huber_loss, F.binary_cross_entropy, F.binary_cross_entropy_with_logits,
    F.cross_entropy, F.nll_loss, F.soft_margin_loss, F.poisson_nll_loss,
)  # fmt: skip
# Gradients have as many rows as all, and what functions of users make of them is not seen.
_GRADIENTS = (torch.Tensor.register_hook, torch.Tensor.retain_grad)
_SIZES = (
    torch.Tensor.shape.__get__, torch.Tensor.size, torch.Tensor.numel, torch.numel, torch.Tensor.nelement,
    torch.Tensor.__len__,
)  # fmt: skip


def _size(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any], error: Exception) -> Any:
    """A size of rows, unless it is that of all of them."""
    if func not in (torch.Tensor.shape.__get__, torch.Tensor.size):
        raise error
    shape = Shape(args[0].shape, error)
    dim = kwargs.get("dim", args[1] if len(args) > 1 else None)
    return shape if dim is None else shape[dim]
