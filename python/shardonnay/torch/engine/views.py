"""Views of values that are left out where they show what is there already."""

from __future__ import annotations

from collections.abc import Sequence

from .lowering import Value


def permuted(x: Value, order: Sequence[int]) -> Value:
    return x if list(order) == sorted(order) else x.permute(list(order))


def reshaped(x: Value, own: Sequence[int], shape: Sequence[int]) -> Value:
    """`own`: the shape that it has."""
    return x if list(own) == list(shape) else x.reshape(list(shape))


def expanded(x: Value, own: Sequence[int], shape: Sequence[int]) -> Value:
    return x if list(own) == list(shape) else x.expand(list(shape))
