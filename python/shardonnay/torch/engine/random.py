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


_LOW = 2**32 - 1
_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))


@rule("stablehlo.rng_bit_generator")
def rng_bit_generator(lower: Lower, op: Op, state: Value) -> Value:
    """Threefry-2x32 or Philox-4x32, with counters in the order in which XLA hands them out.

    The state is a key and a counter; behind it the counter is as many further as were used.
    """
    if op.operand().element != "ui64" or op.tensor(1).element not in ("ui8", "ui16", "ui32", "ui64"):
        raise op.refuse(
            f"a state of {op.operand()} for bits of {op.tensor(1)} is not supported, expected ui64 and ui8 to ui64"
        )
    # Counters in 64-bit numbers of which 32 are used: torch has no other unsigned arithmetic.
    state = state.to(torch.int64)
    words = [_halves(state[at]) for at in range(op.operand().shape[0])]
    bits, used = (_threefry_bits if op.attributes["rng_algorithm"] == "THREE_FRY" else _philox_bits)(lower, op, words)
    return _advanced(state, used, op), bits.to(op.tensor(1).dtype)


def _halves(value: Value) -> tuple[Value, Value]:
    return torch.bitwise_and(value, _LOW), torch.bitwise_and(value >> 32, _LOW)


def _joined(low: Value, high: Value) -> Value:
    return torch.bitwise_or(low, high << 32)


def _advanced(state: Value, used: int, op: Op) -> Value:
    """The counter is what stands behind the key, the lowest word first."""
    key, low, rest = state[0:1], state[1:2], state[2:]
    moved = low + used
    if op.operand().shape[0] == 2:
        return torch.cat([key, moved])
    wrapped = (low < 0) & (moved >= 0)
    return torch.cat([key, moved, rest + wrapped.to(torch.int64)])


def _numbers(lower: Lower, counter: tuple[Value, Value], count: int) -> tuple[Value, Value, Value]:
    """(low, high, carry) of the counter and those behind it."""
    whole = _joined(*counter)
    moved = whole + lower.arange(count)
    carry = ((whole < 0) & (moved >= 0)).to(torch.int64)
    return (*_halves(moved), carry)


def _threefry_bits(lower: Lower, op: Op, words: list[tuple[Value, Value]]) -> tuple[Value, int]:
    """A counter gives two words: of 64 bits an element, else two elements, neighbours in one dim or halves of it."""
    type = op.tensor(1)
    shape = list(type.shape)
    if type.element == "ui64":
        low, high, _ = _numbers(lower, words[1], type.size)
        a, b = _threefry(words[0], low, high)
        return _joined(a, b).reshape(shape), type.size
    if not shape:
        shape = [1]
    dim = next((at for at, extent in enumerate(shape) if extent % 2 == 0), shape.index(max(shape)))
    half = -(-shape[dim] // 2)
    counters = [*shape[:dim], half, *shape[dim + 1 :]]
    count = type.size // max(shape[dim], 1) * half
    low, high, _ = _numbers(lower, words[1], count)
    a, b = (value.reshape(counters) for value in _threefry(words[0], low, high))
    both = torch.stack([a, b], dim + 1).flatten(dim, dim + 1)
    return torch.narrow(both, dim, 0, shape[dim]).reshape(type.shape), count


def _threefry(key: tuple[Value, Value], x: Value, y: Value) -> tuple[Value, Value]:
    keys = [*key, torch.bitwise_xor(torch.bitwise_xor(*key), 0x1BD11BDA)]
    x, y = torch.bitwise_and(x + keys[0], _LOW), torch.bitwise_and(y + keys[1], _LOW)
    for step in range(5):
        for distance in _ROTATIONS[step % 2]:
            x = torch.bitwise_and(x + y, _LOW)
            y = torch.bitwise_and(torch.bitwise_or(y << distance, y >> (32 - distance)), _LOW)
            y = torch.bitwise_xor(x, y)
        x = torch.bitwise_and(x + keys[(step + 1) % 3], _LOW)
        y = torch.bitwise_and(y + keys[(step + 2) % 3] + (step + 1), _LOW)
    return x, y


def _philox_bits(lower: Lower, op: Op, words: list[tuple[Value, Value]]) -> tuple[Value, int]:
    """A counter gives four words, in order; with a state of two numbers its upper half is the key."""
    type = op.tensor(1)
    per_counter = 2 if type.element == "ui64" else 4
    count = -(-type.size // per_counter)
    low, high, carry = _numbers(lower, words[1], count)
    upper = _halves(_joined(*words[0 if len(words) == 2 else 2]) + carry)
    found = torch.stack(_philox(words[0], [low, high, *(word.expand([count]) for word in upper)]), 1)
    if type.element == "ui64":
        found = _joined(found[:, 0::2], found[:, 1::2])
    return found.reshape(-1)[: type.size].reshape(type.shape), count


def _philox(key: tuple[Value, Value], counter: list[Value]) -> list[Value]:
    first, second = key
    for _ in range(10):
        a, b = counter[0] * 0xD2511F53, counter[2] * 0xCD9E8D57
        counter = [
            torch.bitwise_xor(torch.bitwise_xor(_halves(b)[1], counter[1]), first),
            _halves(b)[0],
            torch.bitwise_xor(torch.bitwise_xor(_halves(a)[1], counter[3]), second),
            _halves(a)[0],
        ]
        first, second = torch.bitwise_and(first + 0x9E3779B9, _LOW), torch.bitwise_and(second + 0xBB67AE85, _LOW)
    return counter
