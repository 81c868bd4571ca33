"""Bytes on the wire: every step of test/e2e/corpus.py, ours against XLA's own partitioner, static counts of ring bytes.

    python benchmarks/communication/run.py [--device-model MODEL] [PART OF A NAME...]

XLA's are counted right after its SPMD partitioner, before the CPU pipeline. Exits with 1 if a program has more than XLA's.
"""

import argparse
import math
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test/e2e")]

import shardonnay
from shardonnay import engine, xla

engine.prepare(8)
import corpus  # noqa: E402 -- after the devices are there


def counts(report):
    found = Counter()
    for entry in report["collectives"]:
        found[entry["kind"]] += entry["count"]
    return ", ".join(f"{count} {kind}" for kind, count in sorted(found.items()))


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--device-model", default="bytes")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    ratios, worse, refused = [], [], []
    print(f"{'program':28} {'ours':>10} {'XLA':>10}  ratio")
    for name, strategy in corpus.PAIRS:
        pair = f"{name}-{strategy}"
        if options.names and not any(part in pair for part in options.names):
            continue
        lowered, _ = corpus.lowered(name, strategy)
        try:
            report = shardonnay.compile(lowered.as_text(), device_model=options.device_model).report
        except shardonnay.CompileError as error:
            refused.append(pair)
            print(f"{pair:28} refused: {str(error).splitlines()[0]}")
            continue
        theirs = xla.partition(lowered)
        ours, whole = report["collective_bytes"], sum(theirs.bytes.values())
        # Both round bytes that a group does not divide.
        if ours > whole + sum(theirs.count.values()):
            worse.append(pair)
        if ours and whole:
            ratios.append(ours / whole)
        ratio = f"{ours / whole:.2f}" if whole else "-"
        print(f"{pair:28} {ours:10,} {whole:10,.0f}  {ratio:5}  {counts(report)}", flush=True)
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else math.nan
    print(f"{len(ratios)} programs communicate; geometric mean {mean:.3f}; above XLA's: {worse or 'none'}; refused: {refused or 'none'}")
    return bool(worse) or not ratios


if __name__ == "__main__":
    sys.exit(main())
