"""A partitioned function under JAX's transformations: it works, or JAX says what does not; never another number."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType
from outcomes import MESH, P, compare, on, put, ramp, registry
from shardonnay.jax import partition, propagate

X, W = put(ramp(8, 16) / 23, "data"), put(ramp(16, 32) / 23, None, "model")
GIVEN = {"in_shardings": ({"w": on(None, "model")}, on("data"), None)}
CASES, case = registry()  # functions of a partitioned function of parameters, inputs and a count


def function(params, x, n):
    h = jnp.tanh(x @ params["w"])
    return (h**2).sum() * n, h


def loss(f):
    return lambda params, x, n: f(params, x, n)[0]


@case
def under_jit(f):
    return jax.jit(lambda p, x: jax.tree.map(lambda v: v * 2, f(p, jnp.sin(x), 3)))({"w": W}, X)


@case
def gradient(f):
    return jax.grad(loss(f))({"w": W}, X, 2)


@case
def gradient_under_jit(f):
    return jax.jit(jax.value_and_grad(loss(f), argnums=(0, 1)))({"w": W}, X, 2)


@case
def gradient_of_both_results(f):
    _, pull = jax.vjp(lambda p, x: f(p, x, 2), {"w": W}, X)
    return pull((jnp.float32(2), jnp.ones((8, 32))))


@case
def gradient_of_a_gradient(f):
    return jax.grad(lambda x: jax.grad(loss(f))({"w": W}, x, 2)["w"].sum())(X)


@case
def batched(f):
    return jax.vmap(f, (None, 0, None))({"w": W}, jnp.stack([X, X + 1]), 2)


@case
def batched_count(f):
    return jax.vmap(f, (None, None, 0))({"w": W}, X, jnp.arange(3))


@case
def batched_twice(f):
    return jax.vmap(jax.vmap(f, (None, None, 0)), (None, 0, None))({"w": W}, jnp.stack([X, X + 1]), jnp.arange(3))


@case
def gradient_of_batched(f):
    batch = jnp.stack([X, X + 1])
    return jax.grad(lambda p: jax.vmap(loss(f), (None, 0, None))(p, batch, 2).sum())({"w": W})


@case
def batched_gradient(f):
    return jax.vmap(jax.grad(loss(f)), (None, 0, None))({"w": W}, jnp.stack([X, X + 1]), 2)


@case
def jacobians(f):
    g = lambda x: f({"w": W}, x, 2)[1].sum(0)  # noqa: E731
    return jax.jacrev(g)(X)


@case
def in_a_scan(f):
    return jax.lax.scan(lambda c, _: (c + f({"w": W}, X, 2)[0], None), 0.0, None, length=3)[0]


@case
def under_remat(f):
    return jax.grad(jax.checkpoint(loss(f)))({"w": W}, X, 2)


@case
def under_eval_shape(f):
    return jax.tree.map(lambda kind: (kind.shape, kind.dtype), jax.eval_shape(f, {"w": W}, X, 2))


@case
def in_a_custom_vjp(f):
    @jax.custom_vjp
    def halved(p):
        return loss(f)(p, X, 2)

    halved.defvjp(lambda p: (halved(p), p), lambda p, g: (jax.tree.map(lambda v: v * g / 2, p),))
    return jax.grad(halved)({"w": W})


@pytest.mark.parametrize("given", [GIVEN, {}], ids=["given", "left open"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_transformed(case, given):
    compare(case(partition(function, **given)), case(jax.jit(function, **given)), places=False)


@pytest.mark.parametrize("case", [gradient_under_jit, batched_gradient], ids=lambda case: case.__name__)
def test_propagated(case):
    compare(case(propagate(function, **GIVEN)), case(jax.jit(function, **GIVEN)), places=False)


def test_the_gradient_is_partitioned_too():
    compiled = jax.jit(jax.grad(loss(partition(function, **GIVEN)))).lower({"w": W}, X, 2).compile()
    assert compiled.output_shardings["w"].is_equivalent_to(on(None, "model"), 2)


@pytest.mark.parametrize("transform", [partition, propagate])
def test_forward_mode_says_what_to_do(transform):
    f = transform(loss(function), **GIVEN)
    with pytest.raises(TypeError, match="jvp"):
        jax.jvp(lambda x: f({"w": W}, x, 2), (X,), (X,))
    with pytest.raises(TypeError, match="partition the function that jax.jvp"):
        jax.jvp(f, ({"w": W}, X, 2.0), ({"w": W}, X, 0.0))


def test_a_traced_value_from_outside_is_to_be_an_argument():
    def outer(w, x):
        return partition(lambda x: x @ w)(x)

    with pytest.raises(jax.errors.UnexpectedTracerError, match="closes over a value.*pass it as an argument"):
        jax.jit(outer)(W, X)


def test_keys_masks_and_integers_have_no_gradient():
    def f(x, key, mask):
        kept = jnp.where(jax.random.bernoulli(key, 0.5, x.shape) & mask, x**2, 0)
        return kept.sum(), jax.random.split(key), x.astype(jnp.int32), mask

    def calls(transform):
        g = transform(f, in_shardings=(on("data"), on(), on("data")))
        key, mask = jax.random.key(2), X > 0.5
        keys = jax.random.split(key, 3)
        gradient = jax.grad(lambda x, key: g(x, key, mask)[0])
        return gradient(X, key), jax.vmap(gradient, (None, 0))(X, keys), jax.vmap(g, (None, 0, None))(X, keys, mask)

    compare(calls(partition), calls(jax.jit), places=False)


def test_integers_have_no_gradient():
    f = partition(lambda x, i: (x[i].sum(), i + 1), in_shardings=(on("data"), on()))
    compare(
        jax.grad(lambda x, i: f(x, i)[0])(X, np.array([1, 2])),
        jax.grad(lambda x, i: x[i].sum())(X, np.array([1, 2])),
        places=False,
    )


def test_on_an_explicit_mesh():
    mesh = jax.make_mesh((4, 2), ("data", "model"), axis_types=(AxisType.Explicit,) * 2)

    def calls(transform):
        f = transform(lambda x: jnp.sin(x) * 2)
        return jax.jit(lambda x: f(x) + f(x * 2))(x), jax.grad(lambda x: f(x).sum())(x), jax.vmap(f)(x)

    with jax.set_mesh(mesh):
        x = put(ramp(8, 16), "data", "model", mesh=mesh)
        compare(calls(partition), calls(jax.jit))


def test_under_jit_the_context_names_the_mesh():
    f = partition(lambda x: jax.lax.with_sharding_constraint(x + 1, P("data", "model")))
    with jax.set_mesh(MESH):
        compare(jax.jit(lambda x: f(x) * 2)(X), (X + 1) * 2, places=False)


def test_without_any_mesh_it_says_so():
    f = partition(lambda x: x + 1, in_shardings=P("data"))
    with pytest.raises(RuntimeError, match="non-empty mesh in context"):  # JAX's own words
        jax.jit(f)(np.ones((8, 16), np.float32))
