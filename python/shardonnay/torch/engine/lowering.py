"""From the ops of a program to an FX graph: the walk over blocks, and the registry of rules that say what an op is in
torch.

A rule is a function of torch calls on its operands, which are proxies in a graph that is written or, what is known
already (constants, the device's number, all that follows from them), tensors: then the same calls compute at once, and
nothing of it is left in the graph.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import fx

from .groups import Groups
from .program import Block, Op, Program, free_values
from .elements import EngineError, SMALL_FLOATS, SMALL_INTEGERS, TensorType, is_unsigned, to_small, width

# A tensor, a proxy of one, a tuple of values, or None: a token.
Value = Any
Rule = Callable[..., Any]

# What is known is computed at once up to this many elements; larger values are left to the graph.
_MOST_KNOWN = 4096
# What copies or renames elements only: it waits with a collective whose result it reads.
_WAITS_ALONG = frozenset(
    f"stablehlo.{name}"
    for name in ("reshape", "slice", "transpose", "broadcast_in_dim", "convert", "optimization_barrier", "reverse")
)


@dataclass
class _Entry:
    rule: Rule
    elementwise: bool


_RULES: dict[str, _Entry] = {}


def rule(*names: str, elementwise: bool = False) -> Callable[[Rule], Rule]:
    """Registers what ops are in torch: called with the Lowering, the op and its operands; returns the result, or a
    tuple.

    elementwise: it may be given operands of other shapes than the op's, alike or scalars, as reducers of whole tensors
        are.
    """

    def register(function: Rule) -> Rule:
        for name in names:
            _RULES[name] = _Entry(function, elementwise)
        return function

    return register


def supported() -> list[str]:
    """The names of all ops that have a rule."""
    return sorted(_RULES)


class _Tracer(fx.proxy.GraphAppendingTracer):
    """Writes nodes behind each other; a tensor among arguments becomes a buffer of the module."""

    def __init__(self, root: torch.nn.Module) -> None:
        super().__init__(fx.Graph())
        self.root = root
        self._buffers: dict[int, tuple[torch.Tensor, fx.Node]] = {}

    def create_arg(self, a: Any) -> Any:
        return self.buffer(a) if isinstance(a, torch.Tensor) else super().create_arg(a)

    def buffer(self, tensor: torch.Tensor) -> fx.Node:
        """The tensor in the graph; in memory of its own, for torch.compile lets no two arguments of a loop share any.
        """
        found = self._buffers.get(id(tensor))
        if found is None:
            name = f"constant_{len(self._buffers)}"
            repeated = tensor.numel() > 1 and not any(tensor.stride())
            own = tensor.as_strided([], []) if repeated else tensor
            self.root.register_buffer(name, own.clone(memory_format=torch.contiguous_format), persistent=False)
            node = self.graph.get_attr(name)
            if repeated:
                node = self.graph.call_method("expand", (node, tuple(tensor.shape)))
            found = self._buffers[id(tensor)] = (tensor, node)
        return found[1]


class Pending:
    """A value that is there once `finish` has been called, which its first use does: a collective under way."""

    def __init__(self, finish: Callable[[], Value]) -> None:
        self._finish: Callable[[], Value] | None = finish
        self._value: Value = None

    @property
    def waits(self) -> bool:
        return self._finish is not None

    def get(self) -> Value:
        if self._finish is not None:
            finish, self._finish = self._finish, None
            self._value = finish()
        return self._value


class Lowering:
    """Writes one graph; regions that run in loops and branches have a Lowering of their own."""

    def __init__(self, program: Program, rank: int, groups: Groups, device: torch.device | str = "cpu") -> None:
        """`rank`: the device of the program; `groups`: the process groups of its collectives."""
        self.program, self.rank, self.groups, self.device = program, rank, groups, torch.device(device)
        self.root = torch.nn.Module()
        self.tracer = _Tracer(self.root)
        self._env: dict[int, Value] = {}
        self._batched = False
        self._regions = 0

    # Writing nodes.

    def placeholder(self, name: str) -> fx.Proxy:
        return fx.Proxy(self.tracer.graph.placeholder(name), self.tracer)

    def call(self, target: Callable[..., Any], *arguments: Any) -> Any:
        """A call as it stands in the graph, for what does not see proxies by itself."""
        return self.tracer.create_proxy("call_function", target, arguments, {})

    def symbolic(self, value: Value) -> fx.Proxy:
        """The value in the graph, also if it is known."""
        return value if isinstance(value, fx.Proxy) else fx.Proxy(self.tracer.buffer(value), self.tracer)

    def constant(self, data: Any, dtype: torch.dtype) -> torch.Tensor:
        return torch.tensor(data, dtype=dtype, device=self.device)

    def arange(self, count: int, dtype: torch.dtype = torch.int64) -> torch.Tensor:
        return torch.arange(count, device=self.device).to(dtype)

    def module(self, results: Sequence[Value], *, one: bool = False) -> fx.GraphModule:
        """The graph as it is, which returns these as a tuple, or the only one by itself."""
        # A result that is nowhere computed is computed here, so that no two calls return one tensor.
        nodes = [
            (value if isinstance(value, fx.Proxy) else torch.clone(self.symbolic(value))).node for value in results
        ]
        self.tracer.graph.output(nodes[0] if one else tuple(nodes))
        self.tracer.graph.lint()
        return fx.GraphModule(self.root, self.tracer.graph)

    # Walking over ops.

    def run(self, block: Block, arguments: Sequence[Value]) -> list[Value]:
        """What the block returns for these arguments; it sees the values around it."""
        self._env.update(zip(block.arguments, arguments, strict=True))
        for op in block.ops[:-1]:
            self._step(op)
        return [self.value(number) for number in block.returned]

    def finish(self) -> None:
        """Waits for what is still under way, whose results nothing reads."""
        for value in list(self._env.values()):
            if isinstance(value, Pending) and value.waits:
                value.get()

    def call_function(self, op: Op, name: str, arguments: Sequence[Value]) -> list[Value]:
        """The results of a function of the program, in place."""
        if name not in self.program.functions:
            raise op.refuse(f"calls @{name}, which is not in the program")
        before, self._env = self._env, {}
        try:
            results = self.run(self.program.functions[name].body, arguments)
            self.finish()
            return results
        finally:
            self._env = before

    def each(self, block: Block, *arguments: Value) -> list[Value]:
        """The results of a computation on scalars for whole tensors, element by element."""
        outer, self._batched = self._batched, True
        before, self._env = self._env, dict(self._env)
        try:
            return self.run(block, arguments)
        finally:
            self._batched, self._env = outer, before

    def value(self, number: int) -> Value:
        found = self._env[number]
        if isinstance(found, Pending):
            found = self._env[number] = found.get()
        return found

    def _step(self, op: Op) -> None:
        found = [self._env[number] for number in op.operands]
        if op.name in _WAITS_ALONG and any(isinstance(value, Pending) and value.waits for value in found):
            pending = Pending(lambda: self._results(op))
            for at, number in enumerate(op.results):
                self._env[number] = Pending(lambda at=at: pending.get()[at])  # type: ignore[misc]
            return
        self._env.update(zip(op.results, self._results(op), strict=True))

    def _results(self, op: Op) -> list[Value]:
        entry = _RULES.get(op.name)
        if entry is None:
            raise op.refuse("has no form in torch")
        if self._batched and not entry.elementwise:
            raise op.refuse("is not supported in the computation of a reduction, expected ops on single elements")
        operands = [self.value(number) for number in op.operands]
        sizes = [type.size for type in op.result_types if isinstance(type, TensorType)]
        if max(sizes, default=0) > _MOST_KNOWN and not any(isinstance(value, fx.Proxy) for value in operands):
            operands = [self.symbolic(v) if isinstance(v, torch.Tensor) else v for v in operands]
        try:
            results = entry.rule(self, op, *operands)
            results = list(results) if isinstance(results, (tuple, list)) else [results]
            return [self._typed(value, type) for value, type in zip(results, op.result_types, strict=True)]
        except EngineError as error:
            raise error if error.located else op.refuse(str(error)) from None
        except (TypeError, RuntimeError, IndexError) as error:
            raise op.refuse(f"torch refuses it: {error}") from error

    def _typed(self, value: Value, type: Any) -> Value:
        """The value as its type has it, which its node knows; but an op of single elements may stand for tensors."""
        if isinstance(value, Pending):
            return Pending(lambda: self._noted(value.get(), type))
        return self._noted(self._rounded(value, type), type)

    def _noted(self, value: Value, type: Any) -> Value:
        if isinstance(value, fx.Proxy) and isinstance(type, TensorType) and not self._batched:
            value.node.meta.setdefault("type", type)
        return value

    def _rounded(self, value: Value, type: Any) -> Value:
        """The value among those that a type narrower than its carrier has."""
        if not isinstance(type, TensorType):
            return value
        if type.element in SMALL_FLOATS:
            return to_small(type.element, value).to(torch.float32)
        if type.element in SMALL_INTEGERS:
            bits = width(type.element)
            return value & (2**bits - 1) if is_unsigned(type.element) else (value << (8 - bits)) >> (8 - bits)
        return value

    # Regions that become graphs of their own.

    def captured(self, blocks: list[Block], bound: dict[int, Value]) -> tuple[list[int], dict[int, Value]]:
        """The values that blocks take from around: those in the graph, by number, and those that are known."""
        inside = {number: bound[number] if number in bound else self.value(number) for number in free_values(blocks)}
        known = {number: value for number, value in inside.items() if not isinstance(value, fx.Proxy)}
        return [number for number in inside if number not in known], known

    def region(self, block: Block, parameters: list[int], known: dict[int, Value], *, one: bool = False) -> fx.Proxy:
        """The block as a module in this graph, a function of the values `parameters`. one: of one result, not a tuple.
        """
        inner = Lowering(self.program, self.rank, self.groups, self.device)
        inner._env = dict(known)
        inner._env.update(
            (number, inner.placeholder(f"value_{number}".replace("-", "before_"))) for number in parameters
        )
        for op in block.ops[:-1]:
            inner._step(op)
        results = [inner._fresh(inner.value(number)) for number in block.returned]
        inner.finish()
        name = f"region_{self._regions}"
        self._regions += 1
        self.root.add_module(name, inner.module(results, one=one))
        return fx.Proxy(self.tracer.graph.get_attr(name), self.tracer)

    def _fresh(self, value: Value) -> Value:
        """The value in memory of its own, contiguous, as loops and branches want their results."""
        return self.symbolic(value).clone(memory_format=torch.contiguous_format)

    def items(self, value: Value, count: int) -> list[Value]:
        return [operator.getitem(value, at) for at in range(count)]
