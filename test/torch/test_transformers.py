"""Models of Hugging Face's transformers: a step partitioned over eight devices of PJRT against eager PyTorch; on ranks
they are in engine/test_models.py.
"""

import pytest
from models import ADAMW
from stepping import check_parts, check_whole
from torch.distributed.tensor import Shard
from transformer_models import MODELS, build

from shardonnay.torch import partition

QUICK = {"gemma2", "mamba", "mixtral", "vit"}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.long) for name in MODELS]
)
def test_data_parallel(name):
    model, loss, batch = build(name)
    plan = partition(model, loss, batch, {"dp": 8}, inputs=Shard(0), optimizer=ADAMW)
    check_parts(plan, model, loss, batch, ADAMW, slack=10)


def test_whole():
    check_whole(*build("llama"), ADAMW, slack=10)
