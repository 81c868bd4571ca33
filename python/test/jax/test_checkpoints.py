"""Training that is saved by orbax and goes on from what was saved: the same losses, also sharded in another way."""

import jax
import numpy as np
import pytest
import training
from orbax import checkpoint
from outcomes import on

from shardonnay.jax import partition


def trained(transform, model, state, shardings, steps):
    """(state, losses) after some steps from `state`, which is sharded by `shardings`."""
    step = transform(model.step, in_shardings=(shardings, *model.shardings[1:]), out_shardings=(shardings, on()))
    losses = []
    for _ in range(steps):
        state, loss = step(state, *model.batch)
        losses.append(float(loss))
    return state, losses


@pytest.mark.parametrize("sharded", ["as before", "in another way"])
def test_a_checkpoint_between(tmp_path, sharded):
    model = training.nnx_blocks()
    before = jax.tree.broadcast(model.shardings[0], model.state)
    _, expected = trained(jax.jit, model, model.state, before, 6)
    state, first = trained(partition, model, model.state, before, 3)
    after = before if sharded == "as before" else training.fully_sharded(state)
    types = jax.tree.map(lambda x, s: jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=s), state, after)
    with checkpoint.StandardCheckpointer() as checkpointer:
        checkpointer.save(tmp_path / "step", state)
        checkpointer.wait_until_finished()
        restored = checkpointer.restore(tmp_path / "step", types)
    for leaf, kind in zip(jax.tree.leaves(restored), jax.tree.leaves(types), strict=True):
        assert leaf.sharding.is_equivalent_to(kind.sharding, leaf.ndim)
    _, last = trained(partition, model, restored, after, 3)
    np.testing.assert_allclose(first + last, expected, rtol=2e-3)
    assert last[-1] < first[0]
