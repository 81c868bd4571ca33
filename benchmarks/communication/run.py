"""Bytes on the wire of every step of test/e2e/corpus.py, ours against XLA's partitioner and jaxlib's `sdy` passes.

    python benchmarks/communication/run.py [--device-model MODEL] [--piped] [--sdy] [PART OF A NAME...]

Bytes are what a device sends in rings, in a loop as often as it runs (once where that is not known). XLA's are counted
as they leave its SPMD pass; with --piped, both programs also after XLA's CPU pipeline has run over them. With --sdy,
jaxlib's passes run on the same module with its functions inlined (by build/bin/sdy-opt), from propagation to the
program of one device, and count where they get there, a loop's body once; they compare with our bytes, counted
likewise, for a program whose results are sharded as theirs. Times are what a device model of links says of the
collectives (cost/Collective.h).

Under `bytes` exits with 1 if any peer has fewer bytes, or the geometric mean of all steps against XLA is 0.8 or more;
under other models, if a peer has fewer bytes and less time.
"""

import argparse
import math
import re
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test/e2e"), str(Path(__file__).parent)]

import sdy_passes
import shardonnay
from shardonnay import engine, xla

engine.prepare(8)
import corpus  # noqa: E402 -- after the devices are there

OPT = ROOT / "build/bin/sdy-opt"
# Bytes a second and seconds a step of the built-in model `cpu` (cost/DeviceModel.cpp).
BANDWIDTH, LATENCY = 4e9, 2e-6


def steps(kind, group):
    """cost/Collective.h's steps."""
    depth = math.ceil(math.log2(max(group, 1)))
    return {"collective_permute": 2, "all_reduce": 1 + 2 * depth}.get(kind, 1 + depth)


def seconds(total, count):
    return total / BANDWIDTH + count * LATENCY


def our_time(report):
    sizes = {"data": 2, "model": 4}

    def group(axes):
        parsed = (re.fullmatch(r"(\w+)(?::\(\d+\)(\d+))?", axis) for axis in axes)
        return math.prod(int(match[2] or sizes[match[1]]) for match in parsed)

    entries = report["collectives"]
    count = sum(entry["count"] * entry["trips"] * steps(entry["kind"], group(entry["axes"])) for entry in entries)
    return seconds(report["executed_bytes"], count)


def their_time(found):
    count = sum(steps(kind, group) * number for (kind, group), number in found.executed.groups.items())
    return seconds(sum(found.executed.bytes.values()), count)


def sdy_results(pairs):
    """{pair: what sdy_passes says of it}."""
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for name, strategy in pairs:
            path = Path(folder) / f"{name}-{strategy}.mlir"
            text = corpus.lowered(name, strategy)[0].as_text()
            command = [OPT, "-", "--sdy-inline-private-functions", "-o", path]
            subprocess.run(command, input=text, text=True, check=True)
            paths.append(path)
        return {Path(path).stem: found for path, found in sdy_passes.run(paths).items()}


class Table:
    """The rows so far, and who is beaten by whom."""

    def __init__(self, options):
        self.options, self.ratios, self.worse = options, [], []

    def lost(self, pair, peer, ours, theirs):
        """Both round the bytes that a group does not divide, so a byte a collective is nothing."""
        total, slack, time = theirs
        if ours[0] > total + slack and (self.options.device_model == "bytes" or ours[1] > time):
            self.worse.append(f"{pair} ({peer})")

    def against_sdy(self, pair, sdy):
        """Their bytes, and ours with results that are sharded as theirs."""
        ours = shardonnay.compile(sdy["program"], device_model=self.options.device_model, report=True).report[
            "collective_bytes"
        ]
        self.lost(pair, "sdy", (ours, 0), (sdy["bytes"], sum(sdy["count"].values()), -1))
        return f"{sdy['bytes']:10,.0f} {ours:10,}"

    def add(self, name, strategy, sdy):
        pair = f"{name}-{strategy}"
        lowered, _ = corpus.lowered(name, strategy)
        compiled = shardonnay.compile(lowered.as_text(), device_model=self.options.device_model, report=True)
        report = compiled.report
        theirs = xla.partition(lowered)
        executed = theirs.executed
        ours, whole = report["executed_bytes"], sum(executed.bytes.values())
        times = our_time(report), their_time(theirs)
        self.lost(pair, "XLA", (ours, times[0]), (whole, sum(executed.count.values()), times[1]))
        if ours and whole:
            self.ratios.append(ours / whole)
        cells = [
            f"{ours:10,} {whole:10,.0f} {ours / whole if whole else 1:6.2f} {1e6 * times[0]:7.0f} {1e6 * times[1]:7.0f}"
        ]
        if self.options.piped:
            mine = xla.count_collectives(engine.Executable(compiled.text, 8).optimized())
            piped = [sum(found.executed.bytes.values()) for found in (mine, theirs.piped)]
            self.lost(pair, "XLA, piped", (piped[0], 0), (piped[1], sum(theirs.piped.executed.count.values()), -1))
            cells.append(f"{piped[0]:10,.0f} {piped[1]:10,.0f}")
        if sdy is not None:
            cells.append(self.against_sdy(pair, sdy) if "bytes" in sdy else f"{'-':>10} {'-':>10}")
        kinds = Counter()
        for entry in report["collectives"]:
            kinds[entry["kind"]] += entry["count"]
        print(
            f"{pair:28}", *cells, " ", ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())), flush=True
        )

    def header(self):
        more = f" {'piped':>10} {'XLA piped':>10}" if self.options.piped else ""
        more += f" {'sdy':>10} {'ours as it':>10}" if self.options.sdy else ""
        print(f"{'program':28} {'ours':>10} {'XLA':>10}  ratio  our us  XLA us{more}")

    def conclude(self):
        mean = statistics.geometric_mean(self.ratios) if self.ratios else math.nan
        print(f"{len(self.ratios)} programs communicate; geometric mean {mean:.3f}; dearer than a peer: "
              f"{self.worse or 'none'}")
        all_of_them = self.options.device_model == "bytes" and not self.options.names
        return bool(self.worse) or not self.ratios or (all_of_them and mean >= 0.8)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--device-model", default="bytes")
    parser.add_argument("--piped", action="store_true")
    parser.add_argument("--sdy", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    pairs = [
        pair for pair in corpus.PAIRS if not options.names or any(part in "-".join(pair) for part in options.names)
    ]
    sdy = sdy_results(pairs) if options.sdy else {}
    table = Table(options)
    table.header()
    for name, strategy in pairs:
        table.add(name, strategy, sdy.get(f"{name}-{strategy}"))
    return table.conclude()


if __name__ == "__main__":
    sys.exit(main())
