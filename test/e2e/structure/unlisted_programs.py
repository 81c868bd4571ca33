"""Small JAX programs outside the supported list, and the worker that compiles and runs them.

    python unlisted_programs.py NAME...     prints one line of JSON per program: {"name", "outcome", "detail"}

Outcomes: "agrees", "refused" (with a located error), "wrong", "unlocated", "broken". A worker that dies has aborted.
"""

import functools
import json
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

PROGRAMS = {}


def program(*arguments, specs=None, x64=False):
    """Registers a function with its arguments: arrays, or shapes that stand for arrays of normal numbers.

    The first argument is sharded by "data" and "model" on its first two dims unless `specs` says otherwise.
    """

    def register(function):
        PROGRAMS[function.__name__] = (function, arguments, specs, x64)
        return function

    return register


def normal(*shape, dtype=np.float32, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def integers(*shape, low=0, high=8, dtype=np.int32, seed=0):
    return np.random.default_rng(seed).integers(low, high, shape).astype(dtype)


def constrained(x, *spec):
    return lax.with_sharding_constraint(x, NamedSharding(mesh(), P(*spec)))


@functools.cache
def mesh():
    return Mesh(np.array(jax.devices("cpu")[:8]).reshape(2, 4), ("data", "model"))


@program((8, 16))
def sort(x):
    return jnp.sort(x, axis=1)


@program((8, 16))
def argsort(x):
    return jnp.argsort(x, axis=0)


@program((8, 16))
def cumsum(x):
    return jnp.cumsum(x, axis=0)


@program((8, 16))
def cumulative_max(x):
    return lax.cummax(x, axis=1)


@program((8, 16))
def associative_scan(x):
    return lax.associative_scan(jnp.multiply, x, axis=1)


@program((2, 8, 8, 4), (3, 3, 4, 8))
def convolution(x, kernel):
    return lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


@program((2, 8, 8, 4), (3, 3, 4, 8))
def convolution_gradient(x, kernel):
    def loss(k):
        y = lax.conv_general_dilated(x, k, (2, 2), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        return jnp.sum(y**2)

    return jax.grad(loss)(kernel)


@program((2, 8, 8, 4))
def max_pool(x):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


@program((2, 8, 8, 4))
def max_pool_gradient(x):
    return jax.grad(lambda v: lax.reduce_window(v, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID").sum())(x)


@program((8, 16))
def while_loop(x):
    return lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * 1.5), (0, x))[1]


@program((8, 16))
def fori_loop(x):
    return lax.fori_loop(0, 4, lambda i, v: v + i, x)


@program((8, 16), (16, 16))
def scan(x, w):
    return lax.scan(lambda c, _: (jnp.tanh(c @ w), c.sum()), x, None, length=3)


@program((8, 16))
def cond(x):
    return lax.cond(x.sum() > 0, lambda v: v + 1, lambda v: v * 2, x)


@program((8, 16), np.int32(2))
def switch(x, i):
    return lax.switch(i, [lambda v: v, lambda v: -v, lambda v: v * v], x)


@program(np.array([0, 7], np.uint32), (8, 16), specs=[P(), P("data", "model")])
def random_normal(key, x):
    return x + jax.random.normal(jax.random.wrap_key_data(key), x.shape)


@program(np.array([1, 2, 3, 4], np.uint32), (8, 16), specs=[P(), P("data", "model")])
def rng_bit_generator(key, x):
    return lax.rng_bit_generator(key, (8, 16))[1], x


@program((8, 16))
def fft(x):
    return jnp.fft.fft(x, axis=1)


@program((4, 8, 8), specs=[P("data")])
def cholesky(x):
    return jnp.linalg.cholesky(x @ jnp.swapaxes(x, 1, 2) + 8 * jnp.eye(8))


@program((8, 8), (8, 16), specs=[P(), P("data", "model")])
def triangular_solve(a, b):
    return lax.linalg.triangular_solve(jnp.tril(a) + 8 * jnp.eye(8), b, left_side=True, lower=True)


@program((8, 16))
def top_k(x):
    return lax.top_k(x, 3)


@program((8, 16), np.int32(3))
def dynamic_slice(x, i):
    return lax.dynamic_slice(x, (i, 0), (4, 16))


@program((8, 16), (2, 16), np.int32(3))
def dynamic_update_slice(x, update, i):
    return lax.dynamic_update_slice(x, update, (i, 0))


@program((8, 16))
def uneven_constraint(x):
    return constrained(jnp.concatenate([x, x[:3]]), "model", None) * 2


@program((8, 16))
def uneven_slice(x):
    return x[1:8] + 1


@program((10, 6), specs=[P()])
def uneven_unsharded(x):
    return constrained(x, "model", "data") @ x.T


@program(normal(8, 16, dtype=np.float64), specs=[P("data", "model")], x64=True)
def float64(x):
    return jnp.sin(x) @ x.T


@program(integers(8, 16, dtype=np.int64), specs=[P("data", "model")], x64=True)
def int64(x):
    return x.sum(axis=1) * 3


@program((8, 16), (8, 16))
def complex_numbers(x, y):
    z = lax.complex(x, y)
    return (z * z.conj()).sum(axis=0), jnp.abs(z)


@program((8, 16), (16, 32))
def bfloat16(x, w):
    return jax.nn.relu(x.astype(jnp.bfloat16) @ w.astype(jnp.bfloat16))


@program(integers(8, 16, low=-8, dtype=np.int8), integers(16, 8, low=-8, dtype=np.int8))
def int8_dot(x, w):
    return lax.dot_general(x, w, (((1,), (0,)), ((), ())), preferred_element_type=jnp.int32)


@program(integers(8, 16, high=2).astype(bool))
def boolean_reductions(x):
    return x.any(axis=0), x.all(axis=1), ~x


@program((8, 16))
def argmax(x):
    return jnp.argmax(x, axis=1)


@program((8, 16))
def argmin_of_cut_dim(x):
    return jnp.argmin(x, axis=0)


@program((8, 16))
def roll(x):
    return jnp.roll(x, 3, axis=1)


@program((8, 16))
def concatenate_cut(x):
    return jnp.concatenate([x, 2 * x], axis=0)


@program((8, 16))
def pad(x):
    return jnp.pad(x, ((1, 1), (0, 2)), constant_values=5.0)


@program((8, 16))
def interior_pad(x):
    return lax.pad(x, 1.0, ((0, 0, 1), (-1, 2, 0)))


@program((8, 16))
def reverse(x):
    return x[::-1, ::-1]


@program((8, 16))
def strided_slice(x):
    return x[::2, 1::3]


@program((8, 4, 16), (8, 16, 4))
def einsum_batched(x, y):
    return jnp.einsum("bij,bjk->bik", x, y)


@program((8, 4, 16), (16, 4))
def einsum_double_contraction(x, y):
    return jnp.einsum("bij,ji->b", x, y)


@program((8, 16))
def variance(x):
    return jnp.var(x, axis=0), jnp.std(x, axis=1)


@program((8, 16))
def product(x):
    return jnp.prod(x, axis=1)


@program((8, 16))
def minimum_and_maximum(x):
    return x.min(axis=0), x.max()


@program((8, 16))
def log_sum_exp(x):
    return jax.nn.logsumexp(x, axis=0)


@program((8, 16), integers(4, high=8), specs=[P("data", "model"), P()])
def take_rows(x, i):
    return x[i]


@program((8, 16), integers(8, high=16), specs=[P("data", "model"), P("data")])
def take_along_axis(x, i):
    return jnp.take_along_axis(x, i[:, None], axis=1)


@program((8, 16), integers(4, high=8), (4, 16), specs=[P("data", "model"), P(), P()])
def scatter_add(x, i, update):
    return x.at[i].add(update)


@program((8, 16), integers(4, high=8), (4, 16), specs=[P("data", "model"), P(), P()])
def scatter_max(x, i, update):
    return x.at[i].max(update)


@program((8, 16))
def scatter_set(x):
    return x.at[2, 3].set(7.0)


@program((8, 16))
def reshape_splits_and_merges(x):
    return x.reshape(4, 2, 16).transpose(0, 2, 1).reshape(8, 16)


@program((8, 6), specs=[P("data")])
def reshape_uneven(x):
    return x.reshape(6, 8)


@program(integers(8, 16), specs=[P("data", "model")])
def one_hot(x):
    return jax.nn.one_hot(x, 8)


@program((8, 16))
def iota_of_global_positions(x):
    return x + jnp.arange(16) * jnp.arange(8)[:, None]


@program((8, 8))
def triangle(x):
    return jnp.tril(x) + jnp.eye(8)


@program((8, 16))
def checkpoint(x):
    return jax.grad(lambda v: jax.checkpoint(lambda u: jnp.sin(jnp.sin(u)))(v).sum())(x)


@program((8, 16))
def callback(x):
    return jax.pure_callback(np.sin, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


@program((8, 16))
def shardings_exchanged(x):
    return constrained(constrained(x * 2, "model", "data") + 1, None, ("data", "model"))


@program((0, 16), specs=[P()])
def empty_tensor(x):
    return x.sum(axis=0), x * 2


@program(integers(8, 16, dtype=np.uint32), specs=[P("data", "model")])
def bitwise(x):
    return (x << 3) ^ (x >> 1) | lax.population_count(x)


@program((8, 16))
def bit_cast(x):
    return lax.bitcast_convert_type(x, jnp.uint32), lax.bitcast_convert_type(x, jnp.uint16)


@program((8, 16))
def special_functions(x):
    return jax.scipy.special.erf(x), jax.scipy.special.digamma(x), lax.lgamma(x), lax.nextafter(x, x + 1)


@program((8, 16))
def segment_sum(x):
    return jax.ops.segment_sum(x, jnp.array([0, 1, 0, 2, 2, 1, 3, 3]), num_segments=4)


@program((8, 16))
def nested_jit(x):
    inner = jax.jit(lambda v: jnp.where(v > 0, v, 0.1 * v))
    return inner(inner(x)).mean()


@program((8, 16))
def clamp_and_round(x):
    return jnp.clip(jnp.round(x * 10), -5, 5), jnp.floor(x), jnp.sign(x), jnp.isfinite(x)


@program((8, 16))
def approximate_maxima(x):
    return lax.approx_max_k(x, 2)


@program((16, 16))
def causal_mask(x):
    return jnp.where(np.tril(np.ones((16, 16), bool)), x, -1e9)


@program((4, 8, 8), specs=[P("data")])
def eigenvalues(x):
    return jnp.linalg.eigh(x + x.transpose(0, 2, 1))[0]


@program((2, 8, 8, 4), (3, 3, 4, 8))
def transposed_convolution(x, kernel):
    return lax.conv_transpose(x, kernel, (2, 2), "SAME")


@program((8, 16), np.int32(5))
def roll_by_data(x, by):
    return jnp.roll(x, by, axis=1)


@program((2, 16, 4, 8), (2, 16, 2, 8), (2, 16, 2, 8), specs=[P("data", "model")] * 3)
def grouped_query_attention(q, k, v):
    return jax.nn.dot_product_attention(q, k, v, is_causal=True)


@program((8, 16))
def cond_in_scan(x):
    def step(carry, row):
        return lax.cond(row.sum() > 0, lambda a: a + row, lambda a: a - row, carry), carry.sum()

    return lax.scan(step, jnp.zeros(16), x)


def lower(name):
    """(text, inputs) of a program."""
    function, arguments, specs, x64 = PROGRAMS[name]
    arrays = [normal(*entry, seed=i) if isinstance(entry, tuple) else entry for i, entry in enumerate(arguments)]
    if specs is None:
        first = P(*("data", "model")[: arrays[0].ndim])
        specs = [first] + [P()] * (len(arrays) - 1)
    shardings = tuple(NamedSharding(mesh(), spec) for spec in specs)
    with jax.enable_x64(x64):
        lowered = jax.jit(function, in_shardings=shardings, keep_unused=True).lower(*arrays)
        return lowered.as_text(debug_info=True), arrays


def attempt(name):
    """(outcome, detail) of compiling and running a program."""
    import shardonnay
    from shardonnay import compare, engine, run

    text, inputs = lower(name)
    try:
        compiled = shardonnay.compile(text)
    except shardonnay.CompileError as error:
        first = next(diagnostic for diagnostic in error.diagnostics if diagnostic.severity == "error")
        return ("refused" if first.location else "unlocated"), str(first)
    try:
        agreements = run.check(run.LoadedProgram(compiled), inputs, compare.reference(text, inputs))
    except engine.CallbackError as error:
        return "refused", str(error)
    wrong = [str(agreement) for agreement in agreements if not agreement.ok]
    largest = max(agreement.error for agreement in agreements)
    if wrong:
        return "wrong", "; ".join(wrong)
    gathers = sum(diagnostic.severity == "warning" for diagnostic in compiled.diagnostics)
    sent = f"{compiled.report['collective_bytes']} bytes sent" + (f", {gathers} ops replicated" if gathers else "")
    return "agrees", f"largest error {largest:.3g}, {sent}"


def main():
    from shardonnay import engine

    engine.prepare(8)
    for name in sys.argv[1:]:
        try:
            outcome, detail = attempt(name)
        except Exception as error:  # whatever it is, the test has to name it
            outcome, detail = "broken", f"{type(error).__name__}: {error}"
        print(json.dumps({"name": name, "outcome": outcome, "detail": detail}), flush=True)


if __name__ == "__main__":
    main()
