"""The ranks of a step one after the other in this process, with a process group that sends nothing: bytes without
numbers or times.
"""

import on_ranks
import torch.distributed as dist
from torch.testing._internal.distributed.fake_pg import FakeStore


def _counted(make, job, rank, world):
    """Bytes and collectives of the second step of a rank."""
    dist.init_process_group("fake", store=FakeStore(), rank=rank, world_size=world)
    try:
        step = make({**job, "kept": {}})
        step()
        with on_ranks.Traffic() as traffic:
            step()
    finally:
        dist.destroy_process_group()
    return on_ranks.found(traffic)


class OneProcess:
    """As a Cluster (test/torch/engine/cluster.py) for the job of run.py; DTensor sends as much from every rank."""

    def __init__(self, world=8):
        self.world = world

    def __call__(self, **job):
        theirs = _counted(on_ranks.prepared_dtensor, job, 0, self.world)
        return [
            {"ours": _counted(on_ranks.prepared_program, job, rank, self.world), "theirs": theirs}
            for rank in range(self.world)
        ]

    def close(self):
        pass
