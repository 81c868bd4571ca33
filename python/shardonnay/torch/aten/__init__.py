"""Aten ops in StableHLO: a table with a function for each op, a file for each family."""

from . import (
    algebra,
    bags,
    composed,
    composed_algebra,
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
    special,
    views,
)
from .table import TABLE, Result

__all__ = [
    "TABLE",
    "Result",
    "algebra",
    "bags",
    "composed",
    "composed_algebra",
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
    "special",
    "views",
]
