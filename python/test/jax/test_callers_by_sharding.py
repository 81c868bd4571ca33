"""Which caller a call is given: by the shardings of its arguments, whatever holds them."""

import collections
import gc
import subprocess
import sys
import weakref

import jax
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from shardonnay import _core
from shardonnay.jax import callers, execution, partition

Pair = collections.namedtuple("Pair", "first second")


def sharding(*spec):
    """A new object each time."""
    return NamedSharding(Mesh(np.array(jax.devices()[:8]), ("data",)), PartitionSpec(*spec))


def array(*spec):
    return jax.device_put(np.ones((8, 8), np.float32), sharding(*spec))


class Counted(_core.CachedFunction):
    """A function that counts how often a caller is made, and returns what its caller was made for."""

    def __init__(self):
        self.callers, self.made = callers.Callers(), 0
        super().__init__(self.callers.cache)

    def _make_caller(self, args, kwargs):
        return self.callers.find(args, kwargs, self._make)

    def _make(self, mesh, shardings):
        self.made += 1
        made_for = mesh, shardings
        return lambda *args, **kwargs: made_for


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
    found = counted(*hold(x, y))
    assert [each for each in found[1] if each is not None] == [x.sharding, y.sharding]
    assert counted(*hold(x, y)) is found
    assert counted(*hold(x + 1, y + 1)) is found
    assert counted(*hold(array("data"), array(None, "data"))) is found
    assert counted.made == 1
    other = counted(*hold(y, x))
    assert other is not found
    assert [each for each in other[1] if each is not None] == [y.sharding, x.sharding]
    assert counted(*hold(y, x)) is other


def test_keys_of_a_dict_in_another_order():
    counted = Counted()
    x, y = array("data"), array(None, "data")
    found = counted({"a": x, "b": y})
    assert counted({"b": y, "a": x}) is found
    assert counted({"b": x, "a": y})[1] == (y.sharding, x.sharding)
    assert counted(a=x, b=y) is counted(b=y, a=x)


def test_another_mesh_around_the_call():
    counted = Counted()
    x = array("data")
    found = counted(x)
    with jax.set_mesh(jax.make_mesh((4, 2), ("a", "b"))):
        assert counted(x) is not found
    assert counted(x) is found


def test_shardings_that_are_gone_are_not_mistaken():
    """As many as are remembered, and more, each of them freed before the next one is made."""
    counted = Counted()
    for turn in range(3 * callers._MOST_SEEN):
        spec = [("data",), (None, "data"), ()][turn % 3]
        assert counted([array(*spec)])[1] == (sharding(*spec),)
    assert counted.made == 3


def test_one_for_specs_that_end_in_none_or_not():
    """On an explicit mesh a step's results have a full spec, and the arguments of the first step one without Nones."""
    counted = Counted()
    specs = ("data",), ("data", None), (), (None,), (None, None)
    assert [counted(array(*spec))[1] for spec in specs] == [(sharding("data"),)] * 2 + [(sharding(),)] * 3
    assert counted.made == 2


def test_a_list_that_contains_itself():
    counted = Counted()
    endless = []
    endless.append(endless)
    with pytest.raises(RecursionError):
        counted(endless)


def test_a_node_whose_flattening_fails():
    @jax.tree_util.register_pytree_node_class
    class Broken:
        def tree_flatten(self):
            raise ValueError("no leaves today")

        @classmethod
        def tree_unflatten(cls, data, leaves):
            return cls()

    with pytest.raises(ValueError, match="no leaves today"):
        Counted()(Broken())


def test_under_a_trace():
    counted = Counted()
    seen = []

    def traced(x):
        seen.append(counted(x))
        return x

    jax.jit(traced)(array("data"))
    jax.jit(lambda x: traced(x))(array("data"))
    assert len(seen) == 2 and counted.made == 1


def test_a_function_with_its_callers_is_collected():
    """Its cache holds its callers, and they may hold the function."""
    counted = Counted()
    counted.callers.cache.add((), {}, counted)
    found = weakref.ref(counted)
    del counted
    gc.collect()
    assert found() is None


def test_a_function_that_is_forgotten_is_collected():
    """With its program: scripts make, and partition, a function in each turn of a loop."""

    def programs():
        gc.collect()
        return [held for held in gc.get_objects() if isinstance(held, execution.Program)]

    def forget():
        for _ in range(64):  # as many as are remembered
            partition(lambda x: x)

    forget()  # what other tests made
    before = len(programs())
    for turn in range(2):
        partition(lambda x: x + turn, in_shardings=sharding("data"))(np.ones((8, 8), np.float32))
    assert len(programs()) == before + 2
    # JAX's caches keep what a program exported: it must not hold the module that it was lowered to.
    assert not any(held._exported.has_vjp() for held in programs())
    forget()
    assert len(programs()) == before


def test_what_others_hold_at_exit_is_no_leak_to_report():
    program = (
        "import ctypes, shardonnay.jax; f = shardonnay.jax.partition(lambda x: x + 1); print(f(1));"
        "ctypes.pythonapi.Py_IncRef(ctypes.py_object(f))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "2\n", "")
