"""Within a limit of memory, weights are gathered again for the backward pass: less is alive, more is sent, the numbers agree."""

import corpus
import pytest
import shardonnay
from shardonnay import compare, run


@pytest.mark.parametrize("name, share", [("attention", 0.52), ("mixer", 0.57), ("multi-query", 0.52)])
def test_step_agrees(name, share, row):
    text, inputs = corpus.lower(name, "fsdp")
    free = shardonnay.compile(text, device_model="bytes").report
    limit = int(share * free["peak_bytes"]["per_device"])
    compiled = shardonnay.compile(text, device_model="bytes", memory_limit=limit)
    report = compiled.report
    assert report["peak_bytes"]["per_device"] <= limit
    again = [entry for entry in report["collectives"] if entry["cause"].endswith("again, for the limit of memory")]
    assert again and report["collective_bytes"] > free["collective_bytes"]
    row(
        f"{name}-fsdp: {free['peak_bytes']['per_device']:,} to {report['peak_bytes']['per_device']:,} bytes alive,"
        f" {free['collective_bytes']:,} to {report['collective_bytes']:,} sent, {len(again)} gathered again"
    )
    wrong = [str(agreement) for agreement in run.check(run.Program(compiled), inputs, compare.reference(text, inputs)) if not agreement.ok]
    assert not wrong, "\n".join(wrong)


def test_what_needs_more_all_the_same_is_refused():
    text, _ = corpus.lower("mixer", "fsdp")
    with pytest.raises(shardonnay.CompileError, match="sdy-check-memory: .* bytes are alive per device"):
        shardonnay.compile(text, device_model="bytes", memory_limit=50_000)
