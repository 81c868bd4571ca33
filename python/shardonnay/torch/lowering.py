"""A functional graph of aten ops as the text of a StableHLO module."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from .aten import TABLE, Result
from .builder import Builder, Site, UnsupportedError, Value, quoted, type_of
from .tracing import site_of


def _result_of(meta: Any) -> Any:
    if isinstance(meta, torch.Tensor):
        return Result(tuple(meta.shape), meta.dtype)
    if isinstance(meta, (list, tuple)):
        return [_result_of(part) for part in meta]
    return None


def _refuse(node: torch.fx.Node) -> UnsupportedError:
    return UnsupportedError(
        f"'{node.target}' has no entry in the table of ops (shardonnay/torch/aten); expected core aten ops; write this "
        "part with others, or enter the op with shardonnay.torch.aten.table.lowers",
        site_of(node),
    )


class _Lowering:
    def __init__(self, graph: torch.fx.GraphModule) -> None:
        self.graph = graph
        self.builder = Builder()
        self.values: dict[torch.fx.Node, Any] = {}

    def value(self, argument: Any) -> Any:
        return torch.fx.node.map_arg(argument, lambda node: self.values[node])

    def constant(self, node: torch.fx.Node) -> Value:
        found: Any = self.graph
        for part in str(node.target).split("."):
            found = getattr(found, part)
        if not isinstance(found, torch.Tensor):
            raise UnsupportedError(f"'{node.target}' is a {type(found).__name__}, expected a tensor", site_of(node))
        return self.builder.tensor(found)

    def call(self, node: torch.fx.Node) -> Any:
        if node.target is operator.getitem:
            return self.values[node.args[0]][node.args[1]]  # type: ignore[index]
        function = TABLE.get(node.target)
        if function is None:
            raise _refuse(node)
        site = site_of(node)
        self.builder.site = site
        target = str(node.target).removeprefix("aten.").removeprefix("prims.").rpartition(".")[0]
        self.builder.location = site.location(target)
        args = [self.value(argument) for argument in node.args]
        keywords = {name: self.value(argument) for name, argument in node.kwargs.items()}
        result = _result_of(node.meta["val"])
        made = function(self.builder, result, *args, **keywords)
        self._check(node, result, made)
        return made

    @staticmethod
    def _check(node: torch.fx.Node, result: Any, made: Any) -> None:
        """A function of the table must make what torch says that the op makes."""
        pairs = zip(result, made, strict=True) if isinstance(result, list) else [(result, made)]
        for expected, value in pairs:
            if value is not None and expected is not None and (value.shape, value.dtype) != (expected.shape, expected.dtype):
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


def module_text(
    graph: torch.fx.GraphModule,
    argument_names: Sequence[str],
    result_names: Sequence[str],
    *,
    meshes: Sequence[str] = (),
    shardings: Mapping[str, str] | None = None,
    result_shardings: Mapping[str, str] | None = None,
) -> str:
    """The module with function @main. Meshes and shardings are `sdy` text; shardings by argument and result name."""
    lowering = _Lowering(graph)
    results = lowering.run()
    inputs = [node for node in graph.graph.nodes if node.op == "placeholder"]

    def attributes(name: str, table: Mapping[str, str] | None, own: str) -> str:
        parts = [own] if own else []
        if table and name in table:
            parts.append(f"sdy.sharding = {table[name]}")
        return f" {{{', '.join(parts)}}}" if parts else ""

    arguments = []
    for node, name in zip(inputs, argument_names, strict=True):
        value = lowering.values[node]
        arguments.append(
            f"{value.name}: {value.type}{attributes(name, shardings, '')} {Site(module=name).location('')}"
        )
    kinds = [
        type_of(value.shape, value.dtype) + attributes(name, result_shardings, f"jax.result_info = {quoted(name)}")
        for value, name in zip(results, result_names, strict=True)
    ]
    lines = ["module @torch {", *(f"  {mesh}" for mesh in meshes)]
    lines.append(f"  func.func public @main({', '.join(arguments)}) -> ({', '.join(kinds)}) {{")
    lines += lowering.builder.lines
    names, types = ", ".join(value.name for value in results), ", ".join(value.type for value in results)
    lines.append(f"    return {names} : {types}" if results else "    return")
    return "\n".join([*lines, "  }", "}", ""])
