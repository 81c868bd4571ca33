"""What jaxlib's own reshard steps wrote of JAX programs, lowered by our sdy-convert-global-to-local, is right on its
devices.
"""

import jax_programs
import lowering
import pytest
from shardonnay import engine

COUNT = 200
FEW = ["mlp 0", "attention_step 1", "layer_norm 1", "embedding_step 0", "loop 0", "indexing 0", "statistics 0"]


def wrong(names, jaxlib):
    """What does not agree; programs that jaxlib itself does not plan say nothing of us."""
    engine.prepare(24)
    programs = jax_programs.programs(COUNT)
    found = {name: lowering.outcome(jaxlib, programs[name]) for name in names or programs}
    unplanned = [name for name, said in found.items() if said.startswith("jaxlib:")]
    assert len(unplanned) * 10 <= len(found), unplanned
    return {name: said for name, said in found.items() if said != "agrees" and name not in unplanned}


def test_some(jaxlib):
    assert not wrong(FEW, jaxlib)


@pytest.mark.long
def test_all(jaxlib):
    assert not wrong(None, jaxlib)


def test_a_plan_that_leaves_a_sum_out_is_found(jaxlib, monkeypatch):
    """The negative control: gradients that are not summed over the devices."""
    lowered = lowering.lowered
    monkeypatch.setattr(
        lowering,
        "lowered",
        lambda plan: lowered(plan).replace("stablehlo.add %arg3, %arg4", "stablehlo.maximum %arg3, %arg4"),
    )
    assert wrong(["mlp 0"], jaxlib)
