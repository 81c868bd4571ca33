"""Whether a partitioned program computes what the whole program computes.

The reference is the unpartitioned program on one device. A difference is an error when it exceeds

    rtol * max|reference| + 10 * noise,

where the noise of an output is how far it moves when the inputs are perturbed by a relative rounding error: a result
that is all cancellation (Adam's update of a gradient that is mathematically zero) is no ground to blame a partitioner.
Integers, and every output of a program that rounds nothing, have to agree bit by bit, except where the noise alone
flips an integer. Integers of 8 bits or fewer that the noise moves a little are quantized numbers: all of them may move
so far, as the largest of each group is a tie by construction (127.5), which no two orders of summing round alike.
Copies of one shard on several devices have to agree as well; that catches wrong replica groups.
"""

import re
from dataclasses import dataclass

import numpy as np

from . import boundary

# Narrowest float type in the program -> relative perturbation of the inputs, rtol.
_ROUNDING = {
    "f8": (6e-2, 2e-1),
    "bf16": (4e-3, 1e-2),
    "f16": (5e-4, 1e-3),
    "f32": (1e-6, 1e-5),
    "f64": (1e-14, 1e-13),
}


def _rounding(text):
    """(perturbation, rtol) of the narrowest float type that the program computes in."""
    for name, found in _ROUNDING.items():
        if re.search(rf"[x<]{name}\w*>", text):
            return found
    return 0.0, 0.0


def random_inputs(entries, positive=False, seed=0):
    """Deterministic inputs: floats uniform in [-1, 1), or [0, 1) if `positive`; integers in 0..7; booleans either."""
    generator, inputs = np.random.default_rng(seed), []
    for entry in entries:
        dtype, shape = boundary.dtype_of(entry["dtype"]), tuple(entry["global_shape"])
        if boundary.is_inexact(dtype):
            value = generator.uniform(0.0 if positive else -1.0, 1.0, shape)
        else:
            value = generator.integers(0, 2 if dtype.kind == "b" else 8, shape)
        inputs.append(np.asarray(value).astype(dtype))
    return inputs


def _perturbed(inputs, relative, seed):
    generator, moved = np.random.default_rng(seed), []
    for value in inputs:
        if boundary.is_inexact(value.dtype):
            factor = 1.0 + relative * generator.choice([-1.0, 1.0], value.shape)
            wide = np.complex128 if value.dtype.kind == "c" else np.float64
            value = np.asarray(value.astype(wide) * factor).astype(value.dtype)
        moved.append(value)
    return moved


@dataclass
class Reference:
    """What the unpartitioned program yields, and what it may yield: per output the value and the allowed error."""

    outputs: list
    tolerances: list
    unstable: list  # per output: None, or where rounding alone changes an integer
    memory: dict | None


def expected(text, run, inputs, memory=None, exact=False):
    """The Reference of a program that computes as `text` does; `run` takes global values and returns them.

    exact: no operation of the program rounds.
    """
    outputs = run(inputs)
    relative, rtol = _rounding(text)
    moved = [] if exact or not relative else [run(_perturbed(inputs, relative, seed)) for seed in (1, 2)]
    tolerances, unstable = [], []
    for index, output in enumerate(outputs):
        others = [values[index] for values in moved]
        noise = max([boundary.difference(output, other) for other in others], default=0.0)
        if exact or not boundary.is_inexact(output.dtype):
            tolerances.append(_tolerance_of_quantized(output, noise))
            unstable.append(np.any([output != other for other in others], axis=0) if others else None)
        else:
            tolerances.append(rtol * _largest(output) + 10 * noise)
            unstable.append(None)
    return Reference(outputs, tolerances, unstable, memory)


def _tolerance_of_quantized(output, noise):
    """What integers may be off by: nothing, unless they are quantized numbers, which `noise` moves a little."""
    is_quantized = output.dtype.itemsize == 1 and output.dtype.kind != "b" and noise <= 1 + _largest(output) / 8
    return noise if is_quantized else 0.0


def _largest(array):
    wide = np.abs(array.astype(np.complex128 if array.dtype.kind == "c" else np.float64))
    return float(wide[np.isfinite(wide)].max(initial=0.0))


@dataclass
class Agreement:
    """How one output of the partitioned program compares."""

    name: str
    error: float
    spread: float  # the largest difference between copies on several devices
    tolerance: float
    largest: float

    @property
    def ok(self):
        return self.error <= self.tolerance and self.spread <= self.tolerance

    def __str__(self):
        verdict = "ok" if self.ok else "DISAGREES"
        copies = f", copies differ by {self.spread:.3g}" if self.spread else ""
        return (
            f"{self.name}: largest error {self.error:.3g} of {self.largest:.3g} "
            f"(allowed {self.tolerance:.3g}){copies}: {verdict}"
        )


def agreements(entries, outputs, spreads, expected):
    """One Agreement per output, `expected` being a Reference."""
    found = []
    for entry, output, spread, wanted, tolerance, unstable in zip(
        entries, outputs, spreads, expected.outputs, expected.tolerances, expected.unstable, strict=True
    ):
        if output.shape != wanted.shape or output.dtype != wanted.dtype:
            raise boundary.BoundaryError(
                f"{entry['name']}: expected {wanted.dtype.name}{list(wanted.shape)}, "
                f"got {output.dtype.name}{list(output.shape)}"
            )
        if unstable is not None:
            output = np.where(unstable, wanted, output)
        error = boundary.difference(output, wanted)
        found.append(Agreement(entry["name"], error, spread, tolerance, _largest(wanted)))
    return found
