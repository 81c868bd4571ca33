"""What tests have every rank do (ranks.py, `call`)."""

import os
import sys
import time

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import distribute_tensor


def kept(job, key, make):
    """What a rank makes once for all jobs: a mesh has process groups of its own."""
    if key not in job["kept"]:
        job["kept"][key] = make()
    return job["kept"][key]


def mesh_of(job):
    """The mesh of the job's axes, of the first ranks; the others wait elsewhere."""
    sizes, names = tuple(job["sizes"]), tuple(job["names"])
    return kept(job, (sizes, names), lambda: init_device_mesh("cpu", sizes, mesh_dim_names=names))


def values_of(job):
    return torch.load(job["values"], weights_only=True)


def train(job):
    """Some steps; what the state is afterwards, whole, from rank 0."""
    from shardonnay.torch import step as steps

    mesh = mesh_of(job)
    if mesh.get_coordinate() is None:
        steps.prepare(job["program"], mesh)
        return {}
    step = steps.load(job["program"], mesh)
    values = values_of(job)
    state = step.shard(values)
    if "restore" in job:
        dcp.load(dict(state), checkpoint_id=job["restore"])
    if "compile" in job:
        torch._dynamo.reset()
        step.executable.module = torch.compile(step.executable.module, backend=job["compile"])
    held = {name: value.to_local().data_ptr() for name, value in state.items()}
    batch = [values[name] for name in step.names("input")]
    seeds = [{"seed": torch.tensor(at)} if step.names("seed") else {} for at in range(job["times"])]
    losses = [float(step(state, *batch, **seed)["loss"]) for seed in seeds]
    if "checkpoint" in job:
        dcp.save(dict(state), checkpoint_id=job["checkpoint"])
    whole = {name: full(state[name], step.group) for name in step.names("parameter", "buffer")}
    if dist.get_rank() == 0:
        torch.save(whole, job["outputs"])
    moved = [name for name, value in state.items() if value.to_local().data_ptr() != held[name]]
    return {"losses": losses, "moved": moved, "placements": {name: str(p) for name, p in step.placements.items()},
            "unsaid": {name: list(words) for name, words in step.unsaid.items()},
            "foreign": [name for name in ("jax", "jaxlib", "shardonnay._core") if name in sys.modules]}  # fmt: skip


def full(value, group=None):
    """The whole tensor by the exchange of what the ranks hold, not by DTensor's own gather."""
    from shardonnay.torch.regions import Exchange, placed_regions

    mesh = value.device_mesh
    ranks = mesh.mesh.flatten().tolist()
    whole = tuple(tuple(range(extent)) for extent in value.shape)
    exchange = Exchange(
        placed_regions(value.shape, mesh, value.placements), [whole] * len(ranks), ranks, ranks.index(dist.get_rank())
    )
    return exchange(value.to_local().contiguous(), group)


def shard_module(job):
    """A module's parameters become DTensors, its state dict goes there and back."""
    from shardonnay.torch import step as steps

    step = steps.load(job["program"], mesh_of(job))
    values = values_of(job)
    module = torch.nn.Module()
    for name in step.names("parameter"):
        owner, *path = module, *name.split(".")
        for part in path[:-1]:
            if part not in owner._modules:
                owner.add_module(part, torch.nn.Module())
            owner = owner._modules[part]
        owner.register_parameter(path[-1], torch.nn.Parameter(values[name].clone()))
    state = step.shard(module)
    batch = [values[name] for name in step.names("input")]
    step(state, *batch)
    own = dict(module.named_parameters())
    shares = all(own[name].to_local().data_ptr() == state[name].to_local().data_ptr() for name in own)
    kinds = {type(parameter.data).__name__ for parameter in own.values()}
    saved = step.state_dict(state)
    missing = module.load_state_dict(saved)
    step.load_state_dict(state, {name: values[name] for name in own})
    back = all(torch.equal(full(state[name]), values[name]) for name in own)
    return {"shares": shares, "kinds": sorted(kinds), "missing": list(missing.missing_keys), "back": back}


def exchange(job):
    """Tensors in every pair of placements, of sizes that divide nothing: what is exchanged is what is there."""
    from torch.distributed.tensor import Replicate, Shard
    from torch.distributed.tensor.placement_types import _StridedShard

    from shardonnay.torch.regions import Exchange, placed_regions, select

    mesh = mesh_of(job)
    ranks, own = mesh.mesh.flatten().tolist(), dist.get_rank()
    choices = [(Replicate(), Replicate()), (Shard(0), Replicate()), (Replicate(), Shard(1)), (Shard(0), Shard(0)),
               (Shard(1), Shard(0)), (_StridedShard(0, split_factor=mesh.mesh.shape[1]), Shard(0))]
    wrong = []
    for shape in ((7, 5), (1, 9), (10, 2), (0, 3)):
        whole = torch.arange(shape[0] * shape[1], dtype=torch.float32).reshape(shape)
        for dtype in (torch.float32, torch.bfloat16, torch.bool):
            for source in choices:
                for target in choices:
                    a, b = (placed_regions(shape, mesh, placements) for placements in (source, target))
                    data = whole.to(dtype)
                    found = Exchange(a, b, ranks, own)(select(data, a[own]).contiguous())
                    if not torch.equal(found, select(data, b[own])):
                        wrong.append(f"{shape} {dtype} {source} {target}")
    # DTensor's own shards are where we say they are.
    for placements in choices[:5]:
        data = torch.arange(70.0).reshape(7, 10)
        local = distribute_tensor(data, mesh, placements).to_local()
        if not torch.equal(local, select(data, placed_regions((7, 10), mesh, placements)[own])):
            wrong.append(f"{placements}")
    return {"wrong": wrong}


def train_until_it_fails(job):
    """Steps of a saved step until another rank is gone."""
    from shardonnay.torch import step as steps

    step = steps.load(job["program"], mesh_of(job))
    values = values_of(job)
    state = step.shard(values)
    batch = [values[name] for name in step.names("input")]
    return _until(lambda: step(state, *batch), job)


def _until(step, job):
    """How long it took to say that a rank was gone, and what was said. The victim ends, or hangs for `job["hangs"]`
    seconds first.
    """
    step()
    if dist.get_rank() == job["victim"]:
        time.sleep(job.get("hangs", 0))
        os._exit(1)
    start = time.monotonic()
    try:
        while True:
            step()
    except RuntimeError as error:
        return {"seconds": time.monotonic() - start, "message": str(error)}


def until_it_fails(job):
    """Steps until another rank is gone; how long it took to say so, and what it said."""
    from shardonnay.torch import engine

    program = engine.load(job["program"])
    groups = engine.Groups(range(program.devices))
    if dist.get_rank() >= program.devices:
        groups.prepare(program)
        return {}
    step = engine.Executable(program, groups=groups)
    return _until(lambda: step(torch.ones(4)), job)
