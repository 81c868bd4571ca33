"""Tensors that are not dense, which no program has: gradients that PyTorch makes sparse are dense here, zeros where no
index was; others are refused where forward makes them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.nn.functional as F

from .builder import Site, UnsupportedError
from .replacing import replaced

_NESTING = ("nested_tensor", "as_nested_tensor", "nested_tensor_from_jagged")


def _with_dense_gradient(function: Callable[..., Any], place: int) -> Callable[..., Any]:
    """place: of the argument that asks for a sparse gradient, called `sparse`."""

    def run(*args: Any, **kwargs: Any) -> Any:
        args = (*args[:place], False, *args[place + 1 :]) if len(args) > place else args
        return function(*args, **{**kwargs, **({"sparse": False} if "sparse" in kwargs else {})})

    return run


WITHOUT_SPARSE_GRADIENTS = {
    function: _with_dense_gradient(function, place)
    for function, place in (
        (F.embedding, 6), (F.embedding_bag, 7), (torch.embedding, 4), (torch.embedding_bag, 5)
    )
}  # fmt: skip


def check_dense(x: torch.Tensor, site: Callable[[], Site]) -> None:
    """Refuses a result that is not dense, at the line that asked for it."""
    if x.layout != torch.strided and not x.is_nested:
        raise UnsupportedError(
            f"a tensor that is {x.layout}; expected a dense one, or what it is for as gather, index_add or "
            "scatter_reduce of a dense one",
            site(),
        )


@contextlib.contextmanager
def without_nesting(site: Callable[[], Site]) -> Iterator[None]:
    """While it lasts, nested tensors are refused."""

    def refusing() -> Callable[..., Any]:
        """A function for each name, as TorchDynamo has one place for each function of PyTorch's."""

        def refuse(*_: Any, **__: Any) -> Any:
            raise UnsupportedError(
                "a nested tensor; expected a dense one with lengths or a mask (torch.nn.utils.rnn.pad_sequence)", site()
            )

        return refuse

    with contextlib.ExitStack() as stack:
        for name in _NESTING:
            stack.enter_context(replaced(torch.nested, name, refusing()))
        yield
