"""The steps of corpus.py compute on eight devices what they compute whole; a few in every run, all with --long."""

import corpus
import pytest
import shardonnay
from shardonnay import compare, run

QUICK = {"resnet-fsdp", "wavenet-2-D", "attention-uneven-2-D", "lstm-2-D", "scanned-blocks-fsdp", "experts-2-D", "graph-fsdp",
         "ragged-experts-data", "greedy-decoding-2-D", "gaussian-process-data", "quantiles-2-D", "stencil-fsdp", "fourier-2-D"}  # fmt: skip


def pairs():
    for name, strategy in corpus.PAIRS:
        pair = f"{name}-{strategy}"
        yield pytest.param(name, strategy, id=pair, marks=() if pair in QUICK else pytest.mark.long)


@pytest.mark.parametrize("name, strategy", pairs())
def test_step_agrees(name, strategy, row):
    text, inputs = corpus.lower(name, strategy)
    compiled = shardonnay.compile(text)
    agreements = run.check(run.Program(compiled), inputs, compare.reference(text, inputs))
    flops = compiled.report["contraction_flops"]
    ratio = flops["per_device"] * compiled.report["devices"] / flops["global"] if flops["global"] else 1
    row(f"{name}-{strategy}: {compiled.report['collective_bytes']:,} bytes, matmul FLOPs ratio {ratio:.2f}")
    wrong = [str(agreement) for agreement in agreements if not agreement.ok]
    assert not wrong, "\n".join(wrong)
