"""What a trace has recorded as a functional graph of core aten ops: no op writes to memory, and what the table of ops
(aten/) has no entry for is decomposed.

An op is made functional and decomposed by torch itself, once for all calls that differ in their tensors' numbers only:
what that leaves is a template, which each call fills with its operands. Memory that tensors share is followed here.
A view knows the tensor that it is a view of. What is written to it is written to that tensor, and all its views are
taken again when they are read.
"""

from __future__ import annotations

import collections
import itertools
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch._subclasses.fake_tensor import DataDependentOutputException
from torch.fx._lazy_graph_module import _LazyGraphModule

from .builder import Site, UnsupportedError
from .recording import Call, Recorder, Results, Token, Type, key_of, kind_of, leaves_of, mapped, written_by
from .sharing import CONSTANT, OVERLAP, UNKEPT, overlaps

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
    result: Token


@dataclass
class _Value:
    """The value of a tensor: a node, which was right at a version of the memory."""

    node: torch.fx.Node
    memory: _Memory
    version: int = 0
    view: _View | None = None


class Templates:
    """Finds the templates of calls."""

    def __init__(self, fakes: Results, decompositions: Mapping[Any, Callable[..., Any]]) -> None:
        self.fakes, self.decompositions = fakes, decompositions
        self.found: dict[Any, _Template] = {}
        # Of each type tensors of which nothing else is known.
        self.samples: dict[Type, list[torch.Tensor]] = {}

    def sample(self, tree: Any) -> Any:
        """Tensors for tokens, of which torch says the same."""
        return mapped(tree, Token, lambda token: self._sample(token.type))

    def _sample(self, kind: Type, number: int = 0) -> torch.Tensor:
        """number: of several such tensors."""
        found = self.samples.setdefault(kind, [])
        with self.fakes.mode, torch.no_grad():
            while len(found) <= number:
                found.append(_made(kind))
        return found[number]

    def _operands(self, tree: Any) -> list[torch.Tensor]:
        """A tensor for each token in the tree, no two of which are the same."""
        counts: collections.Counter[Type] = collections.Counter()
        found = []
        for token in leaves_of(tree, Token):
            found.append(self._sample(token.type, counts[token.type]))
            counts[token.type] += 1
        return found

    def of(self, call: Call) -> _Template:
        """The template of a call."""
        key = (call.op, key_of(call.args), key_of(call.kwargs))
        found = self.found.get(key)
        if found is None:
            found = self.found[key] = self._plain(call) if self._is_plain(call.op) else self._traced(call)
        return found

    def inverse_of(self, call: Call, place: int, part: int, view: Token) -> _Template:
        """The template of what a tensor becomes that is operand `place` of a call, when what the call gives as `part`
        gets another value, which is the last operand.
        """
        key = (call.op, key_of(call.args), key_of(call.kwargs), place, part, view.type)
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
        args, kwargs = mapped([call.args, call.kwargs], Token, lambda _: _Ref(next(places)))
        place = next(places)
        is_one = isinstance(call.result, Token)
        parts = [] if is_one else [part for part, token in enumerate(call.result) if token is not None]
        results = [_Ref(place)] if is_one else [_Ref(place, part) for part in parts]
        return _Template([_Entry(call.op, args, kwargs, self.sample(call.result))], results, [])

    def _traced(self, call: Call, place: int = 0, part: int = 0, view: Token | None = None) -> _Template:
        """By torch's own functionalization and decompositions; with a view the inverse of a call."""
        operands = self._operands((call.args, call.kwargs, view))
        recorder = Recorder(self.fakes, self.decompositions)
        tokens = [recorder.enter(x) for x in operands]
        try:
            with self.fakes.mode, recorder, torch.no_grad():
                torch._enable_functionalization(reapply_views=True)
                try:
                    wrapped = [torch._to_functional_tensor(x) for x in operands]
                    following = iter(wrapped)
                    args, kwargs = mapped([call.args, call.kwargs], Token, lambda _: next(following))
                    results = list(leaves_of(call.op(*args, **kwargs), torch.Tensor))
                    if view is None:
                        written = list(leaves_of(written_by(call.op, args, kwargs), torch.Tensor))
                    else:
                        torch._functionalize_replace(results[part], operands[-1])
                        torch._functionalize_commit_update(results[part])
                        results, written = [], [wrapped[place]]
                    results, written = (
                        [recorder.token(_unwrapped(x)) for x in tensors] for tensors in (results, written)
                    )
                finally:
                    torch._disable_functionalization()
        except (DataDependentOutputException, NotImplementedError) as error:
            raise UnsupportedError(f"'{call.op}' can not be taken apart: {error}", call.site or Site()) from error
        except RuntimeError as error:
            found = [text for reason, text in UNKEPT.items() if reason in str(error)]
            if not found:
                raise
            raise UnsupportedError(f"'{call.op}' changes {found[0]}", call.site or Site()) from error
        return self._template(tokens, recorder.calls, results, written)

    def _template(
        self, operands: Sequence[Token], calls: Sequence[Call], results: Sequence[Token], written: Sequence[Token]
    ) -> _Template:
        """Of calls those that results and what is written follow from."""
        refs: dict[Token, Any] = {token: _Ref(at) for at, token in enumerate(operands)}
        entries: list[_Entry | None] = []

        def ref(token: Token) -> Any:
            return refs[token] if token.constant is None else token

        for call in calls:
            if call.op in _LIFTS or call.op in _SAME:
                refs[call.result] = ref(call.args[0])
                continue
            place = len(operands) + len(entries)
            args, kwargs = mapped([call.args, call.kwargs], Token, ref)
            entries.append(_Entry(call.op, args, kwargs, self.sample(call.result)))
            if isinstance(call.result, Token):
                refs[call.result] = _Ref(place)
            else:
                refs.update({token: _Ref(place, part) for part, token in enumerate(call.result)})
        found = _Template(entries, list(map(ref, results)), list(map(ref, written)))
        _prune(found, len(operands))
        return found


def _made(kind: Type) -> torch.Tensor:
    """A tensor of a type, with memory of its own."""
    if kind.is_all():
        return torch.empty_strided(kind.shape, kind.stride, dtype=kind.dtype, device=kind.device)
    memory = torch.empty(kind.size // kind.dtype.itemsize, dtype=kind.dtype, device=kind.device)
    found = memory.as_strided(kind.shape, kind.stride, kind.offset)
    found = found.conj() if kind.is_conj else found
    return torch._neg_view(found) if kind.is_neg else found


def _unwrapped(x: torch.Tensor) -> torch.Tensor:
    if not torch._is_functional_tensor(x):
        return x
    torch._sync(x)
    return torch._from_functional_tensor(x)


def _prune(template: _Template, operands: int) -> None:
    """Drops the entries that no result follows from."""
    needed: set[int] = set()

    def need(tree: Any) -> None:
        needed.update(leaf.place - operands for leaf in leaves_of(tree, _Ref))

    need([template.results, template.written])
    for at in reversed(range(len(template.entries))):
        entry = template.entries[at]
        if at not in needed:
            template.entries[at] = None
        elif entry is not None:
            need([entry.args, entry.kwargs])


def _meta(site: Site | None, value: Any) -> dict[str, Any]:
    return {"val": value} if site is None else {"val": value, SITE: site}


class _Filled:
    """The nodes of a template with operands. results, written: the template's."""

    def __init__(
        self, graph: torch.fx.Graph, template: _Template, operands: Sequence[torch.fx.Node], site: Site | None,
        constant: Callable[[Token], torch.fx.Node],
    ) -> None:  # fmt: skip
        self.graph, self.site, self.constant = graph, site, constant
        self.nodes: list[Any] = list(operands)
        self.parts: dict[_Ref, torch.fx.Node] = {}
        for entry in template.entries:
            node = None
            if entry is not None:
                args, kwargs = mapped([entry.args, entry.kwargs], (_Ref, Token), self._node_of)
                name = graph._target_to_str(entry.op.overloadpacket.__name__)
                node = graph.create_node("call_function", entry.op, tuple(args), kwargs, name)
                node.meta = _meta(site, entry.value)
            self.nodes.append(node)
        self.results, self.written = (list(map(self._node_of, refs)) for refs in (template.results, template.written))

    def _node_of(self, leaf: Any) -> Any:
        if isinstance(leaf, Token):
            return self.constant(leaf)
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

    def __init__(self, templates: Templates, inputs: Sequence[Token]) -> None:
        self.templates = templates
        self.graph = torch.fx.Graph()
        self.constants: dict[str, torch.Tensor] = {}
        self.values: dict[Token, _Value] = {}
        for at, token in enumerate(inputs):
            node = self.graph.placeholder(f"arg{at}_1")
            node.meta = _meta(None, templates.sample(token))
            self.values[token] = _Value(node, _Memory())

    def result(self, outputs: Sequence[Any]) -> torch.fx.GraphModule:
        """The graph of these results, without what they do not need."""
        self.graph.output(mapped(outputs, Token, lambda token: self._read(self._value(token))))
        prune(self.graph)
        return _LazyGraphModule(self.constants, self.graph)

    def _value(self, token: Token, site: Site | None = None) -> _Value:
        """The value of a tensor; site: who asks for it."""
        if token.constant is not None and token not in self.values:
            name = f"_tensor_constant{len(self.constants)}"
            self.constants[name] = token.constant
            node = self.graph.create_node("get_attr", name)
            node.meta = _meta(site, token.constant)
            self.values[token] = _Value(node, _Memory(is_constant=True))
        return self.values[token]

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
            self.values[call.result] = _Value(self._read(value), _Memory()) if is_copy else value
            return
        kind = kind_of(call.op)
        operands = [self._value(token, call.site) for token in leaves_of([call.args, call.kwargs], Token)]
        changed = list(leaves_of(written_by(call.op, call.args, call.kwargs), Token))
        if any(overlaps(token.type.shape, token.type.stride) for token in changed):
            raise UnsupportedError(f"'{call.op}' changes {OVERLAP}", call.site or Site())
        written = [self._value(token) for token in changed]
        if any(value.memory.is_constant for value in written):
            raise UnsupportedError(f"'{call.op}' changes {UNKEPT[CONSTANT]}", call.site or Site())
        template = self.templates.of(call)
        nodes = [self._read(value) for value in operands]
        filled = self._filled(template, nodes, call.site)
        for value, node in zip(written, filled.written, strict=True):
            self._write(value, node, call.site)
        results = list(leaves_of(call.result, Token))
        if kind.returns_written:
            found = written
        elif kind.viewed is None:
            found = [_Value(node, _Memory()) for node in filled.results]
        else:
            place = len(list(leaves_of(call.args[: kind.viewed], Token)))
            memory = operands[place].memory
            found = [
                _Value(node, memory, memory.version, _View(operands[place], template, call, nodes, place, part, token))
                for part, (token, node) in enumerate(zip(results, filled.results))
            ]
        for token, value in zip(results, found):
            self.values.setdefault(token, value)

    def _write(self, value: _Value, node: torch.fx.Node, site: Site | None) -> None:
        """Gives a tensor another value, and what it is a view of; views are taken again when they are read."""
        while (view := value.view) is not None:
            operands = list(view.operands)
            operands[view.place] = self._read(view.parent)
            inverse = self.templates.inverse_of(view.call, view.place, view.part, view.result)
            node = self._filled(inverse, [*operands, node], site).written[0]
            value = view.parent
        value.memory.version += 1
        value.node, value.version = node, value.memory.version
