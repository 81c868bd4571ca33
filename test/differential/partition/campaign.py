#!/usr/bin/env python3
"""Generated cases, partitioned against whole: [--seeds A..B] [--each N] [--only REGEX] [--out DIR] [--replay FILE ...]

--seeds   a range of seeds, each with N cases of every family (default 0..1)
--each    cases of a family per seed (default 8)
--only    only families that match
--seconds  begins no further family after so long
--out     where what fails is written, shrunk, as .mlir (default /tmp/shardonnay-partition)
--no-shrink  write what fails as it was found
--limit   how many failures are shrunk and written (default 20)
--replay  runs files that were written; with several cases in one (inflight.mlir, all that ran when the process died), one by one
"""

import argparse
import collections
import os
import random
import re
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import factors
import families
import runner
import shardonnay
from graph import Graph
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.control import current_build_context
from hypothesis.database import InMemoryExampleDatabase, choices_to_bytes
from hypothesis.internal.conjecture import engine as conjecture
from hypothesis.internal.reflection import function_digest
from shardonnay import engine

BATCH = 100
conjecture.MAX_SHRINKING_SECONDS = 20
QUIET = dict(deadline=None, suppress_health_check=list(HealthCheck), derandomize=False, print_blob=False)


@st.composite
def cases(draw, family):
    """A case that ends in an op of the family; up to two others before it, so that reshards come between."""
    graph = Graph(draw, family)
    for _ in range(graph.int(0, 2) if graph.chance(40) else 0):
        families.FAMILIES[graph.choose(families.COMMON)](graph)
    families.FAMILIES[family](graph)
    if graph.chance(20):
        families.FAMILIES[graph.choose(families.COMMON)](graph)
    return graph.case()


def collect(family, number, count):
    """[(case, its choices)], deterministic."""
    found = []

    @seed(number)
    @settings(max_examples=count, phases=[Phase.generate], database=None, **QUIET)
    @given(cases(family))
    def gather(case):
        found.append((case, tuple(current_build_context().data.choices)))

    gather()
    return found


def shrink(family, choices, kind, run=runner.run):
    """The smallest case that hypothesis finds, from these choices, with the same kind of verdict: (case, text)."""
    best = []
    database = InMemoryExampleDatabase()

    @settings(max_examples=20, phases=[Phase.reuse, Phase.generate, Phase.shrink], database=database, **QUIET)
    @given(cases(family))
    def check(case):
        seen = []
        run([case], lambda *result: seen.append(result))
        if seen[0][1] == kind:
            best[:] = [(case, seen[0][2])]
            raise AssertionError

    key = function_digest(check.hypothesis.inner_test)
    # What is saved as secondary is what hypothesis still tries to shrink.
    database.save(key + b".secondary", choices_to_bytes(choices))
    try:
        check()
    except BaseException:
        if not best:
            raise
    return best[0] if best else None


class Tally:
    """Counts of a campaign, and what failed."""

    def __init__(self):
        self.kinds, self.per_op, self.per_factor = (collections.Counter() for _ in range(3))
        self.failed = []

    def add(self, case, kind, text):
        self.kinds[kind] += 1
        if kind == "ok":
            self.per_op.update(set(case.ops))
        else:
            self.failed.append((case, kind, text))

    def table(self):
        lines = [f"{kind}: {count}" for kind, count in self.kinds.most_common()]
        lines += [f"  {name} {count}" for name, count in sorted(self.per_op.items())]
        lines += [f"  cut {kind} factors: {count}" for kind, count in self.per_factor.most_common()]
        return "\n".join(lines)


def execute(names, numbers, each, tally, out, seconds):
    """All cases of all families and seeds, batch by batch; returns {id of case: (case, choices)}."""
    origin, waiting, start = {}, collections.defaultdict(list), time.monotonic()

    def flush(mesh):
        batch = waiting.pop(mesh)
        (out / "inflight.mlir").write_text("// -----\n".join(runner.written(case, case.family) for case in batch))
        runner.run(batch, tally.add)
        try:
            tally.per_factor += factors.cut_factors(runner.module(batch))
        except shardonnay.CompileError:
            pass  # a refusal, which is counted as such
        print(f"seen: {dict(tally.kinds)}", flush=True)

    for number in numbers:
        for name in random.Random(number).sample(names, len(names)):
            if time.monotonic() - start > seconds:
                print(f"out of time at seed {number}, {name}")
                break
            for case, choices in collect(name, number, each):
                origin[id(case)] = (case, choices)
                waiting[case.mesh].append(case)
                if len(waiting[case.mesh]) == BATCH:
                    flush(case.mesh)
    for mesh in list(waiting):
        flush(mesh)
    return origin


def replay(paths):
    """Whether all agree."""
    failed = 0
    for path in paths:
        for at, text in enumerate(path.read_text().split("// -----\n")):
            print(f"{path} {at}", flush=True)
            case, module = runner.read(text)
            try:
                (problem,) = runner.verdicts([case], module)
            except Exception as error:
                problem = f"{type(error).__name__}: {error}"
            print(problem or "agrees", flush=True)
            failed += bool(problem)
    return not failed


def write_failures(tally, origin, options):
    seen = collections.Counter()
    for case, kind, text in tally.failed:
        seen[case.family, kind] += 1
        if seen[case.family, kind] > 2 or sum(min(count, 2) for count in seen.values()) > options.limit:
            continue
        if not options.no_shrink:
            case, text = shrink(case.family, origin[id(case)][1], kind) or (case, text)
        path = options.out / f"{case.family.replace(' ', '-')}-{kind}-{seen[case.family, kind]}.mlir"
        path.write_text(runner.written(case, f"{kind}: {text}"))
        print(f"{path}: {kind}: {text.splitlines()[0][:300]}", flush=True)
    for (family, kind), count in sorted(seen.items()):
        print(f"FAILED {family} {kind}: {count}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", default="0..1")
    parser.add_argument("--each", type=int, default=8)
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--out", type=Path, default=Path("/tmp/shardonnay-partition"))
    parser.add_argument("--no-shrink", action="store_true")
    parser.add_argument("--limit", type=int, default=20)
    parser.add_argument("--replay", type=Path, nargs="*", default=[])
    options = parser.parse_args()
    engine.prepare(runner.DEVICES)
    if options.replay:
        return 0 if replay(options.replay) else 1
    first, last = map(int, options.seeds.split(".."))
    names = [name for name in families.FAMILIES if re.search(options.only, name)]
    options.out.mkdir(parents=True, exist_ok=True)
    tally, start = Tally(), time.monotonic()
    origin = execute(names, range(first, last), options.each, tally, options.out, options.seconds)
    seconds = time.monotonic() - start
    print(tally.table())
    total = sum(tally.kinds.values())
    print(f"seeds {options.seeds}, {len(names)} families: {total} cases in {seconds:.0f} s, {total / seconds:.0f} a second", flush=True)
    write_failures(tally, origin, options)
    return 1 if tally.failed else 0


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    os._exit(status)  # the engine's threads need not be waited for
