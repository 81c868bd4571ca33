"""Which of a function's callers a call is for: one for each mesh and set of shardings of the arguments."""

import operator

import jax

from .. import _core
from . import arguments
from .meshes import context_mesh

_MOST_SEEN = 64


class Callers:
    """Callers by mesh and shardings, or one for all where the shardings are given.

    cache: of calls seen, recognised by the addresses of their shardings. To compare those themselves costs 100
        arguments as much as half of the call.
    """

    def __init__(self, shardings_given=False):
        self._by_shardings, self._shardings_given = {}, shardings_given
        self.cache = _core.CallCache(jax.sharding.get_mesh, jax.tree.leaves, not shardings_given, _MOST_SEEN)

    def find(self, args, kwargs, make):
        """The caller for arguments that the cache does not know: an equal one's, or else `make(mesh, shardings)`."""
        mesh, shardings = None, None
        if not self._shardings_given:
            mesh = context_mesh()
            shardings = tuple(map(arguments.equivalent, arguments.shardings_of(args, kwargs)))
            self._learn_arrays(args, kwargs)
        caller = self._by_shardings.get((mesh, shardings))
        if caller is None:
            caller = self._by_shardings[mesh, shardings] = make(mesh, shardings)
        self.cache.add(args, kwargs, caller)
        return caller

    def clear(self):
        """Forgets them all."""
        self._by_shardings.clear()
        self.cache.clear()

    def _learn_arrays(self, args, kwargs):
        """JAX does not name the type of its arrays (`jax.Array` is that of tracers too)."""
        for leaf in jax.tree.leaves((args, kwargs)):
            if isinstance(leaf, jax.Array) and not isinstance(leaf, jax.core.Tracer):
                # A property's function, called without the property, takes half the time.
                getter = getattr(type(leaf).sharding, "fget", None) or operator.attrgetter("sharding")
                self.cache.learn_arrays(type(leaf), getter)
                return
