#!/usr/bin/env python3
"""Generated cases, partitioned against whole: [--seeds A..B] [--each N] [--only REGEX] [--out DIR] [--replay FILE ...]

--seeds   a range of seeds, each with N cases of every family (default 0..1)
--each    cases of a family per seed (default 2)
--only    only families that match
--batch   cases in a program (default 100)
--seconds  begins no further program after so long
--until   stops at the first verdict of this kind (wrong, crash, hang, refused), shrinks and writes it; exits with 0 if
          it was found
--out     where what fails is written, shrunk, as .mlir (default /tmp/shardonnay-partition)
--no-shrink  write what fails as it was found
--limit   how many failures are shrunk and written (default 20)
--factors  also counts how often a factor of each kind is sharded
--replay  runs files that were written; with several cases in one, one by one
"""

import argparse
import collections
import os
import random
import re
import sys
import time
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import factors
import families
import runner
import setting as settings_
import shardonnay
import wrapping
from graph import Graph
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.database import InMemoryExampleDatabase, choices_to_bytes
from hypothesis.internal.conjecture import engine as conjecture
from hypothesis.internal.reflection import function_digest
from setting import PLAIN
from worker import Worker

conjecture.MAX_SHRINKING_SECONDS = 60
QUIET = dict(deadline=None, suppress_health_check=list(HealthCheck), derandomize=False, print_blob=False)


def drawn(integer, family, setting):
    """A case that has an op of the family; up to two others before and behind it, so that reshards come between."""
    graph = Graph(integer, family, setting)
    for _ in range(graph.int(0, 2) if graph.chance(40) else 0):
        families.FAMILIES[graph.choose(families.COMMON)](graph)
    families.FAMILIES[family](graph)
    for _ in range(graph.int(0, 2) if graph.chance(30) else 0):
        families.FAMILIES[graph.choose(families.COMMON)](graph)
    for _ in range(graph.int(1, 3) if graph.lines and graph.chance(20) else 0):
        wrapping.wrap(graph)
    return graph.case()


def collect(family, number, count, setting=PLAIN):
    """[(case, its choices)], deterministic."""
    found, pick = [], random.Random(f"{family} {number}")
    for _ in range(count):
        choices = []

        def integer(low, high):
            choices.append(pick.randint(low, high))
            return choices[-1]

        found.append((drawn(integer, family, setting), tuple(choices)))
    return found


def kind_of(case, judge):
    """(kind, text) of one case."""
    seen = []
    runner.run([case], lambda *result: seen.append(result), judge)
    return seen[0][1:]


def same(kind, text, other):
    """Whether two texts say the same but for names, numbers and places."""
    bare = [re.sub(r"'[^']*'|@\w+|#\S+|\d+|<.*?>", "", each.splitlines()[0]) for each in (text, other)]
    return kind != "refused" or bare[0][:60] == bare[1][:60]


def shrink(case, choices, kind, text, judge=None):
    """The smallest case that hypothesis finds, from these choices, with the same kind of verdict, and the simplest
    setting of it: (case, text); None if the case has that verdict among others only."""
    best = []
    database = InMemoryExampleDatabase()

    @settings(max_examples=20, phases=[Phase.reuse, Phase.generate, Phase.shrink], database=database, **QUIET)
    @given(st.data())
    def check(data):
        smaller = drawn(lambda low, high: data.conjecture_data.draw_integer(low, high), case.family, case.setting)
        found, why = kind_of(smaller, judge)
        if found == kind and same(kind, text, why):
            best[:] = [(smaller, why)]
            raise AssertionError

    key = function_digest(check.hypothesis.inner_test)
    # What is saved as secondary is what hypothesis still tries to shrink.
    database.save(key + b".secondary", choices_to_bytes(choices))
    try:
        check()
    except BaseException:
        if not best:
            raise
    return _simplify(*best[0], kind, judge) if best else None


def _simplify(case, text, kind, judge):
    """Takes away, as long as the verdict stays, what hypothesis cannot: parts of the setting and of the text."""
    for simple in (*(replace(case, setting=setting) for setting in settings_.simpler(case.setting)), *reduced(case)):
        found, why = kind_of(simple, judge)
        if found == kind and same(kind, text, why):
            return _simplify(simple, why, kind, judge)
    return case, text


def reduced(case):
    """Cases with one result, op, argument or sharding less."""
    def without(items, at):
        return [*items[:at], *items[at + 1 :]]

    texts = [*case.lines, *case.functions]
    used = {name for text in texts for name in wrapping.NAME.findall(text.partition(" = ")[2] or text)}
    used |= {value.name for value, _ in case.results}
    for at, (value, sharding) in enumerate(case.results):
        if len(case.results) > 1:
            yield replace(case, results=without(case.results, at))
        if sharding:
            yield replace(case, results=[*case.results[:at], (value, ""), *case.results[at + 1 :]])
    for at, function in enumerate(case.functions):
        name = re.search(r"@\$\d+", function)[0]
        if not any(re.search(re.escape(name) + r"\b", text) for text in without(texts, len(case.lines) + at)):
            yield replace(case, functions=without(case.functions, at))
    for at, line in enumerate(case.lines):
        if not used.intersection(wrapping.defined(line)):
            yield replace(case, lines=without(case.lines, at))
        for bare in (
            re.sub(r" \{sdy\.sharding = #sdy\.sharding_per_value<.*?>\]>\}", "", line, count=1),
            re.sub(
                r"^(.*) = sdy\.sharding_constraint (\$\d+) .* : (.*)",
                r'\1 = "stablehlo.optimization_barrier"(\2) : (\3) -> \3',
                line,
            ),
        ):
            if bare != line:
                yield replace(case, lines=[*case.lines[:at], bare, *case.lines[at + 1 :]])
    for at, argument in enumerate(case.arguments):
        if argument.value.name not in used:
            yield replace(case, arguments=without(case.arguments, at))
        elif argument.sharding:
            yield replace(
                case, arguments=[*case.arguments[:at], replace(argument, sharding=""), *case.arguments[at + 1 :]]
            )


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
        lines += [f"  sharded {kind} factors: {count}" for kind, count in self.per_factor.most_common()]
        return "\n".join(lines)


def programs(names, options):
    """(where, [(case, its choices)]): the cases of a program have one setting, and families in any order."""
    first, last = map(int, options.seeds.split(".."))
    share = max(1, options.batch // options.each)
    for number in range(first, last):
        order = random.Random(number).sample(names, len(names))
        for at in range(0, len(order), share):
            setting = settings_.draw(number * 1000 + at // share)
            yield f"seed {number}, program {at // share}", [
                found for name in order[at : at + share] for found in collect(name, number, options.each, setting)]


def execute(names, options, tally, judge):
    """All programs; returns {id of a failed case: its choices}."""
    origin, start = {}, time.monotonic()
    for where, batch in programs(names, options):
        if time.monotonic() - start > options.seconds:
            print(f"out of time at {where}")
            break
        before = len(tally.failed)
        runner.run([case for case, _ in batch], tally.add, judge)
        failed = {id(case) for case, *_ in tally.failed[before:]}
        origin |= {id(case): choices for case, choices in batch if id(case) in failed}
        if options.factors:
            try:
                tally.per_factor += factors.sharded_factors(runner.module([case for case, _ in batch]))
            except shardonnay.CompileError:
                pass  # a refusal, which is counted as such
        print(f"{where}: {dict(tally.kinds)}, {time.monotonic() - start:.0f} s", flush=True)
        for case, kind, text in tally.failed[before:]:
            print(f"  {case.family}: {kind}: {text.splitlines()[0][:200]}", flush=True)
        if options.until and any(kind == options.until for _, kind, _ in tally.failed):
            break
    if options.until:
        tally.failed = [failure for failure in tally.failed if failure[1] == options.until][:1]
    return origin


def replay(paths, judge):
    """Whether all agree."""
    failed = 0
    for path in paths:
        for at, text in enumerate(path.read_text().split("// -----\n")):
            print(f"{path} {at}", flush=True)
            case, module = runner.read(text)
            try:
                (problem,) = judge([case], module)
            except Exception as error:
                problem = f"{type(error).__name__}: {error}"
            print(problem or "agrees", flush=True)
            failed += bool(problem)
    return not failed


def write_failures(tally, origin, options, judge):
    seen = collections.Counter()
    for case, kind, text in tally.failed:
        seen[case.family, kind] += 1
        if seen[case.family, kind] > 2 or sum(min(count, 2) for count in seen.values()) > options.limit:
            continue
        if not options.no_shrink:
            case, text = shrink(case, origin[id(case)], kind, text, judge) or (case, f"among others only: {text}")
        path = options.out / f"{case.family.replace(' ', '-')}-{kind}-{seen[case.family, kind]}.mlir"
        path.write_text(runner.written(case, f"{kind}: {text}"))
        print(f"{path}: {kind}: {text.splitlines()[0][:300]}", flush=True)
    for (family, kind), count in sorted(seen.items()):
        print(f"FAILED {family} {kind}: {count}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", default="0..1")
    parser.add_argument("--each", type=int, default=2)
    parser.add_argument("--only", default="")
    parser.add_argument("--batch", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--until", default="")
    parser.add_argument("--out", type=Path, default=Path("/tmp/shardonnay-partition"))
    parser.add_argument("--no-shrink", action="store_true")
    parser.add_argument("--limit", type=int, default=20)
    parser.add_argument("--factors", action="store_true")
    parser.add_argument("--replay", type=Path, nargs="*", default=[])
    options = parser.parse_args()
    judge = Worker().verdicts
    if options.replay:
        return 0 if replay(options.replay, judge) else 1
    names = [name for name in families.FAMILIES if re.search(options.only, name)]
    options.out.mkdir(parents=True, exist_ok=True)
    tally, start = Tally(), time.monotonic()
    origin = execute(names, options, tally, judge)
    seconds = time.monotonic() - start
    print(tally.table())
    total = sum(tally.kinds.values())
    print(f"seeds {options.seeds}, {len(names)} families: {total} cases in {seconds:.0f} s, {total / seconds:.0f} a "
          "second", flush=True)
    write_failures(tally, origin, options, judge)
    return bool(tally.failed) != bool(options.until)


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    os._exit(status)  # the worker need not be waited for
