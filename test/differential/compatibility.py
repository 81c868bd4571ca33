"""Every known pass alone, on generated programs, by jaxlib and by us: python compatibility.py [PROGRAMS [PASS]]

Prints a row for each pass and option: of how many modules the text behind it is the same, and which named reasons
(differences.py) explain the others. What no reason explains is printed, and is a fault: of ours, or of the table.
python compatibility.py --write makes docs/reference/compatibility.md of a whole run.
"""

import difflib
import re
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

import executed
import shardonnay
from comparison import SDY_OPT, Refused
from differences import REASONS, bare
from groups import spelled_out
from names import ordered
from shardonnay import compare, engine
from single_passes import ALONE, KINDS, cases, program
from workers import Ended, Jaxlib

PAGE = Path(__file__).resolve().parents[2] / "docs/reference/compatibility.md"
SEPARATOR = "\n// -----\n"
# So many programs make more than 3,000 cases.
PROGRAMS = 3 * len(KINDS)


@dataclass
class Outcome:
    """A module, or that there is none."""

    text: str = ""
    refused: str = ""
    ended: bool = False


@dataclass
class Compared:
    """What a reason looks at."""

    name: str
    pipeline: str
    start: str
    mine: Outcome
    theirs: Outcome
    program: int

    def but(self, mine, theirs):
        """With other texts."""
        return replace(self, mine=Outcome(mine), theirs=Outcome(theirs))


@dataclass
class Row:
    name: str
    same: int = 0
    reasons: Counter = field(default_factory=Counter)
    unexplained: list = field(default_factory=list)

    @property
    def count(self):
        return self.same + sum(self.reasons.values()) + len(self.unexplained)


def plain(text):
    """Without what other tools skip: a mesh said twice, and notes of ours."""
    text = re.sub(r" \{stablehlo\.mesh = \{.*\}\}$", "", text, flags=re.M)
    return re.sub(r"sdy\.given_sharding = #sdy\.sharding<.*?>(, |(?=\}))", "", text)


# The passes that leave some reshards to those behind them, by what their names end in.
PARTIAL = re.compile(
    r"sdy-propagation-pipeline|sdy-insert-explicit-reshards$|sdy-export-pipeline(?!.*explicit-collectives)"
)


class Comparison:
    def __init__(self):
        engine.prepare(24)
        self.jaxlib = Jaxlib()
        self._executed, self._refusals = {}, {}

    def printed(self, text):
        return plain(self.jaxlib.run(text, "builtin.module()"))

    def theirs(self, text, pipeline):
        try:
            return Outcome(plain(self.jaxlib.run(text, pipeline)))
        except Refused as refused:
            return Outcome(refused=str(refused), ended=isinstance(refused, Ended))

    def mine(self, texts, pipeline):
        """An outcome for each; one process does them all, and prints nothing of a module that it refuses."""
        command = [SDY_OPT, "-split-input-file", f"--pass-pipeline={pipeline}"]
        done = subprocess.run(command, input=SEPARATOR.join(texts), capture_output=True, text=True)
        outputs = done.stdout.split(SEPARATOR)
        if len(outputs) != len(texts):
            assert len(texts) > 1, f"sdy-opt ends: {done.stderr[:2000]}\n{texts[0]}"
            return [self.mine([text], pipeline)[0] for text in texts]
        return [Outcome(self.printed(text)) if text.strip() else Outcome(refused="refused") for text in outputs]

    @staticmethod
    def _key(compared, outcome):
        return compared.start, bare(outcome.text), compared.name.split("{")[0], bool(PARTIAL.match(compared.name))

    def refusal(self, compared, outcome):
        """Why our lowering has not executed it, or nothing."""
        return self._refusals.get(self._key(compared, outcome), "")

    def executed(self, compared):
        """Both plans as executed; None of one that is not, or has another boundary than the other."""
        found = []
        for outcome in (compared.mine, compared.theirs):
            key = self._key(compared, outcome)
            if key not in self._executed:
                self._executed[key] = self._execute(compared, outcome.text)
            found.append(self._executed[key])
        if not compared.name.startswith("sdy-convert") and None not in found:
            mine, theirs = (executed.signature(outcome.text)[1] for outcome in (compared.mine, compared.theirs))
            return found if mine == theirs else (None, None)
        return found

    def is_complete(self, compared):
        """Whether ours has all the collectives that its lowering needs, or as many as theirs has."""
        if compared.name.startswith("sdy-convert"):
            return True
        partial = bool(PARTIAL.match(compared.name))
        mine, theirs = (executed.completed(outcome.text, partial) for outcome in (compared.mine, compared.theirs))
        return not mine - theirs

    def _execute(self, compared, text):
        try:
            if not text:
                return None
            if compared.name.startswith("sdy-convert"):
                local = self.mine(
                    [spelled_out(text)], "builtin.module(sdy-drop-sharding-and-mesh,sdy-inline-private-functions)"
                )[0].text
                return executed.run(compared.start, local, executed.Boundary(compared.start))
            return executed.executed(compared.start, text, bool(PARTIAL.match(compared.name)))
        except (Refused, shardonnay.ShardonnayError) as error:
            self._refusals[self._key(compared, Outcome(text))] = str(error)
            return None

    def same_whole(self, start, text):
        """Without meshes and shardings both are one program."""
        passes = "builtin.module(canonicalize{region-simplify=disabled},cse)"
        whole, other = (self.theirs(compare.unpartitioned(one), passes).text for one in (start, text))
        return bool(whole) and ordered(whole) == ordered(other)

    def is_same(self, compared):
        mine, theirs = spelled_out(compared.mine.text), spelled_out(compared.theirs.text)
        return mine == theirs or (bool(mine) and bool(theirs) and ordered(mine) == ordered(theirs))

    def compare(self, row, compared):
        if self.is_same(compared):
            row.same += 1
            return
        for name, reason in REASONS.items():
            if reason.explains(compared, self):
                row.reasons[name] += 1
                return
        row.unexplained.append(compared)

    def rows(self, numbers, wanted=lambda name: True):
        starts = {}
        for name, pipeline, before in cases():
            if not wanted(name):
                continue
            row = Row(name)
            if before not in starts:
                made = [(number, self.theirs(program(number), f"builtin.module({before})").text) for number in numbers]
                # What jaxlib does not bring to this stage says nothing of us.
                starts[before] = [(number, text) for number, text in made if text]
            for compared in self.pairs(name, pipeline, starts[before]):
                self.compare(row, compared)
            yield row

    def pairs(self, name, pipeline, starts):
        """A Compared for each (number of a program, what is run before the pass makes of it)."""
        pipeline = f"builtin.module({pipeline})"
        # jaxlib 0.10.2 has no such option, and leaves meshes as they are.
        own = pipeline.replace("sdy-export-pipeline{", "sdy-export-pipeline{inline-meshes=false ")
        for (number, start), mine in zip(starts, self.mine([text for _, text in starts], own), strict=True):
            yield Compared(name, pipeline, start, mine, self.theirs(start, pipeline), number)


HEAD = """<!-- Generated by test/differential/compatibility.py. Do not edit. -->
# Compatibility with the existing `sdy` passes

Every pass and option of the command line that users of `sdy` tools know, compared with jaxlib 0.10.2's of that name,
alone, on generated modules of its own stage: {cases} cases of {programs} programs, {same} with the same text, {better}
better, {differs} different, none unexplained. The programs are on meshes with even and uneven sizes, with axes of size
1, in another order of the devices, of one device; they have unreduced axes, groups, priorities, calls, manual
computations, tokens, loops. What runs before the pass is jaxlib's, so both read the same module.

* Texts are compared as jaxlib prints them, but for names of private functions, the order of functions and meshes, notes
  of ours (`sdy.given_sharding`), and `stablehlo.mesh` beside a mesh, which says it again. Errors are compared, but not
  their words.
* Where texts differ, a reason has to be measured: jaxlib's pass is run again, what is noted is held against the
  program, or both plans are lowered alike, executed and counted (numbers, bytes, collectives, time).
* Tests put faults into our texts, and see them reported.

`python test/differential/compatibility.py --write` makes this page, and prints what is unexplained; `scripts/check
--long differential` holds it, `scripts/check differential` a tenth of it.

| pass | cases | same | better | differs |
|---|---|---|---|---|
"""


def cell(row, verdict):
    found = [(name, row.reasons[name]) for name in REASONS if row.reasons[name] and REASONS[name].verdict == verdict]
    return ", ".join(f"{count} {name}" for name, count in found)


def page(rows, programs):
    """The table, and why."""
    counts = {"cases": sum(row.count for row in rows), "same": sum(row.same for row in rows)}
    for verdict in ("better", "differs"):
        counts[verdict] = sum(
            count for row in rows for name, count in row.reasons.items() if REASONS[name].verdict == verdict
        )
    lines = [HEAD.format(programs=programs, **counts).rstrip("\n")]
    for row in rows:
        lines.append(f"| `{row.name}` | {row.count} | {row.same} | {cell(row, 'better')} | {cell(row, 'differs')} |")
    lines += ["", "## Why", "", "| reason | verdict | why |", "|---|---|---|"]
    used = {name for row in rows for name in row.reasons}
    lines += [f"| {name} | {reason.verdict} | {reason.why} |" for name, reason in REASONS.items() if name in used]
    lines += ["", "## What jaxlib 0.10.2 has not", "", "There is nothing to compare with; the tests say what each "
                                                       "does.", ""]
    lines += ["| pass | option | test |", "|---|---|---|"]
    for name, options in ALONE.items():
        lines += [f"| `{name}` | {f'`{option}`' if option else ''} | `{test}` |" for option, test in options.items()]
    return "\n".join(lines) + "\n"


def main(arguments):
    write = "--write" in arguments
    arguments = [argument for argument in arguments if argument != "--write"]
    count = int(arguments[0]) if arguments else PROGRAMS
    rows = []
    for row in Comparison().rows(range(count), lambda name: name.startswith(tuple(arguments[1:2]) or "")):
        rows.append(row)
        print(
            f"{row.name}: {row.same} of {row.count} {dict(row.reasons)} unexplained {len(row.unexplained)}", flush=True
        )
        for compared in row.unexplained[:2]:
            show(compared)
    print(f"{sum(row.count for row in rows)} cases, {sum(len(row.unexplained) for row in rows)} unexplained")
    if write:
        PAGE.write_text(page(rows, count))


def show(compared):
    print(compared.start, file=sys.stderr)
    mine, theirs = (one.text or f"refused {one.refused[:300]}" for one in (compared.mine, compared.theirs))
    difference = difflib.unified_diff(theirs.splitlines(), mine.splitlines(), "theirs", "ours", lineterm="", n=0)
    print(f"--- {compared.name}\n" + "\n".join(difference), file=sys.stderr, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
