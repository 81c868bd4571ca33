"""The mesh of a call: found in what the user wrote, and matched with the mesh that the compiler names."""

import jax
from jax.extend import core
from jax.sharding import AbstractMesh, Mesh, NamedSharding

from .. import boundary
from ..errors import ShardonnayError


class MeshError(ShardonnayError, ValueError):
    """No mesh, or meshes that do not go together."""


def check_mesh(mesh):
    """Raises TypeError if `mesh` cannot be one that a user names."""
    if not isinstance(mesh, Mesh | AbstractMesh | None):
        raise TypeError(f"mesh: expected a jax.sharding.Mesh, got {mesh!r}")


def context_mesh():
    """The mesh of `jax.set_mesh`; None if there is none, or under a trace, where JAX does not tell."""
    try:
        mesh = jax.sharding.get_mesh()
    except ValueError:
        return None
    return None if mesh.empty else mesh


def _meshes_in(value):
    if isinstance(value, NamedSharding):
        value = value.mesh
    if isinstance(value, (Mesh, AbstractMesh)):
        if not value.empty:
            yield value
    elif isinstance(value, (core.Jaxpr, core.ClosedJaxpr)):
        yield from _meshes_of_jaxpr(value)
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from _meshes_in(item)


def _meshes_of_jaxpr(jaxpr):
    for equation in jaxpr.eqns:
        for value in equation.params.values():
            yield from _meshes_in(value)


def meshes(jaxpr, *shardings):
    """The meshes that the shardings and the constraints of a traced function name, concrete ones first."""
    found = [mesh for sharding in shardings for mesh in _meshes_in(sharding)]
    found = list(dict.fromkeys([*found, *_meshes_in(jaxpr)]))
    return sorted(found, key=lambda mesh: isinstance(mesh, AbstractMesh))


def match(text, meshes):
    """The first of the meshes with the axes of `sdy` text such as `#sdy.mesh<["data"=2]>`."""
    axes = tuple(boundary.mesh_axes(text))
    for mesh in meshes:
        if tuple(mesh.shape.items()) == axes:
            return mesh
    found = ", ".join(str(dict(mesh.shape)) for mesh in meshes) or "none"
    raise MeshError(
        f"the program is on the mesh {dict(axes)}, whose devices nothing names (meshes found: {found}); "
        "give mesh=, or call it under jax.set_mesh"
    )


def refined(sizes):
    """The sizes of the coarsest mesh in which every one of some meshes' axes is a product of neighbouring axes.

    `sizes` are those meshes' sizes, with one product: (4, 2) and (2, 4) give (2, 2, 2).
    """
    strides = set()
    for mesh in sizes:
        stride = 1
        for size in reversed(mesh):
            strides.add(stride)
            stride *= size
        strides.add(stride)
    ordered = sorted(strides, reverse=True)
    for outer, inner in zip(ordered, ordered[1:]):
        if outer % inner:
            raise MeshError(f"meshes of sizes {sorted(set(sizes))} in one program do not nest")
    return tuple(outer // inner for outer, inner in zip(ordered, ordered[1:]))
