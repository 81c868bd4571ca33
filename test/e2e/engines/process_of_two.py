"""One of several processes that run compiled programs together: RANK PROCESSES PORT FOLDER.

For every NAME.mlir in the folder, with NAME.json (its manifest) and NAME.npz (its global inputs), writes NAME.RANK.npz:
each output of each partition that ran here, as `OUTPUT_PARTITION`. All addresses are on the loopback interface.
"""

import functools
import json
import sys
from pathlib import Path

import jax
import numpy as np
from jax._src import xla_bridge
from shardonnay import boundary, engine

DEVICES = 8


def main(rank, processes, port, folder):
    jax.config.update("jax_num_cpu_devices", DEVICES // processes)
    make = xla_bridge._jax.make_gloo_tcp_collectives
    xla_bridge._jax.make_gloo_tcp_collectives = functools.partial(make, hostname="127.0.0.1")
    jax.distributed.initialize(f"127.0.0.1:{port}", processes, rank, local_device_ids=None)
    assert jax.process_count() == processes and len(jax.local_devices()) == DEVICES // processes
    for path in sorted(Path(folder).glob("*.mlir")):
        manifest = json.loads(path.with_suffix(".json").read_text())
        executable = engine.Executable(path.read_text(), manifest["devices"])
        with np.load(path.with_suffix(".npz")) as stored:
            inputs = [stored[f"arr_{index}"] for index in range(len(manifest["inputs"]))]
        shards = [
            boundary.shard(entry, value, manifest["mesh"])
            for entry, value in zip(manifest["inputs"], inputs, strict=True)
        ]
        found = {
            f"{output}_{partition}": piece
            for output, pieces in enumerate(executable(shards))
            for partition, piece in zip(executable.positions, pieces, strict=True)
        }
        np.savez(path.with_suffix(f".{rank}.npz"), **found)
        print(path.stem, flush=True)


if __name__ == "__main__":
    rank, processes, port = map(int, sys.argv[1:4])
    main(rank, processes, port, sys.argv[4])
