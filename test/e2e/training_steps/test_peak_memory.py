"""The peak that the report names is what XLA allocates for a device, to a fifth: chains of element-wise ops fused,
results in their places.
"""

import corpus
import pytest
import shardonnay
from shardonnay import engine

# Ours by XLA's. Parameters that are gathered where they are used (fsdp): XLA schedules the gathers earlier than the
# program has them.
STEPS = {
    ("attention", "2-D"): (0.8, 1.2),
    ("attention", "data"): (0.8, 1.2),
    ("attention", "fsdp"): (0.65, 1.2),
    ("decoder", "2-D"): (0.8, 1.2),
    ("equinox-block", "2-D"): (0.8, 1.2),
    ("equinox-block", "data"): (0.8, 1.2),
    ("equinox-block", "fsdp"): (0.75, 1.2),
    ("mixer", "2-D"): (0.8, 1.2),
    ("mixer", "data"): (0.8, 1.2),
    ("mixer", "fsdp"): (0.8, 1.2),
    ("vit", "2-D"): (0.8, 1.2),
    ("vit", "data"): (0.8, 1.2),
}


@pytest.mark.parametrize("name, strategy", STEPS)
def test_peak_is_what_xla_allocates(name, strategy, row):
    compiled = shardonnay.compile(corpus.lower(name, strategy)[0])
    found = engine.Executable(compiled.text, 8).memory()
    allocated = found["arguments"] + found["outputs"] + found["temporaries"] - found["aliased"]
    peak = compiled.report["peak_bytes"]["per_device"]
    row(f"{name}-{strategy}: {peak:,} bytes said, {allocated:,} allocated by XLA")
    least, most = STEPS[name, strategy]
    assert least <= peak / allocated <= most
