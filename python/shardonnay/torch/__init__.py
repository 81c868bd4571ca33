"""Shardonnay for PyTorch: a training step partitioned as a whole, run by PyTorch.

    from shardonnay.torch import partition

    plan = partition(model, loss_fn, (x, y), mesh, params={"*.wq.weight": (Replicate(), Shard(0))},
                     inputs=(Shard(0), Replicate()), optimizer=functools.partial(torch.optim.AdamW, lr=1e-3))
    print(plan.report())

Needs torch; `import shardonnay` alone does not, and a rank that runs a saved plan needs nothing else.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .builder import UnsupportedError
    from .capturing import Captured, capture
    from .constraints import shard
    from .optimizers import OptimizerError
    from .placements import PlacementError
    from .plan import Plan, partition
    from .randomness import seeded
    from .training import capture_step

__all__ = [
    "Captured",
    "OptimizerError",
    "PlacementError",
    "Plan",
    "UnsupportedError",
    "capture",
    "capture_step",
    "partition",
    "seeded",
    "shard",
]

# Loaded when they are asked for: a rank that runs a saved plan captures nothing.
_HOMES = {
    "builder": ("UnsupportedError",),
    "capturing": ("Captured", "capture"),
    "constraints": ("shard",),
    "optimizers": ("OptimizerError",),
    "plan": ("Plan", "partition"),
    "placements": ("PlacementError",),
    "randomness": ("seeded",),
    "training": ("capture_step",),
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            value = globals()[name] = getattr(import_module(f".{home}", __name__), name)
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
