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


def add(name, function, *arguments, specs=None, x64=False):
    """Adds a function with its arguments: arrays, or shapes that stand for arrays of normal numbers.

    The first argument is sharded by "data" and "model" on its first two dims unless `specs` says otherwise.
    """
    PROGRAMS[name] = (function, arguments, specs, x64)


def program(*arguments, **more):
    """Adds the function that follows."""
    return lambda function: add(function.__name__, function, *arguments, **more)


def normal(*shape, dtype=np.float32, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def integers(*shape, low=0, high=8, dtype=np.int32, seed=0):
    return np.random.default_rng(seed).integers(low, high, shape).astype(dtype)


def constrained(x, *spec):
    return lax.with_sharding_constraint(x, NamedSharding(mesh(), P(*spec)))


def scattering(kind):
    return lambda x, i, update: getattr(x.at[i], kind)(update)


@functools.cache
def mesh():
    return Mesh(np.array(jax.devices("cpu")[:8]).reshape(2, 4), ("data", "model"))


add("sort", lambda x: jnp.sort(x, axis=1), (8, 16))
add("argsort", lambda x: jnp.argsort(x, axis=0), (8, 16))
add("cumsum", lambda x: jnp.cumsum(x, axis=0), (8, 16))
add("cumulative_max", lambda x: lax.cummax(x, axis=1), (8, 16))
add("associative_scan", lambda x: lax.associative_scan(jnp.multiply, x, axis=1), (8, 16))


@program((2, 8, 8, 4), (3, 3, 4, 8))
def convolution(x, kernel):
    return lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


@program((2, 8, 8, 4), (3, 3, 4, 8))
def convolution_gradient(x, kernel):
    def loss(k):
        y = lax.conv_general_dilated(x, k, (2, 2), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        return jnp.sum(y**2)

    return jax.grad(loss)(kernel)


add("max_pool", lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"), (2, 8, 8, 4))


@program((2, 8, 8, 4))
def max_pool_gradient(x):
    return jax.grad(lambda v: lax.reduce_window(v, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID").sum())(x)


add("while_loop", lambda x: lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * 1.5), (0, x))[1], (8, 16))
add("fori_loop", lambda x: lax.fori_loop(0, 4, lambda i, v: v + i, x), (8, 16))
add("scan", lambda x, w: lax.scan(lambda c, _: (jnp.tanh(c @ w), c.sum()), x, None, length=3), (8, 16), (16, 16))
add("cond", lambda x: lax.cond(x.sum() > 0, lambda v: v + 1, lambda v: v * 2, x), (8, 16))
add("switch", lambda x, i: lax.switch(i, [lambda v: v, lambda v: -v, lambda v: v * v], x), (8, 16), np.int32(2))


@program(np.array([0, 7], np.uint32), (8, 16), specs=[P(), P("data", "model")])
def random_normal(key, x):
    return x + jax.random.normal(jax.random.wrap_key_data(key), x.shape)


@program(np.array([1, 2, 3, 4], np.uint32), (8, 16), specs=[P(), P("data", "model")])
def rng_bit_generator(key, x):
    return lax.rng_bit_generator(key, (8, 16))[1], x


add("fft", lambda x: jnp.fft.fft(x, axis=1), (8, 16))
add("cholesky", lambda x: jnp.linalg.cholesky(x @ jnp.swapaxes(x, 1, 2) + 8 * jnp.eye(8)), (4, 8, 8), specs=[P("data")])


@program((8, 8), (8, 16), specs=[P(), P("data", "model")])
def triangular_solve(a, b):
    return lax.linalg.triangular_solve(jnp.tril(a) + 8 * jnp.eye(8), b, left_side=True, lower=True)


add("top_k", lambda x: lax.top_k(x, 3), (8, 16))
add("dynamic_slice", lambda x, i: lax.dynamic_slice(x, (i, 0), (4, 16)), (8, 16), np.int32(3))
add("dynamic_update_slice", lambda x, update, i: lax.dynamic_update_slice(x, update, (i, 0)), (8, 16), (2, 16),
    np.int32(3))
add("uneven_constraint", lambda x: constrained(jnp.concatenate([x, x[:3]]), "model", None) * 2, (8, 16))
add("uneven_slice", lambda x: x[1:8] + 1, (8, 16))
add("uneven_unsharded", lambda x: constrained(x, "model", "data") @ x.T, (10, 6), specs=[P()])
add("float64", lambda x: jnp.sin(x) @ x.T, normal(8, 16, dtype=np.float64), specs=[P("data", "model")], x64=True)
add("int64", lambda x: x.sum(axis=1) * 3, integers(8, 16, dtype=np.int64), specs=[P("data", "model")], x64=True)


@program((8, 16), (8, 16))
def complex_numbers(x, y):
    z = lax.complex(x, y)
    return (z * z.conj()).sum(axis=0), jnp.abs(z)


add("bfloat16", lambda x, w: jax.nn.relu(x.astype(jnp.bfloat16) @ w.astype(jnp.bfloat16)), (8, 16), (16, 32))


@program(integers(8, 16, low=-8, dtype=np.int8), integers(16, 8, low=-8, dtype=np.int8))
def int8_dot(x, w):
    return lax.dot_general(x, w, (((1,), (0,)), ((), ())), preferred_element_type=jnp.int32)


add("boolean_reductions", lambda x: (x.any(axis=0), x.all(axis=1), ~x), integers(8, 16, high=2).astype(bool))
add("argmax", lambda x: jnp.argmax(x, axis=1), (8, 16))
add("argmin_of_cut_dim", lambda x: jnp.argmin(x, axis=0), (8, 16))
add("roll", lambda x: jnp.roll(x, 3, axis=1), (8, 16))
add("concatenate_cut", lambda x: jnp.concatenate([x, 2 * x], axis=0), (8, 16))
add("pad", lambda x: jnp.pad(x, ((1, 1), (0, 2)), constant_values=5.0), (8, 16))
add("interior_pad", lambda x: lax.pad(x, 1.0, ((0, 0, 1), (-1, 2, 0))), (8, 16))
add("reverse", lambda x: x[::-1, ::-1], (8, 16))
add("strided_slice", lambda x: x[::2, 1::3], (8, 16))
add("einsum_batched", lambda x, y: jnp.einsum("bij,bjk->bik", x, y), (8, 4, 16), (8, 16, 4))
add("einsum_double_contraction", lambda x, y: jnp.einsum("bij,ji->b", x, y), (8, 4, 16), (16, 4))
add("variance", lambda x: (jnp.var(x, axis=0), jnp.std(x, axis=1)), (8, 16))
add("product", lambda x: jnp.prod(x, axis=1), (8, 16))
add("minimum_and_maximum", lambda x: (x.min(axis=0), x.max()), (8, 16))
add("log_sum_exp", lambda x: jax.nn.logsumexp(x, axis=0), (8, 16))
add("take_rows", lambda x, i: x[i], (8, 16), integers(4, high=8), specs=[P("data", "model"), P()])
add(
    "take_along_axis",
    lambda x, i: jnp.take_along_axis(x, i[:, None], axis=1),
    (8, 16),
    integers(8, high=16),
    specs=[P("data", "model"), P("data")],
)
for kind in ("add", "max"):
    add(f"scatter_{kind}", scattering(kind), (8, 16), integers(4, high=8), (4, 16),
        specs=[P("data", "model"), P(), P()])
add("scatter_set", lambda x: x.at[2, 3].set(7.0), (8, 16))
add("reshape_splits_and_merges", lambda x: x.reshape(4, 2, 16).transpose(0, 2, 1).reshape(8, 16), (8, 16))
add("reshape_uneven", lambda x: x.reshape(6, 8), (8, 6), specs=[P("data")])
add("one_hot", lambda x: jax.nn.one_hot(x, 8), integers(8, 16), specs=[P("data", "model")])
add("iota_of_global_positions", lambda x: x + jnp.arange(16) * jnp.arange(8)[:, None], (8, 16))
add("triangle", lambda x: jnp.tril(x) + jnp.eye(8), (8, 8))
add("checkpoint", lambda x: jax.grad(lambda v: jax.checkpoint(lambda u: jnp.sin(jnp.sin(u)))(v).sum())(x), (8, 16))
add("callback", lambda x: jax.pure_callback(np.sin, jax.ShapeDtypeStruct(x.shape, x.dtype), x), (8, 16))
add("shardings_exchanged", lambda x: constrained(constrained(x * 2, "model", "data") + 1, None, ("data", "model")),
    (8, 16))
add("empty_tensor", lambda x: (x.sum(axis=0), x * 2), (0, 16), specs=[P()])
add(
    "bitwise",
    lambda x: (x << 3) ^ (x >> 1) | lax.population_count(x),
    integers(8, 16, dtype=np.uint32),
    specs=[P("data", "model")],
)
add("bit_cast", lambda x: (lax.bitcast_convert_type(x, jnp.uint32), lax.bitcast_convert_type(x, jnp.uint16)), (8, 16))
add("special_functions", lambda x: (jax.scipy.special.erf(x), jax.scipy.special.digamma(x), lax.lgamma(x),
                                    lax.nextafter(x, x + 1)), (8, 16))
add("segment_sum", lambda x: jax.ops.segment_sum(x, jnp.array([0, 1, 0, 2, 2, 1, 3, 3]), num_segments=4), (8, 16))


@program((8, 16))
def nested_jit(x):
    inner = jax.jit(lambda v: jnp.where(v > 0, v, 0.1 * v))
    return inner(inner(x)).mean()


add("clamp_and_round", lambda x: (jnp.clip(jnp.round(x * 10), -5, 5), jnp.floor(x), jnp.sign(x), jnp.isfinite(x)),
    (8, 16))
add("approximate_maxima", lambda x: lax.approx_max_k(x, 2), (8, 16))
add("causal_mask", lambda x: jnp.where(np.tril(np.ones((16, 16), bool)), x, -1e9), (16, 16))
add("eigenvalues", lambda x: jnp.linalg.eigh(x + x.transpose(0, 2, 1))[0], (4, 8, 8), specs=[P("data")])
add("transposed_convolution", lambda x, kernel: lax.conv_transpose(x, kernel, (2, 2), "SAME"), (2, 8, 8, 4),
    (3, 3, 4, 8))
add("roll_by_data", lambda x, by: jnp.roll(x, by, axis=1), (8, 16), np.int32(5))


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
