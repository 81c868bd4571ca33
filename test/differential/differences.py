"""Why our passes differ from jaxlib's, by name: what docs/reference/compatibility.md says of each.

A reason measures: it runs a pass again, executes both plans and counts (executed.py), or reads what is noted
(origins.py). What no reason explains is reported.
"""

import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import Callable

import origins
from bodies import BODIES, as_barriers
from jaxlib.mlir import ir
from names import ordered
from shardonnay import engine
from shardonnay.operations import operations

# A third sweep changes nothing that two have left.
SWEEPS = 3
ONES = "one|c"  # the axes of size 1 of the kind of mesh that has some
DEBUG = ("debug-sharding-origins", "debug-propagation-edge-sharding")


@dataclass
class Reason:
    """`explains` is asked of a pair of outcomes that differ; the first reason that does is counted."""

    verdict: str  # better, differs
    why: str
    explains: Callable


def of(passes, explains):
    """Only for passes of these names."""
    return lambda compared, comparison: compared.name.startswith(passes) and explains(compared, comparison)


def stripped(pattern, text):
    """Without what matches, and the braces that it leaves."""
    return re.sub(r" \{(?:, )?\}(?= :| loc|,|\))|(?<=\{), ", "", re.sub(pattern, "", text))


def without(pattern):
    return lambda compared, comparison: stripped(pattern, compared.mine.text) == stripped(pattern, compared.theirs.text)


RECORDS = r"(?:, )?sdy\.(?:\w+_)?propagation_edges = (?:#sdy\.propagation_edges<\[.*?\]>|\[.*?>\])(?=[,}])"
ORIGINS = r"(?:, )?sdy\.sharding_origins = (?:\[\{.*?\}\]|\{.*?\})|(?:, )?sdy\.sharding_origin_name = \"op_\d+\""


def bare(text):
    """Without notes of propagation."""
    return stripped(ORIGINS, stripped(RECORDS, text))


def refused(compared, comparison):
    """By jaxlib's pass; ours leaves the same whole program, or has right numbers."""
    if not compared.theirs.refused or compared.mine.refused:
        return False
    if compared.name.startswith(PLANS):
        mine, _ = comparison.executed(compared)
        return mine is not None and mine.right
    return comparison.same_whole(compared.start, compared.mine.text)


def without_dead(comparison, outcome):
    """No op is left that nothing uses, nor a private function that nothing calls."""
    return comparison.theirs(
        outcome.text, "builtin.module(symbol-dce,canonicalize{region-simplify=disabled enable-patterns=none})"
    ).text


def keeps_dead(compared, comparison):
    mine, theirs = (without_dead(comparison, outcome) for outcome in (compared.mine, compared.theirs))
    return bool(mine) and ordered(mine) == ordered(theirs)


def bears_origins_out(compared):
    return DEBUG[0] not in compared.name or not origins.faults(compared.start, compared.mine.text)


def without_notes(pipeline):
    return re.sub(r" ?debug-[\w-]+=true", "", pipeline)


def goes_on(compared, comparison):
    """Their pass, run again on what it left, comes to what ours leaves after one run."""
    text = compared.start
    for _ in range(SWEEPS):
        text = comparison.theirs(text, without_notes(compared.pipeline)).text
        if text == bare(compared.mine.text):
            return bears_origins_out(compared)
    return False


def of_ops(text):
    """How often each op of StableHLO stands with each sharding, outside of manual computations and barriers."""
    with engine.context():
        module, found = ir.Module.parse(text), Counter()
        for operation in operations(module):
            is_local = operation.parent is not None and operation.parent.name == "sdy.manual_computation"
            if (
                operation.name.startswith("stablehlo.")
                and operation.name != "stablehlo.optimization_barrier"
                and not is_local
            ):
                sharding = operation.attributes["sdy.sharding"] if "sdy.sharding" in operation.attributes else ""
                found[operation.name, str(sharding), *map(str, [value.type for value in operation.results])] += 1
        return found


def differs_in_bodies(compared, comparison):
    """Ours does the same with the bodies of the program between barriers, and so does theirs, but for its edges."""
    if not any(name in compared.start for name in BODIES) or not compared.mine.text:
        return False
    start, pipeline = as_barriers(compared.start), without_notes(compared.pipeline)
    (mine,), theirs = comparison.mine([start], pipeline), comparison.theirs(start, pipeline)
    if not mine.text or mine.text != theirs.text:
        return False
    return not of_ops(compared.mine.text) - of_ops(mine.text) and bears_origins_out(compared)


def origins_are_borne_out(compared, comparison):
    mine, theirs = (stripped(ORIGINS, outcome.text) for outcome in (compared.mine, compared.theirs))
    return mine == theirs and bool(mine) and not origins.faults(compared.start, compared.mine.text)


STEP = re.compile(r'step-(\d+)|("\w+"(?::\(\d+\)\d+)?) = (\S+ -> \[[^]]*\])')


def first_steps(text):
    """{axis: (step, where from and to)}, the first of each axis."""
    first, step = {}, 0
    for number, axis, edge in STEP.findall(text):
        step = int(number) if number else step
        if axis and (axis not in first or step < first[axis][0]):
            first[axis] = step, edge
    return first


def notes_at_the_first(compared, comparison):
    """Theirs is ours with the steps of all results at the first of them, where an axis has room for one step."""
    mine, theirs = (outcome.text.splitlines() for outcome in (compared.mine, compared.theirs))
    if [stripped(RECORDS, line) for line in mine] != [stripped(RECORDS, line) for line in theirs]:
        return False
    for one, other in zip(mine, theirs):
        # Of a function, its arguments and its results.
        sides = [line.split(" -> (tensor") if "func.func" in line else [line] for line in (one, other)]
        if any(
            first_steps("".join(re.findall(RECORDS, a))) != first_steps("".join(re.findall(RECORDS, b)))
            for a, b in zip(*sides)
        ):
            return False
    return True


SLICED = r"need_replication=\{\w+(?:, \w+)*\}"


def writes_whole_updates(compared, comparison):
    """Only rules of dynamic_update_slice differ, by the dims of the update that are needed whole."""
    mine, theirs = compared.mine.text.splitlines(), compared.theirs.text.splitlines()
    pairs = [(one, other) for one, other in zip(mine, theirs) if one != other]
    return len(mine) == len(theirs) and all(
        "stablehlo.dynamic_update_slice" in one and re.sub(f" {SLICED}", "", one) == other for one, other in pairs
    )


RULE = re.compile(r"sdy\.sharding_rule = #sdy\.op_sharding_rule<(.*?\})>")
BLOCKED = re.compile(r"need_replication=\{(\w)\} blocked_propagation=\{\1\}")


def differs_in_concatenation(one, other):
    """Only by the rule: one factor needed whole on our side, factors of size 1 on theirs."""
    if "stablehlo.concatenate" not in one or RULE.sub("", one) != RULE.sub("", other):
        return False
    return BLOCKED.search(RULE.search(one)[1]) is not None and RULE.search(other)[1].count("=1") >= 3


def differs_in_concatenations(compared, comparison):
    mine, theirs = compared.mine.text.splitlines(), compared.theirs.text.splitlines()
    return len(mine) == len(theirs) and all(
        differs_in_concatenation(one, other)
        or ("dynamic_update_slice" in one and re.sub(f" {SLICED}", "", one) == other)
        for one, other in zip(mine, theirs)
        if one != other
    )


# Each dim is a factor of its own, which a constraint has anyway.
OF_CONSTRAINT = re.compile(r"(?:, )?sdy\.sharding_rule = #sdy\.op_sharding_rule<\((\[[^]]*\])\)->\(\1\) \{[^}]*\}>")


def without_rules_of_constraints(text):
    return "\n".join(
        stripped(OF_CONSTRAINT, line) if "sdy.sharding_constraint" in line else line for line in text.splitlines()
    )


def keeps_rules_of_constraints(compared, comparison):
    mine, theirs = (without_rules_of_constraints(outcome.text) for outcome in (compared.mine, compared.theirs))
    if not mine or (mine, theirs) == (compared.mine.text, compared.theirs.text):
        return False
    return mine == theirs or any(REASONS[name].explains(compared.but(mine, theirs), comparison) for name in NOTES)


def casts_are_left(compared, comparison):
    """Theirs leaves casts of types; ours is the program as it was."""
    return "builtin.unrealized_conversion_cast" in compared.theirs.text and compared.mine.text == comparison.printed(
        compared.start
    )


def shared(compared, comparison):
    """Equal ops taken together, both are the same."""
    passes = "builtin.module(canonicalize{region-simplify=disabled},cse,canonicalize{region-simplify=disabled})"
    mine, theirs = (comparison.theirs(bare(outcome.text), passes).text for outcome in (compared.mine, compared.theirs))
    return bool(mine) and ordered(mine) == ordered(theirs)


LEVELS = tuple(f"sdy-{level}-propagate" for level in ("basic", "aggressive", "op-priority", "user-priority"))
PLANS = (
    "sdy-propagation-pipeline",
    "sdy-insert-explicit-reshards",
    "sdy-reshard-to-collectives",
    "sdy-resolve-permutation-factors",
    "sdy-export-pipeline",
    "sdy-convert-global-to-local",
    "canonicalize",
)


def measured(explains):
    """Of two plans with one boundary that come to the same numbers."""

    def check(compared, comparison):
        mine, theirs = comparison.executed(compared)
        if mine is None or theirs is None or not (mine.right or mine.agrees(theirs)):
            return False
        return explains(mine, theirs) and comparison.is_complete(compared)

    return of(PLANS, check)


# Their plan sums a value that is summed already, so that it grows with the size of the axes.
SUMMED_AGAIN = re.compile(r"^ *(%\d+) = sdy\.all_reduce (\{.*?\}) (%\w+) out_sharding=.*\n", re.M)


def summed_once(plan):
    """A plan without sums of what a sum along the same axes is."""
    lines, sums, same = [], {}, {}
    for line in plan.splitlines(keepends=True):
        found = SUMMED_AGAIN.match(line)
        if "func.func" in line:  # names are a function's own
            sums, same = {}, {}
        if found and sums.get(same.get(found[3], found[3])) == found[2]:
            same[found[1]] = same.get(found[3], found[3])
            continue
        if found:
            sums[found[1]] = found[2]
        lines.append(re.sub(r"%\d+(?!\d)", lambda name: same.get(name[0], name[0]), line))
    return "".join(lines)


def lowers_sums_as_written(compared, comparison):
    """jaxlib's plan sums twice, and so does what we make of it; of the plan that sums once ours is right."""
    plan = summed_once(compared.start)
    if plan == compared.start or not compared.mine.text:
        return False
    (mine,) = comparison.mine([plan], compared.pipeline)
    found, _ = comparison.executed(replace(compared, start=plan, mine=mine, theirs=compared.theirs))
    return found is not None and found.right


ALONG = re.compile(
    r"stablehlo\.concatenate .*?dim = (\d+) \{sdy\.sharding = #sdy\.sharding_per_value<\[<@\w+, \[(.*?)\]"
)


def joins_shards(text):
    """A concatenation along a dim that stays sharded."""
    return any('"' in re.findall(r"\{.*?\}", found[2])[int(found[1])] for found in ALONG.finditer(text))


def exchanges_in_ops(compared, comparison):
    if not compared.name.startswith(PLANS) or not ("cmv1" in compared.name or joins_shards(compared.mine.text)):
        return False
    mine, theirs = comparison.executed(compared)
    return None not in (mine, theirs) and mine.right and mine.cost.seconds <= theirs.cost.seconds


def is_on_two_meshes(compared, comparison):
    """No lowering of one of the plans, which is on two meshes; the other is right, and ours is the program."""
    if not compared.name.startswith(PLANS) or compared.name.startswith("sdy-convert"):
        return False
    found = comparison.executed(compared)
    refusals = [comparison.refusal(compared, outcome) for outcome in (compared.mine, compared.theirs)]
    if not any("two meshes" in refusal for refusal in refusals) or any(plan and not plan.right for plan in found):
        return False
    return comparison.same_whole(compared.start, compared.mine.text)


# A plan that is dearer still has no reason.
DEAREST = 2


def is_quicker(mine, theirs):
    return mine.cost.seconds < theirs.cost.seconds


REASONS = {
    "theirs refuses": Reason(
        "better",
        "jaxlib's pass ends in an error, or ends the process. Ours leaves the same whole program, or right numbers.",
        refused,
    ),
    "equal ops shared": Reason(
        "better", "What is needed several times is resharded once; theirs repeats it.", of(PLANS, shared)
    ),
    "dead code": Reason(
        "differs", "What nothing uses is left to DCE by one side, and goes with the pass on the other.", keeps_dead
    ),
    "axes of size 1": Reason(
        "differs",
        "Manual axes of size 1 that shard nothing are not listed as replicated.",
        without(rf', replicated=\{{"(?:{ONES})"(?:, "(?:{ONES})")*\}}'),
    ),
    "updates needed whole": Reason(
        "differs",
        "The rule of dynamic_update_slice says that a dim of the update that is shorter than the operand's is needed "
        "whole; theirs is silent on it.",
        writes_whole_updates,
    ),
    "concatenations, conservatively": Reason(
        "differs",
        "Of a concatenation's dim the rule says that it is needed whole, and blocks it; theirs gives each tensor a "
        "factor of size 1. Nothing goes along either.",
        of("sdy-populate-op-sharding-rules", differs_in_concatenations),
    ),
    "records of results": Reason(
        "better",
        "A step of propagation is noted at the result that it is of; theirs notes all at the first, and of an axis "
        "the first step only.",
        notes_at_the_first,
    ),
    "origins at the return": Reason(
        "differs",
        "Where a returned value's axes came from is noted when propagation takes them there, not before.",
        of("sdy-apply-sharding-constraints{debug-sharding-origins", without(ORIGINS)),
    ),
    "origins": Reason(
        "better",
        "Every axis of a dim, and no other, has an origin, and the program gives the axis there. Theirs has origins "
        "of other axes, none for members of groups, or a body's for what the user gave.",
        origins_are_borne_out,
    ),
    "done in one run": Reason(
        "better",
        "An edge of a body is looked at again when what flows into it changes; theirs needs another run for that.",
        of(LEVELS, goes_on),
    ),
    "edges of bodies": Reason(
        "differs",
        "The same, and another run comes too late, since another axis took the place. With the bodies of the program "
        "between barriers in place of edges both do what ours does.",
        of(LEVELS, differs_in_bodies),
    ),
    "rules of constraints": Reason(
        "differs",
        "A constraint keeps the rule that it has, which says nothing; theirs adds and drops such rules.",
        keeps_rules_of_constraints,
    ),
    "padding": Reason(
        "better",
        "Types stay global; sdy-convert-global-to-local does the padding. Theirs leaves casts that nothing lowers.",
        of("sdy-pad-for-divisibility", casts_are_left),
    ),
    "right numbers": Reason(
        "better",
        "Executed, ours is right and theirs is wrong.",
        measured(lambda mine, theirs: mine.right and not theirs.right),
    ),
    "fewer bytes": Reason(
        "better",
        "Executed, both have the same numbers, and ours sends fewer bytes.",
        measured(lambda mine, theirs: mine.cost.bytes < theirs.cost.bytes),
    ),
    "fewer collectives": Reason(
        "better",
        "As many bytes, by fewer collectives.",
        measured(
            lambda mine, theirs: (
                mine.cost.bytes == theirs.cost.bytes and mine.cost.collectives < theirs.cost.collectives
            )
        ),
    ),
    "less time": Reason(
        "differs",
        "More bytes, and less time by the figures of a CPU: 4 GB/s and 2 us a step between devices, 10 GB/s to "
        "memory, 50 GFLOP/s.",
        measured(is_quicker),
    ),
    "as dear": Reason(
        "differs",
        "Another plan, with the same numbers, in the same time by these figures, within half a percent.",
        measured(lambda mine, theirs: mine.cost.seconds <= 1.005 * theirs.cost.seconds),
    ),
    "exchange in an op": Reason(
        "differs",
        "The exchange is in an op's lowering, and not in the plan: of a concatenation along a sharded dim, or of a "
        "product whose gather "
        "remove-all-gather-reduce-scatter-for-cmv1 takes out. Executed, ours has the same numbers in no more time.",
        exchanges_in_ops,
    ),
    "sums as written": Reason(
        "better",
        "The plan that jaxlib's passes wrote sums a value twice, which its own pass then refuses; ours lowers it as "
        "it is written, and of the plan with one sum ours is right.",
        of("sdy-convert-global-to-local", lowers_sums_as_written),
    ),
    "two meshes": Reason(
        "differs",
        "One of the plans stays on two meshes, for which there is no lowering: ours where an op stays on the mesh of "
        "an operand, theirs for a reverse. The other plan has right numbers, and ours is the same program.",
        is_on_two_meshes,
    ),
    "dearer": Reason(
        "differs",
        f"Executed, ours has the same numbers; by these figures it takes more time than theirs, up to {DEAREST} times.",
        measured(lambda mine, theirs: mine.cost.seconds <= DEAREST * theirs.cost.seconds),
    ),
}
# What differs only in what is noted of a propagation.
NOTES = ("records of results", "origins at the return", "origins", "done in one run", "edges of bodies")
