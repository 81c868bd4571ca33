"""Reshards between pairs of layouts: our plans, jaxlib's real sdy-reshard-to-collectives, and the information bound.

    python benchmarks/reshard/run.py [--pairs N]

All pairs of layouts of rank 1 to 3 on the meshes 2x2, 2x4, 2x2x2 and 4x3, sampled where there are more than N. Bytes
are what a device sends in rings; the bound is what the device that has least of its shard must receive. jaxlib's chains
are priced by the same formulas from the collectives that it writes. Exits with 1 if a plan of ours sends more than
jaxlib's.
"""

import argparse
import itertools
import math
import random
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

from jax._src.interpreters import mlir
from jaxlib.mlir import ir
from jaxlib.mlir.passmanager import PassManager

ROOT = Path(__file__).resolve().parents[2]
OPT = ROOT / "build/bin/sdy-opt"
MESHES = {"2x2": (2, 2), "2x4": (2, 4), "2x2x2": (2, 2, 2), "4x3": (4, 3)}
ELEMENT = 4
COLLECTIVE = re.compile(
    r"%\S+ = sdy\.(?P<kind>\w+) (?P<rest>.*?)out_sharding=<@mesh, \[(?P<dims>.*?)\](?:, unreduced=\{(?P<sum>.*?)\})?>"
)
AXIS = re.compile(r'"(\w+)"(?::\((\d+)\)(\d+))?')


def parts_of(sizes):
    """The axes in parts: a full axis, or its two halves where its size is four. [(text, axis, pre, size)]"""
    choices = []
    for axis, size in enumerate(sizes):
        name = f'"{"xyz"[axis]}"'
        ways = [[(name, axis, 1, size)]]
        if size == 4:
            ways.append([(f"{name}:(1)2", axis, 1, 2), (f"{name}:(2)2", axis, 2, 2)])
        choices.append(ways)
    return [list(itertools.chain(*way)) for way in itertools.product(*choices)]


def mergeable(first, second):
    return first[1] == second[1] and first[2] * first[3] == second[2]


def layouts(sizes, rank, partial):
    """Every placement of the parts in dims, in any order, or in none (or in the sum)."""
    found = {}
    for parts in parts_of(sizes):
        for order in itertools.permutations(parts):
            for places in itertools.product(range(rank + 1 + partial), repeat=len(order)):
                dims = [[p for p, place in zip(order, places) if place == d] for d in range(rank + 1 + partial)]
                if any(mergeable(a, b) for dim in dims[:rank] for a, b in itertools.pairwise(dim)):
                    continue
                added = sorted(dims[rank + 1], key=lambda p: p[1:3]) if partial else []
                if any(mergeable(a, b) for a, b in itertools.pairwise(added)):
                    continue
                key = (tuple(map(tuple, dims[:rank])), tuple(added))
                found.setdefault(key)
    return list(found)


def text_of(layout):
    dims, added = layout
    inner = ", ".join("{" + ", ".join(p[0] for p in dim) + "}" for dim in dims)
    unreduced = f", unreduced={{{', '.join(p[0] for p in added)}}}" if added else ""
    return f"<@mesh, [{inner}]{unreduced}>"


def shards(axes):
    return math.prod(p[3] for p in axes)


def program(sizes, shape, pairs):
    kind = f"tensor<{'x'.join(map(str, shape))}xf32>"
    axes = ", ".join(f'"{"xyz"[i]}"={size}' for i, size in enumerate(sizes))
    lines = [f"sdy.mesh @mesh = <[{axes}]>"]
    for i, (source, target) in enumerate(pairs):
        lines += [
            f"func.func @f{i}(%arg0: {kind} {{sdy.sharding = #sdy.sharding{text_of(source)}}}) -> {kind} {{",
            f"  %0 = sdy.reshard %arg0 {text_of(target)} : {kind}",
            f"  return %0 : {kind}\n}}",
        ]
    return "\n".join(lines)


def read_dims(text, sizes):
    """Shards per dim of the text between the brackets of a sharding."""
    result = []
    for dim in re.findall(r"\{(.*?)\}", text):
        result.append(math.prod(int(size) if size else sizes["xyz".index(name)] for name, _, size in AXIS.findall(dim)))
    return result


def chain_bytes(body, sizes, shape, source):
    """(bytes, kinds) of the collectives in the text of a function."""
    counts = [shards(dim) for dim in source[0]]
    total, kinds = 0, Counter()
    for match in COLLECTIVE.finditer(body):
        after = read_dims(match["dims"], sizes)
        local = ELEMENT * math.prod(-(-n // c) for n, c in zip(shape, counts))
        listed = math.prod(
            read_dims("{" + ", ".join(m[0] for m in re.finditer(r'"\w+"(?::\(\d+\)\d+)?', match["rest"])) + "}", sizes)
            or [1]
        )
        kind = match["kind"]
        if kind == "all_gather":
            total += local * (listed - 1)
        elif kind in ("all_to_all", "reduce_scatter"):
            total += local - local // listed
        elif kind == "all_reduce":
            total += 2 * local - 2 * local // listed
        elif kind == "collective_permute":
            total += local
        kinds[kind] += 1
        counts = after
    return total, kinds


def bound(sizes, shape, source, target):
    """The most that a device must receive: its shard of the target without what it holds of it."""

    def index(axes, place):
        result = 0
        for _, axis, pre, size in axes:
            result = result * size + place[axis] // (sizes[axis] // (pre * size)) % size
        return result

    worst = 0
    for place in itertools.product(*map(range, sizes)):
        wanted = both = 1
        for n, before, after in zip(shape, source[0], target[0]):
            b, a = n // shards(before), n // shards(after)
            low, high = index(before, place) * b, index(after, place) * a
            wanted *= a
            both *= max(0, min(low + b, high + a) - max(low, high))
        worst = max(worst, wanted - (0 if source[1] != target[1] else both))
    return worst * ELEMENT


def functions(text):
    return dict(re.findall(r"func\.func @f(\d+)\((.*?)\n  \}", text, re.DOTALL))


def theirs(text, pairs):
    """jaxlib's result of each function; those that it refuses are missing."""
    with mlir.make_ir_context():
        module = ir.Module.parse(text)
        PassManager.parse("builtin.module(func.func(sdy-reshard-to-collectives))").run(module.operation)
        return functions(str(module))


def ours(text):
    flags = ["--sdy-reshard-to-collectives=device-model=bytes"]
    return functions(subprocess.run([OPT, "-", *flags], input=text, capture_output=True, text=True, check=True).stdout)


def compare(name, rank, limit, rng):
    sizes = MESHES[name]
    shape = [24] * rank
    # jaxlib's pass drops sums that are to be reduced: whole values only.
    sources = targets = layouts(sizes, rank, False)
    pairs = [(rng.choice(sources), rng.choice(targets)) for _ in range(limit)]
    if len(sources) * len(targets) <= limit:
        pairs = list(itertools.product(sources, targets))
    text = program(sizes, shape, pairs)
    mine, other = ours(text), theirs(text, pairs)
    totals, worse, shorter = [0, 0, 0], [], 0
    for i, (source, target) in enumerate(pairs):
        a, _ = chain_bytes(mine[str(i)], sizes, shape, source)
        b, _ = chain_bytes(other[str(i)], sizes, shape, source)
        least = bound(sizes, shape, source, target)
        totals = [x + y for x, y in zip(totals, (a, b, least))]
        shorter += a < b
        if a > b:
            worse.append((text_of(source), text_of(target), a, b))
    print(f"{name:6} {rank:4} {len(pairs):7} {totals[0]:12,} {totals[1]:12,} {totals[0] / totals[1]:6.3f} "
          f"{totals[0] / totals[2]:6.3f} {shorter:8} {len(worse):6}", flush=True)
    return worse


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pairs", type=int, default=5000)
    options = parser.parse_args()
    rng = random.Random(0)
    print("mesh   rank   pairs   our bytes  jaxlib's     ratio  /bound  cheaper  dearer")
    worse = [pair for name in MESHES for rank in (1, 2, 3) for pair in compare(name, rank, options.pairs, rng)]
    for source, target, a, b in worse[:10]:
        print(f"dearer: {source} -> {target}: {a} against {b}")
    return bool(worse)


if __name__ == "__main__":
    sys.exit(main())
