"""Shardonnay behind a call like `jax.jit`.

    from shardonnay.jax import partition

    step = partition(train_step, in_shardings=(params_sharding, batch_sharding), donate_argnums=0)
    params, loss = step(params, batch)

Needs JAX; `import shardonnay` alone does not.
"""

from .partition import PartitionedFunction, partition, propagate
from .serialization import deserialize, serialize
from .stages import Compiled, Lowered, Report, Traced

__all__ = [
    "Compiled",
    "Lowered",
    "PartitionedFunction",
    "Report",
    "Traced",
    "deserialize",
    "partition",
    "propagate",
    "serialize",
]
