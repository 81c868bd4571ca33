"""What of a call decides its program: the types of its arguments, and their shardings where the user left them open."""

import inspect

import jax
from jax.sharding import AbstractMesh, AxisType, NamedSharding, PartitionSpec

from .shardings import check_axes


def named(tree, mesh):
    """A tree of shardings with each PartitionSpec on `mesh`; without one they are for JAX, by its context."""
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


def spread(prefix, full, is_leaf=None):
    """What a prefix tree of shardings, None (unspecified) among them, has for each leaf of the tree `full`."""

    def leaf(item):
        return item is None or (is_leaf is not None and is_leaf(item))

    # Subtrees, and not a tree of what they have in common: classes of the user's need not hold anything but arrays.
    items, tree = jax.tree.flatten(prefix, leaf)
    return [item for item, part in zip(items, tree.flatten_up_to(full), strict=True) for _ in jax.tree.leaves(part)]


def shardings_of(args, kwargs):
    """Of each leaf of a call its sharding; None for what has none: host arrays, tracers, static arguments."""
    return tuple([getattr(leaf, "sharding", None) for leaf in jax.tree.leaves((args, kwargs))])


def equivalent(sharding):
    """One sharding for all that differ in the Nones at the end of their specs only; others as they are.

    JAX compiles a function once for all of them. On explicit meshes results have a full spec, as a user rarely writes.
    """
    if not isinstance(sharding, NamedSharding):
        return sharding
    spec = sharding.spec
    parts = list(spec.partitions)
    while parts and parts[-1] is None:
        parts.pop()
    if len(parts) == len(spec.partitions):
        return sharding
    return sharding.update(spec=spec.update(partitions=tuple(parts)))


def check_no_refs(name, leaves):
    """Refuses what a call would change in place: a program of one device has copies."""
    for leaf in leaves:
        if isinstance(leaf, jax.Ref):
            raise TypeError(
                f"{name}: got a jax.Ref, {jax.typeof(leaf)}, expected arrays; give its value, ref[...], return the new "
                "one and set the ref outside the function"
            )


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


def type_of(leaf, sharding):
    """The type of a traced value that is sharded like this; on an explicit mesh its type says how."""
    kind = jax.typeof(leaf)
    if kind.sharding.mesh.empty and sharding is not None and AxisType.Explicit in sharding.mesh.axis_types:
        sharding = None  # `in_shardings` say it to JAX; the function sees the type that it would see under `jax.jit`
    elif not kind.sharding.mesh.empty and kind.sharding.mesh.are_all_axes_explicit:
        if sharding is None or isinstance(sharding.mesh, AbstractMesh):
            sharding = kind.sharding
    return jax.ShapeDtypeStruct(kind.shape, kind.dtype, sharding=sharding, weak_type=kind.weak_type)


def known_shardings(args, kwargs, own, static, in_shardings):
    """Of each leaf of a call, static ones too, the NamedSharding that the user gave, else its own; None for others.

    own: of each leaf, as `shardings_of` found them. static: the positions of static arguments.
    """
    found = [item if isinstance(item, NamedSharding) else None for item in own]
    if in_shardings is None:
        return found
    dynamic = tuple(arg for at, arg in enumerate(args) if at not in static)
    user = iter(spread(in_shardings, dynamic))
    at = 0
    for position, arg in enumerate(args):
        for _ in jax.tree.leaves(arg):
            given = None if position in static else next(user)
            if given is not None:
                found[at] = given if isinstance(given, NamedSharding) else None
            at += 1
    return found


def dynamic_leaves(args, kwargs, static, static_names, values):
    """Those of `values`, one for each leaf of a call, that belong to arguments which are not static."""
    values = iter(values)
    found = []
    for is_static, arg in [
        *((at in static, arg) for at, arg in enumerate(args)),
        # Keywords are flattened in the order of their names, as JAX does.
        *((name in static_names, kwargs[name]) for name in sorted(kwargs)),
    ]:
        own = [next(values) for _ in jax.tree.leaves(arg)]
        found += [] if is_static else own
    return found


def abstract(args, kwargs, known):
    """A traced call's arguments as types, for `jax.jit(...).trace`; `known` are the shardings of its leaves.

    What is no tracer is static, and stays as it is.
    """
    known = iter(known)

    def leaf_type(leaf):
        sharding = next(known)
        return type_of(leaf, sharding) if isinstance(leaf, jax.core.Tracer) else leaf

    def typed(arg):
        found = jax.tree.map(leaf_type, arg)
        return found if any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(arg)) else arg

    return tuple(map(typed, args)), {name: typed(kwargs[name]) for name in sorted(kwargs)}
