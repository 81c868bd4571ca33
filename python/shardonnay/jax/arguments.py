"""What of a call decides its program: the types of the arguments, and how those lie whose sharding the user left open."""

import inspect

import jax
from jax.sharding import NamedSharding, PartitionSpec

from .shardings import check_axes


def named(tree, mesh):
    """A tree of shardings with each PartitionSpec on `mesh`, if there is one; JAX resolves what is left by its context."""
    if mesh is None:
        return tree

    def on_mesh(leaf):
        if not isinstance(leaf, PartitionSpec):
            return leaf
        check_axes(leaf, mesh, str(leaf))
        return NamedSharding(mesh, leaf)

    return jax.tree.map(
        on_mesh,
        tree,
        is_leaf=lambda leaf: leaf is None or isinstance(leaf, PartitionSpec),
    )


def leaves_with_none(tree):
    """The leaves of a tree of shardings, None (unspecified) among them."""
    return jax.tree.leaves(tree, is_leaf=lambda leaf: leaf is None)


def shardings_of(args, kwargs):
    """Of each leaf of a call its sharding; None for what has none, such as host arrays, tracers and static arguments."""
    return tuple([getattr(leaf, "sharding", None) for leaf in jax.tree.leaves((args, kwargs))])


def static_positions(fn, argnums, argnames, count):
    """The positions, of `count` positional arguments, that `jax.jit` takes as static: what it is not told it infers."""
    numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums or ())
    names = (argnames,) if isinstance(argnames, str) else tuple(argnames or ())
    if names and argnums is None:
        try:
            parameters = list(inspect.signature(fn).parameters)
        except ValueError:
            parameters = []
        numbers = [parameters.index(name) for name in names if name in parameters]
    return {number % count for number in numbers if -count <= number < count}


def _abstract(leaf, sharding):
    kind = jax.typeof(leaf)
    if sharding is None and not kind.sharding.mesh.empty and kind.sharding.mesh.are_all_axes_explicit:
        sharding = kind.sharding
    return jax.ShapeDtypeStruct(kind.shape, kind.dtype, sharding=sharding, weak_type=kind.weak_type)


def abstract(args, kwargs, shardings, static, in_shardings):
    """A traced call's arguments as types, for `jax.jit(...).trace`.

    shardings: of each leaf, as `shardings_of` found them before the trace; they count where `in_shardings` has nothing.
    static: the positions of static arguments. Static keywords are no tracers, and stay as they are.
    """
    found = iter(shardings)
    given = [None] * len(shardings)
    if in_shardings is not None:
        dynamic = tuple(arg for at, arg in enumerate(args) if at not in static)
        spread = iter(leaves_with_none(jax.tree.broadcast(in_shardings, dynamic, is_leaf=lambda leaf: leaf is None)))
        given = [
            None if at in static else next(spread) for at, arg in enumerate(args) for _ in range(len(jax.tree.leaves(arg)))
        ]
        given += [None] * (len(shardings) - len(given))
    given = iter(given)

    def leaf_type(leaf):
        own, user = next(found), next(given)
        if not isinstance(leaf, jax.core.Tracer):
            return leaf
        return _abstract(leaf, own if user is None and isinstance(own, NamedSharding) else None)

    def whole(arg, is_static):
        typed = jax.tree.map(leaf_type, arg)
        return arg if is_static else typed

    typed_args = tuple(whole(arg, at in static) for at, arg in enumerate(args))
    # Keywords are flattened in the order of their names, as JAX does.
    typed_kwargs = {name: jax.tree.map(leaf_type, kwargs[name]) for name in sorted(kwargs)}
    return typed_args, typed_kwargs
