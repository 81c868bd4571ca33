"""Why our passes differ from jaxlib's, by name: what docs/reference/compatibility.md says of each."""

import re
import subprocess
from collections import Counter
from dataclasses import dataclass
from typing import Callable

from comparison import SDY_OPT

# A third sweep changes nothing that two have left.
SWEEPS = 3
ONES = "one|c"  # the axes of size 1 of the kind of mesh that has some


@dataclass
class Reason:
    """`explains` is asked of a pair of outcomes that differ; the first reason that does is counted."""

    verdict: str  # better, differs
    why: str
    explains: Callable


def refused_by_theirs(compared, comparison):
    return bool(compared.theirs.refused) and not compared.mine.refused


def ends_process(compared, comparison):
    return compared.theirs.ended and not compared.mine.refused


def without_dead(comparison, outcome):
    """No op is left that nothing uses, nor a private function that nothing calls."""
    return comparison.theirs(outcome.text, "builtin.module(symbol-dce,canonicalize{region-simplify=disabled enable-patterns=none})").text


def keeps_dead(compared, comparison):
    return without_dead(comparison, compared.mine) == without_dead(comparison, compared.theirs)


def goes_on(compared, comparison):
    """Their pass, run again on what it left, comes to what ours leaves after one run."""
    text = compared.theirs.text
    for _ in range(SWEEPS):
        text = comparison.theirs(text, compared.pipeline).text
        if text == compared.mine.text:
            return True
    return False


def stripped(pattern, text):
    """Without what matches, and the braces that it leaves."""
    return re.sub(r" \{(?:, )?\}(?= :| loc|,|\))|(?<=\{), ", "", re.sub(pattern, "", text))


def without(pattern):
    return lambda compared, comparison: stripped(pattern, compared.mine.text) == stripped(pattern, compared.theirs.text)


RECORDS = r"(?:, )?sdy\.(?:\w+_)?propagation_edges = (?:#sdy\.propagation_edges<\[.*?\]>|\[.*?>\])(?=[,}])"


def steps(text):
    """What is noted of the steps of propagation, wherever that stands."""
    return Counter(re.findall(r'"[^"]+" = \S+ -> \[[^]]*\]', "".join(re.findall(RECORDS, text))))


def same_records(compared, comparison):
    mine, theirs = compared.mine.text, compared.theirs.text
    return bool(steps(theirs)) and steps(mine) == steps(theirs) and stripped(RECORDS, mine) == stripped(RECORDS, theirs)


def prices(text, model):
    """(price, steps) of the collectives of a plan, reshards lowered as we do it; None if that is not known."""
    passes = f"sdy-reshard-to-collectives,sdy-price-collectives{{device-model={model}}}"
    command = [SDY_OPT, f"--pass-pipeline=builtin.module(func.func({passes}))", "-o", "/dev/null"]
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    found = re.findall(r"(\d+) collectives, (\d+) bytes", done.stderr)
    return None if done.returncode else (sum(int(size) for _, size in found), sum(int(count) for count, _ in found))


def sends_no_more(compared, comparison):
    """Of two plans ours sends no more bytes, by as many steps at most where it sends as many."""
    mine, theirs = (prices(outcome.text, "bytes") for outcome in (compared.mine, compared.theirs))
    return mine is not None and theirs is not None and mine <= theirs


def differs_in_concatenations(compared, comparison):
    """Only the rules of concatenations are not the same."""
    mine, theirs = compared.mine.text.splitlines(), compared.theirs.text.splitlines()
    return len(mine) == len(theirs) and all("stablehlo.concatenate" in one for one, other in zip(mine, theirs) if one != other)


def casts_are_left(compared, comparison):
    return "builtin.unrealized_conversion_cast" in compared.theirs.text


def resolves_barriers(compared, comparison):
    """Ours is what theirs makes of the program with a reshard, or nothing, in each barrier's place."""
    return "sdy.propagation_barrier" in compared.theirs.text and "sdy.propagation_barrier" not in compared.mine.text


def inlines_bodies(compared, comparison):
    counts = [outcome.text.count("sdy.manual_computation(") for outcome in (compared.mine, compared.theirs)]
    return counts[0] < counts[1] and re.search(rf'manual_axes=\{{"(?:{ONES})"\}}', compared.start) is not None


ORIGINS = r"(?:, )?sdy\.sharding_origins = (?:\[\{.*?\}\]|\{.*?\})"
PLANS = ("sdy-insert-explicit-reshards", "sdy-reshard-to-collectives", "sdy-resolve-permutation-factors", "sdy-export-pipeline")


def of(passes, explains):
    """Only for passes of these names."""
    return lambda compared, comparison: compared.name.startswith(passes) and explains(compared, comparison)


REASONS = {
    "theirs ends the process": Reason("better", "jaxlib's pass ends the process; ours has a result.", ends_process),
    "theirs refuses": Reason("better", "jaxlib's pass, or its verifier behind it, has an error; ours has a result.", refused_by_theirs),
    "done in one run": Reason(
        "better", "An edge of a body is looked at again when what flows into it changes; theirs needs another run for that.", goes_on
    ),
    "dead code": Reason("differs", "What nothing uses is left to DCE by one side, and goes with the pass on the other.", keeps_dead),
    "axes of size 1": Reason(
        "differs",
        "Manual axes of size 1 that shard nothing are not listed as replicated.",
        without(rf', replicated=\{{"(?:{ONES})"(?:, "(?:{ONES})")*\}}'),
    ),
    "concatenations, conservatively": Reason(
        "differs",
        "Of a concatenation's dim the rule says that it is needed whole, and blocks it; theirs gives each tensor a factor of size 1. "
        "Nothing goes along either.",
        of(("sdy-populate-op-sharding-rules", "sdy-"), differs_in_concatenations),
    ),
    "records of results": Reason(
        "better", "A step of propagation is noted at the result that it is of; theirs notes them all at the first.", same_records
    ),
    "origins at the return": Reason(
        "differs",
        "Where a returned value's axes came from is noted when propagation takes them there, not before.",
        of("sdy-apply-sharding-constraints{debug-sharding-origins", without(ORIGINS)),
    ),
    "bodies of one device": Reason(
        "differs", "A manual computation along axes of one device is its body, its shardings of other axes are constraints.", inlines_bodies
    ),
    "padding": Reason(
        "better",
        "Types stay global; sdy-convert-global-to-local settles padding. Theirs leaves casts that nothing lowers.",
        of("sdy-pad-for-divisibility", casts_are_left),
    ),
    "cheaper plan": Reason("better", "The plan sends fewer bytes, or as many in no more steps.", of(PLANS, sends_no_more)),
    "barriers": Reason(
        "better",
        "A propagation barrier has no meaning any more: it is a reshard where its sides differ, and goes. Theirs leaves it.",
        of(PLANS, resolves_barriers),
    ),
}
