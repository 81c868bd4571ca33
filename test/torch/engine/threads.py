"""Eight ranks as threads of this process: a model takes seconds there, whatever else the machine does. They send
nothing, so gloo itself is for `ranks`.
"""

import threading
import time
import traceback

import on_ranks
import torch
import torch.distributed as dist
from cluster import RankError
from torch.testing._internal.distributed import multi_threaded_pg as threaded


class _ReduceScatter:
    """In place of torch's, which only adds."""

    def __init__(self, op):
        self.reduce = threaded._reduce_ops[getattr(op, "op", op)]

    @torch.no_grad()
    def work(self, data):
        for rank, (outputs, _) in enumerate(data):
            outputs[0].detach().copy_(self.reduce([rows[0][rank] for _, rows in data]))


class Threads:
    """As a Cluster (cluster.py), for the functions of on_ranks.py; each job has its own threads and process groups."""

    def __init__(self, world=8, timeout=300):
        self.world, self.timeout = world, timeout

    def __call__(self, *, function, **job):
        answers, errors, store = [None] * self.world, [], dist.HashStore()

        def rank_of(rank):
            try:
                dist.init_process_group("threaded", rank=rank, world_size=self.world, store=store)
                answers[rank] = getattr(on_ranks, function)({**job, "kept": {}})
            except BaseException as error:  # noqa: BLE001 -- said below; the others no longer wait for it
                errors.append(f"rank {rank}: {traceback.format_exc()}")
                threaded.ProcessLocalGroup.exception_handle(error)
            finally:
                if dist.is_initialized():
                    dist.destroy_process_group()

        scatter, threaded.ReduceScatter = threaded.ReduceScatter, _ReduceScatter
        threaded._install_threaded_pg()
        torch._C._distributed_c10d._set_thread_isolation_mode(True)
        try:
            threads = [threading.Thread(target=rank_of, args=(rank,), daemon=True) for rank in range(self.world)]
            for thread in threads:
                thread.start()
            end = time.monotonic() + self.timeout
            for thread in threads:
                thread.join(max(0, end - time.monotonic()))
        finally:
            threaded.ProcessLocalGroup.reset()
            torch._C._distributed_c10d._set_thread_isolation_mode(False)
            threaded._uninstall_threaded_pg()
            threaded.ReduceScatter = scatter
        if errors:
            raise RankError(errors[0])
        if any(thread.is_alive() for thread in threads):
            raise RankError(f"a rank has not ended after {self.timeout} s")
        return answers
