"""The steps of the corpus whose devices together compute more than the whole program, and what forces that.

The FLOPs are those of dot, convolution, FFT and linear algebra. A device's, times the devices, over the program's is 1
where every product is sharded by all 8 devices. Where what the user gave shards a product by fewer, `copies` devices
compute the same; nothing else in the program says how to shard it. So the ratio is

    1 + sum over those products of flops * (copies - 1) / all flops.

A product of all of [m, k] and [k, n] has 2 m k n FLOPs, one of its gradients as many.
"""

from dataclasses import dataclass

ALL = None


@dataclass(frozen=True)
class Repeated:
    """Products of together `flops` (ALL: the whole program's) that `copies` devices compute alike, because of `why`."""

    flops: int | None
    copies: int
    why: str


def _product(*sizes):
    result = 2
    for size in sizes:
        result *= size
    return result


# Batch, heads, queries, keys, size of a head: the scores and the mixture, each with two gradients.
_UNEVEN_HEADS = 6 * _product(6, 6, 13, 13, 6)
# All four experts on every token, as JAX lowers ragged_dot for CPUs.
_RAGGED = _product(4, 48, 16, 32)
# Experts, capacity, width, hidden.
_SWITCH = _product(8, 12, 16, 32)
_ROUTED = "tokens are sorted by expert over the whole batch, and nothing given shards the sorted ones"
_BUFFERED = "experts are sharded by model, and what is sent to them by nothing"

FORCED = {
    "attention-uneven-data": [Repeated(ALL, 4, "a batch of 6 is sharded by data only")],
    "attention-uneven-2-D": [Repeated(_UNEVEN_HEADS, 4, "6 heads of size 6 and length 13 do not divide by model")],
    "attention-uneven-fsdp": [
        Repeated(_UNEVEN_HEADS, 8, "no dim of 6 sentences, 13 tokens, 6 heads, size 6 divides by 8")
    ],
    "convnext-data": [Repeated(ALL, 4, "a batch of 6 is sharded by data only")],
    "gaussian-process-2-D": [Repeated(ALL, 4, "the batch is sharded by data, matrices are factorised whole")],
    "ridge-2-D": [Repeated(ALL, 4, "the batch is sharded by data, the one parameter is a scalar")],
    "conjugate-gradients-2-D": [
        Repeated(
            2 * _product(24, 24) + 4 * _product(24), 4, "the vector is sharded by data only, in and before the loop"
        )
    ],
    "recommender-megatron": [
        Repeated(
            2 * _product(16, 8, 8) + 3 * _product(16, 5, 5, 8),
            4,
            "Megatron leaves the first layer and the interactions whole",
        )
    ],
    "selective-scan-2-D": [
        Repeated(2 * _product(8, 24, 32, 8), 4, "the scan has b and c whole, and nothing given shards their gradients")
    ],
    "selective-scan-megatron": [Repeated(4 * _product(8, 24, 32, 8), 4, "Megatron leaves the matrices b and c whole")],
    "switch-data": [Repeated(5 * _SWITCH, 8, _ROUTED)],
    "switch-2-D": [Repeated(5 * _SWITCH, 2, _BUFFERED)],
    "switch-expert": [Repeated(5 * _SWITCH, 2, _BUFFERED)],
    "ragged-experts-data": [Repeated(_RAGGED, 8, _ROUTED)],
    "ragged-experts-2-D": [Repeated(_RAGGED, 2, _ROUTED)],
    "ragged-training-data": [Repeated(ALL, 8, _ROUTED)],
    "ragged-experts-expert": [Repeated(_RAGGED, 2, _BUFFERED)],
    "ragged-training-2-D": [Repeated(ALL, 2, _ROUTED)],
    "ragged-training-expert": [Repeated(ALL, 2, _BUFFERED)],
}


def ratio(pair, flops):
    """What the ratio of `pair` has to be, of a program with `flops` FLOPs."""
    repeated = FORCED.get(pair, ())
    return 1 + sum((flops if entry.flops is ALL else entry.flops) * (entry.copies - 1) for entry in repeated) / max(
        flops, 1
    )
