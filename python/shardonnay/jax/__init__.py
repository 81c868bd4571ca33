"""Shardonnay behind a call like `jax.jit`.

    from shardonnay.jax import partition

    step = partition(train_step, in_shardings=(params_sharding, batch_sharding), donate_argnums=0)
    params, loss = step(params, batch)

Needs JAX; `import shardonnay` alone does not.
"""

from pathlib import Path

from jax.extend import source_info_util

from .annotations import Prioritized, constrain, prioritized
from .drawing import Drawing, draw, load_ipython_extension
from .meshes import MeshError
from .partition import PartitionedFunction, partition, propagate
from .rules import RuleError, ShardingRule
from .serialization import FormatError, deserialize, serialize
from .shardings import ShardingError, by_logical_axes, by_path, logical_spec
from .stages import Compiled, Explanation, Lowered, Planned, Report, Stage, Traced

# A location is the user's line, not ours.
source_info_util.register_exclusion(str(Path(__file__).parent))

__all__ = [
    "Compiled",
    "Drawing",
    "Explanation",
    "FormatError",
    "Lowered",
    "MeshError",
    "PartitionedFunction",
    "Planned",
    "Prioritized",
    "Report",
    "RuleError",
    "ShardingError",
    "ShardingRule",
    "Stage",
    "Traced",
    "by_logical_axes",
    "by_path",
    "constrain",
    "deserialize",
    "draw",
    "load_ipython_extension",
    "logical_spec",
    "partition",
    "prioritized",
    "propagate",
    "serialize",
]
