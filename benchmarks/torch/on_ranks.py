"""What a rank does: steps as users of DTensor and `fully_shard` write them, and steps of a saved program; both counted
alike.
"""

import statistics
import time

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as funcol
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Replicate, distribute_tensor
from torch.distributed.tensor.debug import CommDebugMode
from torch.distributed.tensor.experimental import implicit_replication
from torch.nn.attention import SDPBackend, sdpa_kernel


class Traffic(CommDebugMode):
    """Counts collectives as CommDebugMode does, and the bytes that this device sends for them in rings."""

    def __init__(self):
        super().__init__()
        self.bytes = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        before = sum(self.comm_counts.values())
        result = super().__torch_dispatch__(func, types, args, kwargs)
        if result is not NotImplemented and sum(self.comm_counts.values()) > before:
            self.bytes += sent(func, args)
        return result


def size_of(tensor):
    return tensor.numel() * tensor.element_size()


def group_of(value):
    """The process group of a functional collective's name, or of c10d's boxed object."""
    if isinstance(value, str):
        return dist.distributed_c10d._resolve_process_group(value)
    return dist.ProcessGroup.unbox(value) if isinstance(value, torch.ScriptObject) else value


def sent(func, args):
    name = func._schema.name.split("::")[1]
    if name == "all_to_all_single":
        x, _, gives, group = args
        group = group_of(group)
        row = size_of(x) // max(1, x.shape[0])
        return row * (sum(gives) - gives[dist.get_group_rank(group, dist.get_rank())])
    if name.startswith("_allgather_base"):
        return size_of(args[0]) - size_of(args[1])
    if name.startswith("_reduce_scatter_base"):
        return size_of(args[1]) - size_of(args[0])
    if name in ("allreduce_", "allreduce"):
        count = group_of(args[1]).size()
        return sum(2 * (count - 1) * size_of(x) // count for x in args[0])
    count = group_of(args[-1]).size()
    if name.startswith("all_reduce"):
        return 2 * (count - 1) * size_of(args[0]) // count
    if name.startswith("all_gather"):
        return (count - 1) * size_of(args[0])
    if name.startswith("reduce_scatter"):
        return (count - 1) * size_of(args[0]) // count
    if name == "broadcast":
        return size_of(args[0])
    raise NotImplementedError(f"bytes of {name}")


def _all_to_all(input, gather_dim, shard_dim, mesh, mesh_dim):
    """DTensor gathers where a CPU mesh has to move a dim; an all-to-all is what it does elsewhere, and what is
    counted.
    """
    group = mesh.get_group(mesh_dim)
    count = group.size()
    rows = torch.stack(input.chunk(count, shard_dim)).contiguous()
    found = funcol.all_to_all_single(rows, None, None, group)
    found = found.wait() if hasattr(found, "wait") else found
    return torch.cat(list(found.unbind(0)), gather_dim).contiguous()


def _with_all_to_all():
    import torch.distributed.tensor._collective_utils as utils
    import torch.distributed.tensor.placement_types as types

    for module in (utils, types):
        if hasattr(module, "shard_dim_alltoall"):
            module.shard_dim_alltoall = _all_to_all


def placed(model, mesh, strategy):
    """The model's parameters as DTensors."""
    import programs

    for owner in model.modules():
        for leaf, parameter in list(owner._parameters.items()):
            if parameter is None:
                continue
            name = next(name for name, value in model.named_parameters(remove_duplicate=False) if value is parameter)
            each = programs.placements(strategy, name, parameter)
            owner._parameters[leaf] = torch.nn.Parameter(
                distribute_tensor(parameter.data, mesh, each, src_data_rank=None)
            )
        for leaf, buffer in list(owner._buffers.items()):
            if buffer is not None:
                owner._buffers[leaf] = distribute_tensor(buffer, mesh, [Replicate()] * mesh.ndim, src_data_rank=None)
    return model


def fully_sharded(model, mesh):
    from torch.distributed.fsdp import fully_shard

    for name in ("blocks", "layers", "attention", "up", "gate", "down"):
        for owner in list(model.modules()):
            part = getattr(owner, name, None)
            if isinstance(part, torch.nn.ModuleList):
                for each in part:
                    fully_shard(each, mesh=mesh)
    for part in model.values() if isinstance(model, torch.nn.ModuleDict) else [model]:
        fully_shard(part, mesh=mesh)


def prepared_dtensor(job):
    """A step as users of DTensor write it, or with fully_shard."""
    import programs

    _with_all_to_all()
    strategy = job["strategy"]
    mesh = mesh_of(job)
    model, loss_fn, batch = programs.build(job["program"])
    if strategy == "fsdp":
        fully_sharded(model, mesh)
        own = [x.chunk(mesh.size())[dist.get_rank()] for x in batch]
    else:
        placed(model, mesh, strategy)
        own = [distribute_tensor(x, mesh, programs.batch_placements(strategy), src_data_rank=None) for x in batch]
    optimizer = programs.OPTIMIZER(model.parameters())

    def step():
        optimizer.zero_grad()
        with sdpa_kernel(SDPBackend.MATH), implicit_replication():
            loss = loss_fn(model, *own)
            loss.backward()
            for parameter in model.parameters():  # once, where AdamW by itself has each of its ops do it
                if isinstance(parameter.grad, DTensor) and parameter.grad.placements != parameter.placements:
                    parameter.grad = parameter.grad.redistribute(placements=parameter.placements)
            optimizer.step()
        if isinstance(loss, DTensor):
            return float(loss.detach().full_tensor())
        return float(funcol.all_reduce(loss.detach(), "sum", mesh) / mesh.size())

    return step


def prepared_program(job):
    """A step of a saved program."""
    import programs
    from shardonnay.torch import step as steps

    mesh = mesh_of(job)
    model, _, batch = programs.build(job["program"])
    loaded = steps.load(job["saved"], mesh)
    state = loaded.shard(model)
    own = [distribute_tensor(x, mesh, programs.batch_placements(job["strategy"]), src_data_rank=None) for x in batch]
    return lambda: float(loaded(state, *own)["loss"])


def kept(job, key, make):
    """What a rank makes once for all programs: the threads of a mesh's process groups that are left behind would take
    time from those that are measured.
    """
    if key not in job["kept"]:
        job["kept"][key] = make()
    return job["kept"][key]


def mesh_of(job):
    import programs

    axes = programs.MESHES[job["strategy"]]
    return kept(job, job["strategy"], lambda: init_device_mesh("cpu", tuple(axes.values()), mesh_dim_names=tuple(axes)))


def found(traffic, losses=()):
    """What is said of a step."""
    counts = {str(op).rpartition(".")[2]: count for op, count in traffic.comm_counts.items()}
    return {"losses": list(losses), "bytes": traffic.bytes, "counts": counts, "collectives": sum(counts.values()),
            "ms": []}


def contest(job):
    """Both steps: losses, bytes and collectives of the second one, milliseconds of the others, which take turns."""
    steps = {"theirs": prepared_dtensor(job)}
    if "saved" in job:
        steps["ours"] = prepared_program(job)
    counted = {}
    for name, step in steps.items():
        losses = [step()]
        with Traffic() as traffic:
            losses.append(step())
        counted[name] = found(traffic, losses)
    for _ in range(job["times"]):
        for name, step in steps.items():
            dist.barrier()
            start = time.perf_counter()
            counted[name]["losses"].append(step())
            dist.barrier()
            counted[name]["ms"].append(1e3 * (time.perf_counter() - start))
    for each in counted.values():
        each["ms"] = statistics.median(each["ms"])
    return counted
