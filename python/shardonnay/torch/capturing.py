"""A PyTorch function as a StableHLO program whose arguments and results have names."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.utils._pytree as pytree
from torch._subclasses.fake_tensor import FakeTensorMode

from . import lowering
from .attributes import restored
from .builder import UnsupportedError
from .deferred import Number, Numbers
from .functional import prune
from .randomness import Randomness, warned
from .tracing import site_of, trace
from .trees import named_leaves

SEED = "seed"


@dataclass(frozen=True)
class Argument:
    """An argument of the program.

    kind: "parameter", "buffer", "state" (an optimizer's), "input" or "seed". name: the FQN of a parameter or buffer,
    `state.<FQN>.<key>` of a state, `inputs.<path>` of an input.
    """

    name: str
    kind: str
    shape: tuple[int, ...]
    dtype: torch.dtype


@dataclass(frozen=True)
class Returned:
    """A result of the program. updates: the name of the argument whose new value it is, None for what is computed."""

    name: str
    shape: tuple[int, ...]
    dtype: torch.dtype
    updates: str | None = None


@dataclass(frozen=True)
class Captured:
    """A captured program.

    graph: its functional aten graph; arguments and results are in the order of the graph's.
    values: what the parameters, buffers and states were, by the argument's name.
    structure: the tree of the results that are no updates.
    constants: numbers and texts of the batch, which the program has in it, by the name of their place; and buffers
        whose numbers forward needs in Python.
    """

    graph: torch.fx.GraphModule
    arguments: tuple[Argument, ...]
    results: tuple[Returned, ...]
    values: Mapping[str, torch.Tensor] = field(default_factory=dict)
    structure: pytree.TreeSpec | None = None
    constants: Mapping[str, Any] = field(default_factory=dict)

    @functools.cached_property
    def text(self) -> str:
        """The StableHLO module: arguments are located by their names, ops by the user's lines."""
        return self.module()

    def module(
        self,
        axes: Mapping[str, int] | None = None,
        arguments: Mapping[str, str] | None = None,
        results: Mapping[str, str] | None = None,
        alike: Sequence[Sequence[str]] = (),
    ) -> str:
        """`text` for a mesh of these axes, with `sdy` shardings of arguments and results by name.

        alike: groups of names of arguments that are to be sharded alike, their new values too.
        """
        updates = [entry.updates for entry in self.results]
        said = lowering.Boundary(axes, arguments or {}, results or {}, alike, updates)
        names, result_names = ([entry.name for entry in entries] for entries in (self.arguments, self.results))
        return lowering.module_text(self.graph, names, result_names, said)

    def __repr__(self) -> str:
        return f"<Captured: {len(self.arguments)} arguments, {len(self.results)} results>"


def fake_of(mode: FakeTensorMode, value: torch.Tensor) -> torch.Tensor:
    """A tensor of the same type and global shape, wherever the real one is and however it is placed."""
    with mode:
        return torch.empty(tuple(value.shape), dtype=value.dtype)


@dataclass
class Inputs:
    """The arguments of a program that is being captured: names, kinds and values, in order."""

    names: list[str] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    values: list[torch.Tensor] = field(default_factory=list)
    constants: dict[str, Any] = field(default_factory=dict)

    def add(self, name: str, kind: str, value: torch.Tensor) -> None:
        if name in self.names or name == SEED:
            raise ValueError(f"two arguments of the program would be called '{name}'; rename the {kind}")
        if value.is_nested:
            raise TypeError(
                f"{name}: a nested tensor, expected a dense one: torch.nested.to_padded_tensor, and lengths or a mask"
            )
        if value.layout != torch.strided or value.is_quantized:
            found, made = ("quantized", "dequantize") if value.is_quantized else (value.layout, "to_dense")
            raise TypeError(f"{name}: a tensor that is {found}, expected a dense one, as its {made}() is")
        self.names.append(name)
        self.kinds.append(kind)
        self.values.append(value)

    def add_batch(self, names: Sequence[str], leaves: Sequence[Any]) -> None:
        """Its tensors are arguments; what else there is has this one value in the program."""
        for name, leaf in zip(names, leaves):
            if isinstance(leaf, torch.Tensor):
                self.add(name, "input", leaf)
            elif leaf is None or isinstance(leaf, (bool, int, float, str)):
                self.constants[name] = leaf


def captured(
    function: Callable[[dict[str, torch.Tensor]], tuple[Any, Mapping[str, torch.Tensor]]],
    inputs: Inputs,
    model: torch.nn.Module | None = None,
    results: str = "result",
) -> Captured:
    """Captures `function` of arguments by name, which returns (a tree of results, new values of arguments by name).

    results: what the names of the tree's leaves begin with.
    """
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    made: dict[str, Any] = {}

    def flat(*values: torch.Tensor) -> list[torch.Tensor]:
        tree, updates = function(dict(zip(inputs.names, values)))
        made["names"], leaves, made["structure"] = named_leaves(results, tree)
        kept = numbers.kept(leaves)
        leaves = [leaf.known() if type(leaf) is Number else leaf for leaf in leaves]
        for name, leaf in zip(made["names"], leaves):
            if not isinstance(leaf, torch.Tensor):
                raise TypeError(f"result {name or results}: got {type(leaf).__name__}, expected a tensor")
        made["updates"], made["kept"] = list(updates), list(kept)
        return [*leaves, *updates.values(), *kept.values()]

    fakes = [fake_of(mode, value) for value in [*inputs.values, torch.tensor(0)]]
    randomness, numbers = Randomness(), Numbers()
    buffers = {
        at: (name, value)
        for at, (name, kind, value) in enumerate(zip(inputs.names, inputs.kinds, inputs.values))
        if kind == "buffer"
    }
    with restored(model), warned(), contextlib.closing(numbers):
        graph, asked = trace(flat, fakes, mode, randomness, numbers, model, buffers)
    inputs.constants.update({name: value.detach().clone() for name, value in buffers.values() if name in asked})
    found = _assembled(graph, inputs, made)
    for entry in found.results:
        if entry.updates in asked:
            raise UnsupportedError(
                f"asks for the numbers of the buffer '{entry.updates}', which a step changes, so that the next one is "
                "another program; expected a branch that needs no numbers (torch.where), or, if only a first step "
                "changes it, a model that has taken it in eager mode",
                asked[entry.updates],
            )
    return found


def _check_constants(graph: torch.fx.GraphModule, inputs: Inputs) -> None:
    """No constant is a parameter or buffer, which forward has found where nothing stands in for it."""
    owners = {
        value.untyped_storage()._cdata: (name, kind)
        for name, kind, value in zip(inputs.names, inputs.kinds, inputs.values)
        if kind != "input"
    }
    for node in graph.graph.find_nodes(op="get_attr"):
        value = functools.reduce(getattr, str(node.target).split("."), graph)
        place = value.untyped_storage()._cdata if isinstance(value, torch.Tensor) else None
        if place in owners:
            name, kind = owners[place]
            raise UnsupportedError(
                f"{name}: forward takes this {kind} from elsewhere than the module that has it, so that the program "
                "would have its value as it is now; expected the module's own attribute, or a torch function of it",
                site_of(next(iter(node.users))),
            )


def _assembled(graph: torch.fx.GraphModule, inputs: Inputs, made: dict[str, Any]) -> Captured:
    placeholders = graph.graph.find_nodes(op="placeholder")
    names, kinds = [*inputs.names, SEED], [*inputs.kinds, SEED]
    if not placeholders[-1].users:  # it draws no random numbers
        graph.graph.erase_node(placeholders.pop())
    by_node = dict(zip(placeholders, names))
    before = {name: node.meta["val"] for node, name in by_node.items()}
    output = graph.graph.output_node()
    nodes, results = [], []
    labels = [(name, None) for name in made["names"]] + [(name, name) for name in made["updates"]]
    labels += [(name, None) for name in made["kept"]]
    for node, (name, updates) in zip(output.args[0], labels, strict=True):
        if not isinstance(node, torch.fx.Node):
            raise UnsupportedError(f"result {name}: {node!r}, expected a tensor")
        if updates and by_node.get(_behind(node)) == updates:
            continue  # the program leaves it as it was
        nodes.append(node)
        value = node.meta["val"]
        if updates:
            _check_type(updates, before[updates], value)
        results.append(Returned(name, tuple(value.shape), value.dtype, updates))
    output.args = (tuple(nodes),)
    prune(graph.graph)
    _check_constants(graph, inputs)
    graph.recompile()
    arguments = [
        Argument(name, kind, tuple(node.meta["val"].shape), node.meta["val"].dtype)
        for node, name, kind in zip(placeholders, names, kinds)
    ]
    values = {
        name: value for name, kind, value in zip(inputs.names, inputs.kinds, inputs.values) if kind != "input"
    }
    return Captured(graph, tuple(arguments), tuple(results), values, made["structure"], inputs.constants)


def _check_type(name: str, before: torch.Tensor, after: torch.Tensor) -> None:
    """The next step is the same program."""
    if (before.shape, before.dtype) != (after.shape, after.dtype):
        raise TypeError(
            f"{name}: was {before.dtype}{list(before.shape)} and is {after.dtype}{list(after.shape)} after a step; "
            "expected the same type and shape, as of a buffer that has all its places from the beginning"
        )


_SAME = (torch.ops.aten.alias.default, torch.ops.aten.clone.default, torch.ops.aten.detach.default)


def _behind(node: torch.fx.Node) -> torch.fx.Node:
    """What a chain of copies copies."""
    while node.target in _SAME:
        node = node.args[0]
    return node


def _model_inputs(model: torch.nn.Module) -> Inputs:
    inputs = Inputs()
    for name, parameter in model.named_parameters():
        inputs.add(name, "parameter", parameter)
    for name, buffer in model.named_buffers():
        inputs.add(name, "buffer", buffer)
    return inputs


def capture(
    function: Callable[..., Any], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
) -> Captured:
    """The program of `function(*args, **kwargs)`; arguments may be trees of tensors.

    function: of tensors to a tree of tensors; what it mutates of its arguments is not seen outside. Of a module the
    parameters and buffers are arguments, and new values of buffers are results. What is no tensor is a constant.
    """
    from .training import swapped

    model = function if isinstance(function, torch.nn.Module) else None
    inputs = Inputs() if model is None else _model_inputs(model)
    own = list(inputs.names)
    names, leaves, spec = named_leaves("inputs", (tuple(args), dict(kwargs or {})))
    names = [_shortened(name) for name in names]
    inputs.add_batch(names, leaves)

    def run(values: dict[str, torch.Tensor]) -> tuple[Any, dict[str, torch.Tensor]]:
        given = [values.get(name, leaf) for name, leaf in zip(names, leaves)]
        positional, keywords = pytree.tree_unflatten([_apart(leaf) for leaf in given], spec)
        if model is None:
            return function(*positional, **keywords), {}
        mine = {name: values[name].clone() for name in own}
        with swapped(model, mine):
            result = model(*positional, **keywords)
        return result, mine

    return captured(run, inputs, model)


def _apart(leaf: Any) -> Any:
    return leaf.clone() if isinstance(leaf, torch.Tensor) else leaf


def _shortened(name: str) -> str:
    """`inputs.0.1` (the second positional argument) as `inputs.1`, `inputs.1.mask` (a keyword) as `inputs.mask`."""
    head, _, rest = name.removeprefix("inputs.").partition(".")
    return f"inputs.{rest}" if head in ("0", "1") and rest else name
