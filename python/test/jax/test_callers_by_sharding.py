"""Which caller a call is given: by the shardings of its arguments, whatever holds them."""

import collections

import jax
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from shardonnay.jax import callers

Pair = collections.namedtuple("Pair", "first second")


def sharding(*spec):
    """A new object each time."""
    return NamedSharding(Mesh(np.array(jax.devices()[:8]), ("data",)), PartitionSpec(*spec))


def array(*spec):
    return jax.device_put(np.ones((8, 8), np.float32), sharding(*spec))


class Counted:
    """Callers that count how often one is made; a caller is what it was made for."""

    def __init__(self):
        self.callers, self.made = callers.Callers(), 0

    def find(self, *args, **kwargs):
        return self.callers.find(args, kwargs, self._make)

    def _make(self, mesh, shardings):
        self.made += 1
        return mesh, shardings


@pytest.mark.parametrize(
    "hold",
    [
        lambda x, y: (x, y),
        lambda x, y: ([x, [y]],),
        lambda x, y: ({"x": x, "y": {"z": y}},),
        lambda x, y: (Pair(x, y),),
        lambda x, y: ((x, None, 1.5, "name", np.ones(2), y),),
    ],
    ids=["positional", "lists", "dicts", "a named tuple", "beside other leaves"],
)
def test_one_for_equal_shardings(hold):
    counted = Counted()
    x, y = array("data"), array(None, "data")
    found = counted.find(*hold(x, y))
    assert [each for each in found[1] if each is not None] == [x.sharding, y.sharding]
    assert counted.find(*hold(x, y)) is found
    assert counted.find(*hold(x + 1, y + 1)) is found
    assert counted.find(*hold(array("data"), array(None, "data"))) is found
    assert counted.made == 1
    other = counted.find(*hold(y, x))
    assert other is not found
    assert [each for each in other[1] if each is not None] == [y.sharding, x.sharding]
    assert counted.find(*hold(y, x)) is other


def test_keys_of_a_dict_in_another_order():
    counted = Counted()
    x, y = array("data"), array(None, "data")
    found = counted.find({"a": x, "b": y})
    assert counted.find({"b": y, "a": x}) is found
    assert counted.find({"b": x, "a": y})[1] == (y.sharding, x.sharding)
    assert counted.find(a=x, b=y) is counted.find(b=y, a=x)


def test_another_mesh_around_the_call():
    counted = Counted()
    x = array("data")
    found = counted.find(x)
    with jax.set_mesh(jax.make_mesh((4, 2), ("a", "b"))):
        assert counted.find(x) is not found
    assert counted.find(x) is found


def test_shardings_that_are_gone_are_not_mistaken():
    """As many as are remembered, and more, each of them freed before the next one is made."""
    counted = Counted()
    for turn in range(3 * callers._MOST_SEEN):
        spec = [("data",), (None, "data"), ()][turn % 3]
        assert counted.find([array(*spec)])[1] == (sharding(*spec),)
    assert counted.made == 3


def test_a_list_that_contains_itself():
    counted = Counted()
    endless = []
    endless.append(endless)
    with pytest.raises(RecursionError):
        counted.find(endless)


def test_a_node_whose_flattening_fails():
    @jax.tree_util.register_pytree_node_class
    class Broken:
        def tree_flatten(self):
            raise ValueError("no leaves today")

        @classmethod
        def tree_unflatten(cls, data, leaves):
            return cls()

    with pytest.raises(ValueError, match="no leaves today"):
        Counted().find(Broken())


def test_under_a_trace():
    counted = Counted()
    seen = []

    def traced(x):
        seen.append(counted.find(x))
        return x

    jax.jit(traced)(array("data"))
    jax.jit(lambda x: traced(x))(array("data"))
    assert len(seen) == 2 and counted.made == 1
