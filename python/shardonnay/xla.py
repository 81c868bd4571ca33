"""What XLA's own partitioner makes of a program: the collectives in the HLO that its SPMD partitioner leaves.

Counted raw, right after partitioning: later passes of the CPU pipeline combine collectives, ours as well as XLA's.
"""

import math
import re
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

_KINDS = "all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute"
_COLLECTIVE = re.compile(rf"= (?P<type>.*?) (?P<kind>{_KINDS})\((?P<rest>.*)")
_ARRAY = re.compile(r"\b(pred|[a-z]+(\d+)\w*)\[([\d,]*)\]")
_MESH_GROUPS = re.compile(r"replica_groups=mesh\[(?P<sizes>[^\]]*)\].*?\{(?P<axes>[^}]*)\}")


def ring_bytes(kind, result_bytes, group):
    """Bytes that one device sends for a collective in rings of `group` devices, given the bytes of its result."""
    if kind == "collective_permute":
        return result_bytes
    if kind == "reduce_scatter":
        return result_bytes * (group - 1)
    return result_bytes * (2 if kind == "all_reduce" else 1) * (group - 1) / group


def type_bytes(hlo_type):
    return sum(
        math.prod(map(int, filter(None, dims.split(",")))) * (1 if name == "pred" else int(bits) / 8)
        for name, bits, dims in _ARRAY.findall(hlo_type)
    )


def group_size(rest):
    """The size of the replica groups, which HLO writes in three ways: iota, mesh axes, lists."""
    iota = re.search(r"replica_groups=\[\d+,(\d+)\]<=", rest)
    if iota:
        return int(iota[1])
    mesh = _MESH_GROUPS.search(rest)
    if mesh:
        sizes = dict(re.findall(r"'(\w+)'=(\d+)", mesh["sizes"]))
        axes = re.findall(r"'(\w+)'(?::\(\d+\)(\d+))?", mesh["axes"])
        return math.prod(int(part or sizes[name]) for name, part in axes)
    lists = re.search(r"replica_groups=\{\{([\d,]*)\}", rest)
    return len(lists[1].split(",")) if lists else 1


_COMPUTATION = re.compile(r"(?:ENTRY )?%(?P<name>[\w.-]+) \(.*\{$")
_CALLEES = re.compile(r"(?:body|to_apply|calls|called_computations|branch_computations)=\{?(%[\w.-]+(?:, %[\w.-]+)*)")
_WHILE = re.compile(r" while\(.*condition=%(?P<condition>[\w.-]+)")


def _trips(line, computations):
    """How often a loop's body runs: what XLA wrote, or the bound that a counter from 0 is compared with, else 1."""
    known = re.search(r'"known_trip_count":\{"n":"(\d+)"', line)
    if known:
        return int(known[1])
    condition = "\n".join(computations[_WHILE.search(line)["condition"]])
    bounds = re.findall(r"= s32\[\] constant\((\d+)\)", condition)
    return int(bounds[0]) if len(bounds) == 1 and "direction=LT" in condition else 1


def _lines_with_executions(hlo):
    """(line, how often it runs) of an HLO module's text, where a computation stands before those that call it."""
    name, computations = "", {"": []}
    for line in hlo.splitlines():
        header = _COMPUTATION.match(line)
        if header:
            name = header["name"]
        computations.setdefault(name, []).append(line)
    runs = Counter({name: 1})
    for name in reversed(computations):
        for line in computations[name]:
            times = runs[name] * (_trips(line, computations) if _WHILE.search(line) else 1)
            for names in _CALLEES.findall(line):
                for callee in re.findall(r"%([\w.-]+)", names):
                    runs[callee] += times
    return [(line, runs[name]) for name, lines in computations.items() for line in lines]


@dataclass
class Partitioned:
    """Collectives per kind: count, bytes sent by one device, and count per (kind, group size).

    A loop's body counts once; in `executed`, which has the same in it, as often as it runs. Of a compiled program also
    `piped`, the same after all of XLA's passes, and the seconds that XLA took.
    """

    count: Counter = field(default_factory=Counter)
    bytes: Counter = field(default_factory=Counter)
    groups: Counter = field(default_factory=Counter)
    executed: "Partitioned | None" = None
    piped: "Partitioned | None" = None
    seconds: float = 0.0


    def add(self, collective, times=1):
        """A match of _COLLECTIVE."""
        kind, group = collective["kind"].replace("-", "_"), group_size(collective["rest"])
        self.count[kind] += times
        self.groups[kind, group] += times
        self.bytes[kind] += times * ring_bytes(kind, type_bytes(collective["type"]), group)


def count_collectives(hlo):
    """The collectives in the text of an HLO module."""
    found = Partitioned(executed=Partitioned())
    for line, times in _lines_with_executions(hlo):
        match = _COLLECTIVE.search(line)
        if match:
            found.add(match)
            found.executed.add(match, times)
    return found


def partition(lowered):
    """Lets XLA compile a lowered JAX function for its devices."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.monotonic()
        compiled = lowered.compile(
            compiler_options={
                "xla_dump_to": folder,
                "xla_dump_hlo_pass_re": "spmd-partitioning",
                "xla_dump_hlo_as_text": True,
            }
        )
        seconds = time.monotonic() - start
        (dump,) = Path(folder).glob("*.after_spmd-partitioning.*.txt")
        found = count_collectives(dump.read_text())
    found.piped = count_collectives(compiled.as_text())
    found.seconds = seconds
    return found
