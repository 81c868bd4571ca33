"""Element types of a program, and the torch tensors that carry them.

torch computes on few types. Unsigned integers wider than a byte are carried in signed tensors of the same width, bit by
bit; integers of 2 and 4 bits in a byte, and floats of 8 bits in float32, each rounded after every op.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from ...errors import ShardonnayError


class EngineError(ShardonnayError, RuntimeError):
    """The engine cannot run this program, or not with what it was given."""

    located = False  # it names an op and its line


_PLAIN = {
    "i1": torch.bool,
    "i8": torch.int8,
    "i16": torch.int16,
    "i32": torch.int32,
    "i64": torch.int64,
    "ui8": torch.uint8,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "f32": torch.float32,
    "f64": torch.float64,
    "complex<f32>": torch.complex64,
    "complex<f64>": torch.complex128,
}
UNSIGNED = {"ui16": torch.int16, "ui32": torch.int32, "ui64": torch.int64}
_UNSIGNED_OUTSIDE = {"ui16": torch.uint16, "ui32": torch.uint32, "ui64": torch.uint64}
SMALL_INTEGERS = {"i2": torch.int8, "i4": torch.int8, "ui2": torch.uint8, "ui4": torch.uint8}
SMALL_FLOATS = {
    "f8E4M3FN": torch.float8_e4m3fn,
    "f8E5M2": torch.float8_e5m2,
    "f8E4M3FNUZ": torch.float8_e4m3fnuz,
    "f8E5M2FNUZ": torch.float8_e5m2fnuz,
    "f8E8M0FNU": torch.float8_e8m0fnu,
}


def carrier(element: str) -> torch.dtype:
    """The type of the tensors that carry elements of this MLIR type."""
    found = _PLAIN.get(element) or UNSIGNED.get(element) or SMALL_INTEGERS.get(element)
    if found is None and element in SMALL_FLOATS:
        found = torch.float32
    if found is None:
        raise EngineError(f"element type {element} has no tensor in torch; expected one of {', '.join(known())}")
    return found


def outside(element: str) -> torch.dtype:
    """The type that a user's tensor of these elements has."""
    return _UNSIGNED_OUTSIDE.get(element) or SMALL_FLOATS.get(element) or carrier(element)


def known() -> list[str]:
    return [*_PLAIN, *UNSIGNED, *SMALL_INTEGERS, *SMALL_FLOATS]


# Of the types without infinity: from this on a number becomes NaN, where torch takes the largest there is.
_TOO_LARGE = {"f8E4M3FN": math.nextafter(464.0, 1e9), "f8E4M3FNUZ": 248.0, "f8E5M2FNUZ": 61440.0}


def to_small(element: str, x: torch.Tensor) -> torch.Tensor:
    """A float32 as a float of 8 bits."""
    if element in _TOO_LARGE:
        x = torch.where(torch.abs(x).to(torch.float64) >= _TOO_LARGE[element], math.nan, x)
    return x.to(SMALL_FLOATS[element])


def width(element: str) -> int:
    """Bits of an integer or a float."""
    if element in SMALL_FLOATS:
        return 8
    return int(element.lstrip("uibf"))


def is_unsigned(element: str) -> bool:
    return element.startswith("ui") or element == "i1"


def is_integer(element: str) -> bool:
    return element.lstrip("u").startswith("i")


def is_complex(element: str) -> bool:
    return element.startswith("complex")


def is_float(element: str) -> bool:
    return not is_integer(element) and not is_complex(element)


@dataclass(frozen=True)
class TensorType:
    shape: tuple[int, ...]
    element: str

    @property
    def dtype(self) -> torch.dtype:
        return carrier(self.element)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def __str__(self) -> str:
        return f"tensor<{''.join(f'{extent}x' for extent in self.shape)}{self.element}>"


@dataclass(frozen=True)
class OtherType:
    """A token, a tuple, a tensor of unknown sizes: its text."""

    text: str

    def __str__(self) -> str:
        return self.text


Type = TensorType | OtherType
