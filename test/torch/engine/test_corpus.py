"""The steps of test/e2e/corpus.py on eight gloo ranks compute what they compute whole by PJRT; a few in every run, all
with --long.
"""

import corpus
import pytest
import shardonnay
from cluster import OnRanks
from shardonnay import compare, run

QUICK = {"resnet-fsdp", "lstm-2-D", "scanned-blocks-fsdp", "experts-expert", "graph-fsdp", "greedy-decoding-2-D",
         "gaussian-process-data", "quantiles-2-D", "stencil-spatial", "fourier-2-D", "equinox-block-megatron",
         "attention-uneven-2-D"}  # fmt: skip


@pytest.mark.parametrize("name, strategy", corpus.parameters(QUICK))
def test_step_agrees(name, strategy, ranks, tmp_path):
    text, inputs = corpus.lower(name, strategy)
    loaded = OnRanks(shardonnay.compile(text), ranks, tmp_path)
    agreements = run.check(loaded, inputs, compare.reference(text, inputs))
    wrong = [str(agreement) for agreement in agreements if not agreement.ok]
    assert not wrong, "\n".join(wrong)
    # The ranks run it without JAX and without the compiler.
    assert all(answer["foreign"] == [] for answer in loaded.answers)
