"""Functions whose results have sizes that follow from numbers: `bincount`, and packed sequences.

A count up to a number that the user gives needs no other one. Sequences are packed by their lengths, which must be
constants of the program; recurrent layers then go through the steps with as many rows as each has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from .builder import Site, UnsupportedError
from .constants import Constants

aten = torch.ops.aten


def _bincount(x: torch.Tensor, weights: torch.Tensor | None = None, minlength: int = 0) -> torch.Tensor:
    """Numbers from `minlength` are not counted, which in eager mode make the result longer."""
    if not minlength:
        return torch.bincount(x, weights, minlength)
    dtype = torch.int64 if weights is None else torch.float32 if weights.dtype == torch.float32 else torch.float64
    each = torch.ones_like(x, dtype=dtype) if weights is None else weights.detach().to(dtype)
    inside = (x >= 0) & (x < minlength)
    return torch.zeros(minlength, dtype=dtype).index_add(0, torch.where(inside, x, 0).long(), each * inside)


def _places(sizes: Sequence[int], rows: int) -> torch.Tensor:
    """Where each step and row of padded sequences is in packed ones, -1 if it is in none."""
    places = torch.full((len(sizes), rows), -1)
    begin = 0
    for step, size in enumerate(sizes):
        places[step, :size] = torch.arange(begin, begin + size)
        begin += size
    return places


class Sizes:
    """The functions of one trace by what they stand for."""

    def __init__(self, known: Constants) -> None:
        self.known = known
        self.functions: dict[Any, Callable[..., Any]] = {
            torch.bincount: self.bincount,
            torch.Tensor.bincount: self.bincount,
            torch._pack_padded_sequence: self.pack,
            torch._pad_packed_sequence: self.pad,
        }
        for name in ("lstm", "gru", "rnn_tanh", "rnn_relu"):
            self.functions[getattr(torch, name)] = self._layer(getattr(torch, name), getattr(aten, name).data)

    def bincount(self, x: torch.Tensor, weights: torch.Tensor | None = None, minlength: int = 0) -> torch.Tensor:
        """`torch.bincount`."""
        given = [x] if weights is None else [x, weights]
        if any(self.known.value(tensor) is None for tensor in given):
            return _bincount(x, weights, minlength)
        return torch.bincount(x, weights, minlength)

    def _numbers(self, x: torch.Tensor) -> list[int]:
        if self.known.value(x) is None:
            raise UnsupportedError(
                "sequences are packed by lengths that an argument says, so that the sizes of all that follows depend "
                "on numbers in a tensor; expected lengths as a list of numbers, which the program is made for, or "
                "padded sequences and a mask",
                Site(*self.known.caller()),
            )
        return [int(number) for number in x]

    def pack(self, x: torch.Tensor, lengths: torch.Tensor, batch_first: bool) -> tuple[torch.Tensor, torch.Tensor]:
        """The steps of padded sequences one behind the other, each with its rows; and how many."""
        numbers = self._numbers(lengths)
        x = x.transpose(0, 1) if batch_first else x
        if numbers != sorted(numbers, reverse=True) or not numbers or numbers[-1] < 1 or numbers[0] > x.shape[0]:
            raise ValueError(
                f"lengths {numbers}: expected numbers from 1 to {x.shape[0]}, the largest first, or "
                "enforce_sorted=False"
            )
        sizes = [sum(number > step for number in numbers) for step in range(numbers[0])]
        places = torch.tensor([step * x.shape[1] + row for step, size in enumerate(sizes) for row in range(size)])
        return x.reshape(-1, *x.shape[2:]).index_select(0, places), torch.tensor(sizes)

    def pad(
        self, data: torch.Tensor, sizes: torch.Tensor, batch_first: bool, value: float, total: int
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Packed sequences, padded; and their lengths."""
        numbers = self._numbers(sizes)
        if 0 < total < len(numbers):
            raise ValueError(f"total_length={total}, expected {len(numbers)} or more, the longest sequence's length")
        steps = numbers + [0] * (max(total, len(numbers)) - len(numbers))
        places = _places(steps, numbers[0])
        taken = data.index_select(0, places.clamp(min=0).flatten()).reshape(*places.shape, *data.shape[1:])
        inside = (places >= 0).reshape(*places.shape, *[1] * (data.dim() - 1))
        found = torch.where(inside, taken, torch.full((), value, dtype=data.dtype))
        lengths = [sum(size > row for size in numbers) for row in range(numbers[0])]
        return found.transpose(0, 1) if batch_first else found, torch.tensor(lengths)

    def _layer(self, function: Any, packed: Any) -> Callable[..., Any]:
        steps = packed.py_kernels[torch._C.DispatchKey.CompositeImplicitAutograd]

        def run(*args: Any, **kwargs: Any) -> Any:
            if not isinstance(args[3], (list, tuple)):  # weights are there if the second argument is a number of rows
                return function(*args, **kwargs)
            return steps(args[0], self._numbers(args[1]), *args[2:], **kwargs)

        return run
