"""Loss curves of training under `partition` agree with those under `jax.jit`."""

import sys
from pathlib import Path

import jax
import numpy as np
import pytest
import training
from outcomes import on
from shardonnay.jax import partition, propagate

SLOW = [training.linen_scanned]  # half a minute of XLA's: with --long only
NAME = lambda model: model.__name__  # noqa: E731


def curve(transform, model, steps):
    """The losses of `steps` steps; the state goes from one to the next, donated."""
    step = transform(
        model.step, in_shardings=model.shardings, out_shardings=(model.shardings[0], on()), donate_argnums=0
    )
    state = jax.tree.map(lambda leaf: leaf.copy(), model.state)
    losses = []
    for _ in range(steps):
        state, loss = step(state, *model.batch)
        losses.append(float(loss))
    return losses


def check(model, steps, transform=partition):
    expected = curve(jax.jit, model, steps)
    assert expected[-1] < expected[0], "it trains"
    np.testing.assert_allclose(curve(transform, model, steps), expected, rtol=2e-3)


@pytest.mark.parametrize("model", [model for model in training.MODELS if model not in SLOW], ids=NAME)
def test_losses(model):
    check(model(), 6)


def test_losses_after_propagation():
    check(training.nnx_blocks(), 6, propagate)


@pytest.mark.long
@pytest.mark.parametrize("transform", [partition, propagate])
@pytest.mark.parametrize("model", training.MODELS, ids=NAME)
def test_fifty_steps(model, transform):
    check(model(), 50, transform)


def _corpus():
    """(name, Training) of every training step of test/e2e/steps, under FSDP."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "test/e2e"))
    import corpus

    for name, model in corpus.MODELS.items():
        arguments = model.arguments()
        if not (isinstance(arguments[0], dict) and set(arguments[0]) == {"params", "state", "rest"}):
            continue
        shardings = tuple(training.fully_sharded(tree) for tree in arguments)
        yield (
            name,
            training.Training(model.function, jax.device_put(arguments[0], shardings[0]), arguments[1:], shardings),
        )


@pytest.mark.long
def test_the_corpus():
    failed, models = {}, list(_corpus())
    assert len(models) >= 20
    for name, model in models:
        try:
            check(model, 20)
        except AssertionError as error:
            failed[name] = str(error)[:300]
    assert not failed
