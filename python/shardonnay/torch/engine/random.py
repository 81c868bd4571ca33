"""Random bits by the generators that StableHLO names, and distributions."""

from __future__ import annotations

import torch

from .elements import is_integer
from .lowering import Lowering, Value, rule
from .program import Op

Lower = Lowering


@rule("stablehlo.rng")
def rng(lower: Lower, op: Op, a: Value, b: Value, *sizes: Value) -> Value:
    """From torch's own generator of this process: reproducible by torch.manual_seed, and not by other engines."""
    type = op.tensor()
    shape = lower.symbolic(torch.empty(type.shape, dtype=type.dtype, device=lower.device))
    if op.attributes["rng_distribution"] == "NORMAL":
        return a + b * torch.randn_like(shape)
    if is_integer(type.element):
        wide = torch.rand_like(shape, dtype=torch.float64)
        return (a + torch.floor(wide * (b - a))).to(type.dtype)
    return a + (b - a) * torch.rand_like(shape)


@rule("stablehlo.rng_bit_generator")
def rng_bit_generator(lower: Lower, op: Op, state: Value) -> Value:
    raise op.refuse(
        "is not supported: its bits are an engine's own; expected bits that are computed (jax_default_prng_impl=threefry2x32)"
    )

