"""Eight ranks as threads of this process, for counts of bytes where eight processes are too many: no step times.

The process group is torch's for tests ("threaded"), which bypasses the dispatcher where `fully_shard` calls it; so what it is asked
for is counted in itself, for both sides alike.
"""

import contextlib
import threading
import traceback

import torch
import torch.distributed as dist
from torch.testing._internal.distributed import multi_threaded_pg as threaded

_own = threading.local()
_building = threading.Lock()


class _ReduceScatter(threaded.ReduceScatter):
    """Of any reduction; torch's adds only."""

    def __init__(self, op):
        self.op = getattr(op, "op", op)

    @torch.no_grad()
    def work(self, data):
        for rank, (outputs, _) in enumerate(data):
            outputs[0].detach().copy_(threaded._reduce_ops[self.op]([inputs[0][rank] for _, inputs in data]))


def _size(tensor):
    return tensor.numel() * tensor.element_size()


def _moved(group, output, x, gets=None, gives=None, *_):
    if not gives:
        return (group.size() - 1) * _size(x) // group.size()
    return _size(x) // max(1, x.shape[0]) * (sum(gives) - list(gives)[dist.get_group_rank(group, dist.get_rank())])


# What a device sends in rings: method -> (kind, bytes).
_METHODS = {
    "allreduce": ("reduce", lambda group, xs, *_: sum(2 * (group.size() - 1) * _size(x) // group.size() for x in xs)),
    "allreduce_coalesced": ("reduce", lambda group, xs, *_: sum(2 * (group.size() - 1) * _size(x) // group.size() for x in xs)),
    "allgather": ("gather", lambda group, _, xs, *__: sum((group.size() - 1) * _size(x) for x in xs)),
    "all_gather_single": ("gather", lambda group, _, x, *__: (group.size() - 1) * _size(x)),
    "all_gather_single_coalesced": ("gather", lambda group, _, xs, *__: sum((group.size() - 1) * _size(x) for x in xs)),
    "reduce_scatter": ("scatter", lambda group, outputs, *_: sum((group.size() - 1) * _size(x) for x in outputs)),
    "reduce_scatter_single": ("scatter", lambda group, _, x, *__: (group.size() - 1) * _size(x) // group.size()),
    "reduce_scatter_single_coalesced": ("scatter", lambda group, _, xs, *__: sum((group.size() - 1) * _size(x) // group.size() for x in xs)),
    "all_to_all_single": ("move", _moved),
    "broadcast": ("broadcast", lambda group, xs, *_: sum(map(_size, xs))),
}  # fmt: skip


class Traffic:
    """Counts what this rank asks its process groups for, as on_ranks.Traffic does."""

    def __enter__(self):
        self.bytes, self.comm_counts = 0, {}
        _own.traffic = self
        return self

    def __exit__(self, *_):
        _own.traffic = None


def _counting(name, kind, bytes_of):
    asked = getattr(threaded.ProcessLocalGroup, name)

    def method(self, *arguments, **keywords):
        traffic = getattr(_own, "traffic", None)
        if traffic is None:
            return asked(self, *arguments, **keywords)
        traffic.bytes += bytes_of(self, *arguments)
        traffic.comm_counts[kind] = traffic.comm_counts.get(kind, 0) + 1
        _own.traffic = None  # a method that calls another one is one collective
        try:
            return asked(self, *arguments, **keywords)
        finally:
            _own.traffic = traffic

    return method


@contextlib.contextmanager
def _process_groups():
    kept = {name: getattr(threaded.ProcessLocalGroup, name) for name in _METHODS}
    scatter = threaded.ReduceScatter
    threaded._install_threaded_pg()
    torch._C._distributed_c10d._set_thread_isolation_mode(True)
    threaded.ReduceScatter = _ReduceScatter
    for name, (kind, bytes_of) in _METHODS.items():
        setattr(threaded.ProcessLocalGroup, name, _counting(name, kind, bytes_of))
    try:
        yield
    finally:
        for name, method in kept.items():
            setattr(threaded.ProcessLocalGroup, name, method)
        threaded.ReduceScatter = scatter
        threaded.ProcessLocalGroup.reset()
        torch._C._distributed_c10d._set_thread_isolation_mode(False)
        threaded._uninstall_threaded_pg()


class Threads:
    """As a Cluster (test/torch/engine/cluster.py), of jobs that call a function."""

    def __init__(self, world=8):
        self.world = world

    def __call__(self, *, function, **job):
        import on_ranks
        import programs

        on_ranks.Traffic = Traffic
        answers, errors, store = [None] * self.world, [], dist.HashStore()
        built = programs.build

        def build(name):  # random numbers are all threads'
            with _building:
                return built(name)

        def run(rank):
            try:
                dist.init_process_group("threaded", rank=rank, world_size=self.world, store=store)
                answers[rank] = getattr(on_ranks, function)(job)
            except BaseException as error:  # noqa: BLE001 -- also what ends the others
                errors.append((isinstance(error, SystemExit), traceback.format_exc()))
                threaded.ProcessLocalGroup.exception_handle(error)
            finally:
                if dist.is_initialized():
                    dist.destroy_process_group()

        programs.build = build
        with _process_groups():
            ranks = [threading.Thread(target=run, args=(rank,), daemon=True) for rank in range(self.world)]
            for rank in ranks:
                rank.start()
            for rank in ranks:
                rank.join()
        programs.build = built
        if errors:
            raise RuntimeError(min(errors)[1])
        return answers

    def close(self):
        pass
