"""The fixed part of the generated cases; `--long` (scripts/check --long) runs more seeds, campaign.py as many as
wanted.
"""

import re
import subprocess
import sys
from pathlib import Path

import campaign
import families
import pytest
import runner
from jaxlib.mlir.dialects import chlo, stablehlo

HERE = Path(__file__).parent


def run_campaign(tmp_path, *arguments):
    """What the campaign printed; it fails with that and, after a crash of the process, with what was running."""
    done = subprocess.run(
        [sys.executable, HERE / "campaign.py", "--out", tmp_path, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    print(done.stdout)
    assert done.returncode >= 0, f"died: campaign.py --replay {tmp_path}/inflight.mlir finds what of\n{done.stdout}"
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_fixed_seed(tmp_path):
    assert " cases in " in run_campaign(tmp_path, "--seeds", "0..1", "--each", "1")


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, 11))
def test_more_seeds(tmp_path, seed):
    run_campaign(tmp_path, "--seeds", f"{seed}..{seed + 1}", "--each", "8")


def test_every_op_has_a_family_or_a_reason():
    names = {
        op.OPERATION_NAME
        for dialect in (stablehlo, chlo)
        for op in vars(dialect).values()
        if hasattr(op, "OPERATION_NAME")
    }
    generated = {
        op.split()[0] for family in families.FAMILIES for case, _ in campaign.collect(family, 0, 3) for op in case.ops
    }
    assert names - generated == set(families.NOT_RUN)


def seen_by(case):
    found = []
    runner.run([case], lambda *result: found.append(result))
    return found[0][1]


def first_that(family, fits):
    """(case, choices) of the family."""
    return next(found for found in campaign.collect(family, 0, 200) if fits(found[0]))


def test_it_notices(monkeypatch):
    """Where a mask lets through what it keeps out, what stands behind the end arrives."""
    compile = runner.shardonnay.compile

    def robbed(text, **options):
        compiled = compile(text, **options)
        return runner.shardonnay.Program(compiled.text.replace("compare LT", "compare GE"), compiled.manifest, None, ())

    # not by the mask of a partial sum's owner, as anyone may be that, nor truths, of which one is enough
    def masked(case):
        text = runner.module([case])
        return len(case.ops) == 1 and not re.search("unreduced|i1", text) and "compare LT" in compile(text).text

    case, _ = first_that("stablehlo.reduce add", masked)
    assert seen_by(case) == "ok"
    monkeypatch.setattr(runner.shardonnay, "compile", robbed)
    assert seen_by(case) == "wrong"


def test_a_refusal_is_no_agreement(monkeypatch):
    case, _ = first_that("stablehlo.add", lambda case: True)

    def refuse(text, **_):
        raise runner.shardonnay.CompileError([])

    monkeypatch.setattr(runner.shardonnay, "compile", refuse)
    assert seen_by(case) == "refused"


# XLA drops the product of a slice of whole numbers where one element of it is read (README.md, "Faults of XLA").
SIMPLIFIED = """// options: {"arguments": "whole", "memory": 0}
// arguments: [[["small"], 4]]
// results: [[true, 1]]
sdy.mesh @mesh = <["x"=3]>
func.func @main(%c0_0: tensor<4xi32>) -> (tensor<3xi32>) {
%c0_1 = sdy.sharding_constraint %c0_0 <@mesh, [{"x"}]> : tensor<4xi32>
%c0_2 = stablehlo.constant dense<3> : tensor<4xi32>
%c0_3 = stablehlo.multiply %c0_1, %c0_2 : tensor<4xi32>
%c0_4 = stablehlo.slice %c0_3 [0:3] : (tensor<4xi32>) -> tensor<3xi32>
return %c0_4 : tensor<3xi32>
}
"""


def test_a_fault_of_xla_is_no_wrong_number():
    case, text = runner.read(SIMPLIFIED)
    with pytest.raises(runner.Refused, match="where XLA does not simplify it") as found:
        runner.verdicts([case], text)
    assert found.value.kind == "engine"


def test_shrinks_and_replays(tmp_path):
    """A fault of every reverse of something sharded shrinks to one op on few elements; what is written runs again."""
    case, choices = first_that("stablehlo.reverse", lambda case: len(case.ops) > 1)

    def judge(cases):
        return ["made up" if "stablehlo.reverse" in cases[0].ops else ""]

    small, _ = campaign.shrink(case, choices, "wrong", "made up", judge)
    assert small.ops == ["stablehlo.reverse"] and len(small.arguments) == 1
    path = tmp_path / "small.mlir"
    path.write_text(runner.written(small, "made up"))
    assert campaign.replay([path], runner.verdicts)
    again, text = runner.read(path.read_text())
    assert [argument.value.type for argument in again.arguments] == [
        argument.value.type for argument in small.arguments
    ]
    assert "stablehlo.reverse" in text
