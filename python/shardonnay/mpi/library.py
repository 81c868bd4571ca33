"""A program as a shared library, called by a Python process that mpirun has started.

    mpirun -n 8 python step.py       # with: library = Library("step.so"); library(shards, outputs)
"""

import ctypes

import numpy as np

from .toolchain import MpiError


class Library:
    """What `shardonnay build --shared` wrote. Every process of the program makes one, and calls it alike."""

    def __init__(self, path):
        # Its MPI loads parts of its own at run time, which look for its symbols.
        self._library = ctypes.CDLL(str(path), mode=ctypes.DEFAULT_MODE)
        self._library.shardonnay_start()

    def rank(self):
        """The device that this process is."""
        self._library.shardonnay_rank.restype = ctypes.c_int64
        return self._library.shardonnay_rank()

    def __call__(self, inputs, outputs):
        """Runs once: `inputs` and `outputs` are this device's shards in order; the latter are written to."""
        for array in (*inputs, *outputs):
            if not isinstance(array, np.ndarray) or not array.flags.c_contiguous:
                raise MpiError("expected arrays in row-major order")
        addresses = [array.ctypes.data for array in (*inputs, *outputs)]
        self._library.shardonnay_execute((ctypes.c_void_p * len(addresses))(*addresses))

    def close(self, ends_mpi=True):
        """Frees its communicators. ends_mpi: and ends MPI if this library started it."""
        (self._library.shardonnay_stop if ends_mpi else self._library.shardonnay_close)()
