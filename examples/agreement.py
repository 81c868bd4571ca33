"""What every example shows of its step: the collectives, and that it computes what `jax.jit` computes."""

import jax
import numpy as np


def collectives(report):
    """{(kind, axes): (number, bytes that a device sends)} of a report."""
    found = {}
    for entry in report["collectives"]:
        key = entry["kind"], ", ".join(entry["axes"])
        count, sent = found.get(key, (0, 0))
        found[key] = count + entry["count"], sent + entry["bytes"]
    return dict(sorted(found.items()))


def show(step, function, *arguments, steps=3, tolerance=1e-5):
    """Prints what `step`, which is `function` partitioned, communicates, and asserts that `steps` of both agree.

    Both return (state, loss), and state is the first argument.
    """
    report = step.lower(*arguments).compile().report()
    for (kind, axes), (count, sent) in collectives(report).items():
        print(f"{kind:<18} over {axes:<14} {count:>2} of {sent:>7,} B")
    for what in ("argument", "peak"):
        found = report[f"{what}_bytes"]
        print(f"{what + ' bytes':<18} {found['global']:,} -> {found['per_device']:,} on a device")

    plain = jax.jit(function)
    state, *rest = arguments
    expected = found = state
    for _ in range(steps):
        expected, expected_loss = plain(expected, *rest)
        found, loss = step(found, *rest)
        np.testing.assert_allclose(loss, expected_loss, rtol=tolerance)
    for ours, theirs in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=100 * tolerance, atol=tolerance)
    print(f"{steps} steps agree with jax.jit")
