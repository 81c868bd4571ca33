"""What random cases of torch ops are made of: sizes, types and tensors, drawn by a seed."""

import math
import random
from dataclasses import dataclass

import torch

FLOATS = [torch.float32, torch.float32, torch.float64, torch.bfloat16, torch.float16]
INTEGERS = [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8]
SPECIALS = [math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0, -1.0]


@dataclass
class Case:
    """text: what it is; function: of `arguments`, all tensors, to tensors; slack: how often the usual rounding it may
    make.
    """

    text: str
    function: object
    arguments: list
    slack: float = 1.0


class CaseBuilder:
    """Draws sizes, types and tensors."""

    def __init__(self, number):
        self.draw = random.Random(number)
        self.generator = torch.Generator().manual_seed(number)

    def pick(self, *choices):
        return self.draw.choice(choices)

    def chance(self, probability):
        return self.draw.random() < probability

    def size(self):
        return self.draw.choice([0, 1, 1, 2, 3, 3, 4, 5, 7]) if self.chance(0.3) else self.draw.choice([1, 2, 3, 4, 5,
            6])

    def shape(self, low=0, high=4):
        return [self.size() for _ in range(self.draw.randint(low, high))]

    def filled(self, low=1, high=4):
        """A shape without a dim of size 0."""
        return [max(1, extent) for extent in self.shape(low, high)]

    def tensor(self, shape, dtype=torch.float32, special=False):
        shape = list(shape)
        if dtype == torch.bool:
            return torch.randint(0, 2, shape, generator=self.generator).bool()
        if dtype.is_complex:
            parts = [torch.randn(shape, generator=self.generator, dtype=torch.float64) for _ in range(2)]
            return torch.complex(*parts).to(dtype)
        if not dtype.is_floating_point:
            low = 0 if dtype == torch.uint8 else -9
            return torch.randint(low, 10, shape, generator=self.generator).to(dtype)
        x = (torch.randn(shape, generator=self.generator, dtype=torch.float64) * 2).to(dtype)
        if special and x.numel():
            flat = x.reshape(-1)
            for _ in range(1 + x.numel() // 4):
                flat[self.draw.randrange(x.numel())] = self.draw.choice(SPECIALS)
        return x

    def index(self, shape, extent, negative=False):
        low = -extent if negative and self.chance(0.3) else 0
        return torch.randint(low, extent, list(shape), generator=self.generator)

    def dims(self, rank):
        """Some dims, counted from either end; None for all."""
        if self.chance(0.2) or not rank:
            return None
        chosen = self.draw.sample(range(rank), self.draw.randint(1, rank))
        return [dim - rank if self.chance(0.3) else dim for dim in chosen]

    def dim(self, rank):
        return self.draw.randrange(-rank, rank)

    def broadcast_partner(self, shape):
        """A shape that broadcasts with `shape`."""
        kept = shape[self.draw.randint(0, len(shape)) :] if self.chance(0.4) else shape
        return [1 if self.chance(0.3) else extent for extent in kept]


def with_gradient(case):
    """The case's results, and the gradients of a weighted sum of them."""
    inner = case.function
    positions = [at for at, x in enumerate(case.arguments) if x.is_floating_point()]

    def function(*arguments):
        leaves = [x.detach().requires_grad_() if at in positions else x for at, x in enumerate(arguments)]
        with torch.enable_grad():
            results = inner(*leaves)
            results = list(results) if isinstance(results, (list, tuple)) else [results]
            inexact = [x for x in results if x.is_floating_point() and x.requires_grad]
            total = sum((x * (torch.arange(x.numel()).reshape(x.shape) % 5 - 1.5)).sum() for x in inexact)
            if not isinstance(total, torch.Tensor):
                return results
            found = torch.autograd.grad(total, [leaves[at] for at in positions], allow_unused=True)
        return [x.detach() for x in results] + [x for x in found if x is not None]

    return Case(case.text + " and its gradient", function, case.arguments, 4 * case.slack)
