"""Whatever JAX has inside a partitioned function: it comes out as under `jax.jit`."""

import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType
from outcomes import MESH, P, compare, on, put, ramp, registry
from shardonnay.jax import partition, propagate

X, W = put(ramp(8, 16) / 23, "data"), put(ramp(16, 32) / 23, None, "model")
CASES, case = registry()  # functions of the transform


def loss(w, x):
    return jnp.mean(jnp.tanh(x @ w) ** 2)


@case
def grad(jit):
    return jit(jax.value_and_grad(loss))(W, X)


@case
def second_order(jit):
    return jit(lambda w, x: jax.grad(lambda w: (jax.grad(loss)(w, x) ** 2).sum())(w))(W, X)


@case
def forward_mode(jit):
    return jit(lambda w, x: jax.jvp(lambda w: loss(w, x), (w,), (w,)))(W, X)


@case
def vmap(jit):
    return jit(lambda w, x: jax.vmap(lambda row: jnp.tanh(row @ w))(x))(W, X)


@case
def remat(jit):
    return jit(jax.grad(jax.checkpoint(loss)))(W, X)


@case
def scan(jit):
    def f(x):
        def step(carry, row):
            carry = jnp.tanh(carry + row)
            return carry, carry.sum()

        return jax.lax.scan(step, x[0], x)

    return jit(f)(X)


@case
def scan_over_layers(jit):
    layers = put(ramp(4, 16, 16) / 99, None, None, "model")
    return jit(lambda w, x: jax.grad(lambda w: jax.lax.scan(lambda h, w: (jnp.tanh(h @ w), None), x, w)[0].sum())(w))(
        layers, X
    )


@case
def cond(jit):
    return jit(lambda x, n: jax.lax.cond(n > 2, jnp.sin, jnp.cos, x))(X, 3)


@case
def switch(jit):
    return jit(lambda x, n: jax.lax.switch(n, [jnp.sin, jnp.cos, lambda x: x * 2], x))(X, 2)


@case
def while_loop(jit):
    return jit(lambda x: jax.lax.while_loop(lambda s: s[0].sum() < 1000, lambda s: (s[0] * 2, s[1] + 1), (x, 0)))(X)


@case
def fori_loop(jit):
    return jit(lambda x, n: jax.lax.fori_loop(0, n, lambda i, x: x + i, x))(X, 5)


@case
def custom_vjp(jit):
    @jax.custom_vjp
    def clipped(x):
        return jnp.sin(x)

    clipped.defvjp(lambda x: (jnp.sin(x), x), lambda x, g: (jnp.clip(g * jnp.cos(x), -0.1, 0.1),))
    return jit(jax.grad(lambda x: clipped(x).sum()))(X)


@case
def custom_jvp(jit):
    @jax.custom_jvp
    def f(x):
        return jnp.log1p(jnp.exp(x))

    f.defjvp(lambda p, t: (f(*p), jax.nn.sigmoid(p[0]) * t[0]))
    return jit(jax.grad(lambda x: f(x).sum()))(X)


@case
def nested_jit(jit):
    inner = jax.jit(lambda x: jnp.sin(x) + 1)
    return jit(lambda x: inner(inner(x)))(X)


@case
def nested_in_itself(jit):
    inner = jit(lambda x: jnp.sin(x) + 1)
    return jit(lambda x: inner(x) * 2)(X)


@case
def shard_map(jit):
    normed = jax.shard_map(
        lambda x: jax.lax.psum(x.sum(1), "model") + jax.lax.axis_index("data"),
        mesh=MESH,
        in_specs=P("data", "model"),
        out_specs=P("data"),
    )
    return jit(lambda x: normed(x) * 2)(X)


@case
def partial_shard_map(jit):
    f = jax.shard_map(
        lambda x: jax.lax.pmean(x, "data"), mesh=MESH, in_specs=P("data"), out_specs=P(), axis_names={"data"}
    )
    return jit(lambda x: f(jnp.sin(x)))(X)


@case
def grad_of_shard_map(jit):
    f = jax.shard_map(
        lambda w, x: jax.lax.psum((x @ w).sum(), ("data", "model"))[None],
        mesh=MESH,
        in_specs=(P(None, "model"), P("data")),
        out_specs=P(),
    )
    return jit(jax.grad(lambda w, x: f(w, x).sum()))(W, X)


@case
def constraints(jit):
    def f(w, x):
        h = jax.lax.with_sharding_constraint(x @ w, on("data", "model"))
        return jax.lax.with_sharding_constraint(h.T, on("model", "data")) @ x

    return jit(f, out_shardings=on("model"))(W, X)


@case
def uneven_constraint(jit):
    f = jit(lambda x: jax.lax.with_sharding_constraint(x[:7] * 2, on("data")).sum(0), out_shardings=on())
    return f(X)


@case
def alike(jit):
    removed = "this JAX has no shard_alike any more"
    module = pytest.importorskip("jax.experimental.shard_alike", reason=removed)

    def f(x):
        y, z = module.shard_alike(x * 2, jnp.ones_like(x))
        return y + z

    return jit(f, out_shardings=on("data"))(X)


@case
def random_bits(jit):
    def f(key, x):
        first, second = jax.random.split(key)
        mask = jax.random.bernoulli(first, 0.5, x.shape)
        return jnp.where(mask, x, jax.random.normal(second, x.shape)), jax.random.fold_in(key, 3)

    return jit(f, out_shardings=(on("data"), on()))(jax.random.key(1), X)


@case
def linear_algebra(jit):
    squares = put(ramp(8, 4, 4) + 50 * np.eye(4, dtype=np.float32), "data")
    return jit(lambda a: (jnp.linalg.inv(a), jnp.linalg.qr(a)[1], jnp.linalg.cholesky(a @ a.mT)))(squares)


@case
def sorting_and_indexing(jit):
    def f(x, i):
        return jnp.sort(x, 1), jnp.argsort(x[:, 0]), x[i], x.at[i].add(1.0), jax.lax.top_k(x, 3)

    return jit(f, out_shardings=on())(X, np.array([1, 5, 2]))


@case
def convolution(jit):
    images, kernel = put(ramp(8, 8, 8, 3) / 23, "data"), ramp(3, 3, 3, 4) / 23

    def f(k, x):
        return jax.lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")).sum()

    return jit(jax.grad(f), out_shardings=on())(kernel, images)


@case
def fourier(jit):
    return jit(lambda x: jnp.fft.rfft(x).real, out_shardings=on("data"))(X)


@case
def explicit_axes_inside(jit):
    mesh = jax.make_mesh((4, 2), ("data", "model"), axis_types=(AxisType.Explicit,) * 2)

    def f(x):
        y = jax.sharding.reshard(x, P(None, "data"))
        return jax.lax.cond(y.sum() > 0, jnp.sin, jnp.cos, y)

    with jax.set_mesh(mesh):
        return jit(f)(put(ramp(8, 16), "data", mesh=mesh))


@case
def auto_axes_inside(jit):
    mesh = jax.make_mesh((4, 2), ("data", "model"), axis_types=(AxisType.Explicit,) * 2)
    with jax.set_mesh(mesh):
        free = jax.sharding.auto_axes(lambda x: jnp.tanh(x) @ x.T)
        return jit(lambda x: free(x, out_sharding=P("data")))(put(ramp(8, 16), "data", mesh=mesh))


@case
def exported_for_symbolic_shapes(jit):
    shape = jax.export.symbolic_shape("b, 16", constraints=("b >= 4",))
    exported = jax.export.export(jax.jit(lambda x: jnp.sin(x) @ x.T))(jax.ShapeDtypeStruct(shape, jnp.float32))
    return jit(lambda x: exported.call(x).sum(0))(X)


@case
def branches_sharded_differently(jit):
    def branch(function, *spec):
        return lambda x: function(jax.lax.with_sharding_constraint(x, on(*spec)))

    branches = branch(jnp.tanh, "data"), branch(jnp.sin, "model")
    return jit(lambda x: jax.lax.cond(x.sum() > 0, *branches, x + 1))(X)


@case
def branches_of_shards(jit):
    def local(x):
        return jax.lax.cond(jax.lax.psum(x.sum(), "data") > 0, lambda x: x * 2, lambda x: jnp.sin(x), x)

    return jit(jax.shard_map(local, mesh=MESH, in_specs=P("data"), out_specs=P("data"), axis_names={"data"}))(X)


@case
def rotation(jit):
    return jit(lambda x: (jnp.roll(x, 3, 0), jnp.pad(x, ((1, 1), (0, 2)), mode="wrap")))(X)


@case
def approximate_maxima(jit):
    x = put(jnp.sin(jnp.arange(256.0)).reshape(8, 32), "data", "model")
    return jit(lambda x: (jax.lax.approx_max_k(x, 4), jax.lax.approx_min_k(x, 3, reduction_dimension=0)))(x)


def test_what_is_scattered_in_unequal_shards_is_scattered_once():
    """`jax.jit` with such a constraint counts the last shard's padding too."""

    def function(x, updates, at, constrained=True):
        updates = updates[:5] * 2
        updates = jax.lax.with_sharding_constraint(updates, on("model")) if constrained else updates
        return x.at[at[:5]].add(updates)

    args = ramp(8, 1), ramp(6, 1) + 1, np.array([1, 3, 1, 7, 0, 2])
    expected = function(*map(jnp.asarray, args), constrained=False)
    for transform in (partition, propagate):
        found = transform(function, in_shardings=(on(), on("model"), on()))(*args)
        np.testing.assert_array_equal(found, expected)


def test_what_several_ops_read_of_other_shards():
    """`jax.jit` fills up what all of them read by the first one's initial value; of rows that are one a device, what
    reads all of them and what reads the first gathered the same for `propagate`.
    """

    def function(x):
        return jax.lax.cummin(x), jax.lax.cummax(x), jax.lax.cumsum(x), x.at[1:4].set(0), x[:3]

    rows = ramp(8, 4) - 9
    expected = function(jnp.asarray(rows))
    for transform in (partition, propagate):
        results = transform(function, in_shardings=on(("data", "model")))(rows)
        for found, wanted in zip(results, expected, strict=True):
            np.testing.assert_array_equal(found, wanted)


def test_what_a_partly_manual_computation_has_whole_is_no_mistake():
    """JAX has no other words for it than P()."""

    def local(x, w):
        return jax.lax.psum(x @ w, "data")

    product = jax.shard_map(local, mesh=MESH, in_specs=(P("data"), P()), out_specs=P(), axis_names={"data"})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = partition(product)(X, W)
    np.testing.assert_allclose(found, (X @ W).reshape(MESH.shape["data"], -1, 32).sum(0), rtol=1e-5)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
@pytest.mark.parametrize("transform", [partition, propagate], ids=["partition", "propagate"])
def test_inside(case, transform):
    # Shardings of results that nothing says are the compiler's own choice.
    compare(case(transform), case(jax.jit), places=False)
