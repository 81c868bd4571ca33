"""Calls that `jax.jit` refuses, and `partition` by the same type of error: functions of the transform."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh

from call_cases import W, X
from outcomes import P, on, put, ramp, registry

CASES, case = registry()


@case
def not_a_function(jit):
    jit(3)


@case
def missing_argument(jit):
    jit(lambda x, y: x)(put(X, "data"))


@case
def surplus_argument(jit):
    jit(lambda x: x)(put(X, "data"), 3)


@case
def unknown_keyword(jit):
    jit(lambda x: x)(put(X, "data"), z=3)


@case
def no_array(jit):
    jit(lambda x, s: x)(put(X, "data"), "text")


@case
def no_array_as_result(jit):
    jit(lambda x: (x, "text"))(put(X, "data"))


@case
def unhashable_static(jit):
    jit(lambda x, n: x, static_argnums=1)(put(X, "data"), [1])


@case
def static_number_out_of_range(jit):
    jit(lambda x: x, static_argnums=5)(put(X, "data"))


@case
def static_name_that_is_not_there(jit):
    jit(lambda x: x, static_argnames="nope")(put(X, "data"))


@case
def donated_and_static(jit):
    jit(lambda x: x, static_argnums=0, donate_argnums=0)(put(X, "data"))


@case
def donated_twice(jit):
    f = jit(lambda x: x + 1, donate_argnums=0)
    x = jnp.asarray(X)  # on one device: on several, jaxlib 0.10.2 crashes
    f(x)
    f(x)


@case
def uneven_argument(jit):
    jit(lambda x: x, in_shardings=on("data"))(ramp(10, 3))


@case
def uneven_result(jit):
    jit(lambda x: x[:7], out_shardings=on("data"))(X)


@case
def too_many_dims_in_a_spec(jit):
    jit(lambda x: x, in_shardings=on("data", None, "model"))(X)


@case
def axis_that_is_not_there(jit):
    jit(lambda x: x, in_shardings=on("nope"))(X)


@case
def spec_without_a_mesh(jit):
    jit(lambda x: x, in_shardings=P("data"))(X)


@case
def shardings_of_another_tree(jit):
    jit(lambda x: x, in_shardings=({"a": on("data")},))(X)


@case
def results_of_another_tree(jit):
    jit(lambda x: x, out_shardings=(on("data"), on()))(X)


@case
def keywords_with_in_shardings(jit):
    jit(lambda x, y: x, in_shardings=(on("data"), on()))(X, y=X)


@case
def has_another_sharding(jit):
    jit(lambda x: x + 1, in_shardings=on("data"))(put(X, None, "model"))


@case
def committed_elsewhere(jit):
    jit(lambda x: x + 1, in_shardings=on("data"))(jax.device_put(X, jax.devices()[3]))


@case
def different_devices(jit):
    half = Mesh(np.array(jax.devices()[:4]), ("four",))
    jit(lambda x, y: x + y)(put(X, "data"), put(X, "four", mesh=half))


@case
def two_orders_of_devices(jit):
    turned = Mesh(np.array(jax.devices()[:8])[::-1].reshape(4, 2), ("data", "model"))
    jit(lambda x, y: x + y)(put(X, "data"), put(X, "data", mesh=turned))


@case
def shapes_that_do_not_fit(jit):
    jit(lambda x, w: w @ x)(put(X, "data"), put(W, None, "model"))


@case
def concrete_value_wanted(jit):
    jit(lambda x: x if x[0, 0] > 0 else -x)(put(X, "data"))


@case
def array_wanted(jit):
    jit(lambda x: np.asarray(x) + 1)(put(X, "data"))


@case
def index_wanted(jit):
    jit(lambda x, n: x[: n[0]])(put(X, "data"), np.array([2]))


@case
def an_error_of_its_own(jit):
    def f(x):
        raise KeyError("mine")

    jit(f)(put(X, "data"))


@case
def a_leaked_tracer(jit):
    held = []
    jit(lambda x: held.append(x) or x)(put(X, "data"))
    jit(lambda x: x + held[0])(put(X, "data"))


@case
def a_compiled_function_of_other_types(jit):
    jit(lambda x: x + 1).lower(put(X, "data")).compile()(put(X.astype(np.int32), "data"))


@case
def a_compiled_function_of_another_tree(jit):
    jit(lambda x: x).lower(put(X, "data")).compile()(put(X, "data"), 1)


@case
def a_compiled_function_elsewhere(jit):
    jit(lambda x: x + 1, in_shardings=on("data")).lower(X).compile()(put(X, None, "model"))


@case
def a_constraint_that_does_not_fit(jit):
    jit(lambda x: jax.lax.with_sharding_constraint(x, on("data", None, "model")))(put(X, "data"))


@case
def a_bad_einsum(jit):
    jit(lambda x, w: jnp.einsum("ij,ij->i", x, w))(put(X, "data"), put(W))


@case
def a_nan_found(jit):
    with jax.debug_nans(True):
        jit(lambda x: jnp.log(-1 - x))(put(X, "data"))


@case
def a_number_that_does_not_fit(jit):
    jit(lambda x, n: x * n)(put(X, "data"), 2**40)


@case
def an_array_of_objects(jit):
    jit(lambda x, n: x)(put(X, "data"), np.array([None]))


@case
def a_compiler_option_that_is_not_there(jit):
    jit(lambda x: x, compiler_options={"xla_no_such_option": True})(put(X, "data"))


@case
def compiler_options_under_a_trace(jit):
    f = jit(lambda x: x, in_shardings=on("data"), compiler_options={"xla_embed_ir_in_executable": True})
    jax.jit(lambda x: f(x))(X)
