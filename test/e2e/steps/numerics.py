"""Numerical programs."""

import jax
import jax.numpy as jnp
from jax import lax

from .registry import normal, step


@step(lambda: ({"scale": normal(8)}, normal(8, 12, 8), normal(8, 12, seed=1)))
def gaussian_process(parameters, x, y):
    """Log likelihood by Cholesky factors, batched."""

    def loss(p):
        z = x * p["scale"]
        kernel = jnp.exp(-0.5 * ((z[:, :, None] - z[:, None]) ** 2).sum(-1)) + 0.1 * jnp.eye(12)
        factor = jnp.linalg.cholesky(kernel)
        half = jax.scipy.linalg.solve_triangular(factor, y[..., None], lower=True)
        return jnp.sum(half**2) + jnp.log(jnp.diagonal(factor, axis1=-2, axis2=-1)).sum()

    return jax.value_and_grad(loss)(parameters)


@step(lambda: ({"centers": normal(5, 8)}, normal(48, 8, seed=1)))
def k_means(parameters, x):
    def body(_, centers):
        nearest = jnp.argmin(((x[:, None] - centers) ** 2).sum(-1), -1)
        hot = jax.nn.one_hot(nearest, 5)
        return (hot.T @ x) / jnp.maximum(hot.sum(0), 1)[:, None]

    return lax.fori_loop(0, 4, body, parameters["centers"])


@step(lambda: ({"a": normal(24, 24)}, normal(24)))
def conjugate_gradients(parameters, b):
    matrix = parameters["a"] @ parameters["a"].T + 24 * jnp.eye(24)
    return jax.scipy.sparse.linalg.cg(lambda v: matrix @ v, b, maxiter=12)[0]


@step(lambda: ({"w": normal(8)}, normal(8, 30)))
def quantiles(parameters, x):
    """Sorting, ranks, cumulative sums and clipping by quantile."""
    ordered = jnp.sort(x, -1)
    ranks = jnp.argsort(jnp.argsort(x, -1), -1)
    return ordered[:, 7], ranks, jnp.cumsum(ordered, -1) * parameters["w"][:, None], jnp.clip(x, None,
        ordered[:, 20:21])


@step(lambda: ({"k": normal(3, 3)}, normal(24, 20)), also=("spatial",))
def stencil(parameters, field):
    """Five steps of diffusion with a periodic boundary and one of a five-point maximum."""
    for _ in range(2):
        field = field + 0.1 * sum(jnp.roll(field, s, d) - field for s in (1, -1) for d in (0, 1))
    return field, lax.reduce_window(field, -jnp.inf, lax.max, (3, 3), (1, 1), "SAME"), jnp.pad(field, ((2, 1), (0, 3)))


@step(lambda: ({"ridge": normal(1) ** 2 + 0.1}, normal(8, 20, 6), normal(8, 20, seed=1)))
def ridge(parameters, x, y):
    """Least squares for every member of a batch, by a factorisation and by orthogonal bases."""
    square = jnp.einsum("bni,bnj->bij", x, x) + parameters["ridge"] * jnp.eye(6)
    weights = jax.scipy.linalg.cho_solve((jnp.linalg.cholesky(square), True), jnp.einsum("bni,bn->bi", x, y)[..., None])
    basis, upper = jnp.linalg.qr(x)
    return weights, jnp.linalg.solve(upper + 0.1 * jnp.eye(6), jnp.einsum("bni,bn->bi", basis, y)[..., None])


@step(lambda: ({"a": normal(4, 4, scale=0.4), "h": normal(2, 4)}, normal(8, 12, 2)))
def kalman(parameters, observed):
    """A filter over time, one for every member of the batch."""
    a, h = parameters["a"], parameters["h"]

    def body(state, seen):
        mean, spread = state
        mean, spread = mean @ a.T, a @ spread @ a.T + 0.1 * jnp.eye(4)
        seen_spread = h @ spread
        inner = seen_spread @ h.T + 0.5 * jnp.eye(2)
        gain = jax.scipy.linalg.cho_solve((jnp.linalg.cholesky(inner), True), seen_spread).swapaxes(-1, -2)
        mean = mean + jnp.einsum("bij,bj->bi", gain, seen - mean @ h.T)
        return (mean, spread - gain @ h @ spread), mean

    start = jnp.zeros((8, 4)), jnp.tile(jnp.eye(4), (8, 1, 1))
    return lax.scan(body, start, observed.swapaxes(0, 1))[1]


@step(lambda: ({"speed": normal(24, 20) ** 2 * 0.01}, normal(24, 20)), also=("spatial",))
def wave(parameters, field):
    """Ten steps of a wave in a loop, fixed boundaries."""

    def body(_, state):
        now, before = state
        around = jnp.pad(now, 1)
        bend = around[2:, 1:-1] + around[:-2, 1:-1] + around[1:-1, 2:] + around[1:-1, :-2] - 4 * now
        return 2 * now - before + parameters["speed"] * bend, now

    return lax.fori_loop(0, 10, body, (field, field))[0]


@step(lambda: ({"x": normal(64, 8), "y": normal(64, seed=1)}, normal(32, 8, seed=2)))
def monte_carlo(data, chains):
    """Hamiltonian Monte Carlo: chains of a Bayesian regression, each leapfrogs through all data."""

    def potential(q):
        return 0.5 * jnp.sum((data["y"] - data["x"] @ q) ** 2) + 0.5 * jnp.sum(q**2)

    def leapfrog(_, state):
        q, momentum = state
        momentum = momentum - 0.005 * jax.grad(potential)(q)
        q = q + 0.01 * momentum
        return q, momentum - 0.005 * jax.grad(potential)(q)

    def proposal(q, key):
        start, accept = jax.random.split(key)
        momentum = jax.random.normal(start, q.shape)
        new, later = lax.fori_loop(0, 5, leapfrog, (q, momentum))
        gain = potential(q) - potential(new) + 0.5 * (momentum @ momentum - later @ later)
        return jnp.where(jnp.log(jax.random.uniform(accept)) < gain, new, q)

    def sample(q, key):
        q = jax.vmap(proposal)(q, jax.random.split(key, 32))
        return q, q.mean(0)

    return lax.scan(sample, chains, jax.random.split(jax.random.key(0), 4))
