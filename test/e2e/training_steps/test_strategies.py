"""Programs partitioned by us compute on eight devices what they compute whole; and the check would notice if not."""

import functools
import re
from collections import Counter

import models
import pytest
import shardonnay
from shardonnay import compare, run

PAIRS = [(program, strategy) for program in models.PROGRAMS for strategy in models.STRATEGIES]


@functools.cache
def reference(program):
    """The whole program's numbers: the same for every strategy."""
    return compare.reference(*models.lower(program, "data"))


def check(program, compiled, inputs):
    return run.check(run.LoadedProgram(compiled), inputs, reference(program))


@pytest.mark.parametrize("program, strategy", PAIRS, ids=["-".join(pair) for pair in PAIRS])
def test_pair_agrees(program, strategy, row):
    text, inputs = models.lower(program, strategy)
    compiled = shardonnay.compile(text)
    assert compiled.manifest["devices"] == 8
    agreements = check(program, compiled, inputs)
    row(f"{program:12} {strategy:7} {summary(compiled.report)}, largest error {max(a.error for a in agreements):.2g}")
    wrong = [str(agreement) for agreement in agreements if not agreement.ok]
    assert not wrong, "\n".join(wrong)


def summary(report):
    counts = Counter()
    for entry in report["collectives"]:
        counts[entry["kind"]] += entry["count"]
    flops = report["contraction_flops"]
    ratio = flops["per_device"] * report["devices"] / flops["global"]
    collectives = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
    return f"{collectives or 'no collectives'}; {report['collective_bytes']:,} bytes, matmul FLOPs ratio {ratio:.2f}"


GROUPS = re.compile(r"replica_groups = dense<\[\[[^>]*> : tensor<\d+x\d+xi64>")
ALONE = "replica_groups = dense<[[0], [1], [2], [3], [4], [5], [6], [7]]> : tensor<8x1xi64>"


@pytest.mark.parametrize("program", ["mlp", pytest.param("transformer", marks=pytest.mark.long)])
def test_a_collective_without_communication_is_caught(program):
    text, inputs = models.lower(program, "2-D")
    compiled = shardonnay.compile(text)
    reductions = [match for match in GROUPS.finditer(compiled.text) if "all_reduce" in line_of(compiled.text, match)]
    assert reductions
    unseen = []
    for match in reductions:
        robbed = compiled.text[: match.start()] + ALONE + compiled.text[match.end() :]
        agreements = check(program, shardonnay.Program(robbed, compiled.manifest, None, ()), inputs)
        if all(agreement.ok for agreement in agreements):
            unseen.append(line_of(compiled.text, match))
    # The gradient of an attention's key bias is mathematically zero: nothing but noise to get wrong.
    assert len(unseen) <= (1 if program == "transformer" else 0), "\n".join(unseen)


def line_of(text, match):
    start = text.rfind("\n", 0, match.start()) + 1
    return text[start : text.find("\n", match.end())]
