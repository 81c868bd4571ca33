"""The steps of corpus.py compute on eight devices what they compute whole; a few in every run, all with --long.

No device computes more than its share but where forced.py derives that from the given shardings.
"""

import corpus
import forced
import pytest
import shardonnay
from shardonnay import compare, run

QUICK = {"resnet-fsdp", "wavenet-sequence", "attention-uneven-2-D", "lstm-2-D", "scanned-blocks-fsdp", "experts-expert",
         "graph-fsdp", "ragged-experts-data", "greedy-decoding-2-D", "gaussian-process-data", "quantiles-2-D",
         "stencil-spatial", "fourier-2-D", "equinox-block-megatron", "haiku-recurrent-fsdp", "sliding-window-context",
         "generation-megatron", "decoder-zero-2", "markov-model-fsdp", "linear-attention-fsdp", "monte-carlo-fsdp",
         "expert-choice-fsdp"}  # fmt: skip


@pytest.mark.parametrize("name, strategy", corpus.parameters(QUICK))
def test_step_agrees(name, strategy, row):
    text, inputs = corpus.lower(name, strategy)
    compiled = shardonnay.compile(text)
    agreements = run.check(run.LoadedProgram(compiled), inputs, compare.reference(text, inputs))
    flops = compiled.report["contraction_flops"]
    ratio = flops["per_device"] * compiled.report["devices"] / flops["global"] if flops["global"] else 1
    derived = forced.ratio(f"{name}-{strategy}", flops["global"])
    row(f"{name}-{strategy}: {compiled.report['collective_bytes']:,} bytes, FLOPs ratio {ratio:.3f}, derived "
        f"{derived:.3f}")
    wrong = [str(agreement) for agreement in agreements if not agreement.ok]
    assert not wrong, "\n".join(wrong)
    assert ratio == pytest.approx(derived, rel=0.02)
    # What an order of propagation was chosen for is what came of it.
    price = compiled.report["price"]
    if order := compiled.report.get("order"):
        assert price["emitted"] + price["compute"] == pytest.approx(order["price"])
        assert order["price"] < order["price_as_given"]


# Without another order of propagation, the searches for strategies bring the chains to 5,760 bytes; one comes to 2,240.
@pytest.mark.parametrize("pair, most", [("markov-model-fsdp", 0.1), ("monte-carlo-fsdp", 0.4)])
def test_the_batch_comes_before_weights_where_that_sends_less(pair, most):
    text, _ = corpus.lower(*pair.rsplit("-", 1))
    report = shardonnay.compile(text, device_model="bytes").report
    assert report["order"]["price"] < most * report["order"]["price_as_given"]


def test_the_corpus_is_as_wide_as_it_says():
    assert len(corpus.MODELS) >= 40
    pairs = {f"{name}-{strategy}" for name, strategy in corpus.PAIRS}
    assert forced.FORCED.keys() <= pairs
    with_excess = {name for name, strategy in corpus.PAIRS if f"{name}-{strategy}" in forced.FORCED}
    assert len(corpus.MODELS) - len(with_excess) >= 30
