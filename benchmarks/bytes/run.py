#!/usr/bin/env python3
"""The bytes that a device sends in a step, ours against XLA's and against --keep-propagated: run.py [--programs ...]
[--quick].

On MaxText's programs and the unrolled train steps of benchmarks/text. The columns, in GiB, loops as often as they run:

  report   what our report says
  sent     what our program's text sends (emitted.py): the user's own collectives too, so all comparisons are with this
  kept     the same with keep_propagated
  XLA      what XLA's program sends as its SPMD partitioner leaves it, cleaned up in its favour (hlo.py)
  time     the plan's price, compute and collectives, by the device model, over that of kept

XLA's figures are kept in build/benchmarks, as they are the same every time. Exits with 1 if a program is beaten: if it
sends more than XLA's, or more than kept without taking less time, by more than a thousandth. By the model `bytes`
nothing but bytes has a price, so that there more than kept is always beaten.
"""

import argparse
import hashlib
import json
import math
import statistics
import sys
from importlib import metadata
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "maxtext"), str(HERE.parent / "text")]

import emitted
import files
import hlo
import shardonnay
import unrolled
import xla_passes


GIB = 2**30


def xla_bytes(text, devices):
    """What XLA's program sends."""
    stamp = hashlib.sha256(
        text.encode() + (HERE / "hlo.py").read_bytes() + metadata.version("jaxlib").encode()
    ).hexdigest()[:16]
    path = unrolled.FOLDER / f"xla-bytes-{stamp}.json"
    if not path.exists():
        with xla_passes.as_file(text) as source:
            found = hlo.sent_bytes(xla_passes.partitioned(source, devices))
        unrolled.FOLDER.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(found))
    return json.loads(path.read_text())


def compare(name, text, devices, device_model):
    """Prints a row; {"sent", "kept", "xla", "time"}, or None if the program is refused."""
    try:
        plans = [
            shardonnay.compile(text, device_model=device_model, keep_propagated=kept, report=True)
            for kept in (False, True)
        ]
    except shardonnay.CompileError as error:
        print(f"{name:24} {devices:7} refused: {str(error.diagnostics[0])[:120]}", flush=True)
        return None
    said = plans[0].report["executed_bytes"]
    sent, kept = (emitted.sent_bytes(plan.text) for plan in plans)
    xla = xla_bytes(text, devices)
    prices = [plan.report["price"] for plan in plans]
    ours, theirs = (price["emitted"] + price.get("compute", 0) for price in prices)
    cells = " ".join(f"{value / GIB:11.4g}" for value in (said, sent, kept, xla))
    print(
        f"{name:24} {devices:7} {cells} {_ratio(sent, kept):>9} {_ratio(sent, xla):>9} {_ratio(ours, theirs):>9}",
        flush=True,
    )
    return {"sent": sent, "kept": kept, "xla": xla, "time": ours / theirs if theirs else 1}


def _ratio(value, other):
    return f"{value / other:.3f}" if other else "-"


def texts(options):
    """(name, text, devices)"""
    for name in files.names(options.maxtext):
        text = files.text(options.maxtext, name)
        yield name, text, files.devices(text)
    for model in unrolled.MODELS:
        path = unrolled.written(model, options.lines)
        yield path.name.rpartition("-")[0], path.read_text(), unrolled.DEVICES


def is_beaten(row):
    return row["sent"] > 1.001 * row["xla"] or row["sent"] > 1.001 * row["kept"] and row["time"] > 0.999


def conclude(rows):
    ratios = [row["sent"] / row["xla"] for row in rows.values() if row["sent"] and row["xla"]]
    beaten = [name for name, row in rows.items() if is_beaten(row)]
    mean = statistics.geometric_mean(ratios) if ratios else math.nan
    print(f"{len(rows)} programs; over XLA's {mean:.3f} in geometric mean; beaten: {', '.join(beaten) or 'none'}")
    return bool(beaten)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", nargs="+", help="parts of names")
    parser.add_argument("--lines", type=int, default=1000, help="of the programs of benchmarks/text")
    parser.add_argument("--device-model", default="cpu")
    parser.add_argument("--quick", action="store_true", help="the programs of benchmarks/text alone")
    files.add_option(parser)
    options = parser.parse_args()
    if options.quick:
        options.programs = list(unrolled.MODELS)
    print(f"{'program':24} {'devices':>7} {'report':>11} {'sent':>11} {'kept':>11} {'XLA':>11} {'/kept':>9} "
          f"{'/XLA':>9} {'time':>9}", flush=True)
    rows = {}
    for name, text, devices in texts(options):
        if not options.programs or any(part in name for part in options.programs):
            rows[name] = compare(name, text, devices, options.device_model)
    return conclude({name: row for name, row in rows.items() if row})


if __name__ == "__main__":
    sys.exit(main())
