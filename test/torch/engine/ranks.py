"""One rank of a cluster (cluster.py): reads jobs from its standard input, a line each, and answers with a line each.

It imports torch and the engine; no JAX, no compiler.
"""

import json
import os
import sys
import traceback
from datetime import timedelta

import torch
import torch.distributed as dist
from shardonnay.torch import engine

RANK, WORLD = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
_kept = {}  # what functions of `call` keep from job to job


def executable(path):
    """The program, made by all ranks; None on those that it has no device for."""
    program = engine.load(path)
    groups = engine.Groups(range(program.devices))
    if RANK >= program.devices:
        groups.prepare(program)
        return None
    return engine.Executable(program, groups=groups)


def run(job):
    """Runs the program of `job["program"]` on this rank's inputs and writes what it returns."""
    step = executable(job["program"])
    if step is None:
        return {}
    inputs = torch.load(job["inputs"], weights_only=True)[RANK]
    if job.get("compile"):
        step.module = torch.compile(step.module, backend=job["compile"])
    for _ in range(job.get("times", 1)):
        outputs = step(*[value.clone() for value in inputs])
    torch.save(outputs, f"{job['outputs']}.{RANK}")
    found = {"nodes": len(step.module.graph.nodes)} if hasattr(step.module, "graph") else {}
    return {**found, "foreign": [name for name in ("jax", "jaxlib", "shardonnay._core") if name in sys.modules]}


def count_groups(job):
    """How many process groups there are on this rank, and what they cost it."""
    threads, descriptors = (len(os.listdir(f"/proc/self/{what}")) for what in ("task", "fd"))
    return {"groups": len(dist.distributed_c10d._world.pg_map), "threads": threads, "descriptors": descriptors}


def call(job):
    """Calls a function of a file with this job: what a test wants of every rank."""
    space = {}
    with open(job["file"]) as file:
        exec(compile(file.read(), job["file"], "exec"), space)
    return space[job["function"]]({**job, "kept": _kept})


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    seconds = float(os.environ.get("GROUP_TIMEOUT", "120"))
    dist.init_process_group("gloo", timeout=timedelta(seconds=seconds))
    print(json.dumps({"ready": RANK}), flush=True)
    for line in sys.stdin:
        job = json.loads(line)
        try:
            answer = {"run": run, "call": call, "groups": count_groups}[job["kind"]](job)
        except BaseException as error:  # noqa: BLE001 -- the cluster says which rank failed, and with what
            answer = {"error": f"{type(error).__name__}: {error}", "trace": traceback.format_exc()}
        print(json.dumps({"answer": answer}), flush=True)


if __name__ == "__main__":
    main()
