"""Shardings as users write them for whole trees of parameters: by logical axis names, or by the paths of parameters.

Both give a tree of `NamedSharding`, for `in_shardings`, `out_shardings` or `jax.device_put`.
"""

import re

import jax
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

from ..errors import ShardonnayError
from .meshes import check_mesh

_SUB_AXIS = re.compile(r"(.*):\((\d+)\)(\d+)")


class ShardingError(ShardonnayError, ValueError):
    """A sharding, or a table of them, that does not fit its mesh or its value."""


def check_axes(spec, mesh, what):
    """Raises ShardingError for an axis that the mesh has not; a part of an axis is to be an axis of its own."""
    check_mesh(mesh)
    if not isinstance(spec, PartitionSpec | tuple):
        raise ShardingError(f"{what}: expected a PartitionSpec, got {spec!r}")
    for entry in spec:
        for name in entry if isinstance(entry, tuple) else (entry,):
            part = _SUB_AXIS.fullmatch(name) if isinstance(name, str) else None
            if part:
                axis, before, size = part[1], int(part[2]), int(part[3])
                raise ShardingError(
                    f'{what}: "{name}" is a part of an axis, expected whole axes; split "{axis}" in the mesh, '
                    f"into axes of sizes {_split(mesh, axis, before, size)}, and name one of them"
                )
            if isinstance(name, str) and name not in mesh.shape:
                raise ShardingError(f'{what}: axis "{name}" is not in the mesh, expected one of {list(mesh.shape)}')


def _split(mesh, axis, before, size):
    after = mesh.shape.get(axis, before * size) // (before * size)
    return [extent for extent in (before, size, after) if extent != 1]


def path_of(path):
    """The path of a leaf as rules see it, such as `layers/0/attention/kernel`."""
    return jax.tree_util.keystr(path, simple=True, separator="/")


def by_path(rules, tree, mesh):
    """Of each leaf the sharding of the first rule whose regular expression is found in its path.

    rules: [(pattern, PartitionSpec), ...], or a dict of these. A leaf of one element is not sharded, whatever they
    say; one that no rule has is an error.
    tree: of arrays or their types.
    """
    compiled = []
    for pattern, spec in rules.items() if isinstance(rules, dict) else rules:
        check_axes(spec, mesh, f"rule {pattern!r}")
        try:
            compiled.append((re.compile(pattern), spec))
        except re.error as error:
            raise ShardingError(f"rule {pattern!r}: expected a regular expression: {error}") from None

    def sharding(path, leaf):
        name = path_of(path)
        if np.prod(np.shape(leaf)) == 1:
            return NamedSharding(mesh, PartitionSpec())
        for pattern, spec in compiled:
            if pattern.search(name):
                if len(spec) > np.ndim(leaf):
                    raise ShardingError(
                        f"{name}: rule {pattern.pattern!r} has {len(spec)} dims, expected at most the "
                        f"{np.ndim(leaf)} of its shape {np.shape(leaf)}"
                    )
                return NamedSharding(mesh, spec)
        raise ShardingError(f"{name}: no rule for it (shape {np.shape(leaf)}); end the table with a rule '.*'")

    return jax.tree_util.tree_map_with_path(sharding, tree)


def logical_spec(rules, names):
    """The PartitionSpec of an array whose dims have these logical names.

    rules: [(name, mesh axis, axes or None), ...]; an earlier rule comes first, a later one for the same name is for
    where the axes of the earlier are used by another dim of the array. What no rule names is not sharded.
    """
    rules = list(rules.items()) if isinstance(rules, dict) else rules
    assigned = {at: name for at, name in enumerate(names) if name is None or name is PartitionSpec.UNCONSTRAINED}
    used = set()
    for logical, axes in rules:
        wanted = set(axes if isinstance(axes, (tuple, list)) else (axes,)) - {None}
        for at, name in enumerate(names):
            if name == logical and at not in assigned and not wanted & used:
                assigned[at] = tuple(axes) if isinstance(axes, list) else axes
                used |= wanted
    return PartitionSpec(*(assigned.get(at) for at in range(len(names))))


def _names(leaf):
    """The logical names that a leaf carries: a flax box, an nnx variable, or names themselves; None if it has none."""
    if isinstance(leaf, PartitionSpec):
        return tuple(leaf)
    if type(leaf) is tuple and all(name is None or isinstance(name, str) for name in leaf):  # () is a scalar's
        return leaf
    if hasattr(leaf, "get_metadata"):  # flax.nnx.Variable
        return leaf.get_metadata().get("out_sharding") or ()
    return getattr(leaf, "names", None) if hasattr(leaf, "get_partition_spec") else None


def by_logical_axes(rules, tree, mesh):
    """The shardings of a tree by the logical names of dims and a table of rules (`logical_spec`).

    tree: of flax's boxed variables (`nn.with_partitioning`, `nn.with_logical_partitioning`), of `nnx` variables, or
    of tuples of names. What carries no names is not sharded.
    """
    items = rules.items() if isinstance(rules, dict) else rules
    for logical, axes in items:
        check_axes((tuple(axes) if isinstance(axes, (tuple, list)) else axes,), mesh, f"rule {logical!r}")

    def sharding(path, leaf):
        names = _names(leaf)
        if names is None:
            return NamedSharding(mesh, PartitionSpec())
        # A name that is an axis of the mesh, and that no rule has, stands for itself.
        known = {logical for logical, _ in items}
        own = [(name, name) for name in names if isinstance(name, str) and name in mesh.shape and name not in known]
        spec = logical_spec([*items, *own], names)
        check_axes(spec, mesh, path_of(path))
        return NamedSharding(mesh, spec)

    return jax.tree_util.tree_map_with_path(sharding, tree, is_leaf=lambda leaf: _names(leaf) is not None)
