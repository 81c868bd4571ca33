"""One process of a program that MLIR lowered: mpirun -n N python upstream_worker.py FOLDER, with FOLDER/program.so,
arrays.npz.

It calls the program's C interface, whose arrays are MLIR's memref descriptors, and writes FOLDER/RANK.npz.
"""

import ctypes
import sys
from pathlib import Path

import numpy as np

folder = Path(sys.argv[1])
program = ctypes.CDLL(str(folder / "program.so"), mode=ctypes.RTLD_GLOBAL)
program.MPI_Init(None, None)
rank = ctypes.c_int()
MPI_COMM_WORLD = 0x44000000  # MPICH's number, which MLIR has in the program too
program.MPI_Comm_rank(MPI_COMM_WORLD, ctypes.byref(rank))


def descriptor(rank_of_array):
    """Allocated, aligned, offset, sizes, strides."""
    return ctypes.c_int64 * (3 + 2 * rank_of_array)


def describe(array):
    strides = [stride // array.itemsize for stride in array.strides]
    return descriptor(array.ndim)(array.ctypes.data, array.ctypes.data, 0, *array.shape, *strides)


def read(words, like):
    """The array of a descriptor; rows may be apart."""
    sizes, strides = words[3 : 3 + like.ndim], words[3 + like.ndim : 3 + 2 * like.ndim]
    extent = 1 + sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))
    start = words[1] + words[2] * like.itemsize
    flat = np.frombuffer((ctypes.c_char * (extent * like.itemsize)).from_address(start), like.dtype)
    return np.lib.stride_tricks.as_strided(flat, sizes, [stride * like.itemsize for stride in strides]).copy()


with np.load(folder / "arrays.npz") as stored:
    inputs, outputs = [], []
    while f"in{len(inputs)}.{rank.value}" in stored:
        inputs.append(np.ascontiguousarray(stored[f"in{len(inputs)}.{rank.value}"]))
    while f"out{len(outputs)}" in stored:
        outputs.append(stored[f"out{len(outputs)}"])
sizes = [3 + 2 * output.ndim for output in outputs]
results = (ctypes.c_int64 * sum(sizes))()
arguments = [describe(array) for array in inputs]
program._mlir_ciface_main(ctypes.byref(results), *(ctypes.byref(each) for each in arguments))
starts = np.cumsum([0, *sizes])
np.savez(folder / f"{rank.value}.npz",
         **{f"out{at}": read(list(results[starts[at] : starts[at + 1]]), output) for at, output in enumerate(outputs)})
program.MPI_Finalize()
