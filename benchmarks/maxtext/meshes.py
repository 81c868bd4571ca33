#!/usr/bin/env python3
"""MaxText's plans on other meshes: meshes.py [--programs PART ...] [--meshes 40] [--quick].

One to four of the axes that a program's shardings name get sizes of 2 to 32, four to 1,024 devices in all, where these
divide the dims of its arguments and results: what its author would run next. Programs with manual computations are
left out, as these are written for one mesh. A row is a program under a device model:

  meshes  how many, drawn with a fixed seed
  kept    bytes that a device sends, by our report, over those with keep_propagated: geometric mean, most, and where
  XLA     the same over XLA's, on the meshes of --xla-devices devices (bytes/run.py says how they are counted)
  price   the most that the plan's price, compute and collectives, is over that of keep_propagated
  s       CPU seconds of the longest compile
  faster  seconds of XLA's two passes over those of compile, on the same meshes as its bytes: median and least

Exits with 1 if a plan is beaten by more than a thousandth: if it sends more than with keep_propagated without a lower
price, or, under `bytes`, more than XLA's. Other models price compute, and what takes less of it may send more.
"""

import argparse
import math
import random
import re
import statistics
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "bytes"), str(HERE.parent / "text")]

import files
import measured
import run as bytes_run
import shardonnay
import xla_passes
from resized import resized

SIZES = (2, 4, 8, 16, 32)
MOST_DEVICES = 1024
MOST_TRIES = 10_000
_MESH = re.compile(r"^ *sdy\.mesh @mesh = .*$", re.MULTILINE)
_BOUNDARY = re.compile(r"func\.func public @main\((.*?)\) -> \((.*)\) \{")
_SHARDED = re.compile(r"tensor<((?:\d+x)+)\w+> \{[^{]*?sdy\.sharding = #sdy\.sharding<@mesh, \[(.*?)\]>")


def all_axes(text):
    (mesh,) = _MESH.findall(text)
    return re.findall(r'"(\w+)"=\d+', mesh)


def axes(text):
    """The axes that the program's shardings name."""
    (mesh,) = _MESH.findall(text)
    return [name for name in all_axes(text) if text.count(f'"{name}"') > mesh.count(f'"{name}"')]


def is_divisible(text, sizes):
    """Whether the arguments and results are: jax.jit refuses others."""
    for part in _BOUNDARY.search(text).groups():
        for shape, dims in _SHARDED.findall(part):
            for size, names in zip(shape.split("x"), re.findall(r"\{(.*?)\}", dims)):
                if int(size) % math.prod(sizes.get(name, 1) for name in re.findall(r'"(\w+)"', names)):
                    return False
    return True


def meshes(text, number):
    """{axis: size} of so many meshes that the program can have, or of all that are found."""
    names, draw, found = axes(text), random.Random(0), []
    for _ in range(MOST_TRIES):
        chosen = sorted(draw.sample(names, draw.randint(1, min(4, len(names)))), key=names.index)
        sizes = {name: draw.choice(SIZES) for name in chosen}
        if sizes not in found and 4 <= math.prod(sizes.values()) <= MOST_DEVICES and is_divisible(text, sizes):
            found.append(sizes)
            if len(found) == number:
                break
    return found


def compare(text, sizes, device_model, with_xla):
    """{"sizes", "sent", "kept", "price", "seconds", "xla", "faster"} of one mesh; of XLA None where it is not asked."""
    text = resized(text, {name: sizes.get(name, 1) for name in all_axes(text)})
    plans, seconds = [], []
    for keep_propagated in (False, True):
        start = time.process_time()
        plans.append(
            shardonnay.compile(text, device_model=device_model, keep_propagated=keep_propagated, report=True)
        )
        seconds.append(time.process_time() - start)
    sent, kept = (plan.report["executed_bytes"] for plan in plans)
    ours, theirs = (plan.report["price"]["emitted"] + plan.report["price"].get("compute", 0) for plan in plans)
    devices = math.prod(sizes.values())
    return {
        "sizes": ", ".join(f"{name} {size}" for name, size in sizes.items()),
        "sent": sent,
        "kept": kept,
        "price": ours / theirs if theirs else 1,
        "seconds": seconds[0],
        "xla": bytes_run.xla_bytes(text, devices) if with_xla else None,
        "faster": xla_seconds(text, devices) / seconds[0] if with_xla else None,
    }


def xla_seconds(text, devices):
    with xla_passes.as_file(text) as source:
        return xla_passes.measure(source, devices)["seconds"]


def is_beaten(row, device_model):
    def sends_more(peer):
        return row[peer] is not None and row["sent"] > 1.001 * row[peer]

    return sends_more("kept") and row["price"] > 0.999 or sends_more("xla") and device_model == "bytes"


def ratios(rows, peer):
    """Mean and most of what is sent over a peer's."""
    found = [(row["sent"] / row[peer], row["sizes"]) for row in rows if row["sent"] and row[peer]]
    if not found:
        return "-"
    mean = statistics.geometric_mean(ratio for ratio, _ in found)
    most, sizes = max(found)
    return f"{mean:.3f}, {most:.3f} at {sizes}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", nargs="+", help="parts of names")
    parser.add_argument("--meshes", type=int, default=40, help="of each program")
    parser.add_argument("--device-models", nargs="+", default=["cpu", "bytes"])
    parser.add_argument("--xla-devices", type=int, default=64, help="0: without XLA")
    parser.add_argument("--quick", action="store_true", help="one program, without XLA")
    files.add_option(parser)
    options = parser.parse_args()
    measured.first_in_line()
    if options.quick:
        options.programs, options.xla_devices = ["l3-70b"], 0
    print(f"{'program':24} {'model':6} {'meshes':>6} {'price':>7} {'s':>6} {'faster':12} {'kept':50} XLA", flush=True)
    beaten = []
    for name in files.names(options.maxtext):
        text = files.text(options.maxtext, name)
        if "sdy.manual_computation" in text or (
            options.programs and not any(part in name for part in options.programs)
        ):
            continue
        tried = meshes(text, options.meshes)
        for device_model in options.device_models:
            rows = [
                compare(text, sizes, device_model, math.prod(sizes.values()) == options.xla_devices)
                for sizes in tried
            ]
            price, seconds = (max(row[key] for row in rows) for key in ("price", "seconds"))
            faster = [row["faster"] for row in rows if row["faster"]]
            told = f"{statistics.median(faster):.2f}, {min(faster):.2f}" if faster else "-"
            print(f"{name:24} {device_model:6} {len(rows):6} {price:7.4f} {seconds:6.2f} {told:12} "
                  f"{ratios(rows, 'kept'):50} {ratios(rows, 'xla')}", flush=True)
            beaten += [f"{name} on {row['sizes']} under {device_model}" for row in rows if is_beaten(row, device_model)]
    print(f"beaten: {', '.join(beaten) or 'none'}")
    return bool(beaten)


if __name__ == "__main__":
    sys.exit(main())
