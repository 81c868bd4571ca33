#!/usr/bin/env python3
"""How compile time grows with the mesh: run.py [--programs ...] [--runs 3] [--quick].

Twenty programs (programs.py) on meshes of two to six axes. A row is a mesh: CPU seconds of `shardonnay.compile(text)`
over the same program's on two axes (the median of these meshes), as geometric mean, median and most of the programs;
then the longest compile. Each figure is the median of --runs turns, the meshes in turn, each compile in a process of
its own made by a fork, ended after --limit seconds, which then count. With all --programs and without --quick, exits
with 1 if any takes more than 3 times the time on two axes and 20 ms, or more than 5 s.
"""

import argparse
import json
import math
import os
import re
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import measured
import shardonnay
from resized import resized

# What dims are sharded for in programs.py: the axes of a mesh are given to them in turn.
NAMES = ("data", "tensor", "fsdp")

MESHES = [
    (2, 2), (4, 2), (8, 8), (32, 8), (16, 16), (3, 2), (6, 5),
    (2, 2, 2), (4, 8, 8), (16, 8, 2), (3, 5, 2), (6, 4, 2), (16, 16, 16),
    (2, 2, 2, 2), (4, 4, 4, 4), (2, 4, 8, 16), (3, 2, 5, 2), (16, 16, 16, 4),
    (2, 2, 2, 2, 2), (2, 4, 8, 4, 2), (6, 5, 3, 3, 2), (16, 16, 16, 4, 4),
    (2, 2, 2, 2, 2, 2), (4, 4, 4, 4, 4, 4), (6, 5, 4, 3, 2, 2), (16, 16, 4, 4, 4, 4),
]  # fmt: skip
QUICK = [(4, 2), (8, 8), (4, 8, 8), (2, 4, 8, 4, 2), (6, 5, 4, 3, 2, 2)]
# Below this, what a process does by chance counts for more than the program.
SLACK = 0.02


def lowered():
    """{name: text on the mesh of names}; JAX has threads, and a process with threads is none to fork."""
    done = subprocess.run([sys.executable, HERE / "programs.py"], check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def on_mesh(text, sizes):
    """`text` on a mesh of so many axes; the names take them in turn."""
    axes = [f"a{number}" for number in range(len(sizes))]
    of = {name: ", ".join(f'"{axis}"' for axis in axes[number :: len(NAMES)]) for number, name in enumerate(NAMES)}
    text = resized(text, dict(zip(axes, sizes)))

    def dims(match):
        names = re.findall(r'"(\w+)"', match[0])
        return "{" + ", ".join(filter(None, (of.get(name, "") for name in names))) + "}"

    return re.sub(r'\{"(?:data|tensor|fsdp)"(?:, "(?:data|tensor|fsdp)")*\}', dims, text)


def measure(text, limit):
    """{"seconds"} of the CPU, `limit` if it takes longer, or {"refused": why}; in a child."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, limit)
        start = time.process_time()
        try:
            shardonnay.compile(text)
            result = {"seconds": time.process_time() - start}
        except shardonnay.CompileError as error:
            result = {"refused": str(error.diagnostics[0])}
        os.write(writing, json.dumps(result)[:4000].encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        said = pipe.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM:
        return {"seconds": limit}
    return json.loads(said) if said else {"refused": f"the process ended with {status}"}


def sweep(texts, meshes, options):
    """{(mesh, name): seconds}; what is refused is printed and missing."""
    shardonnay.compile(on_mesh(next(iter(texts.values())), (2, 2)))
    found, left_out = {}, set()
    for _ in range(options.runs):
        for mesh in meshes:
            for name, text in texts.items():
                before = found.get((mesh, name), [])
                if (mesh, name) in left_out or before and before[0] > options.limit / 4:
                    continue  # once is enough of what takes long
                result = measure(on_mesh(text, mesh), options.limit)
                if "refused" in result:
                    left_out.add((mesh, name))
                    print(f"{name} on {'x'.join(map(str, mesh))}: refused: {result['refused'][:120]}", flush=True)
                else:
                    found[mesh, name] = [*before, result["seconds"]]
    return {key: statistics.median(seconds) for key, seconds in found.items()}


def ratios_of(found, mesh, names):
    """{name: seconds over the median of the meshes of two axes}"""
    ratios = {}
    for name in names:
        two = [seconds for (other, its), seconds in found.items() if its == name and len(other) == 2]
        if (mesh, name) in found and two:
            ratios[name] = found[mesh, name] / statistics.median(two)
    return ratios


def report(found, names, meshes):
    """Prints a row a mesh; returns what is over the bars."""
    over = []
    print(f"{'mesh':20} {'devices':>8} {'mean':>7} {'median':>7} {'most':>8} {'of':18} {'longest, s':>10} of")
    for mesh in meshes:
        ratios = ratios_of(found, mesh, names)
        times = {name: found[mesh, name] for name in names if (mesh, name) in found}
        if not ratios:
            continue
        mean = statistics.geometric_mean(ratios.values())
        most, longest = max(ratios, key=ratios.get), max(times, key=times.get)
        for name, seconds in times.items():
            base = seconds / ratios[name]
            if seconds > 3 * base + SLACK or seconds > 5:
                over.append(
                    (seconds, f"{name} on {'x'.join(map(str, mesh))}: {seconds:.2f} s, {ratios[name]:.1f} times")
                )
        print(
            f"{'x'.join(map(str, mesh)):20} {math.prod(mesh):8,} {mean:7.2f} {statistics.median(ratios.values()):7.2f} "
            f"{ratios[most]:8.2f} {most:18} {times[longest]:10.3f} {longest}",
            flush=True,
        )
    return [text for _, text in sorted(over, reverse=True)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", nargs="+", help="parts of names")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--limit", type=float, default=20, help="seconds")
    parser.add_argument(
        "--quick", action="store_true", help="five meshes, one run; exits with 1 if any compile takes over 5 s"
    )
    options = parser.parse_args()
    measured.first_in_line()
    meshes = QUICK if options.quick else MESHES
    if options.quick:
        options.runs = 1
    wanted = options.programs or [""]
    texts = {name: text for name, text in lowered().items() if any(part in name for part in wanted)}
    found = sweep(texts, meshes, options)
    over = report(found, list(texts), meshes)
    print(f"{len(found)} compiles; over 3 times or 5 s: {len(over)}; load {measured.load()}")
    print("\n".join(over))
    return max(found.values()) > 5 if options.quick else bool(over)


if __name__ == "__main__":
    sys.exit(main())
