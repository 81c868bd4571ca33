"""The bytes that a device sends in an HLO module's text, cleaned up in its favour.

Equal operations are one, also where they call different copies of a computation; what nothing uses is gone, loop
variables too; an all-reduce of which only shards are used is a reduce-scatter over so many devices, and an all-reduce
of the shard over the others. A loop's body counts as often as it runs. A ragged-all-to-all, whose data says what it
sends, does not count; nor in emitted.py.
"""

import math
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field

from shardonnay.xla import group_size, ring_bytes, type_bytes

_HEADER = re.compile(r"(?P<entry>ENTRY )?%(?P<name>[\w.-]+) \(.*\{$")
_INSTRUCTION = re.compile(r"  (?P<root>ROOT )?%(?P<name>[\w.-]+) = (?P<rest>.*)$")
_NAME = re.compile(r"%([\w.-]+)")
_CALLED = re.compile(r"\b(condition|body|to_apply|calls|called_computations|branch_computations|select|"
                     r"scatter)=\{?(%[\w.-]+(?:, ?%[\w.-]+)*)\}?")
# What says where an operation comes from, not what it does.
_ORIGIN = re.compile(r", (?:metadata=\{(?:[^{}\"]|\"[^\"]*\")*\}|channel_id=\d+|sharding=\{.*?\}(?=, "
                     r"|$)|frontend_attributes=\{.*?\}(?=, |$))")
_LAYOUT = re.compile(r"(?<=\])\{[\d,:TSE()*]*\}")
_COLLECTIVES = {"all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute",
                "collective-broadcast"}
_KEPT = {"send", "recv", "infeed", "outfeed", "send-done", "recv-done"}
_SLICES = {"dynamic-slice"}
_SAME_BYTES = {"bitcast", "reshape", "transpose", "copy"}


@dataclass
class Instruction:
    name: str
    type: str
    opcode: str
    operands: list
    inside: str  # what stands in the parentheses
    attributes: str
    called: dict = field(default_factory=dict)  # key -> names of computations

    @property
    def has_effects(self):
        return self.opcode in _KEPT or "custom_call_has_side_effect=true" in self.attributes or self.opcode == "rng"


@dataclass
class Computation:
    name: str
    instructions: dict = field(default_factory=dict)  # name -> Instruction, operands first
    root: str = ""


def _closing(text, start):
    """The index behind the bracket that closes the one at `start`."""
    depth = 0
    for match in re.compile(r"[()]|\"(?:[^\"\\]|\\.)*\"").finditer(text, start):
        depth += {"(": 1, ")": -1}.get(match[0], 0)
        if depth == 0:
            return match.end()
    raise ValueError(f"no closing bracket: {text[start : start + 80]}")


def _instruction(name, rest):
    end = _closing(rest, 0) if rest.startswith("(") else rest.index(" ")
    kind, rest = _LAYOUT.sub("", re.sub(r"/\*.*?\*/", "", rest[:end])), rest[end + 1 :]
    opening = rest.index("(")
    closing = _closing(rest, opening)
    opcode, inside, attributes = rest[:opening], rest[opening + 1 : closing - 1], _ORIGIN.sub("", rest[closing:])
    called = {key: _NAME.findall(names) for key, names in _CALLED.findall(attributes)}
    operands = [] if opcode in ("constant", "parameter") else _NAME.findall(inside)
    return Instruction(name, kind, opcode, operands, inside, attributes, called)


def parse(text):
    """(computations by name, those that are called first; the name of the entry)"""
    computations, entry, inside = {}, None, None
    for line in text.splitlines():
        header = _HEADER.match(line)
        if header:
            inside = computations[header["name"]] = Computation(header["name"])
            entry = header["name"] if header["entry"] else entry
        elif inside and (match := _INSTRUCTION.match(line)):
            inside.instructions[match["name"]] = _instruction(match["name"], match["rest"])
            if match["root"]:
                inside.root = match["name"]
        elif line == "}":
            inside = None
    return computations, entry


class _Sharing:
    """Makes equal operations one, computation by computation; equal computations get the same number."""

    def __init__(self):
        self.numbers = {}  # structure of a computation -> number
        self.of = {}  # name of a computation -> number

    def key(self, instruction, representative):
        called = tuple(
            (key, tuple(self.of[name] for name in names)) for key, names in sorted(instruction.called.items())
        )
        inside = instruction.inside if not instruction.operands else ""
        operands = tuple(representative[name] for name in instruction.operands)
        return instruction.opcode, instruction.type, operands, inside, _CALLED.sub("", instruction.attributes), called

    def share(self, computation):
        first, representative, kept = {}, {}, {}
        for name, instruction in computation.instructions.items():
            key = self.key(instruction, representative)
            alone = instruction.has_effects or instruction.opcode == "while" or "{...}" in instruction.inside
            same = name if alone else first.setdefault(key, name)
            representative[name] = same
            if same == name:
                instruction.operands = [representative[operand] for operand in instruction.operands]
                kept[name] = instruction
        computation.instructions = kept
        computation.root = representative[computation.root]
        order = {name: number for number, name in enumerate(kept)}
        structure = tuple(self.key(instruction, order) for instruction in kept.values())
        self.of[computation.name] = self.numbers.setdefault((structure, order[computation.root]), len(self.numbers))


class _Liveness:
    """Which operations are used, and which elements of loop variables."""

    def __init__(self, computations, entry):
        self.computations, self.entry = computations, entry
        self.live = defaultdict(set)  # computation -> names of operations
        self.elements = defaultdict(set)  # (computation, name of a while) -> elements that are used
        while self._sweep():
            pass

    def _sweep(self):
        before = sum(map(len, self.live.values())) + sum(map(len, self.elements.values()))
        self._mark(self.entry, [self.computations[self.entry].root])
        return before != sum(map(len, self.live.values())) + sum(map(len, self.elements.values()))

    def _mark(self, name, roots):
        """Marks what `roots` of computation `name` need, and what has effects."""
        computation, seen = self.computations[name], set()
        pending = [
            *roots,
            *(i.name for i in computation.instructions.values() if i.has_effects or self._loop_has_effects(i)),
        ]
        while pending:
            at = pending.pop()
            if at in seen:
                continue
            seen.add(at)
            instruction = computation.instructions[at]
            pending += self._needed(name, instruction)
        self.live[name] |= seen

    def _loop_has_effects(self, instruction):
        return instruction.opcode == "while" and any(
            inner.has_effects for inner in self.computations[instruction.called["body"][0]].instructions.values()
        )

    def _needed(self, name, instruction):
        """The operands that `instruction` needs; marks what it calls."""
        instructions = self.computations[name].instructions
        if instruction.opcode == "get-tuple-element":
            source = instructions[instruction.operands[0]]
            index = int(re.search(r"index=(\d+)", instruction.attributes)[1])
            if source.opcode == "while":
                self.elements[name, source.name].add(index)
            elif source.opcode == "tuple":
                return [source.operands[index]]
            return instruction.operands
        if instruction.opcode == "while":
            return self._loop(name, instruction)
        for called in sum(instruction.called.values(), []):
            self._mark(called, [self.computations[called].root])
        for operand in instruction.operands:
            if instructions[operand].opcode == "while":  # used as a whole
                self.elements[name, operand] |= set(range(10**4))
        return instruction.operands

    def _loop(self, name, loop):
        condition, body = (self.computations[loop.called[key][0]] for key in ("condition", "body"))
        start = self.computations[name].instructions[loop.operands[0]]
        ends = body.instructions[body.root]
        elements = self.elements[name, loop.name]
        if ends.opcode != "tuple" or start.opcode != "tuple":
            self._mark(condition.name, [condition.root])
            self._mark(body.name, [body.root])
            return loop.operands
        self._mark(condition.name, [condition.root])
        elements |= self._read(condition)
        self._mark(body.name, [ends.operands[index] for index in sorted(elements) if index < len(ends.operands)])
        elements |= self._read(body)
        return [start.operands[index] for index in sorted(elements) if index < len(start.operands)]

    def _read(self, computation):
        """The elements of its parameter that live operations read."""
        found = set()
        for name in self.live[computation.name]:
            instruction = computation.instructions[name]
            if (
                instruction.opcode == "get-tuple-element"
                and computation.instructions[instruction.operands[0]].opcode == "parameter"
            ):
                found.add(int(re.search(r"index=(\d+)", instruction.attributes)[1]))
        return found


def _trips(loop, computations):
    """How often a loop's body runs: what XLA wrote, or the bound that a counter from 0 is compared with, else 1."""
    known = re.search(r'"known_trip_count":\{"n":"(\d+)"', loop.attributes)
    if known:
        return int(known[1])
    condition = computations[loop.called["condition"][0]].instructions.values()
    bounds = [i.inside for i in condition if i.opcode == "constant" and i.type in ("s32[]", "s64[]")]
    counts = any("direction=LT" in i.attributes for i in condition)
    return int(bounds[0]) if len(bounds) == 1 and counts else 1


def _largest_slice(name, instructions, users):
    """The part of a value that its users take, all of them slices; 1.0 if one needs it whole."""
    part = 0.0
    for user in users[name]:
        if user.opcode in _SLICES and user.operands[0] == name:
            part = max(part, type_bytes(user.type) / type_bytes(instructions[name].type))
        elif user.opcode in _SAME_BYTES and type_bytes(user.type) == type_bytes(instructions[name].type):
            part = max(part, _largest_slice(user.name, instructions, users))
        else:
            return 1.0
    return part or 1.0


def _sent(instruction, instructions, users):
    """(kind, bytes that a device sends)"""
    kind, group = instruction.opcode.replace("-", "_"), group_size(instruction.attributes)
    size = type_bytes(instruction.type)
    if kind == "all_reduce":
        shards = min(group, round(1 / _largest_slice(instruction.name, instructions, users)))
        if shards > 1:
            piece = size / shards
            return "reduce_scatter", ring_bytes("reduce_scatter", piece, shards) + ring_bytes(
                "all_reduce", piece, group / shards
            )
    return kind, ring_bytes(kind, size, group)


@dataclass(frozen=True)
class Sent:
    """A collective: what it sends in a step, and how often it runs."""

    kind: str
    bytes: float
    times: int
    type: str
    attributes: str


def collectives(text):
    """A Sent for every collective that is left after the clean-up."""
    computations, entry = parse(text)
    sharing = _Sharing()
    for computation in computations.values():
        sharing.share(computation)
    live = _Liveness(computations, entry).live
    runs, found = Counter({entry: 1}), []
    for name in reversed(computations):
        instructions = computations[name].instructions
        used = [instruction for instruction in instructions.values() if instruction.name in live[name]]
        users = defaultdict(list)
        for instruction in used:
            times = runs[name] * (_trips(instruction, computations) if instruction.opcode == "while" else 1)
            for called in sum(instruction.called.values(), []):
                runs[called] += times
            for operand in instruction.operands:
                users[operand].append(instruction)
        for instruction in used:
            if instruction.opcode in _COLLECTIVES and runs[name]:
                kind, sent = _sent(instruction, instructions, users)
                found.append(Sent(kind, sent * runs[name], runs[name], instruction.type, instruction.attributes))
    return found


def sent_bytes(text):
    return math.fsum(collective.bytes for collective in collectives(text))
