"""Runs what compile.py saved: torchrun --nproc-per-node 8 train.py [FILE] [CHECKPOINT]; without torchrun, plain
PyTorch.
"""

import os
import sys

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from gpt import batches, loss_fn, make_model

STEPS = 5


def alone():
    model = make_model()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for x, y in batches(STEPS):
        optimizer.zero_grad()
        loss = loss_fn(model, x, y)
        loss.backward()
        optimizer.step()
        print(f"{loss.item():.4f}")


def on_ranks(path="step.shard", checkpoint=None):
    from shardonnay.torch import step as steps

    dist.init_process_group("gloo")
    mesh = dist.init_device_mesh("cpu", (2, 4), mesh_dim_names=("dp", "tp"))
    step = steps.load(path, mesh)
    model = make_model()
    state = step.shard(model)  # the model's parameters are DTensors from here on
    for x, y in batches(STEPS):
        loss = step(state, x, y)["loss"]
        if dist.get_rank() == 0:
            print(f"{loss.item():.4f}")
    if checkpoint:
        dcp.save(dict(state), checkpoint_id=checkpoint)
    if dist.get_rank() == 0:
        weight = model.blocks[0].wq.weight
        print(f"blocks.0.wq.weight: {tuple(weight.shape)}, {weight.placements}, {tuple(weight.to_local().shape)} on "
              "a rank")
    dist.destroy_process_group()


if __name__ == "__main__":
    torch.set_num_threads(1)
    on_ranks(*sys.argv[1:]) if "RANK" in os.environ else alone()
