#!/usr/bin/env python3
"""Times what a user waits for, text to text, against XLA's partitioner: run.py [--lines 1000 10000] [--programs ...]
[--quick].

Programs are MaxText's, and unrolled train steps of this folder with private functions, at each of --lines. The columns:

  compile  CPU seconds of `shardonnay.compile(text)`: parse, all passes with their verification, print
  XLA      its passes shardy-xla and spmd-partitioning alone, in the seconds that its log gives them (wall)
  faster   XLA over compile, turn by turn
  command  CPU seconds of `shardonnay compile IN -o OUT`, the whole process
  MiB      the most that compile holds beyond the text; that XLA holds beyond the parsed module; that the command's
           process holds

Each is the median of --runs turns, in each of which the three take place one after another, in processes of their own;
in brackets the least and the most. A program whose turns have taken --budget seconds gets no further one. Exits with
1 if --quick finds ours slower than XLA on a program of this folder.
"""

import argparse
import json
import math
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "maxtext")]

import files
import measured
import unrolled
import xla_passes

COMMAND = measured.ROOT / ".venv/bin/shardonnay"
MIB = 2**20


def ours(path, warm_up):
    """What compile_once.py prints, of a process of its own."""
    done = measured.process([sys.executable, str(HERE / "compile_once.py"), str(path), str(warm_up)])
    if done["status"]:
        return {"refused": f"the process ended with {done['status']}"}
    return json.loads(done["output"])


def turn(path, devices, warm_up, peer):
    """{"ours", "command", "xla"} of one program; ours says "refused" if it was, and then stands alone with XLA's."""
    found = {"ours": ours(path, warm_up)}
    if "refused" not in found["ours"]:
        with tempfile.NamedTemporaryFile(suffix=".mlir") as target:
            found["command"] = measured.process(
                [COMMAND, "compile", str(path), "-o", target.name], stderr=subprocess.DEVNULL
            )
    if peer:
        found["xla"] = xla_passes.measure(path, devices)
    return found


def turns(path, devices, warm_up, options, peer):
    found, end = [], time.monotonic() + options.budget
    while len(found) < options.runs and (not found or time.monotonic() < end):
        found.append(turn(path, devices, warm_up, peer))
    return found


def row(name, lines, found):
    """The cells of a program, and {"ours", "faster"} as medians."""
    ours, command, xla = ([each[who] for each in found if who in each] for who in ("ours", "command", "xla"))
    mib = [
        f"{measured.spread(who, 'bytes').median / MIB:,.0f}" if who and "bytes" in who[0] else "-"
        for who in (ours, xla, command)
    ]
    peer = measured.spread(xla, "seconds") if xla else "-"
    if "refused" in ours[0]:
        print(f"{name:24} {lines:9,} refused: {ours[0]['refused'][:100]} (XLA {peer})", flush=True)
        return None
    mine = measured.spread(ours, "seconds")
    faster = (
        measured.Spread(tuple(theirs["seconds"] / each["seconds"] for each, theirs in zip(ours, xla))) if xla else "-"
    )
    cells = f"{mine!s:20} {peer!s:20} {faster!s:20} {measured.spread(command, 'seconds')!s:20}"
    print(f"{name:24} {lines:9,} {cells} {mib[0]:>6} {mib[1]:>6} {mib[2]:>6}", flush=True)
    return {"lines": lines, "seconds": mine.median, "faster": faster.median if xla else math.inf}


def slope(points):
    """Of all programs, and of the two largest."""
    whole, last = (measured.slope(some, "lines") for some in (points, points[-2:]))
    return f"grows with lines to the power of {whole:.3f}, between the two largest {last:.3f}"


def own(options, measured_rows):
    warm_up = unrolled.written("transformer", 1)
    for model in options.programs or unrolled.MODELS:
        if model not in unrolled.MODELS:
            continue
        points = []
        for lines in options.lines:
            path = unrolled.written(model, lines)
            found = turns(path, unrolled.DEVICES, warm_up, options, lines <= options.peer_lines)
            points.append(row(path.name.rpartition("-")[0], unrolled.lines(path), found))
        points = [point for point in points if point]
        measured_rows += points
        if len(points) > 1:
            print(f"{model:24} {slope(points)}", flush=True)


def maxtext(options, measured_rows):
    warm_up = unrolled.written("transformer", 1)
    with tempfile.TemporaryDirectory() as folder:
        for name in files.names(options.maxtext):
            if options.programs and not any(part in name for part in options.programs):
                continue
            path = files.written(options.maxtext, name, folder)
            found = turns(path, files.devices(path.read_text()), warm_up, options, True)
            measured_rows.append(row(name, unrolled.lines(path), found))


def conclude(rows):
    done = [each for each in rows if each]
    if not done:
        return
    faster = [each["faster"] for each in done if math.isfinite(each["faster"])]
    mean = statistics.geometric_mean(faster) if faster else math.nan
    print(
        f"{len(done)} programs, {len(rows) - len(done)} refused; faster than XLA {mean:.1f} times in geometric mean, "
        f"{min(faster, default=math.nan):.2f} at least; under 5 times: {sum(ratio < 5 for ratio in faster)}; "
        f"longest {max(each['seconds'] for each in done):.1f} s; load {measured.load()}"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--lines", type=int, nargs="*", default=[1000, 10000, 100000], help="of the programs of this folder"
    )
    parser.add_argument("--peer-lines", type=int, default=100000, help="XLA runs up to that many lines")
    parser.add_argument("--programs", nargs="+", help="models of this folder, parts of MaxText's names")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--budget", type=float, default=60, help="seconds, see above")
    parser.add_argument("--no-maxtext", action="store_true", help="the programs of this folder alone")
    parser.add_argument("--quick", action="store_true", help="under a minute: 10^4 lines of this folder, one run")
    files.add_option(parser)
    options = parser.parse_args()
    measured.first_in_line()
    print(f"{'program':24} {'lines':>9} {'compile, s':20} {'XLA, s':20} {'faster':20} {'command, s':20}   MiB: "
          "XLA's, command's", flush=True)
    rows = []
    if options.quick:
        options.lines, options.runs = [10000], 1
    own(options, rows)
    if not (options.quick or options.no_maxtext):
        maxtext(options, rows)
    conclude(rows)
    return options.quick and not all(each and each["faster"] >= 1 for each in rows)


if __name__ == "__main__":
    sys.exit(main())
