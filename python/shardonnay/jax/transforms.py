"""A program under JAX's transformations: its derivative and its batched form are programs of their own.

JAX cannot see into a program that it did not trace. So `jax.grad` of it traces the derivative of the function it came
from, in two programs (results with residuals, then cotangents), and `jax.vmap` traces the batched function. Forward
mode has no such form, and is refused by JAX (a `custom_vjp`).
"""

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec

from .arguments import type_of
from .signature import placed


def _is_inexact(kind):
    return jnp.issubdtype(kind.dtype, jnp.inexact)


def _batched_type(kind, leaf):
    """The type of a batch of values of type `kind`; `leaf` is the batch."""
    sharding = kind.sharding
    if sharding is not None:
        sharding = NamedSharding(sharding.mesh, PartitionSpec(None, *sharding.spec))
    return type_of(leaf, sharding)


def _types_of(program):
    """The types of a program's results, as it places them."""
    kinds = program.signature.out_types
    return list(map(placed, kinds, program.placements.outputs or [None] * len(kinds)))


class Call:
    """One call under a trace, of a function of flat arguments with flat results."""

    def __init__(self, function, types, build, program=None):
        """
        types: of the arguments, with their shardings.
        build: makes the program of any such function for types.
        program: that of `function`, if there is one already.
        """
        self._function, self._types, self._build = function, types, build
        self._program = program or build(function, types)

    def __call__(self, *arguments):
        """The results of the program, as `jax.jit`, `jax.vmap` and `jax.grad` can transform them."""
        batched = jax.custom_batching.custom_vmap(lambda *leaves: tuple(self._program.call(leaves)))
        batched.def_vmap(self._batched)
        differentiated = jax.custom_vjp(lambda *leaves: batched(*leaves))
        differentiated.defvjp(self._forward, self._backward)
        return differentiated(*arguments)

    def results_and_program(self, *arguments):
        """The results, and the program that they come from."""
        return self(*arguments), self._program

    def _batched(self, size, are_batched, *arguments):
        def function(*leaves):
            return jax.vmap(self._function, [0 if batched else None for batched in are_batched])(*leaves)

        types = [
            _batched_type(kind, leaf) if batched else kind
            for kind, batched, leaf in zip(self._types, are_batched, arguments, strict=True)
        ]
        results = Call(function, types, self._build)(*arguments)
        return results, (True,) * len(results)

    def _split(self, leaves):
        inexact = [_is_inexact(kind) for kind in self._types]
        return [leaf for leaf, selected in zip(leaves, inexact) if selected], inexact

    def _forward(self, *arguments):
        trees = []

        def function(*leaves):
            varied, inexact = self._split(leaves)

            def of_varied(*varied):
                left = iter(varied)
                results = self._function(*(next(left) if selected else leaf for leaf, selected in zip(leaves, inexact)))
                kept = [_is_inexact(jax.typeof(result)) for result in results]
                return [result for result, selected in zip(results, kept) if selected], (results, kept)

            _, pull, (results, kept) = jax.vjp(of_varied, *varied, has_aux=True)
            residuals, tree = jax.tree.flatten(pull)
            trees.append((tree, kept, len(results)))
            return (*results, *residuals)

        found, program = Call(function, self._types, self._build).results_and_program(*arguments)
        tree, kept, count = trees[-1]
        types = _types_of(program)
        return found[:count], _Residuals(found[count:], tree, kept, types[count:], types[:count])

    def _backward(self, residuals, cotangents):
        cotangents = [value for value, selected in zip(cotangents, residuals.kept) if selected]
        types = [kind for kind, selected in zip(residuals.result_types, residuals.kept) if selected]
        count = len(residuals.leaves)

        def function(*leaves):
            return tuple(jax.tree.unflatten(residuals.tree, leaves[:count])(list(leaves[count:])))

        found = iter(Call(function, [*residuals.types, *types], self._build)(*residuals.leaves, *cotangents))
        return tuple(next(found) if _is_inexact(kind) else None for kind in self._types)


@jax.tree_util.register_pytree_node_class
class _Residuals:
    """What the derivative's first program leaves for the second."""

    def __init__(self, leaves, tree, kept, types, result_types):
        self.leaves, self.tree, self.kept, self.types, self.result_types = leaves, tree, kept, types, result_types

    def tree_flatten(self):
        return tuple(self.leaves), (self.tree, tuple(self.kept), tuple(self.types), tuple(self.result_types))

    @classmethod
    def tree_unflatten(cls, rest, leaves):
        return cls(leaves, *rest)
