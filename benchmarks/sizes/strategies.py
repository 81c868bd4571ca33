"""How people shard a step's parameters and batch on a mesh data=2, model=4; the compiler decides the rest."""

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

ALL = ("data", "model")


def _first_dim(shape, axes, size):
    """The first dim that `size` divides over `axes`."""
    dim = next((dim for dim, length in enumerate(shape) if length and length % size == 0), None)
    return P() if dim is None else P(*([None] * dim), axes)


def _whole(weight):
    return P()


def _fully(weight):
    return _first_dim(weight.shape, ALL, 8)


def _split(weight):
    return P() if weight.split is None else P(*([None] * weight.split), "model")


def _split_and_data(weight):
    """The dim of tensor parallelism over `model`, and of the others the first long one over `data`."""
    if weight.split is None:
        return _first_dim(weight.shape, "data", 2)
    axes = [None] * len(weight.shape)
    axes[weight.split] = "model"
    others = (dim for dim, length in enumerate(weight.shape) if length % 2 == 0 and length >= 64)
    dim = next((dim for dim in others if dim != weight.split), None)
    if dim is not None:
        axes[dim] = "data"
    return P(*axes)


# Name -> (how a weight is sharded, the axes of the batch).
STRATEGIES = {
    "data": (_whole, ALL),
    "fsdp": (_fully, ALL),
    "2d": (_split_and_data, "data"),
    "tp": (_split, "data"),
}


def lower(step, strategy):
    """The step as jax.jit lowers it; new parameters are sharded as the old."""
    parameter_spec, batch_axes = STRATEGIES[strategy]
    mesh = Mesh(np.array(jax.devices("cpu")[:8]).reshape(2, 4), ("data", "model"))
    parameters = jax.tree.map(lambda weight: NamedSharding(mesh, parameter_spec(weight)), step.weights)
    batch = tuple(NamedSharding(mesh, P() if array.shape[0] % 8 else P(batch_axes)) for array in step.batch)
    arguments = (step.parameters, *step.batch)
    results = jax.eval_shape(step.function, *arguments)

    def are_parameters(tree):
        return jax.tree.structure(tree) == jax.tree.structure(step.parameters)

    kept = {}
    if are_parameters(results):
        kept["out_shardings"] = parameters
    elif isinstance(results, tuple) and are_parameters(results[0]):
        kept["out_shardings"] = (parameters, None)
    return jax.jit(step.function, in_shardings=(parameters, *batch), **kept).lower(*arguments)
