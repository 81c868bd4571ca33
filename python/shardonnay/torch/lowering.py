"""A functional graph of aten ops as the text of a StableHLO module."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from .aten import Result
from .aten.table import written
from .builder import Builder, UnsupportedError, Value, quoted, type_of
from .placements import mesh_text
from .tracing import site_of


def _result_of(meta: Any) -> Any:
    if isinstance(meta, torch.Tensor):
        return Result(tuple(meta.shape), meta.dtype)
    if isinstance(meta, (list, tuple)):
        return [_result_of(part) for part in meta]
    return None


def _memory_order(tensor: torch.Tensor) -> list[int] | None:
    order = sorted(range(tensor.dim()), key=lambda dim: (-tensor.stride(dim), dim))
    whole = tensor.storage_offset() == 0 and tensor.untyped_storage().nbytes() == tensor.numel() * tensor.element_size()
    return order if whole and tensor.permute(order).is_contiguous() else None


# Ops whose meaning depends on the order in memory of their first tensor.
_BY_MEMORY = (
    torch.ops.aten.as_strided.default,
    torch.ops.aten.as_strided_scatter.default,
    torch.ops.prims.as_strided_scatter.default,
)


def _refuse(node: torch.fx.Node) -> UnsupportedError:
    return UnsupportedError(
        f"'{node.target}' has no entry in the table of ops (shardonnay/torch/aten); expected core aten ops; write this "
        "part with others, or enter the op with shardonnay.torch.aten.table.lowers",
        site_of(node),
    )


class _Lowering:
    def __init__(self, graph: torch.fx.GraphModule, axes: Mapping[str, int] | None) -> None:
        self.graph = graph
        self.builder = Builder(axes)
        self.values: dict[torch.fx.Node, Any] = {}

    def value(self, argument: Any) -> Any:
        return torch.fx.node.map_arg(argument, lambda node: self.values[node])

    def locate(self, node: torch.fx.Node) -> None:
        """What is written next is of a node."""
        self.builder.site = site_of(node)
        self.builder.location = self.builder.site.location(node.name)

    def constant(self, node: torch.fx.Node) -> Value:
        self.locate(node)
        found: Any = self.graph
        for part in str(node.target).split("."):
            found = getattr(found, part)
        if not isinstance(found, torch.Tensor):
            raise UnsupportedError(f"'{node.target}' is a {type(found).__name__}, expected a tensor", site_of(node))
        return self.builder.tensor(found)

    def call(self, node: torch.fx.Node) -> Any:
        if node.target is operator.getitem:
            return self.values[node.args[0]][node.args[1]]
        function = written(node.target)
        if function is None:
            raise _refuse(node)
        self.locate(node)
        args = [self.value(argument) for argument in node.args]
        keywords = {name: self.value(argument) for name, argument in node.kwargs.items()}
        if node.target in _BY_MEMORY:
            self.builder.memory_order = _memory_order(node.args[0].meta["val"])
        result = _result_of(node.meta["val"])
        made = function(self.builder, result, *args, **keywords)
        self._check(node, result, made)
        return made

    @staticmethod
    def _check(node: torch.fx.Node, result: Any, made: Any) -> None:
        """A function of the table must make what torch says that the op makes."""
        pairs = zip(result, made, strict=True) if isinstance(result, list) else [(result, made)]
        for expected, value in pairs:
            if value is not None and expected is not None and (value.shape, value.dtype) != (expected.shape,
                expected.dtype):
                raise UnsupportedError(
                    f"'{node.target}' was written as {value.dtype}{list(value.shape)}, expected "
                    f"{expected.dtype}{list(expected.shape)}; this is an error in shardonnay.torch.aten",
                    site_of(node),
                )

    def run(self) -> list[Value]:
        """Writes the body; returns the results."""
        results: list[Value] = []
        for node in self.graph.graph.nodes:
            if node.op == "placeholder":
                meta = node.meta["val"]
                self.values[node] = self.builder.argument(len(self.values), meta.shape, meta.dtype)
            elif node.op == "get_attr":
                self.values[node] = self.constant(node)
            elif node.op == "output":
                results = [self.value(argument) for argument in node.args[0]]
            elif node.op == "call_function":
                self.values[node] = self.call(node)
            else:
                raise UnsupportedError(f"a node '{node.op}' in the graph, expected calls of functions", site_of(node))
        return results


@dataclass(frozen=True)
class Boundary:
    """What is said of the arguments and results of a program.

    axes: of the mesh, None if the program has none. arguments, results: `sdy` shardings by name. alike: groups of names
        of arguments which are sharded alike, their new values too. updates: of each result, the name of the argument
        whose new value it is.
    """

    axes: Mapping[str, int] | None = None
    arguments: Mapping[str, str] = field(default_factory=dict)
    results: Mapping[str, str] = field(default_factory=dict)
    alike: Sequence[Sequence[str]] = ()
    updates: Sequence[str | None] = ()


class _Module:
    """The text of a module around a lowered graph."""

    def __init__(
        self, graph: torch.fx.GraphModule, names: Sequence[str], results: Sequence[str], said: Boundary
    ) -> None:
        self.lowering = _Lowering(graph, said.axes)
        self.said, self.names, self.result_names = said, names, results
        self.results = self.lowering.run()
        inputs = [node for node in graph.graph.nodes if node.op == "placeholder"]
        self.values = {name: self.lowering.values[node] for node, name in zip(inputs, names, strict=True)}
        self.updates = list(said.updates) or [None] * len(results)

    def argument(self, name: str) -> str:
        value, parts = self.values[name], []
        if name in self.said.arguments:
            parts.append(f"sdy.sharding = {self.said.arguments[name]}")
        if name in self.updates:
            parts.append(f"tf.aliasing_output = {self.updates.index(name)} : i32")
        attributes = f" {{{', '.join(parts)}}}" if parts else ""
        return f"{value.name}: {value.type}{attributes} loc({quoted(name)})"

    def result(self, value: Value, name: str) -> str:
        parts = [f"jax.result_info = {quoted(name)}"]
        if name in self.said.results:
            parts.append(f"sdy.sharding = {self.said.results[name]}")
        return f"{type_of(value.shape, value.dtype)} {{{', '.join(parts)}}}"

    def groups(self) -> list[str]:
        """The ops that tie arguments and their new values together."""
        lines = []
        new = {updates: value for updates, value in zip(self.updates, self.results) if updates}
        for group, names in enumerate(self.said.alike):
            members = [self.values[name] for name in names] + [new[name] for name in names if name in new]
            for value in {value.name: value for value in members}.values():
                lines.append(
                    f'    "sdy.sharding_group"({value.name}) <{{group_id = {group} : i64}}> : ({value.type}) -> ()'
                )
        return lines

    def text(self) -> str:
        lines = ["module @torch {"]
        if self.said.axes is not None:
            lines.append(f"  {mesh_text(self.said.axes)}")
        arguments = ", ".join(map(self.argument, self.names))
        results = ", ".join(
            self.result(value, name) for value, name in zip(self.results, self.result_names, strict=True)
        )
        lines.append(f"  func.func public @main({arguments}) -> ({results}) {{")
        lines += self.lowering.builder.lines + self.groups()
        names, types = ", ".join(value.name for value in self.results), ", ".join(value.type for value in self.results)
        lines.append(f"    return {names} : {types}" if self.results else "    return")
        return "\n".join([*lines, "  }", "}", ""])


def module_text(graph: torch.fx.GraphModule, names: Sequence[str], results: Sequence[str], said: Boundary) -> str:
    """The module with function @main, of a graph whose arguments and results have these names."""
    return _Module(graph, names, results, said).text()
