"""A program on this process's device: local tensors in, local tensors out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import torch.distributed as dist
from torch import fx

from . import algebra, calls, communication, contractions, control, convolutions  # noqa: F401 -- they register rules
from . import elementwise, indexing, integers, random, reductions, shapes, sorting, windows  # noqa: F401
from .donation import aliases_of, reuse, reuse_temporaries
from .elements import SMALL_FLOATS, UNSIGNED, EngineError, TensorType, outside
from .groups import Groups
from .lowering import Lowering, Value
from .program import Program


class Executable:
    """A program of which this process runs the device that its rank stands for.

    module: the graph as a module, of what it is called with; `torch.compile` takes it.
    """

    def __init__(
        self,
        program: Program,
        *,
        ranks: Sequence[int] | None = None,
        groups: Groups | None = None,
        device: torch.device | str = "cpu",
        donate: bool = False,
    ) -> None:
        """Every rank of the default process group makes it, for process groups are made by all.

        ranks: of each device of the program its rank, by default its number.
        groups: if not those that all programs share.
        donate: what the manifest says that a result may reuse is overwritten by it, and that tensor is the result.
        """
        self.program = program
        if groups is None:
            groups = Groups(ranks if ranks is not None else range(program.devices))
        self.groups = groups
        self.device = device
        self.rank = self._place()
        groups.prepare(program)
        self.module = graph_of(program, self.rank, groups, device, donate)

    def _place(self) -> int:
        if not dist.is_initialized():
            if self.program.devices == 1:
                return 0
            raise EngineError(
                f"the program is for {self.program.devices} devices; call torch.distributed.init_process_group first"
            )
        world, own = dist.get_world_size(), dist.get_rank()
        if len(self.groups.ranks) != self.program.devices or max(self.groups.ranks) >= world:
            raise EngineError(
                f"the program is for {self.program.devices} devices, got ranks {self.groups.ranks} of a world of "
                f"{world}"
            )
        if own not in self.groups.ranks:
            raise EngineError(f"rank {own} runs no device of the program, whose ranks are {self.groups.ranks}")
        return self.groups.ranks.index(own)

    def __call__(self, *inputs: torch.Tensor) -> list[torch.Tensor]:
        """Runs once, on the local shards in the order of the manifest; what it returns is in that order too."""
        types = self.program.main.body.types
        if len(inputs) != len(types):
            raise EngineError(f"the program takes {len(types)} inputs, got {len(inputs)}")
        for at, (value, type) in enumerate(zip(inputs, types, strict=True)):
            if isinstance(type, TensorType) and (tuple(value.shape), value.dtype) != (
                type.shape,
                outside(type.element),
            ):
                raise EngineError(
                    f"input {at}: expected {outside(type.element)} of shape {list(type.shape)}, "
                    f"got {value.dtype} of shape {list(value.shape)}"
                )
        with torch.no_grad():
            return list(self.module(*inputs))


def graph_of(
    program: Program, rank: int, groups: Groups, device: torch.device | str = "cpu", donate: bool = False
) -> fx.GraphModule:
    """The graph of one device of the program."""
    lower = Lowering(program, rank, groups, device)
    main = program.main.body
    arguments = []
    for at, type in enumerate(main.types):
        if not isinstance(type, TensorType):
            raise EngineError(f"input {at} is {type}, expected a tensor")
        arguments.append(_entering(type, lower.placeholder(f"input_{at}")))
    with torch.no_grad():
        results = lower.run(main, arguments)
        types: list[Any] = main.ops[-1].operand_types
        leaving = [_leaving(type, lower.symbolic(value)) for type, value in zip(types, results, strict=True)]
        lower.finish()
        module = lower.module(leaving)
    if donate:
        reuse(module.graph, aliases_of(program))
    reuse_temporaries(module.graph)
    module.recompile()
    return module


def _entering(type: TensorType, value: Value) -> Value:
    """A user's tensor as the program carries it."""
    if type.element in UNSIGNED or type.element in SMALL_FLOATS:
        return value.view(type.dtype) if type.element in UNSIGNED else value.to(torch.float32)
    return value


def _leaving(type: TensorType, value: Value) -> Value:
    if type.element in UNSIGNED:
        return value.contiguous().view(outside(type.element))
    if type.element in SMALL_FLOATS:
        return value.to(outside(type.element))
    return value
