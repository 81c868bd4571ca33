"""Partitions the training step for eight ranks, in one process: python compile.py megatron|fsdp|both [FILE]"""

import functools
import sys

import torch
from gpt import batches, loss_fn, make_model
from shardonnay.torch import partition
from torch.distributed.tensor import Replicate, Shard

R = Replicate()
MESH = {"dp": 2, "tp": 4}
# For each axis of the mesh, what it does to a tensor; a Linear's weight is [out, in].
STRATEGIES = {
    "megatron": {
        "*.w[qkv].weight": (R, Shard(0)),
        "*.wo.weight": (R, Shard(1)),
        "*.w1.*": (R, Shard(0)),
        "*.w2.weight": (R, Shard(1)),
        "tokens.weight": (R, Shard(0)),
        "head.weight": (R, Shard(0)),
        "*": (R, R),
    },
    "fsdp": {"*": (Shard(0), Shard(0))},
    "both": {
        "*.w[qkv].weight": (Shard(1), Shard(0)),
        "*.wo.weight": (Shard(0), Shard(1)),
        "*.w1.weight": (Shard(1), Shard(0)),
        "*.w1.bias": (R, Shard(0)),
        "*.w2.weight": (Shard(0), Shard(1)),
        "*": (Shard(0), R),
    },
}


def main(strategy="megatron", path="step.shard"):
    every_rank = {"fsdp": (Shard(0), Shard(0))}.get(strategy, (Shard(0), R))
    plan = partition(
        make_model(),
        loss_fn,
        next(batches(1)),
        MESH,
        params=STRATEGIES[strategy],
        inputs=every_rank,
        optimizer=functools.partial(torch.optim.AdamW, lr=1e-3),
        report=True,
    )
    plan.save(path)
    print(plan.report())


if __name__ == "__main__":
    main(*sys.argv[1:])
