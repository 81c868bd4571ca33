"""Calls that must come out under `partition` as under `jax.jit`: each is a function of the transform."""

import collections
import copy
import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np

from outcomes import on, put, ramp

CASES = []
# Shardings of unspecified outputs are the compiler's own choice.
OWN_PLACES = set()


def case(function=None, *, places=True):
    """Registers a case. places: whether results must be sharded as under `jax.jit`."""
    if function is None:
        return functools.partial(case, places=places)
    CASES.append(function)
    if not places:
        OWN_PLACES.add(function)
    return function


X = ramp(8, 16)
W = ramp(16, 32) / 7


def matmul(x, w):
    return x @ w


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class State:
    params: dict
    step: jax.Array
    name: str = dataclasses.field(metadata={"static": True}, default="state")


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Checked:
    """Its leaves must have types, as under a call of `jax.jit` they have."""

    rows: jax.Array

    def __post_init__(self):
        assert len(self.rows.shape) == 2


Pair = collections.namedtuple("Pair", "first second")


# Trees


@case
def a_class_that_checks_its_leaves(jit):
    f = jit(lambda c, x: (Checked(c.rows + x), x.sum()), in_shardings=(on("data"), on("data")), out_shardings=on())
    return f(Checked(X), X)[0].rows, f(Checked(X), X)[1]


@case
def a_class_that_checks_its_leaves_ahead_of_time(jit):
    f = jit(lambda c, x: c.rows + x, in_shardings=(on("data"), on("data")), donate_argnums=1)
    c, x = Checked(put(X, "data")), put(X, "data")
    return f.lower(c, x).compile()(c, x)


@case
def positional(jit):
    return jit(matmul, in_shardings=(on("data"), on(None, "model")), out_shardings=on("data", "model"))(X, W)


@case
def shardings_in_a_list(jit):
    return jit(matmul, in_shardings=[on("data"), on(None, "model")], out_shardings=on("data", "model"))(X, W)


@case
def copies(jit):
    f = jit(matmul, in_shardings=(on("data"), on(None, "model")), out_shardings=on("data", "model"))
    return [g(X, W) for g in (copy.copy(f), copy.deepcopy({"step": f})["step"])]


@case
def nested_containers(jit):
    f = jit(lambda t: {"sum": t["a"][0] + t["b"]["c"], "list": [t["a"][1], (t["b"]["c"],)]}, in_shardings=on("data"))
    return f({"a": [X, X + 1], "b": {"c": X * 2}})


@case
def named_tuple(jit):
    return jit(lambda p: Pair(p.second, p.first + 1), in_shardings=on("data"), out_shardings=on("data"))(Pair(X, 2 * X))


@case
def registered_dataclass(jit):
    state = State({"w": put(W, None, "model")}, jnp.int32(3))
    return jit(lambda s, x: State({"w": s.params["w"] + x.sum()}, s.step + 1, s.name))(state, put(X, "data"))


@case
def none_is_an_empty_tree(jit):
    return jit(lambda x, nothing: (x, nothing), in_shardings=(on("data"), None))(X, None)


@case
def empty_containers(jit):
    return jit(lambda x, a, b: (x + 1, a, b, {}, ()))(put(X, "data"), (), {})


@case
def no_arguments(jit):
    return jit(lambda: jnp.arange(8), out_shardings=on("data"))()


@case
def no_results(jit):
    return jit(lambda x: None, in_shardings=on("data"))(X)


@case
def an_argument_as_result(jit):
    return jit(lambda x: (x, x), in_shardings=on("data"), out_shardings=on("data"))(X)


@case
def a_constant_as_result(jit):
    return jit(lambda x: (x, 1, 2.5, np.arange(4)), in_shardings=on("data"))(X)


@case
def unused_arguments(jit):
    return jit(lambda x, y, z: y * 2)(put(X, "data"), put(X, "data"), 3)


@case
def empty_array(jit):
    return jit(lambda x, e: (x.sum(), e * 2), in_shardings=(on("data"), on()))(X, np.zeros((0, 4), np.float32))


@case
def dict_order_is_by_key(jit):
    return jit(lambda d: d["z"] - d["a"], in_shardings=on("data"))({"z": X, "a": 2 * X})


@case
def prefix_of_shardings(jit):
    f = jit(lambda t, y: (t["a"] + t["b"][0], y), in_shardings=({"a": on("data"), "b": on("data")}, on()))
    return f({"a": X, "b": [X, X]}, W)


@case
def nothing_beside_what_is_left_open(jit):
    shardings = ({"a": None, "b": on("data"), "c": None, "d": on(None, "model")},)
    f = jit(lambda t: jax.tree.map(jnp.sin, t), in_shardings=shardings, out_shardings=shardings[0])
    return f({"a": None, "b": X, "c": put(X), "d": X})


# Keywords and defaults


@case
def keywords(jit):
    return jit(lambda x, *, scale, shift: x * scale + shift)(put(X, "data"), scale=2.0, shift=put(X, "data"))


@case
def keywords_in_another_order(jit):
    f = jit(lambda a, b: a - b)
    return f(b=put(X, "data"), a=put(3 * X, "data")), f(put(3 * X, "data"), b=put(X, "data"))


@case
def defaults(jit):
    return jit(lambda x, scale=3.0: x * scale)(put(X, "data"))


@case
def variadic(jit):
    return jit(lambda *xs, **named: sum(xs) + sum(named.values()))(put(X, "data"), put(X, "data"), y=put(X, "data"))


@case
def keyword_only_with_default(jit):
    f = jit(lambda x, *, n=2: x * n)
    return f(put(X, "data")), f(put(X, "data"), n=5)


# Static arguments


@case
def static_by_number(jit):
    f = jit(lambda x, n: x.reshape(n, -1) * n, static_argnums=1)
    return f(put(X, "data"), 2), f(put(X, "data"), 4)


@case
def static_by_name(jit):
    f = jit(lambda x, mode: jnp.sin(x) if mode == "sin" else jnp.cos(x), static_argnames="mode")
    return f(put(X, "data"), mode="sin"), f(put(X, "data"), mode="cos"), f(put(X, "data"), "sin")


@case
def static_negative_number(jit):
    return jit(lambda x, n: x * n, static_argnums=-1)(put(X, "data"), 3)


@case
def static_first(jit):
    return jit(lambda n, x: x * n, static_argnums=0)(3, put(X, "data"))


@case
def static_first_with_shardings(jit):
    return jit(lambda n, x, y: x * n + y, static_argnums=0, in_shardings=(on("data"), None))(3, X, put(X, "data"))


@case
def static_alone(jit):
    return jit(lambda n: jnp.arange(n), static_argnums=0, out_shardings=on("data"))(16)


@case
def static_number_given_by_name(jit):
    return jit(lambda x, n: x * n, static_argnums=1)(put(X, "data"), n=3)


@case
def static_tuple_and_function(jit):
    f = jit(lambda x, shape, g: g(x.reshape(shape)), static_argnums=(1, 2))
    return f(put(X, "data"), (4, 32), jnp.tanh)


@case
def static_keyword_only(jit):
    return jit(lambda x, *, axis: x.sum(axis), static_argnames=("axis",))(put(X, "data"), axis=0)


@case
def static_method(jit):
    class Model:
        def __init__(self, scale):
            self.scale = scale

        @functools.partial(jit, static_argnums=0)
        def apply(self, x):
            return x * self.scale

    return Model(2.0).apply(put(X, "data")), Model(3.0).apply(put(X, "data"))


# Decorators


@case
def bare_decorator(jit):
    @jit
    def f(x):
        """Documented."""
        return x + 1

    return f(put(X, "data")), f.__name__, f.__doc__


@case
def partial_decorator(jit):
    @functools.partial(jit, out_shardings=on("data"))
    def f(x):
        return x + 1

    return f(X)


@case
def wrapped_function(jit):
    f = jit(lambda x: x + 1)
    return f.__wrapped__(X)


@case
def partial_function(jit):
    return jit(functools.partial(lambda n, x: x * n, 2))(put(X, "data"))


@case
def callable_object(jit):
    class Doubled:
        def __call__(self, x):
            return x * 2

    return jit(Doubled())(put(X, "data"))


# Types


@case
def weak_python_scalars(jit):
    f = jit(lambda x, a, b: (x * a, a, b, a * b))
    return f(put(X, "data"), 2, 1.5), f(put(X.astype(jnp.bfloat16), "data"), 3.0, True), f(put(X, "data"), 2, 1j)


@case
def weak_array(jit):
    return jit(lambda a: (a, a + 1), in_shardings=on())(jnp.asarray(2.0))


@case
def small_types(jit):
    kinds = (jnp.bfloat16, jnp.float16, jnp.int8, jnp.uint8, jnp.uint32, jnp.bool_, jnp.complex64, jnp.float8_e4m3fn)
    return jit(lambda t: jax.tree.map(lambda x: x, t))([put(jnp.asarray(X).astype(kind), "data") for kind in kinds])


@case
def int4(jit):
    return jit(lambda x: x.astype(jnp.int32) + 1)(put(jnp.asarray(X % 7).astype(jnp.int4), "data"))


@case
def two_bits(jit):
    x = put(jnp.asarray(X % 4).astype(jnp.uint2), "data")
    return jit(lambda x: (x.astype(jnp.int32).astype(jnp.int2), x.T, jnp.float32(x).sum()))(x)


@case
def wide_types(jit):
    with jax.enable_x64(True):
        f = jit(lambda x, n: (x * n, n))
        return f(put(X.astype(np.float64), "data"), 3), f(put(X.astype(np.int64), "data"), np.int64(2))


@case
def narrow_and_wide(jit):
    f = jit(lambda x: x * 2)
    first = f(X.astype(np.float64))
    with jax.enable_x64(True):
        return first, f(X.astype(np.float64))


@case
def numpy_scalars(jit):
    return jit(lambda x, a, b: x * a + b)(put(X, "data"), np.float32(2), np.int32(1))


@case
def typed_keys(jit):
    key = jax.random.key(7)
    return jit(lambda k, x: (jax.random.split(k, 8), x + jax.random.normal(k, x.shape)))(key, put(X, "data"))


@case
def sharded_typed_keys(jit):
    keys = jax.device_put(jax.random.split(jax.random.key(7), 8), on("data"))
    f = jit(lambda k: (k, jax.vmap(lambda k: jax.random.uniform(k, (4,)))(k)), out_shardings=on("data"))
    return f(keys)


@case
def other_key_implementations(jit):
    f = jit(lambda k: jax.random.split(k), in_shardings=on())
    return f(jax.random.key(7, impl="rbg")), f(jax.random.key(7, impl="unsafe_rbg"))


@case
def raw_keys(jit):
    return jit(lambda k: jax.random.normal(k, (8,)), out_shardings=on("data"))(jax.random.PRNGKey(3))


@case
def keys_made_inside(jit):
    return jit(lambda n: jax.random.key(n), out_shardings=on())(5)


# Donation


@case
def donated(jit):
    x, y = put(X, "data"), put(X, "data")
    result = jit(lambda x, y: x + y, donate_argnums=0)(x, y)
    return result, x.is_deleted(), y.is_deleted()


@case
def donated_by_name(jit):
    state = {"w": put(W, None, "model"), "n": put(np.float32(1))}
    result = jit(lambda x, state: {"w": state["w"] * 2, "n": state["n"] + x.sum()}, donate_argnames="state")(
        put(X, "data"), state=state
    )
    return result, state["w"].is_deleted(), state["n"].is_deleted()


@case
def donated_and_given_out_shardings(jit):
    x = put(X, "data")
    f = jit(lambda x: x + 1, donate_argnums=0, in_shardings=on("data"), out_shardings=on("data"))
    return f(x), x.is_deleted()


# JAX's switches


@case
def jit_switched_off(jit):
    with jax.disable_jit():
        return jit(lambda x: x * 2)(put(X, "data"))


@case
def leaks_checked(jit):
    with jax.checking_leaks():
        return jit(lambda x: x * 2)(put(X, "data"))


@case
def a_function_of_jit(jit):
    return jit(jax.jit(lambda x: x * 2))(put(X, "data"))


# Caching


@case
def traced_once_per_kind(jit):
    count = []

    def f(x, n, *, mode="a"):
        count.append(1)
        return x * n

    g = jit(f, static_argnames="mode")
    for x in (put(X, "data"), put(X + 1, "data"), put(X.astype(np.int32), "data")):
        for n in (2, 3, np.float32(4)):
            g(x, n)
    g(put(X, "data"), 2, mode="b")
    return len(count)


@case
def rematerialized(jit):
    count = []

    def f(x):
        count.append(1)
        return x + 1

    for _ in range(3):
        jit(f)(put(X, "data"))
    jit(f, out_shardings=on())(put(X, "data"))
    return len(count) == 1 or len(count) == 2  # `jax.jit` shares the trace too


@case
def cleared_cache(jit):
    count = []
    f = jit(lambda x: count.append(1) or x)
    f(put(X, "data"))
    f.clear_cache()
    f(put(X, "data"))
    return len(count)


@case
def compiler_options(jit):
    f = jit(lambda x: x + 1, compiler_options={"xla_embed_ir_in_executable": True})
    return f(put(X, "data")), f.lower(put(X, "data")).compile({"xla_embed_ir_in_executable": False})(put(X, "data"))


@case
def closed_over_arrays(jit):
    held, big = jnp.arange(16.0), put(W, None, "model")
    return jit(lambda x: (x * held) @ big, out_shardings=on("data"))(put(X, "data"))


@case
def shapes_of_results(jit):
    found = jit(lambda x: {"a": x.sum(), "b": x[:2]}).eval_shape(jax.ShapeDtypeStruct((8, 16), jnp.float32))
    return jax.tree.map(lambda leaf: (leaf.shape, leaf.dtype), found)
