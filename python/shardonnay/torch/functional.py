"""What a trace has recorded as a functional graph of core aten ops: no op writes to memory, and what the table of ops
(aten/) has no entry for is decomposed.

An op is made functional and decomposed by torch itself, once for all calls that differ in their tensors' numbers only:
what that leaves is a template, which each call fills with its operands. Memory that tensors share is followed here.
A view knows the tensor that it is a view of; a write to one gives all of these new values, and what else is a view of
them is taken again when it is read.
"""

from __future__ import annotations

import collections
import itertools
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch._subclasses.fake_tensor import DataDependentOutputException, FakeTensor, FakeTensorMode
from torch.fx._lazy_graph_module import _LazyGraphModule

from .builder import Site, UnsupportedError
from .recording import Call, Recorder, key_of, kind_of, tensors_of, written_by

aten = torch.ops.aten
SITE = "shardonnay_site"
# Views of all of a tensor in its own shape, which are the tensor.
_SAME = (aten.alias.default, aten.detach.default)
_LIFTS = (aten.lift_fresh.default, aten.lift_fresh_copy.default)


@dataclass(frozen=True)
class _Ref:
    """A tensor of a template: an operand, which come first, or a result of a call; part: of several results."""

    place: int
    part: int | None = None


@dataclass(frozen=True)
class _Entry:
    """A call of a template, in whose arguments references stand for tensors. value: what torch says of the result."""

    op: Any
    args: Any
    kwargs: Any
    value: Any


@dataclass(frozen=True)
class _Template:
    """What a call becomes. results: the tensors of its result; written: the new values of what it changes; either is
    a reference or a constant.
    """

    entries: list[_Entry | None]
    results: list[Any]
    written: list[Any]


@dataclass
class _Memory:
    """What a tensor and all its views share. is_constant: nothing may be written to it."""

    version: int = 0
    is_constant: bool = False


@dataclass
class _View:
    """How a view is taken again: the template's result `part`, where `place` of the operands is what it is of.
    result: the tensor that it was.
    """

    parent: _Value
    template: _Template
    call: Call
    operands: list[torch.fx.Node]
    place: int
    part: int
    result: torch.Tensor


@dataclass
class _Value:
    """The value of a tensor: a node, which was right at a version of the memory."""

    node: torch.fx.Node
    memory: _Memory
    version: int = 0
    view: _View | None = None


def _mapped(tree: Any, function: Callable[[Any], Any]) -> Any:
    """`function` of the leaves in nested lists, tuples and dicts."""
    if isinstance(tree, (list, tuple)):
        return [_mapped(part, function) for part in tree]
    if isinstance(tree, dict):
        return {name: _mapped(part, function) for name, part in tree.items()}
    return function(tree)


class Templates:
    """Finds the templates of calls."""

    def __init__(self, mode: FakeTensorMode, decompositions: Mapping[Any, Callable[..., Any]]) -> None:
        self.mode, self.decompositions = mode, decompositions
        self.found: dict[Any, _Template] = {}
        # Of each tensor what torch says of it, and tensors of which that holds and nothing else.
        self.types: dict[int, Any] = {}
        self.samples: dict[Any, list[torch.Tensor]] = {}

    def _type_of(self, x: torch.Tensor) -> Any:
        found = self.types.get(id(x))
        if found is None:
            found = (
                x.shape, x.dtype, x.stride(), x.storage_offset(), x.untyped_storage().nbytes(), x.device, x.is_conj(),
                x.is_neg(),
            )  # fmt: skip
            self.types[id(x)] = found
        return found

    def sample(self, tree: Any) -> Any:
        """What torch says of tensors, as tensors that nothing else follows from."""
        return _mapped(tree, lambda leaf: self._sample(leaf) if isinstance(leaf, torch.Tensor) else leaf)

    def _sample(self, x: torch.Tensor, number: int = 0) -> torch.Tensor:
        """number: of several such tensors."""
        found = self.samples.setdefault(self._type_of(x), [])
        while len(found) <= number:
            with self.mode:
                found.append(aten.detach.default(x))
        return found[number]

    def _operands(self, tree: Any) -> list[torch.Tensor]:
        """A tensor for each in the tree, no two of which are the same."""
        counts: collections.Counter[Any] = collections.Counter()
        found = []
        for x in tensors_of(tree):
            kind = self._type_of(x)
            found.append(self._sample(x, counts[kind]))
            counts[kind] += 1
        return found

    def _key(self, tree: Any) -> Any:
        return key_of(tree, self._type_of)

    def of(self, call: Call) -> _Template:
        """The template of a call."""
        key = (call.op, self._key(call.args), self._key(call.kwargs))
        found = self.found.get(key)
        if found is None:
            found = self.found[key] = self._is_plain(call.op) and self._plain(call) or self._traced(call)
        return found

    def inverse_of(self, call: Call, place: int, part: int, view: torch.Tensor) -> _Template:
        """The template of what a tensor becomes that is operand `place` of a call, when what the call gives as `part`
        gets another value, which is the last operand.
        """
        key = (call.op, self._key(call.args), self._key(call.kwargs), place, part, self._key(view))
        found = self.found.get(key)
        if found is None:
            found = self.found[key] = self._traced(call, place, part, view)
        return found

    def _is_plain(self, op: Any) -> bool:
        kind = kind_of(op)
        return not (op in self.decompositions or kind.written or kind.viewed is not None or kind.is_composite)

    def _plain(self, call: Call) -> _Template:
        """Of an op that stays as it is. Two operands may be one tensor here and not in the next call."""
        places = itertools.count()
        args, kwargs = _mapped(
            (call.args, call.kwargs), lambda leaf: _Ref(next(places)) if isinstance(leaf, torch.Tensor) else leaf
        )
        place = next(places)
        is_one = isinstance(call.result, torch.Tensor)
        parts = [] if is_one else [part for part, x in enumerate(call.result) if isinstance(x, torch.Tensor)]
        results = [_Ref(place)] if is_one else [_Ref(place, part) for part in parts]
        return _Template([_Entry(call.op, args, kwargs, self.sample(call.result))], results, [])

    def _traced(self, call: Call, place: int = 0, part: int = 0, view: torch.Tensor | None = None) -> _Template:
        """By torch's own functionalization and decompositions; with a view the inverse of a call."""
        operands = self._operands((call.args, call.kwargs, view))
        recorder = Recorder(self.mode, self.decompositions)
        try:
            with self.mode, recorder, torch.no_grad():
                torch._enable_functionalization(reapply_views=True)
                try:
                    wrapped = [torch._to_functional_tensor(x) for x in operands]
                    following = iter(wrapped)
                    args, kwargs = _mapped(
                        (call.args, call.kwargs), lambda leaf: next(following) if isinstance(leaf, torch.Tensor) else leaf
                    )
                    results = list(tensors_of(call.op(*args, **kwargs)))
                    if view is None:
                        written = list(written_by(call.op, args, kwargs))
                    else:
                        torch._functionalize_replace(results[part], operands[-1])
                        torch._functionalize_commit_update(results[part])
                        results, written = [], [wrapped[place]]
                    results, written = (list(map(_unwrapped, tensors)) for tensors in (results, written))
                finally:
                    torch._disable_functionalization()
        except (DataDependentOutputException, NotImplementedError) as error:
            raise UnsupportedError(f"'{call.op}' can not be taken apart: {error}", call.site or Site()) from error
        return _template(operands, recorder.calls, results, written)


def _unwrapped(x: torch.Tensor) -> torch.Tensor:
    if not torch._is_functional_tensor(x):
        return x
    torch._sync(x)
    return torch._from_functional_tensor(x)


def _template(
    operands: Sequence[torch.Tensor],
    calls: Sequence[Call],
    results: Sequence[torch.Tensor],
    written: Sequence[torch.Tensor],
) -> _Template:
    """Of calls those that results and what is written follow from."""
    refs: dict[int, Any] = {id(x): _Ref(at) for at, x in enumerate(operands)}
    entries: list[_Entry | None] = []

    def ref(leaf: Any) -> Any:
        return refs[id(leaf)] if isinstance(leaf, FakeTensor) else leaf

    for call in calls:
        if call.op in _LIFTS or call.op in _SAME:
            refs[id(call.result)] = ref(call.args[0])
            continue
        place = len(operands) + len(entries)
        entries.append(_Entry(call.op, _mapped(call.args, ref), _mapped(call.kwargs, ref), call.result))
        if isinstance(call.result, torch.Tensor):
            refs[id(call.result)] = _Ref(place)
        else:
            refs.update({id(x): _Ref(place, part) for part, x in enumerate(call.result)})
    found = _Template(entries, list(map(ref, results)), list(map(ref, written)))
    _prune(found, len(operands))
    return found


def _prune(template: _Template, operands: int) -> None:
    """Drops the entries that no result follows from."""
    needed: set[int] = set()

    def need(leaf: Any) -> None:
        if isinstance(leaf, _Ref):
            needed.add(leaf.place - operands)

    _mapped([template.results, template.written], need)
    for at in reversed(range(len(template.entries))):
        entry = template.entries[at]
        if at not in needed:
            template.entries[at] = None
        elif entry is not None:
            _mapped([entry.args, entry.kwargs], need)


def _meta(site: Site | None, value: Any) -> dict[str, Any]:
    return {"val": value} if site is None else {"val": value, SITE: site}


class _Filled:
    """The nodes of a template with operands. results, written: the template's."""

    def __init__(
        self, graph: torch.fx.Graph, template: _Template, operands: Sequence[torch.fx.Node], site: Site | None,
        constant: Callable[[torch.Tensor], torch.fx.Node],
    ) -> None:  # fmt: skip
        self.graph, self.site, self.constant = graph, site, constant
        self.nodes: list[Any] = list(operands)
        self.parts: dict[_Ref, torch.fx.Node] = {}
        for entry in template.entries:
            node = None
            if entry is not None:
                args, kwargs = _mapped(entry.args, self._node_of), _mapped(entry.kwargs, self._node_of)
                name = graph._target_to_str(entry.op.overloadpacket.__name__)
                node = graph.create_node("call_function", entry.op, tuple(args), kwargs, name)
                node.meta = _meta(site, entry.value)
            self.nodes.append(node)
        self.results, self.written = (list(map(self._node_of, refs)) for refs in (template.results, template.written))

    def _node_of(self, leaf: Any) -> Any:
        if isinstance(leaf, torch.Tensor):
            return self.constant(leaf)
        if not isinstance(leaf, _Ref):
            return leaf
        node = self.nodes[leaf.place]
        if leaf.part is None:
            return node
        if leaf not in self.parts:
            part = self.graph.create_node("call_function", operator.getitem, (node, leaf.part))
            part.meta = _meta(self.site, node.meta["val"][leaf.part])
            self.parts[leaf] = part
        return self.parts[leaf]


def prune(graph: torch.fx.Graph) -> None:
    """Drops what no result follows from: no op of a functional graph does anything else."""
    for node in reversed(graph.nodes):
        if node.op in ("call_function", "get_attr") and not node.users:
            graph.erase_node(node)


class Functional:
    """Writes the graph."""

    def __init__(self, templates: Templates, inputs: Sequence[torch.Tensor]) -> None:
        self.templates = templates
        self.graph = torch.fx.Graph()
        self.constants: dict[str, torch.Tensor] = {}
        self.values: dict[int, _Value] = {}
        for at, x in enumerate(inputs):
            node = self.graph.placeholder(f"arg{at}_1")
            node.meta["val"] = templates.sample(x)
            self.values[id(x)] = _Value(node, _Memory())

    def result(self, outputs: Sequence[torch.Tensor]) -> torch.fx.GraphModule:
        """The graph of these results, without what they do not need."""
        nodes = [self._read(self._value(x)) if isinstance(x, torch.Tensor) else x for x in outputs]
        self.graph.output(nodes)
        prune(self.graph)
        return _LazyGraphModule(self.constants, self.graph)

    def _value(self, x: torch.Tensor, site: Site | None = None) -> _Value:
        """The value of a tensor; one that is none of the trace is a constant, which `site` asks for first."""
        found = self.values.get(id(x))
        if found is None:
            name = f"_tensor_constant{len(self.constants)}"
            self.constants[name] = x
            node = self.graph.create_node("get_attr", name)
            node.meta = _meta(site, x)
            found = self.values[id(x)] = _Value(node, _Memory(is_constant=True))
        return found

    def _read(self, value: _Value) -> torch.fx.Node:
        """The node that a value has now."""
        view = value.view
        if view is not None and value.version != value.memory.version:
            operands = list(view.operands)
            operands[view.place] = self._read(view.parent)
            value.node = self._filled(view.template, operands, view.call.site).results[view.part]
            value.version = value.memory.version
        return value.node

    def _filled(self, template: _Template, operands: Sequence[torch.fx.Node], site: Site | None) -> _Filled:
        return _Filled(self.graph, template, operands, site, lambda x: self._value(x, site).node)

    def call(self, call: Call) -> None:
        """Writes what a call becomes."""
        if call.op in _LIFTS or call.op in _SAME:
            value = self._value(call.args[0], call.site)
            is_copy = call.op is aten.lift_fresh_copy.default or call.op in _LIFTS and value.memory.is_constant
            self.values[id(call.result)] = _Value(self._read(value), _Memory()) if is_copy else value
            return
        kind = kind_of(call.op)
        operands = [self._value(x, call.site) for x in tensors_of((call.args, call.kwargs))]
        written = [self._value(x, call.site) for x in written_by(call.op, call.args, call.kwargs)]
        if any(value.memory.is_constant for value in written):
            raise UnsupportedError(
                f"'{call.op}' changes a tensor that is neither an argument nor a parameter or buffer of the model, "
                "which a program does not hand on to its next step; expected a buffer (register_buffer)",
                call.site or Site(),
            )
        template = self.templates.of(call)
        nodes = [self._read(value) for value in operands]
        filled = self._filled(template, nodes, call.site)
        for value, node in zip(written, filled.written, strict=True):
            self._write(value, node, call.site)
        results = list(tensors_of(call.result))
        if kind.returns_written:
            self.values.update({id(x): value for x, value in zip(results, written)})
        elif kind.viewed is None:
            self.values.update({id(x): _Value(node, _Memory()) for x, node in zip(results, filled.results)})
        else:
            place = len(list(tensors_of(call.args[: kind.viewed])))
            memory = operands[place].memory
            for part, (x, node) in enumerate(zip(results, filled.results)):
                view = _View(operands[place], template, call, nodes, place, part, x)
                self.values[id(x)] = _Value(node, memory, memory.version, view)

    def _write(self, value: _Value, node: torch.fx.Node, site: Site | None) -> None:
        """Gives a tensor another value, and what it is a view of."""
        after = [(value, node)]
        while (view := value.view) is not None:
            operands = list(view.operands)
            operands[view.place] = self._read(view.parent)
            inverse = self.templates.inverse_of(view.call, view.place, view.part, view.result)
            node = self._filled(inverse, [*operands, node], site).written[0]
            value = view.parent
            after.append((value, node))
        value.memory.version += 1
        for changed, node in after:
            changed.node, changed.version = node, changed.memory.version
