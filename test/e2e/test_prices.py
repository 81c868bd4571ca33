"""What the plan costs is what the program costs: the collectives that were planned, and those of the device's own program."""

import corpus
import pytest
import shardonnay

QUICK = {"resnet-fsdp", "attention-2-D", "attention-uneven-fsdp", "lstm-2-D", "graph-data", "experts-2-D", "mixer-fsdp", "stencil-2-D", "greedy-decoding-2-D",
         "wavenet-sequence"}


def pairs():
    for name, strategy in corpus.PAIRS:
        pair = f"{name}-{strategy}"
        yield pytest.param(name, strategy, id=pair, marks=() if pair in QUICK else pytest.mark.long)


@pytest.mark.parametrize("mode", ["greedy", "graph"])
@pytest.mark.parametrize("model", ["bytes", "gpu-cluster"])
@pytest.mark.parametrize("name, strategy", pairs())
def test_plan_and_program_have_one_price(name, strategy, model, mode):
    text, _ = corpus.lower(name, strategy)
    report = shardonnay.compile(text, device_model=model, search_mode=mode, no_bucketing=True).report
    price = report["price"]
    # What partitioning adds are the windows of ops whose rule does not say what a cut fetches.
    assert price["emitted"] - price["halos"] == pytest.approx(price["planned"], rel=1e-9)
    plan = report["plan"]
    assert plan["bound"] <= plan["cost"] * (1 + 1e-9) and plan["cost"] <= plan["greedy"] * (1 + 1e-9)


@pytest.mark.parametrize("name, strategy", pairs())
def test_buckets_send_no_more(name, strategy):
    """The bytes of the collectives that were packed together, for a lower price."""
    text, _ = corpus.lower(name, strategy)
    apart, together = (shardonnay.compile(text, no_bucketing=no_bucketing).report for no_bucketing in (True, False))
    counts = [sum(entry["count"] for entry in report["collectives"]) for report in (apart, together)]
    assert together["executed_bytes"] <= apart["executed_bytes"]
    assert together["price"]["halos"] <= apart["price"]["halos"]
    assert (together["price"]["emitted"] < apart["price"]["emitted"]) == (counts[1] < counts[0])
