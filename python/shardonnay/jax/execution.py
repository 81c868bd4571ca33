"""A compiled program as a function of global arrays, in JAX's public terms.

The program of one device is called under `jax.shard_map` over all axes of the mesh, so everything in it is manual and XLA
has nothing to partition; JAX places the arguments and collects the results.
"""

import jax
import jax.numpy as jnp

from .. import boundary
from . import artefacts


def is_key(dtype):
    """True for the dtype of typed PRNG keys (`jax.random.key`)."""
    return jnp.issubdtype(dtype, jax.dtypes.prng_key)


def physical(value):
    """A typed key as the array that its program has; any other value as it is."""
    return jax.random.key_data(value) if is_key(value.dtype) else value


def logical(value, like):
    """What `physical` came from, `like` being its type."""
    if not is_key(like.dtype):
        return value
    found = []
    jax.eval_shape(lambda key: found.append(jax.random.key_impl(key)), like)  # it takes values, not types
    return jax.random.wrap_key_data(value, impl=found[0])


def physical_type(kind):
    """The ShapeDtypeStruct of `physical` for a value of type `kind`."""
    if not is_key(kind.dtype):
        return jax.ShapeDtypeStruct(kind.shape, kind.dtype, weak_type=kind.weak_type)
    found = jax.eval_shape(jax.random.key_data, kind)
    return jax.ShapeDtypeStruct(found.shape, found.dtype)


class Program:
    """A program with its placements; `call` takes and gives flat lists of global arrays or tracers."""

    def __init__(self, name, artefact, manifest, placements, results, platform):
        """`results`: the types of the results, typed keys among them, weak types as traced."""
        self.placements, self._results = placements, results
        entries = manifest["inputs"]
        inputs = [jax.ShapeDtypeStruct(tuple(entry["local_shape"]), boundary.dtype_of(entry["dtype"])) for entry in entries]
        outputs = [
            jax.ShapeDtypeStruct(tuple(entry["local_shape"]), kind.dtype, weak_type=kind.weak_type)
            for entry, kind in zip(manifest["outputs"], map(physical_type, results), strict=True)
        ]
        self._exported = artefacts.exported(name, artefact, inputs, outputs, platform)

    def call(self, arguments):
        """Runs on, or traces with, the flat arguments."""
        arguments = [physical(argument) for argument in arguments]
        if self.placements.mesh is None:
            results = self._exported.call(*arguments)
        else:
            results = jax.shard_map(
                lambda *pieces: tuple(self._exported.call(*pieces)),
                mesh=self.placements.mesh,
                in_specs=self.placements.in_specs,
                out_specs=self.placements.out_specs,
                check_vma=False,
            )(*arguments)
        return [logical(result, kind) for result, kind in zip(results, self._results, strict=True)]


def call_with_tree(program, out_tree, *args, **kwargs):
    """`program.call` on trees."""
    return jax.tree.unflatten(out_tree, program.call(jax.tree.leaves((args, kwargs))))
