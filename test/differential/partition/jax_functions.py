"""Every public function of JAX's namespaces as small programs: `calls.txt` says how each is called."""

import importlib
import inspect
import re
import types
from dataclasses import dataclass
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

SPACES = {"jax": jax, "jnp": jnp, "lax": lax, "np": np}


def _values():
    """What the letters of a call stand for: sizes that few axes divide."""
    random = np.random.default_rng(0)

    def normal(*shape):
        return random.normal(size=shape).astype(np.float32)

    def share(*shape):
        return random.uniform(0.1, 0.9, shape).astype(np.float32)

    square = normal(3, 5, 5)
    definite = square @ square.swapaxes(1, 2) + np.eye(5, dtype=np.float32)
    return {
        "A": share(6, 10),
        "B": share(6, 10),
        "C": (normal(6, 10) + 1j * normal(6, 10)).astype(np.complex64),
        "D": normal(3, 7, 10),
        "E": normal(10, 5),
        "F": np.float32(0.5),
        "I": random.integers(0, 6, (6, 10)).astype(np.int32),
        "J": random.integers(1, 6, (6, 10)).astype(np.int32),
        "K": np.array([3, 7], np.uint32),
        "L": np.sort(random.integers(0, 6, 10)).astype(np.int32),
        "M": random.random((6, 10)) < 0.5,
        "N": np.int32(3),
        "P": definite,
        "Q": definite[0],
        "R": normal(5, 7),
        "S": square,
        "T": square[0],
        "U": random.integers(0, 256, (6, 10)).astype(np.uint8),
        "V": share(10),
        "W": share(10),
        "X": normal(2, 7, 9, 3),
        "Y": normal(3, 2, 3, 5),
        "Z": normal(3, 5, 7),
        "a": normal(5),
        "v": np.sort(normal(7)),
    }


VALUES = _values()


@dataclass(frozen=True)
class Call:
    name: str
    function: object  # of the arguments; any tree of arrays
    arguments: list


def _names(code):
    inner = [name for each in code.co_consts if isinstance(each, types.CodeType) for name in _names(each)]
    return [*code.co_names, *inner]


def _call(space, name, text):
    code = compile(text, f"{space}.{name}", "eval")
    letters = sorted(set(_names(code)) & set(VALUES))
    known = SPACES | {"f": getattr(importlib.import_module(space), name)}

    def run(*values):
        return eval(code, known | dict(zip(letters, values, strict=True)))

    return Call(f"{space}.{name}: {text}", run, [VALUES[letter] for letter in letters])


def table():
    """{namespace: {name: [how it is called]}}"""
    found = {}
    for line in (Path(__file__).parent / "calls.txt").read_text().splitlines():
        names, colon, texts = line.partition(": ")
        if line.startswith("#"):
            continue
        if not colon:
            space = found.setdefault(line, {})
            continue
        for name in names.split():
            space.setdefault(name, []).extend(texts.split("; "))
    return found


def calls(only="."):
    return [_call(space, name, text) for space, names in table().items()
            for name, texts in names.items() for text in texts
            if text != "-" and re.search(only, f"{space}.{name}")]


def gradient(call):
    """Of a sum of its results, by its floats; None where there is none."""
    at = [i for i, value in enumerate(call.arguments) if value.dtype == np.float32]

    def run(*values):
        def loss(*chosen):
            given = list(values)
            for i, value in zip(at, chosen, strict=True):
                given[i] = value
            results = [x for x in jax.tree.leaves(call.function(*given)) if jnp.issubdtype(x.dtype, jnp.inexact)]
            return sum(jnp.sum(jnp.sin(jnp.real(result))) for result in results)

        return jax.grad(loss, range(len(at)))(*[values[i] for i in at])

    try:
        jax.eval_shape(run, *call.arguments)
    except Exception:  # JAX's own reasons: no rule, no float among the results
        return None
    return Call(f"gradient of {call.name}", run, call.arguments)


def public(space):
    module = importlib.import_module(space)
    found = {name: getattr(module, name) for name in dir(module) if not name.startswith("_")}
    return {name for name, value in found.items() if callable(value) and not inspect.isclass(value)}
