"""What came of a call: values with their types and places, or the error; comparable between `jax.jit` and ours."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.custom_partitioning import custom_partitioning
from jax.sharding import Mesh, NamedSharding, PartitionSpec

P = PartitionSpec
MESH = Mesh(np.array(jax.devices()[:8]).reshape(4, 2), ("data", "model"))


def registry():
    """A list of functions, and the decorator that adds one."""
    cases = []

    def case(function):
        cases.append(function)
        return function

    return cases, case


def on(*spec, mesh=MESH):
    """The NamedSharding of a spec."""
    return NamedSharding(mesh, P(*spec))


def put(array, *spec, mesh=MESH):
    """An array placed by a spec."""
    return jax.device_put(array, on(*spec, mesh=mesh))


def ramp(*shape, dtype=np.float32):
    """Different small numbers."""
    return (np.arange(np.prod(shape)).reshape(shape) % 23).astype(dtype)


@custom_partitioning
def doubled(x):
    return x * 2


doubled.def_partition(
    partition=lambda mesh, args, result: (mesh, lambda x: x * 2, result.sharding, (args[0].sharding,)),
    infer_sharding_from_operands=lambda mesh, args, result: args[0].sharding,
    sharding_rule="i j -> i j",
)


def _data(leaf):
    return np.asarray(jax.random.key_data(leaf) if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key) else leaf)


def _same_place(found, expected):
    assert found.sharding.device_set == expected.sharding.device_set, (found.sharding, expected.sharding)
    assert found.sharding.is_equivalent_to(expected.sharding, expected.ndim), (found.sharding, expected.sharding)


def compare(found, expected, places=True):
    """Asserts that two results are alike: tree, types, values, and where they are."""
    assert jax.tree.structure(found) == jax.tree.structure(expected)
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        if not isinstance(other, jax.Array):
            assert np.all(one == other), (one, other)
            continue
        kinds = jax.typeof(one), jax.typeof(other)
        assert [(kind.shape, kind.dtype, kind.weak_type) for kind in kinds[:1]] == [
            (kind.shape, kind.dtype, kind.weak_type) for kind in kinds[1:]
        ]
        np.testing.assert_allclose(_data(one), _data(other), rtol=2e-5, atol=1e-5)
        if places:
            _same_place(one, other)


def outcome(case, transform):
    """(result, error) of case(transform)."""
    try:
        return case(transform), None
    except Exception as error:
        return None, error
