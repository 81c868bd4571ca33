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


def _bytes(hlo_type):
    return sum(
        math.prod(map(int, filter(None, dims.split(",")))) * (1 if name == "pred" else int(bits) / 8)
        for name, bits, dims in _ARRAY.findall(hlo_type)
    )


def _group_size(rest):
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


@dataclass
class Partitioned:
    """Collectives per kind: count, bytes sent by one device, and count per (kind, group size).

    Of a compiled program also `piped`, the same after all of XLA's passes, and the seconds that XLA took.
    """

    count: Counter = field(default_factory=Counter)
    bytes: Counter = field(default_factory=Counter)
    groups: Counter = field(default_factory=Counter)
    piped: "Partitioned | None" = None
    seconds: float = 0.0


def count_collectives(hlo):
    """The collectives in the text of an HLO module."""
    found = Partitioned()
    for line in hlo.splitlines():
        match = _COLLECTIVE.search(line)
        if match:
            kind = match["kind"].replace("-", "_")
            found.count[kind] += 1
            group = _group_size(match["rest"])
            found.groups[kind, group] += 1
            found.bytes[kind] += ring_bytes(kind, _bytes(match["type"]), group)
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
