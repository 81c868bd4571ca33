"""Aten ops in StableHLO: a table with a function for each op, a file for each family."""

from . import (
    bags,
    contraction,
    convolution,
    elementwise,
    fourier,
    indexing,
    ordering,
    pooling,
    randoms,
    reductions,
    sampling,
    sharding,
    views,
)
from .table import TABLE, Result

__all__ = [
    "TABLE",
    "Result",
    "bags",
    "contraction",
    "convolution",
    "elementwise",
    "fourier",
    "indexing",
    "ordering",
    "pooling",
    "randoms",
    "reductions",
    "sampling",
    "sharding",
    "views",
]
