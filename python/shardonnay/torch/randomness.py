"""Random numbers of a captured program: a function of a seed, of which op asks, and of the position in the tensor.

Torch's own generator is a state that every call advances, which no partitioned program can have. Here the bits of an
element are threefry-2x32 of the seed and the op's number at the element's index. So a program gives the same numbers
however it is sharded, and `seeded` gives the same ones to eager PyTorch.
"""

from __future__ import annotations

import contextlib
import math
import random
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import torch

from .recording import Mode
from .replacing import replaced
from .variates import dirichlet, gamma, poisson

aten = torch.ops.aten
MASK = 0xFFFFFFFF
# The constants of threefry-2x32 with 20 rounds (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011).
ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
PARITY = 0x1BD11BDA


def threefry(key: tuple[Any, Any], words: tuple[Any, Any], arithmetic: Any) -> tuple[Any, Any]:
    """Two random words of 32 bits for two words; `arithmetic` has add, xor and rotate for whatever words are."""
    keys = (key[0], key[1], arithmetic.xor(arithmetic.xor(key[0], key[1]), arithmetic.word(PARITY)))
    first, second = arithmetic.add(words[0], keys[0]), arithmetic.add(words[1], keys[1])
    for group in range(5):
        for rotation in ROTATIONS[group % 2]:
            first = arithmetic.add(first, second)
            second = arithmetic.xor(arithmetic.rotate(second, rotation), first)
        first = arithmetic.add(first, keys[(group + 1) % 3])
        second = arithmetic.add(arithmetic.add(second, keys[(group + 2) % 3]), arithmetic.word(group + 1))
    return first, second


class _InTorch:
    """Words as int64 tensors, of which 32 bits are used."""

    @staticmethod
    def word(value: int) -> int:
        return value

    @staticmethod
    def add(x: Any, y: Any) -> Any:
        return (x + y) & MASK

    @staticmethod
    def xor(x: Any, y: Any) -> Any:
        return x ^ y

    @staticmethod
    def rotate(x: Any, by: int) -> Any:
        return (x << by | x >> 32 - by) & MASK


@torch.library.custom_op("shardonnay::random_bits", mutates_args=())
def random_bits(seed: torch.Tensor, stream: int, size: list[int]) -> torch.Tensor:
    """32 random bits for each element, as int64."""
    key = threefry((seed & MASK, seed >> 32 & MASK), (stream, 0), _InTorch)
    index = torch.arange(math.prod(size)).reshape(size)
    return threefry(key, (index >> 32, index & MASK), _InTorch)[0].clone()


@random_bits.register_fake
def _(seed: torch.Tensor, stream: int, size: list[int]) -> torch.Tensor:
    return torch.empty(size, dtype=torch.int64)


class Randomness:
    """The random ops of one program: each is given the next number."""

    def __init__(self) -> None:
        self.seed = torch.tensor(0)
        self.count = 0

    @contextlib.contextmanager
    def recording(self, seed: torch.Tensor) -> Iterator[None]:
        """While it lasts, torch's random ops are computed from the seed.

        Activation checkpointing saves and restores the state of torch's generator, which is the seed and the next
        number here. A seed that forward sets is that of what follows.
        """
        self.seed = seed

        def restore(state: Any) -> None:
            self.seed, self.count = state

        def reseed(number: int) -> torch.Generator:
            restore((torch.tensor(number % 2**63), 0))
            return torch.default_generator

        with (
            replaced(torch, "get_rng_state", lambda: (self.seed, self.count)),
            replaced(torch, "set_rng_state", restore),
            replaced(torch, "manual_seed", reseed),
            replaced(torch.random, "manual_seed", reseed),
            _Replacing(self),
        ):
            yield

    def bits(self, size: Any) -> torch.Tensor:
        self.count += 1
        return random_bits(self.seed, self.count - 1, list(size))

    def uniform(self, size: Any, dtype: torch.dtype) -> torch.Tensor:
        """Uniform in [0, 1), with as many random bits as the type's mantissa has."""
        if dtype == torch.float64:
            high, low = self.bits(size), self.bits(size)
            return ((high >> 5) * 2**26 + (low >> 6)).to(dtype) * 2.0**-53
        kept = {torch.float32: 24, torch.float16: 11, torch.bfloat16: 8}[dtype]
        return (self.bits(size) >> 32 - kept).to(dtype) * 2.0**-kept

    def normal(self, size: Any, dtype: torch.dtype) -> torch.Tensor:
        """By Box and Muller."""
        wide = torch.float64 if dtype == torch.float64 else torch.float32
        radius = torch.sqrt(-2 * torch.log1p(-self.uniform(size, wide)))
        return (radius * torch.cos(2 * math.pi * self.uniform(size, wide))).to(dtype)


class _Replacing(Mode):
    def __init__(self, randomness: Randomness) -> None:
        super().__init__()
        self.randomness = randomness

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        replacement = _REPLACEMENTS.get(func)
        if replacement is not None and kwargs.get("generator") is None:
            with self:
                return replacement(self.randomness, *args, **kwargs)
        return func(*args, **kwargs)


def _dtype_of(x: torch.Tensor | None, kwargs: dict[str, Any]) -> torch.dtype:
    return kwargs.get("dtype") or (torch.get_default_dtype() if x is None else x.dtype)


def _bernoulli(r: Randomness, x: torch.Tensor, probability: Any) -> torch.Tensor:
    return (r.uniform(x.shape, torch.float32) < probability).to(x.dtype)


def _dropout(r: Randomness, x: torch.Tensor, p: float, train: bool | None) -> tuple[torch.Tensor, torch.Tensor]:
    if train is False or p == 0:
        return x.clone(), torch.ones_like(x, dtype=torch.bool)
    mask = r.uniform(x.shape, torch.float32) < 1 - p
    return x * mask * (1 / (1 - p) if p < 1 else 0.0), mask


def _integers(r: Randomness, low: int, high: int, size: Any, dtype: torch.dtype) -> torch.Tensor:
    if high - low > MASK:
        raise NotImplementedError(f"random integers from a range of {high - low}, expected at most 2**32")
    return (low + r.bits(size) % (high - low)).to(dtype)


def _normal(r: Randomness, mean: Any, std: Any, size: Any = None, **kwargs: Any) -> torch.Tensor:
    """Of tensors the type and the shape to which they broadcast."""
    drawn = [part for part in (mean, std) if isinstance(part, torch.Tensor)]
    if size is None:
        size = torch.broadcast_shapes(*(part.shape for part in drawn))
    return r.normal(size, _dtype_of(drawn[0] if drawn else None, kwargs)) * std + mean


def _any_integer(r: Randomness, x: torch.Tensor) -> torch.Tensor:
    """All that the type has from 0 on, of a float the integers that it holds exactly."""
    if x.dtype == torch.bool:
        return _integers(r, 0, 2, x.shape, x.dtype)
    last = 2 / torch.finfo(x.dtype).eps if x.dtype.is_floating_point else torch.iinfo(x.dtype).max
    return _integers(r, 0, int(last) + 1, x.shape, x.dtype)


def _exponential(r: Randomness, x: torch.Tensor, rate: float = 1.0) -> torch.Tensor:
    wide = torch.float64 if x.dtype == torch.float64 else torch.float32
    return (-torch.log1p(-r.uniform(x.shape, wide)) / rate).to(x.dtype)


def _multinomial(r: Randomness, weights: torch.Tensor, count: int, replacement: bool = False) -> torch.Tensor:
    """Without replacement, the places of what comes first, if each comes at its weight as rate."""
    weights = weights.to(torch.float64 if weights.dtype == torch.float64 else torch.float32)
    if not replacement:
        waiting = -torch.log1p(-r.uniform(weights.shape, weights.dtype))
        return torch.topk(torch.where(weights > 0, weights / waiting, 0), count).indices
    ends = torch.cumsum(weights, -1)
    at = r.uniform([*weights.shape[:-1], count], weights.dtype) * ends[..., -1:]
    return torch.searchsorted(ends, at, right=True)


def _cauchy(r: Randomness, x: torch.Tensor, median: float = 0.0, sigma: float = 1.0) -> torch.Tensor:
    return median + sigma * torch.tan(math.pi * (r.uniform(x.shape, x.dtype) - 0.5))


def _geometric(r: Randomness, x: torch.Tensor, probability: float) -> torch.Tensor:
    wide = torch.float64 if x.dtype == torch.float64 else torch.float32
    waited = torch.log1p(-r.uniform(x.shape, wide)) / math.log1p(-probability) if probability < 1 else 0
    return torch.clamp(torch.ceil(torch.as_tensor(waited)), min=1).to(x.dtype)


def _rrelu(
    r: Randomness, x: torch.Tensor, slopes: torch.Tensor, lower: float = 1 / 8, upper: float = 1 / 3,
    training: bool = False,
) -> torch.Tensor:  # fmt: skip
    """Leaves the slopes for the gradient."""
    drawn = lower + r.uniform(x.shape, x.dtype) * (upper - lower) if training else (lower + upper) / 2
    slopes.copy_(torch.where(x <= 0, drawn, torch.ones_like(x)))
    return x * slopes


_REPLACEMENTS: dict[Any, Callable[..., Any]] = {
    aten.rand.default: lambda r, size, **k: r.uniform(size, _dtype_of(None, k)),
    aten.rand_like.default: lambda r, x, **k: r.uniform(x.shape, _dtype_of(x, k)),
    aten.randn.default: lambda r, size, **k: r.normal(size, _dtype_of(None, k)),
    aten.randn_like.default: lambda r, x, **k: r.normal(x.shape, _dtype_of(x, k)),
    aten.uniform_.default: lambda r, x, low=0.0, high=1.0, **k: x.copy_(
        low + r.uniform(x.shape, x.dtype) * (high - low)
    ),
    aten.normal_.default: lambda r, x, mean=0.0, std=1.0, **k: x.copy_(mean + r.normal(x.shape, x.dtype) * std),
    aten.normal.Tensor_float: lambda r, mean, std=1.0, **k: _normal(r, mean, std),
    aten.normal.float_Tensor: lambda r, mean, std, **k: _normal(r, mean, std),
    aten.normal.Tensor_Tensor: lambda r, mean, std, **k: _normal(r, mean, std),
    aten.normal.float_float: _normal,
    aten.random_.default: lambda r, x, **k: x.copy_(_any_integer(r, x)),
    aten.random_.to: lambda r, x, high, **k: x.copy_(_integers(r, 0, high, x.shape, x.dtype)),
    getattr(aten.random_, "from"): lambda r, x, low, high, **k: x.copy_(_integers(r, low, high, x.shape, x.dtype)),
    aten.bernoulli.default: lambda r, x, **k: _bernoulli(r, x, x),
    aten.bernoulli.p: lambda r, x, p, **k: _bernoulli(r, x, p),
    aten.bernoulli_.float: lambda r, x, p=0.5, **k: x.copy_(_bernoulli(r, x, p)),
    aten.bernoulli_.Tensor: lambda r, x, p, **k: x.copy_(_bernoulli(r, x, p)),
    aten.native_dropout.default: _dropout,
    aten.exponential_.default: lambda r, x, rate=1.0, **k: x.copy_(_exponential(r, x, rate)),
    aten.cauchy_.default: lambda r, x, *a, **k: x.copy_(_cauchy(r, x, *a)),
    aten.log_normal_.default: lambda r, x, mean=1.0, std=2.0, **k: x.copy_(
        torch.exp(mean + r.normal(x.shape, x.dtype) * std)
    ),
    aten.geometric_.default: lambda r, x, p, **k: x.copy_(_geometric(r, x, p)),
    aten.rrelu_with_noise.default: lambda r, *a, **k: _rrelu(r, *a),
    aten.randint.default: lambda r, high, size, **k: _integers(r, 0, high, size, k.get("dtype") or torch.int64),
    aten.randint.low: lambda r, low, high, size, **k: _integers(r, low, high, size, k.get("dtype") or torch.int64),
    aten.randint_like.default: lambda r, x, high, **k: _integers(r, 0, high, x.shape, _dtype_of(x, k)),
    aten.randint_like.low_dtype: lambda r, x, low, high, **k: _integers(r, low, high, x.shape, _dtype_of(x, k)),
    aten.multinomial.default: lambda r, x, count, replacement=False, **k: _multinomial(r, x, count, replacement),
    aten._standard_gamma.default: lambda r, x, *_, **k: gamma(r, x),
    aten._sample_dirichlet.default: lambda r, x, *_, **k: dirichlet(r, x),
    aten.poisson.default: lambda r, x, *_, **k: poisson(r, x),
    aten.randperm.default: lambda r, n, **k: torch.argsort(r.bits([n]), stable=True).to(k.get("dtype") or torch.int64),
}
# With `generator=None` they are other overloads.
_REPLACEMENTS |= {
    aten.rand.generator: _REPLACEMENTS[aten.rand.default],
    aten.randn.generator: _REPLACEMENTS[aten.randn.default],
    aten.randint.generator: _REPLACEMENTS[aten.randint.default],
    aten.randint.low_generator: _REPLACEMENTS[aten.randint.low],
    aten.randperm.generator: _REPLACEMENTS[aten.randperm.default],
}


def _states() -> tuple[Any, ...]:
    numpy = sys.modules.get("numpy")
    return random.getstate(), None if numpy is None else str(numpy.random.get_state())


@contextlib.contextmanager
def warned() -> Iterator[None]:
    """Warns where what runs meanwhile draws random numbers of Python's or NumPy's, of which a program knows nothing."""
    before = _states()
    yield
    if _states() != before:
        warnings.warn(
            "forward draws random numbers of Python's or NumPy's, which the program has as they were, and a branch by "
            "them as it was taken, in all steps; expected torch's (torch.rand, and torch.where for a branch)",
            stacklevel=2,
        )


@contextlib.contextmanager
def seeded(seed: int) -> Iterator[None]:
    """While it lasts, eager PyTorch draws the random numbers that a captured program draws from this seed."""
    with Randomness().recording(torch.tensor(seed)):
        yield
