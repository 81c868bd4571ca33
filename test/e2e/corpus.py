"""Model steps as their authors write them, under the strategies that people use: what the partitioner must get through
whole.

    python corpus.py [NAME-STRATEGY...]     compiles, runs and compares; one line each

The steps are in steps/, by kind; this file shards them.
"""

import os
import sys

import jax
import numpy as np
import steps  # noqa: F401 -- registers the steps
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P
from steps.registry import MODELS

# Strategies, on a mesh data=2, model=4. Shardings are given for parameters, state and batch; the compiler decides the
# rest.
ALL = ("data", "model")


def _on(value, dim, axes):
    return P(*(axes if d == dim else None for d in range(value.ndim)))


def _sharded_dim(value, axes, size, first):
    dims = [d for d, length in enumerate(value.shape) if length % size == 0 and length >= size]
    return _on(value, dims[0] if first else dims[-1], axes) if dims else None


def _whole(model, path, value):
    return None


def _fully(model, path, value):
    return _sharded_dim(value, ALL, 8, True)


def _fully_or_data(model, path, value):
    return _fully(model, path, value) or _sharded_dim(value, "data", 2, True)


def _by_data(model, path, value):
    return _sharded_dim(value, "data", 2, True)


def _columns(model, path, value):
    return _sharded_dim(value, "model", 4, False)


def _split(model, path, value):
    """As the model says, the optimizer's moments like the parameter that they belong to."""
    dim = next((dim for part, dim in model.split.items() if path.endswith(part)), None)
    return None if dim is None or value.ndim <= dim or value.shape[dim] % 4 else _on(value, dim, "model")


def _state_only(model, path, value):
    return _fully(model, path, value) if path.startswith("state/") else None


def _two_dims(first, second):
    """Dim 0 over `first`, dim 1 over `second`, each where it divides."""

    def spec(model, path, value):
        sizes = {None: 0, "data": 2, "model": 4, ALL: 8}
        dims = [
            axes if axes and length % sizes[axes] == 0 else None for axes, length in zip((first, second), value.shape)
        ]
        return P(*dims)

    return spec


# Name -> (how parameters and state are sharded, how the batch is).
STRATEGIES = {
    "data": (_whole, _fully_or_data),
    "2-D": (_columns, _by_data),
    "fsdp": (_fully, _fully),
    "zero-2": (_state_only, _fully_or_data),
    "megatron": (_split, _by_data),
    "expert": (_split, _fully_or_data),
    "sequence": (_whole, _two_dims("data", "model")),
    "context": (_whole, _two_dims(None, ALL)),
    "spatial": (_two_dims("data", "model"), _two_dims("data", "model")),
}
EVERY = ("data", "2-D", "fsdp")


def lowered(name, strategy):
    """The step under the strategy as jax.jit lowers it, and its arguments."""
    model, (parameter, batch) = MODELS[name], STRATEGIES[strategy]
    arguments = jax.tree.map(np.asarray, model.arguments())
    mesh = Mesh(np.array(jax.devices("cpu")[:8]).reshape(2, 4), ("data", "model"))

    def shardings(tree, spec):
        def sharding(path, value):
            return NamedSharding(
                mesh, spec(model, jax.tree_util.keystr(path, simple=True, separator="/"), value) or P()
            )

        return jax.tree_util.tree_map_with_path(sharding, tree)

    specs = (shardings(arguments[0], parameter), *(shardings(a, batch) for a in arguments[1:]))
    return jax.jit(model.function, in_shardings=specs, keep_unused=True).lower(*arguments), arguments


def lower(name, strategy):
    """(text, inputs) of the step under the strategy, as JAX prints it."""
    step, arguments = lowered(name, strategy)
    return step.as_text(debug_info=True), [np.asarray(leaf) for leaf in jax.tree.leaves(arguments)]


PAIRS = [(name, strategy) for name, model in MODELS.items() for strategy in (*EVERY, *model.also)]


def parameters(quick):
    """Of a test: (name, strategy) of all pairs; those that are not in `quick` are long."""
    import pytest

    pairs = {f"{name}-{strategy}": (name, strategy) for name, strategy in PAIRS}
    return [
        pytest.param(*pair, id=name, marks=() if name in quick else pytest.mark.long) for name, pair in pairs.items()
    ]


def main(wanted):
    import shardonnay
    from shardonnay import compare, run

    for name, strategy in PAIRS:
        pair = f"{name}-{strategy}"
        if wanted and pair not in wanted and name not in wanted:
            continue
        try:
            text, inputs = lower(name, strategy)
            if folder := os.environ.get("SAVE"):
                with open(f"{folder}/{pair}.mlir", "w") as file:
                    file.write(text)
            compiled = shardonnay.compile(text)
            agreements = run.check(run.LoadedProgram(compiled), inputs, compare.reference(text, inputs))
            wrong = [str(a) for a in agreements if not a.ok]
            flops = compiled.report["contraction_flops"]
            ratio = flops["per_device"] * 8 / flops["global"] if flops["global"] else 1
            print(f"{pair:28} {'WRONG ' + wrong[0] if wrong else 'agrees'}  ratio {ratio:.2f}", flush=True)
        except Exception as error:  # noqa: BLE001 -- the table names whatever happened
            print(f"{pair:28} {type(error).__name__}: {str(error)[:300]}".replace("\n", " "), flush=True)


if __name__ == "__main__":
    from shardonnay import engine

    engine.prepare(8)
    main(sys.argv[1:])
