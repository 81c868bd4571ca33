"""More cases for call_cases.py: where arrays are before and after the call, and meshes in the context."""

import jax
import jax.numpy as jnp
import numpy as np
from call_cases import W, X, case
from jax.experimental.layout import Format, Layout
from jax.sharding import AxisType, Mesh, SingleDeviceSharding
from outcomes import MESH, P, on, put


# Where arrays are


@case
def host_array(jit):
    return jit(lambda x: x + 1, in_shardings=on("data"), out_shardings=on(None, "model"))(X)


@case
def uncommitted_array(jit):
    return jit(lambda x: x + 1, in_shardings=on("data"), out_shardings=on("data"))(jnp.asarray(X))


@case
def nothing_sharded(jit):
    result = jit(lambda x: x + 1)(X)
    return result, result.committed


@case
def committed_to_one_device(jit):
    return jit(lambda x: x + 1)(jax.device_put(X, jax.devices()[3]))


@case
def one_device_sharding(jit):
    return jit(lambda x: x + 1, in_shardings=SingleDeviceSharding(jax.devices()[0]))(X)


@case
def uncommitted_beside_sharded(jit):
    return jit(lambda x, y: x + y)(put(X, "data"), jnp.asarray(X))


@case
def follows_the_argument(jit):
    f = jit(lambda x: x * 2)
    return f(put(X, "data")), f(put(X, None, "model")), f(put(X, "data", "model")), f(put(X))


@case
def out_shardings_alone(jit):
    return jit(lambda x: (x, x.sum()), out_shardings=(on("data", "model"), None))(X)


@case
def another_mesh_of_the_same_devices(jit):
    flat = Mesh(MESH.devices.reshape(8), ("all",))
    return jit(lambda x, y: x + y, out_shardings=on("data"))(put(X, "data"), put(X, "all", mesh=flat))


@case
def results_on_another_mesh(jit):
    other = Mesh(MESH.devices.reshape(2, 4), ("a", "b"))
    return jit(lambda x: (x + 1, x * 2), out_shardings=(on("a", "b", mesh=other), on("data")))(put(X, "data"))


@case
def devices_in_another_order(jit):
    turned = Mesh(MESH.devices.T.reshape(4, 2)[::-1], ("data", "model"))
    return jit(lambda x: x.sum(0, keepdims=True) + x)(put(X, "data", "model", mesh=turned))


@case
def some_of_the_devices(jit):
    half = Mesh(MESH.devices.reshape(8)[2:6], ("four",))
    return jit(lambda x: jnp.sin(x) + x.sum())(put(X, "four", mesh=half))


@case
def several_axes_on_a_dim(jit):
    return jit(lambda x: x * 2, in_shardings=on(("data", "model")), out_shardings=on(None, ("model", "data")))(X)


@case
def unconstrained_dims(jit):
    f = jit(lambda x: jax.lax.with_sharding_constraint(x * 2, on("data", P.UNCONSTRAINED)), out_shardings=on("data"))
    return f(put(X, "data"))


@case(places=False)
def propagated_places(jit):
    f = jit(lambda x, w: (x @ w, (x @ w).sum(0), x.T))
    return f(put(X, "data"), put(W, None, "model"))


@case(places=False)
def reshaped_into_parts_of_an_axis(jit):
    return jit(lambda x: x.reshape(2, 4, 16))(put(X, "data"))


# Meshes in the context


@case
def set_mesh_and_specs(jit):
    with jax.set_mesh(MESH):
        return jit(lambda x: x + 1, in_shardings=P("data"), out_shardings=P(None, "model"))(X)


@case
def set_mesh_and_constraints(jit):
    with jax.set_mesh(MESH):
        f = jit(lambda x: jax.lax.with_sharding_constraint(x + 1, P("data", "model")), out_shardings=P("data"))
        return f(X)


@case
def set_mesh_and_shardings_on_another(jit):
    other = Mesh(MESH.devices.reshape(2, 4), ("a", "b"))
    with jax.set_mesh(MESH):
        return jit(
            lambda x: jnp.cumsum(x, 0), in_shardings=on("a", mesh=other), out_shardings=on("a", "b", mesh=other)
        )(X)


@case
def set_mesh_and_constraints_on_several(jit):
    flat, other = Mesh(MESH.devices.reshape(8), ("all",)), Mesh(MESH.devices.reshape(2, 4), ("a", "b"))

    def f(x):
        x = jax.lax.with_sharding_constraint(jnp.sin(x), on("all", mesh=flat))
        return jax.lax.with_sharding_constraint(x.T @ x, on("a", "b", mesh=other))

    with jax.set_mesh(MESH):
        return jit(f, out_shardings=on("data"))(X)


@case
def constraint_names_the_mesh(jit):
    return jit(lambda x: jax.lax.with_sharding_constraint(x + 1, on("data")) * 2, out_shardings=on("data"))(X)


@case(places=False)
def only_a_constraint_names_the_mesh(jit):
    return jit(lambda x: jax.lax.with_sharding_constraint(x + 1, on("data")) * 2)(X)


@case
def explicit_mesh(jit):
    mesh = jax.make_mesh((4, 2), ("data", "model"), axis_types=(AxisType.Explicit,) * 2)
    x, w = put(X, "data", mesh=mesh), put(W, None, "model", mesh=mesh)
    with jax.set_mesh(mesh):
        return jit(lambda x, w: (jnp.sin(x), x @ w, (x @ w).sum(0)))(x, w)


@case
def explicit_mesh_without_context(jit):
    mesh = jax.make_mesh((4, 2), ("data", "model"), axis_types=(AxisType.Explicit,) * 2)
    return jit(lambda x: (x * 2, x.sum(1)))(put(X, "data", mesh=mesh))


@case
def explicit_mesh_of_in_shardings_alone(jit):
    mesh = jax.make_mesh((4, 2), ("data", "model"), axis_types=(AxisType.Explicit,) * 2)
    given = (on("data", "model", mesh=mesh), on("model", mesh=mesh))
    return jit(lambda x, w: x @ w, in_shardings=given, out_shardings=on("data", mesh=mesh))(X, W)


@case
def explicit_out_sharding(jit):
    mesh = jax.make_mesh((4, 2), ("data", "model"), axis_types=(AxisType.Explicit,) * 2)
    with jax.set_mesh(mesh):
        f = jit(lambda x, w: jnp.einsum("bk,kf->bf", x, w, out_sharding=P("data", None)))
        return f(put(X, "data", "model", mesh=mesh), put(W, "model", mesh=mesh))


@case
def mixed_axis_types(jit):
    mesh = jax.make_mesh((4, 2), ("data", "model"), axis_types=(AxisType.Explicit, AxisType.Auto))
    with jax.set_mesh(mesh):
        return jit(lambda x: jnp.sin(x) * 2)(put(X, "data", mesh=mesh))


@case
def mixed_axis_types_where_types_say_a_part_of_a_sharding(jit):
    mesh = jax.make_mesh((4, 2), ("data", "model"), axis_types=(AxisType.Explicit, AxisType.Auto))
    with jax.set_mesh(mesh):
        x, w = put(X, ("model", "data"), mesh=mesh), put(W, "model", "data", mesh=mesh)
        return jit(lambda x, w: (jnp.sin(x) * 2, jnp.cos(w)))(x, w)


@case
def arrays_with_layouts(jit):
    layout = Format(Layout((1, 0)), on("data"))
    return jit(lambda x: x + 1, in_shardings=layout, out_shardings=layout)(X)


@case
def three_axes(jit):
    mesh = Mesh(MESH.devices.reshape(2, 2, 2), ("a", "b", "c"))
    given = {"in_shardings": on(("c", "a"), "b", mesh=mesh), "out_shardings": on("b", mesh=mesh)}
    return jit(lambda x: (x @ x.T, x.sum(0)), **given)(X)


@case
def axes_of_one_device(jit):
    mesh = Mesh(MESH.devices.reshape(8, 1), ("x.y", "one more"))
    given = {"in_shardings": on("x.y", "one more", mesh=mesh), "out_shardings": on("one more", "x.y", mesh=mesh)}
    return jit(lambda x: x @ x.T, **given)(X)


@case
def permuted_devices_and_a_shard_map(jit):
    mesh = Mesh(MESH.devices.reshape(8)[[3, 1, 7, 5, 0, 2, 6, 4]].reshape(2, 4), ("p", "q"))

    def local(x):
        return x + jax.lax.axis_index("q") * 10 + jax.lax.ppermute(x, "p", [(0, 1)])

    f = jit(jax.shard_map(local, mesh=mesh, in_specs=P("p", "q"), out_specs=P("p", "q")))
    return f(put(X, "p", "q", mesh=mesh)), jit(lambda x: jnp.cumsum(x, 0))(put(X, "p", "q", mesh=mesh))


@case
def one_function_on_many_meshes(jit):
    f = jit(lambda x: x * 2)
    meshes = [MESH, Mesh(MESH.devices.reshape(8, 1), ("a", "b")), Mesh(MESH.devices[::-1], ("a", "b"))]
    specs = [(mesh, spec) for mesh in meshes for spec in ((mesh.axis_names[0],), (None, mesh.axis_names[1]), ())]
    return [f(put(X, *spec, mesh=mesh)) for mesh, spec in specs * 2]


@case
def empty_array_sharded(jit):
    return jit(lambda e: (e * 2, e.sum()), in_shardings=on("data"))(np.zeros((0, 4), np.float32))
