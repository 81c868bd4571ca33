"""What each process of a batch does: one program after the other, each a shared library, in one run of MPI.

    mpirun -n 8 python batch_worker.py FOLDER     with FOLDER/N.so, FOLDER/N.npz: in0.RANK ..., shapes and types of
                                                  results

It writes FOLDER/N.RANK.npz: out0, ... A line to stderr says which program runs.
"""

import sys
from pathlib import Path

import numpy as np
from shardonnay.mpi.library import Library

folder, first, rank = Path(sys.argv[1]), None, None
for path in sorted(folder.glob("*.so"), key=lambda path: int(path.stem)):
    library = Library(path)
    first = first or library
    rank = library.rank()
    print(f"rank {rank}: {path.stem}", file=sys.stderr, flush=True)
    with np.load(path.with_suffix(".npz")) as stored:
        inputs, at = [], 0
        while f"in{at}.{rank}" in stored:
            inputs.append(np.ascontiguousarray(stored[f"in{at}.{rank}"]))
            at += 1
        outputs, at = [], 0
        while f"shape{at}" in stored:
            outputs.append(np.zeros(tuple(stored[f"shape{at}"]), f"V{stored[f'bytes{at}']}"))
            at += 1
    library(inputs, outputs)
    np.savez(folder / f"{path.stem}.{rank}.npz", **{f"out{at}": output for at, output in enumerate(outputs)})
    if library is not first:
        library.close(ends_mpi=False)
first.close()
