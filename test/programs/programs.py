"""JAX programs, so many that they have every op that jax.numpy, jax.lax, flax, optax and shard_map emit.

    python programs.py [NAME...]     prints them, without names how many there are

A program is a function and its arguments: arrays or shapes. `FOR_TPU` are lowered for TPUs, where other ops are
emitted, and `SYMBOLIC` with sizes that are unknown.
"""

import functools
import importlib.util
import itertools
import sys

import flax.linen as nn
import jax
import jax.experimental.checkify
import jax.experimental.sparse
import jax.experimental.xla_metadata
import jax.numpy as jnp
import jax.scipy as jsp
import jax.scipy.integrate
import jax.scipy.optimize
import jax.scipy.sparse.linalg
import numpy as np
import optax
import optax.contrib
from jax import lax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

PROGRAMS = {}


def shaped(argument):
    """An abstract value of a shape, such as (4, 8), or of a shape and an element type, such as ((4, 8), "int32")."""
    if isinstance(argument, tuple) and len(argument) == 2 and isinstance(argument[0], tuple):
        return jax.ShapeDtypeStruct(argument[0], jnp.dtype(argument[1]))
    if isinstance(argument, tuple):
        return jax.ShapeDtypeStruct(argument, jnp.float32)
    return argument


def add(name, function, *arguments, x64=False):
    assert name not in PROGRAMS, name
    PROGRAMS[name] = (function, [shaped(argument) for argument in arguments], x64)


def program(*arguments, x64=False):
    def register(function):
        add(function.__name__, function, *arguments, x64=x64)
        return function

    return register


@functools.cache
def mesh(shape=(2, 4), names=("data", "model")):
    return Mesh(np.array(jax.devices("cpu")[: np.prod(shape)]).reshape(shape), names)


def text(name, locations=False):
    """The program as JAX prints it."""
    if name in SYMBOLIC:
        function, shapes = SYMBOLIC[name]
        (size,) = jax.export.symbolic_shape("b")
        arguments = [jax.ShapeDtypeStruct([size if n is None else n for n in shape], jnp.float32) for shape in shapes]
        return jax.export.export(jax.jit(function))(*arguments).mlir_module()
    platform = "tpu" if name.endswith(" tpu") else "cpu"
    function, arguments, x64 = PROGRAMS[name.removesuffix(" tpu")]
    with jax.enable_x64(x64):
        lowered = jax.jit(function).trace(*arguments).lower(lowering_platforms=(platform,))
        return lowered.as_text(debug_info=locations)


# Element by element, as few programs as have all of them: their ops are independent of each other.
def each(functions):
    return lambda *arguments: [function(*arguments) for function in functions]


FLOAT = (
    "abs acos acosh asin asinh atan atanh cbrt ceil cos cosh degrees exp exp2 expm1 fabs floor frexp i0 "
    "isfinite isinf isnan isneginf isposinf log log10 log1p log2 modf nan_to_num negative positive radians reciprocal "
    "rint round sign signbit sin sinc sinh spacing sqrt square tan tanh trunc"
).split()
PAIRS = (
    "add arctan2 copysign divide divmod float_power floor_divide fmax fmin fmod greater greater_equal heaviside hypot "
    "less less_equal logaddexp logaddexp2 maximum minimum mod multiply nextafter not_equal power remainder "
    "subtract true_divide equal"
).split()
BITS = "bitwise_and bitwise_or bitwise_xor left_shift right_shift gcd lcm".split()
ONE_OPERAND = (
    "digamma entr erf erfc erfinv expit expi exp1 factorial gammaln i0e i1 i1e log_ndtr logit ndtr ndtri spence"
)
TWO_OPERANDS = "betaln xlog1py xlogy zeta gammainc gammaincc poch"

for i in range(0, len(FLOAT), 8):
    add(f"float_{i // 8}", each([getattr(jnp, n) for n in FLOAT[i : i + 8]]), (4, 8))
for i in range(0, len(PAIRS), 8):
    add(f"pairs_{i // 8}", each([getattr(jnp, n) for n in PAIRS[i : i + 8]]), (4, 8), (4, 8))
add("ldexp", jnp.ldexp, (4,), ((4,), "int32"))
add("bits", each([getattr(jnp, n) for n in BITS]), ((4,), "int32"), ((4,), "int32"))
add("bits_unsigned", each([getattr(jnp, n) for n in BITS]), ((4,), "uint8"), ((4,), "uint8"))
add("logical", each([jnp.logical_and, jnp.logical_or, jnp.logical_xor]), ((4,), "bool"), ((4,), "bool"))
add("inverted", each([jnp.invert, jnp.bitwise_count, lax.clz, lax.population_count]), ((4,), "int32"))
add("not_bool", jnp.logical_not, ((4,), "bool"))
for i in range(0, len(ONE_OPERAND.split()), 6):
    add(f"special_{i // 6}", each([getattr(jsp.special, n) for n in ONE_OPERAND.split()[i : i + 6]]), (4,))
for name in TWO_OPERANDS.split():
    add(f"special_{name}", getattr(jsp.special, name), (4,), (4,))
add("special_betainc", jsp.special.betainc, (4,), (4,), (4,))
add("special_polygamma", lambda x: jsp.special.polygamma(1, x), (4,))
add("special_bessel", lax.bessel_i1e, (4,))
add("special_gamma_gradient", lambda a, x: lax.random_gamma_grad(a, x) + lax.igamma_grad_a(a, x), (4,), (4,))
add("special_double", each([jsp.special.erf, jsp.special.digamma, jnp.tan]), ((4,), "float64"), x64=True)
add("complex_parts", each([jnp.real, jnp.imag, jnp.conj, jnp.abs, jnp.angle, jnp.exp]), ((4,), "complex64"))
add("complex_made", lax.complex, (4,), (4,))
add("complex_double", lambda x: jnp.tanh(x) * x, ((4,), "complex128"), x64=True)
add("converted", lambda x: [x.astype(t) for t in ("int8", "bfloat16", "float16", "bool", "uint32", "complex64")], (4,))
add("converted_small", lambda x: [x.astype(t) for t in ("float8_e4m3fn", "float8_e5m2", "int4", "uint4", "int2")], (4,))
add("integers_wide", lambda x: x * x // 7, ((4,), "int64"), x64=True)
add("precision_reduced", lambda x: lax.reduce_precision(x, 5, 10), (4,))
add("bits_of_floats", lambda x: lax.bitcast_convert_type(x, jnp.uint8), (4,))
add("bits_to_floats", lambda x: lax.bitcast_convert_type(x, jnp.float32), ((4, 4), "uint8"))
add("integer_power", lambda x: [lax.integer_pow(x, n) for n in (-2, 3, 7)], (4,))
add("integer_powers", jnp.power, ((4,), "int32"), ((4,), "int32"))
add("where", lambda p, x, y: [jnp.where(p, x, y), lax.select_n(p.astype(int), x, y)], ((4,), "bool"), (4,), (4,))
add("selected_of_three", lambda i, x, y: lax.select_n(i, x, y, x * y), ((4,), "int32"), (4,), (4,))
add("clamped", lambda x: [lax.clamp(0.0, x, 1.0), jnp.clip(x, -1, 1)], (4,))
add("gradient_stopped", lambda x: lax.stop_gradient(x) * 2, (4,))
add("accuracy", lambda x: [lax.exp(x, accuracy=lax.AccuracyMode.HIGHEST),
                           lax.tanh(x, accuracy=lax.Tolerance(1e-5, 0.0, 1))], (4,))
add("logistic", lax.logistic, (4,))
add("rounded", lambda x: [lax.round(x, lax.RoundingMethod(m)) for m in (0, 1)] + [lax.rsqrt(x)], (4,))
add("multiplied_high", lax.mulhi, ((4,), "uint32"), ((4,), "uint32"))
add("total_order", lambda x, y: [lax.eq_to_p.bind(x, y), lax.le_to_p.bind(x, y), lax.lt_to_p.bind(x, y)], (4,), (4,))


# Shapes.
add("reshaped", lambda x: [x.reshape(8, 4), x.ravel(), jnp.squeeze(x[None]), jnp.expand_dims(x, (0, 3))], (4, 8))
add("transposed", lambda x: [x.T, jnp.moveaxis(x, 0, 2), jnp.swapaxes(x, 0, 1)], (2, 3, 4))
add("broadcast", lambda x: [jnp.broadcast_to(x, (3, 4)), jnp.tile(x, 2), lax.broadcast(x, (2,))], (4,))
add("repeated", lambda x: jnp.repeat(x, 3, axis=1), (4, 8))
add("joined", lambda x, y: [jnp.concatenate([x, y]), jnp.stack([x, y]), jnp.hstack([x, y])], (4, 8), (4, 8))
add("split", lambda x: jnp.split(x, 2) + jnp.array_split(x, 3, axis=1), (4, 8))
add("split_sizes", lambda x: lax.split(x, (3, 5), axis=1), (4, 8))
add("sliced", lambda x: [x[1:3], x[::2, 3], x[::-1], x[..., None, -1]], (4, 8))
add("padded", lambda x: [jnp.pad(x, 1), lax.pad(x, 0.0, ((1, -1, 2), (0, 0, 0)))], (4, 8))
for mode in ("reflect", "wrap", "edge", "linear_ramp"):
    add(f"padded_{mode}", lambda x, mode=mode: jnp.pad(x, 2, mode=mode), (4, 8))
add("reversed", lambda x: [jnp.flip(x), jnp.rot90(x), jnp.roll(x, 3, axis=1)], (4, 8))
add("counted", lambda: [jnp.arange(8), jnp.linspace(0, 1, 7), jnp.eye(4), lax.broadcasted_iota(jnp.int32, (4, 8), 1)])
add("filled", lambda x: [jnp.zeros((4, 8)), jnp.ones_like(x), jnp.full((3,), 7), jnp.array([[1, 2], [3, 4]])], (4, 8))
add("triangles", lambda x: [jnp.tril(x), jnp.triu(x, 1), jnp.diag(x), jnp.trace(x)], (4, 4))
add("gridded", lambda x, y: jnp.meshgrid(x, y), (4,), (8,))
add("products_outer", lambda x, y: [jnp.outer(x, y), jnp.kron(x, y), jnp.cross(x[:3], y[:3])], (4,), (8,))
add("dynamic_sliced", lambda x, i: lax.dynamic_slice(x, (i, 0), (2, 8)), (4, 8), ((), "int32"))
add("dynamic_updated", lambda x, u, i: lax.dynamic_update_slice(x, u, (i, 0)), (4, 8), (2, 8), ((), "int32"))
add("dynamic_indexed", lambda x, i: lax.dynamic_index_in_dim(x, i, 1), (4, 8), ((), "int32"))
add("empty", lambda x: jnp.concatenate([x, x], axis=1), (0, 4))


# Indices.
add(
    "taken",
    lambda x, i: [x[i], jnp.take(x, i, axis=1, mode="clip"), jnp.take(x, i, mode="fill")],
    (4, 8),
    ((3,), "int32"),
)
add("taken_along", lambda x, i: jnp.take_along_axis(x, i, axis=1), (4, 8), ((4, 2), "int32"))
add("taken_by_mask", lambda x, m: jnp.where(m, x, 0)[jnp.nonzero(m, size=5)], (4, 8), ((4, 8), "bool"))
for method in ("add", "multiply", "min", "max", "set", "apply"):
    if method == "apply":
        add("scattered_apply", lambda x, i: x.at[i].apply(jnp.sin), (8,), ((3,), "int32"))
    else:
        add(f"scattered_{method}", lambda x, i, u, m=method: getattr(x.at[i], m)(u), (8, 4), ((3,), "int32"), (3, 4))
add("scattered_subtract", lambda x, i: x.at[i].subtract(1), (8,), ((3,), "int32"))
add("scattered_blocks", lambda x, i: x.at[i, 1:3].set(0.0, mode="drop", unique_indices=True), (8, 4), ((3,), "int32"))
add("gather_gradient", lambda x, i: jax.grad(lambda x: x[i].sum())(x), (8, 4), ((3,), "int32"))
add("gather_batched", lambda x, i: jax.vmap(lambda x, i: x[i])(x, i), (3, 8), ((3, 2), "int32"))
add("searched", lambda x, v: jnp.searchsorted(x, v), (8,), (3,))
add("segments", lambda x, i: [jax.ops.segment_sum(x, i, 4), jax.ops.segment_max(x, i, 4)], (8,), ((8,), "int32"))
add("one_hot", lambda i: jax.nn.one_hot(i, 8), ((4,), "int32"))
add("histogram", lambda x: [jnp.bincount(x, length=5), jnp.digitize(x, jnp.arange(4))], ((8,), "int32"))
add("unique", lambda x: jnp.unique(x, size=4, return_counts=True), ((8,), "int32"))


# Reductions, windows, sorts.
REDUCTIONS = "sum prod max min any all mean var std argmax argmin median nansum ptp count_nonzero average".split()
for i in range(0, len(REDUCTIONS), 4):
    add(f"reduced_{i // 4}", each([functools.partial(getattr(jnp, n), axis=1) for n in REDUCTIONS[i : i + 4]]), (4, 8))
add(
    "reduced_bits",
    lambda x: [lax.reduce_and(x, (0,)), lax.reduce_or(x, (0,)), lax.reduce_xor(x, (0,))],
    ((4,), "uint32"),
)
add("reduced_several", lambda x, y: lax.reduce((x, y), (0.0, 0), lambda a, b: (a[0] + b[0], jnp.maximum(a[1], b[1])),
                                               (0,)),
    (4, 8), ((4, 8), "int32"))
add("reduced_mixed", lambda x: lax.reduce(x, 1.0, lambda a, b: a * b + 1, (0,)), (4, 8))
for name in ("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp"):
    add(name, functools.partial(getattr(lax, name), axis=1), (4, 8))
add("cumsum_reversed", lambda x: lax.cumsum(x, 0, reverse=True), (4, 8))
add("window_sum", lambda x: lax.reduce_window(x, 0.0, lax.add, (2, 2), (1, 2), "SAME"), (4, 8))
add("window_mixed", lambda x: lax.reduce_window(x, 0.0, lambda a, b: a + 2 * b, (2, 2), (2, 2), "VALID", (1, 2),
                                                (2, 1)), (4, 8))
add("window_gradient", jax.grad(lambda x: nn.max_pool(x, (2, 2), (2, 2)).sum()), (2, 4, 8, 3))
add("pooled", lambda x: [nn.avg_pool(x, (2, 2)), nn.max_pool(x, (2, 2))], (2, 4, 8, 3))
add("sorted", lambda x: [jnp.sort(x), jnp.argsort(x, axis=0), jnp.sort(x, descending=True)], (4, 8))
add("sorted_by_keys", lambda x, y: lax.sort((x, y, x), dimension=0, num_keys=2), (4, 8), ((4, 8), "int32"))
add("sorted_complex", jnp.sort, ((4,), "complex64"))
add("lexsorted", lambda x, y: jnp.lexsort((x, y)), (8,), (8,))
add("top_k", lambda x: lax.top_k(x, 3), (4, 8))
add("approximate_top_k", lambda x: [lax.approx_max_k(x, 3), lax.approx_min_k(x, 3)], (4, 64))
add("quantiles", lambda x: [jnp.percentile(x, 30), jnp.quantile(x, 0.5, axis=0)], (4, 8))
add("scan_associative", lambda x: lax.associative_scan(jnp.add, x), (8, 4))
add("norms", lambda x: [jnp.linalg.norm(x), jsp.special.logsumexp(x, axis=1), jax.nn.softmax(x)], (4, 8))


# Contractions.
add("dots", lambda x, y: [x @ y, jnp.tensordot(x, y, 1), jnp.inner(x, y.T)], (4, 8), (8, 5))
add("dots_batched", lambda x, y: jnp.einsum("bij,bjk->bik", x, y), (2, 3, 4), (2, 4, 5))
add("dot_precise", lambda x, y: [lax.dot(x, y, precision="highest"), lax.dot(x, y, precision="bfloat16")], (4, 8),
    (8, 5))
add("dot_algorithm", lambda x, y: lax.dot(x, y, precision=lax.DotAlgorithmPreset.BF16_BF16_F32), (4, 8), (8, 5))
add("dot_algorithms", lambda x, y: [lax.dot(x, y, precision=p) for p in (
    lax.DotAlgorithmPreset.BF16_BF16_F32_X3, lax.DotAlgorithmPreset.F32_F32_F32)], (4, 8), (8, 5))
add("dot_of_integers", lambda x, y: lax.dot(x, y, preferred_element_type=jnp.int32), ((4, 8), "int8"), ((8, 5), "int8"))
add(
    "dot_of_eights",
    lambda x, y: lax.dot(x, y, preferred_element_type=jnp.float32),
    ((4, 8), "float8_e4m3fn"),
    ((8, 5), "float8_e5m2"),
)
add("dot_ragged", lax.ragged_dot, (8, 4), (3, 4, 5), ((3,), "int32"))
add("einsums", lambda x, y: [jnp.einsum("ij,kj->", x, y), jnp.einsum("ii->i", x[:4, :4])], (4, 8), (5, 8))
CONV = (("NHWC", "HWIO", "NHWC"), ("NCHW", "OIHW", "NCHW"))
for layout in CONV:
    shapes = ((2, 8, 8, 4), (3, 3, 4, 6)) if layout == CONV[0] else ((2, 4, 8, 8), (6, 4, 3, 3))
    add(
        f"convolved_{layout[0]}",
        lambda x, k, n=layout: lax.conv_general_dilated(x, k, (1, 2), "SAME", dimension_numbers=n),
        *shapes,
    )
add("convolved_grouped", lambda x, k: lax.conv_general_dilated(x, k, (1,), "VALID", feature_group_count=2), (2, 4, 8),
    (6, 2, 3))
add("convolved_dilated", lambda x, k: lax.conv_general_dilated(x, k, (1,), [(1, 2)], lhs_dilation=(2,),
                                                               rhs_dilation=(2,)),
    (2, 4, 8), (6, 4, 3))
add("convolved_transposed", lambda x, k: lax.conv_transpose(x, k, (2,), "SAME"), (2, 8, 4), (3, 4, 6))
add("convolved_gradient", jax.grad(lambda k, x: lax.conv(x, k, (1, 1), "SAME").sum()), (6, 4, 3, 3), (2, 4, 8, 8))
add("convolved_double_batch", lambda x, k: jax.vmap(lambda x, k: lax.conv(x, k, (1, 1), "SAME"))(x, k), (5, 2, 4, 8, 8),
    (5, 6, 4, 3, 3))
add("convolve", lambda x, y: [jnp.convolve(x, y), jnp.correlate(x, y)], (8,), (3,))
add("image_resized", lambda x: jax.image.resize(x, (8, 8, 3), "bilinear"), (4, 4, 3))
add("image_patches", lambda x: lax.conv_general_dilated_patches(x, (2, 2), (1, 1), "VALID"), (2, 3, 8, 8))


# Linear algebra and Fourier transforms.
def symmetric(function):
    return lambda x: function(x @ x.swapaxes(-1, -2) + jnp.eye(x.shape[-1]))


LINALG = {
    "cholesky": symmetric(jnp.linalg.cholesky), "qr": jnp.linalg.qr, "svd": jnp.linalg.svd, "inv": jnp.linalg.inv,
    "eigh": symmetric(jnp.linalg.eigh), "eig": jnp.linalg.eig, "det": jnp.linalg.det, "slogdet": jnp.linalg.slogdet,
    "lu": jsp.linalg.lu_factor, "pinv": jnp.linalg.pinv, "expm": jsp.linalg.expm, "schur": jsp.linalg.schur,
    "hessenberg": jsp.linalg.hessenberg, "power": lambda x: jnp.linalg.matrix_power(x, 3),
}
for name, function in LINALG.items():
    add(f"linalg_{name}", function, (4, 4) if name in ("schur", "hessenberg", "expm") else (3, 4, 4))
add("linalg_solve", jnp.linalg.solve, (3, 4, 4), (3, 4, 2))
add("linalg_lstsq", jnp.linalg.lstsq, (8, 4), (8,))
add("linalg_tridiagonal", lax.linalg.tridiagonal_solve, (4,), (4,), (4,), (4, 2))
add("linalg_householder", lax.linalg.householder_product, (4, 3), (3,))
for options in itertools.product((True, False), (0, 1, 2)):
    add(f"linalg_triangular_{options[0]}_{options[1]}".lower(),
        lambda a, b, o=options: lax.linalg.triangular_solve(a, b, left_side=o[0], transpose_a=o[1] > 0,
                                                           conjugate_a=o[1] > 1, lower=o[1] == 1, unit_diagonal=o[0]),
        ((3, 4, 4), "complex64"), ((3, 4, 4), "complex64"))
add("linalg_cholesky_gradient", jax.grad(lambda x: symmetric(jnp.linalg.cholesky)(x).sum()), (4, 4))
add("fourier", lambda x: [jnp.fft.fft(x), jnp.fft.ifft(x), jnp.fft.fft2(x), jnp.fft.fftshift(x)], ((4, 8), "complex64"))
add("fourier_real", lambda x: [jnp.fft.rfft(x), jnp.fft.irfft(jnp.fft.rfft(x)), jnp.fft.rfft2(x)], (4, 8))
add("fourier_gradient", jax.grad(lambda x: jnp.abs(jnp.fft.rfft(x)).sum()), (8,))


# Random numbers.
RANDOM = (
    "uniform",
    "normal",
    "bernoulli",
    "exponential",
    "gumbel",
    "laplace",
    "cauchy",
    "rademacher",
    "truncated_normal",
)
KEY = jax.eval_shape(lambda: jax.random.PRNGKey(0))
for i in range(0, len(RANDOM), 3):
    def draws(key, names=RANDOM[i : i + 3]):
        return [jax.random.truncated_normal(key, -1, 1, (4,)) if n == "truncated_normal" else
                getattr(jax.random, n)(key, shape=(4,)) for n in names]
    add(f"random_{i // 3}", draws, KEY)
add("random_categorical", lambda key, x: jax.random.categorical(key, x), KEY, (4, 8))
add("random_integers", lambda key: [jax.random.randint(key, (4,), 0, 9), jax.random.bits(key, (4,))], KEY)
add("random_permutation", lambda key, x: [jax.random.permutation(key, x), jax.random.choice(key, x, (3,))], KEY, (8,))
add("random_gamma", lambda key, a: [jax.random.gamma(key, a), jax.random.beta(key, a, a)], KEY, (4,))
add("random_poisson", lambda key, a: jax.random.poisson(key, a, (4,)), KEY, (4,))
add("random_binomial", lambda key, p: jax.random.binomial(key, 10, p, (4,)), KEY, (4,))
add("random_split", lambda key: [jax.random.split(key, 3), jax.random.fold_in(key, 7)], KEY)
add("random_typed_key", lambda: jax.random.normal(jax.random.key(1), (4,)))
for kind in ("rbg", "unsafe_rbg"):
    add(f"random_{kind}", lambda kind=kind: jax.random.normal(jax.random.key(1, impl=kind), (4,)))
for kind in lax.RandomAlgorithm.__members__.values():
    add(
        f"random_bits_{kind.name.lower()}",
        lambda s, k=kind: lax.rng_bit_generator(s, (4, 8), algorithm=k),
        ((4,), "uint32"),
    )
add("random_bits_wide", lambda s: lax.rng_bit_generator(s, (4, 8), jnp.uint64), ((4,), "uint32"), x64=True)
add("random_uniform", lambda a, b: lax.rng_uniform(a, b, (4, 8)), (), ())


# Control flow.
add("loop", lambda x: lax.fori_loop(0, 5, lambda i, x: x * i, x), (4,))
add("loop_while", lambda x: lax.while_loop(lambda s: s[0] < 5, lambda s: (s[0] + 1, s[1] * 2), (0, x)), (4,))
add("loop_nested", lambda x: lax.fori_loop(0, 3, lambda i, x: lax.fori_loop(0, i, lambda j, x: x + j, x), x), (4,))
add("loop_batched", jax.vmap(lambda x: lax.while_loop(lambda x: x.sum() < 9, lambda x: x + 1, x)), (3, 4))
add("scanned", lambda x: lax.scan(lambda c, x: (c + x, c * x), jnp.zeros(8), x), (4, 8))
add("scanned_reverse", lambda x: lax.scan(lambda c, x: (c + x, c), 0.0, x, reverse=True, unroll=2), (6,))
add("scanned_gradient", jax.grad(lambda x: lax.scan(lambda c, x: (jnp.sin(c * x), None), 1.0, x)[0]), (6,))
add("mapped", lambda x: lax.map(lambda x: x @ x.T, x), (3, 4, 8))
add("branched", lambda p, x: lax.cond(p, jnp.sin, lambda x: x + 1, x), ((), "bool"), (4,))
add("branched_many", lambda i, x: lax.switch(i, [jnp.sin, jnp.cos, lambda x: x], x), ((), "int32"), (4,))
add("branched_nothing", lambda p: lax.cond(p, lambda: (), lambda: ()), ((), "bool"))
add("branched_gradient", jax.grad(lambda x, p: lax.cond(p, jnp.sin, jnp.cos, x)), (), ((), "bool"))
add("branched_platform", lambda x: lax.platform_dependent(x, cpu=jnp.sin, default=jnp.cos), (4,))
add("solved", lambda a, b: lax.custom_linear_solve(lambda x: a @ x, b, lambda f, b: jnp.linalg.solve(a, b)), (4, 4),
    (4,))
add("root", lambda x: lax.custom_root(lambda y: y**2 - x, 1.0, lambda f, x: x, lambda f, y: y), ())
add("conjugate_gradient", lambda a, b: jsp.sparse.linalg.cg(lambda x: a @ x, b, maxiter=3)[0], (4, 4), (4,))
add("minimized", lambda x: jsp.optimize.minimize(lambda x: (x**2).sum(), x, method="BFGS", options={"maxiter": 2}).x,
    (3,))
add("interpolated", lambda x, p, f: jnp.interp(x, p, f), (4,), (8,), (8,))
add("integrated", lambda y: jax.scipy.integrate.trapezoid(y), (8,))
add("mapped_coordinates", lambda x, c: jsp.ndimage.map_coordinates(x, [c, c], 1), (4, 8), (5,))
add("polynomial", lambda x: jnp.polyval(jnp.array([1.0, 2.0]), x), (4,))


# Functions, derivatives, effects.
@jax.custom_vjp
def clipped(x):
    return x


clipped.defvjp(lambda x: (x, ()), lambda _, g: (jnp.clip(g, -1, 1),))


@jax.custom_jvp
def safe_log(x):
    return jnp.log(x)


safe_log.defjvp(lambda p, t: (jnp.log(p[0]), t[0] / p[0]))
add("checkpointed", jax.grad(lambda x: jax.checkpoint(lambda x: jnp.sin(jnp.sin(x)))(x).sum()), (4,))
add("offloaded", jax.grad(lambda x: jax.checkpoint(jnp.sin, policy=jax.checkpoint_policies.dots_saveable)(x @ x).sum()),
    (4, 4))
add("custom_vjp", jax.grad(lambda x: clipped(x).sum()), (4,))
add("custom_jvp", jax.jacfwd(safe_log), (4,))
add("jacobian", jax.jacrev(lambda x: jnp.sin(x) * x.sum()), (4,))
add("hessian", jax.hessian(lambda x: (x**3).sum()), (4,))
add("nested_jit", lambda x: jax.jit(jnp.sin)(x) + jax.jit(lambda x: jax.jit(jnp.cos)(x))(x), (4,))
add("closed_over", lambda x: x + np.arange(12, dtype=np.float32).reshape(3, 4), (3, 4))
add("barrier", lambda x, y: lax.optimization_barrier((x, y)), (4,), ((4,), "int32"))
add("callback", lambda x: jax.pure_callback(np.sin, jax.ShapeDtypeStruct((4,), jnp.float32), x), (4,))
add("callback_ordered", lambda x: jax.experimental.io_callback(np.sin, jax.ShapeDtypeStruct((4,), jnp.float32), x,
                                                               ordered=True), (4,))
add("printed", lambda x: (jax.debug.print("{}", x), x)[1], (4,))
add("composite", lambda x: lax.composite(lambda x, scale: x * scale, "my.scaled", version=2)(x, scale=2.0), (4,))
add("composite_gelu", lambda x: lax.composite(jax.nn.gelu, "my.gelu")(x), (4,))
add("ffi_call", lambda x: jax.ffi.ffi_call("my_target", jax.ShapeDtypeStruct((4,), jnp.float32), has_side_effect=True,
                                           input_output_aliases={0: 0})(x, scale=np.float32(2), name="n"), (4,))
add(
    "ffi_call_legacy",
    lambda x: jax.ffi.ffi_call(
        "old",
        jax.ShapeDtypeStruct((2, 3), jnp.float32),
        custom_call_api_version=2,
        legacy_backend_config="config",
        input_layouts=[(0,)],
        output_layouts=(1, 0),
    )(x),
    (4,),
)
add("donated", jax.jit(lambda x, y: (x + 1, y.sum()), donate_argnums=(0, 1)), (4,), (4, 2))
add("metadata", lambda x: jax.experimental.xla_metadata.set_xla_metadata(jnp.sin(x), key="value"), (4,))
add("sparse", lambda d, x: jax.experimental.sparse.BCOO((d, np.array([[0, 1], [2, 0]])), shape=(4, 4)) @ x, (2,), (4,))
add("named_scope", lambda x: jax.named_call(jnp.sin, name="layer")(x), (4,))
add("errors_checked", lambda x: jax.experimental.checkify.checkify(lambda x: jnp.log(x))(x)[1], (4,))
add("float_errors", lambda x: jnp.nan_to_num(x / 0), (4,))


# flax.
def layer(name, module, *arguments, rngs=("params",), **more):
    def run(key, *inputs):
        variables = module.init({n: jax.random.fold_in(key, i) for i, n in enumerate(rngs)}, *inputs, **more)
        return module.apply(variables, *inputs, rngs={n: key for n in rngs}, mutable=True, **more)

    add(f"flax_{name}", run, KEY, *arguments)


layer("dense", nn.Dense(5), (4, 8))
layer("dense_general", nn.DenseGeneral((2, 3), axis=(-2, -1)), (4, 8, 2))
layer("conv", nn.Conv(6, (3, 3)), (2, 8, 8, 3))
layer("conv_transpose", nn.ConvTranspose(6, (3, 3), (2, 2)), (2, 8, 8, 3))
layer("embed", nn.Embed(16, 8), ((4,), "int32"))
layer("batch_norm", nn.BatchNorm(use_running_average=False), (4, 8))
layer("layer_norm", nn.LayerNorm(), (4, 8))
layer("rms_norm", nn.RMSNorm(), (4, 8))
layer("group_norm", nn.GroupNorm(2), (4, 8))
layer("weight_norm", nn.WeightNorm(nn.Dense(5)), (4, 8))
layer("spectral_norm", nn.SpectralNorm(nn.Dense(5)), (4, 8), update_stats=True)
layer("dropout", nn.Dropout(0.5, deterministic=False), (4, 8), rngs=("params", "dropout"))
layer(
    "attention",
    nn.MultiHeadDotProductAttention(2, dropout_rate=0.1, deterministic=False),
    (2, 4, 8),
    rngs=("params", "dropout"),
)
layer("lstm", nn.RNN(nn.OptimizedLSTMCell(5)), (2, 6, 8))
layer("gru", nn.RNN(nn.GRUCell(5)), (2, 6, 8))
layer("einsum", nn.Einsum((8, 5), "ab,bc->ac"), (4, 8))
ACTIVATIONS = ("relu gelu silu swish elu selu celu softplus softmax log_softmax leaky_relu hard_tanh hard_sigmoid glu "
               "sigmoid soft_sign relu6 log_sigmoid standardize tanh").split()
for i in range(0, len(ACTIVATIONS), 5):
    add(f"activations_{i // 5}", each([getattr(nn, n) for n in ACTIVATIONS[i : i + 5]]), (4, 8))
add("attention_dot_product", lambda q, k, v: jax.nn.dot_product_attention(q, k, v, is_causal=True), *[(2, 6, 4, 8)] * 3)


# optax.
OPTIMIZERS = {
    "sgd": lambda: optax.sgd(0.1, momentum=0.9, nesterov=True),
    "adam": lambda: optax.adam(1e-3),
    "adamw": lambda: optax.adamw(1e-3),
    "lamb": lambda: optax.lamb(1e-3),
    "lion": lambda: optax.lion(1e-3),
    "rmsprop": lambda: optax.rmsprop(1e-3, centered=True),
    "adafactor": lambda: optax.adafactor(1e-3),
    "adagrad": lambda: optax.adagrad(1e-3),
    "sm3": lambda: optax.sm3(1e-3),
    "novograd": lambda: optax.novograd(1e-3),
    "noisy": lambda: optax.noisy_sgd(1e-3),
    "yogi": lambda: optax.yogi(1e-3),
    "radam": lambda: optax.radam(1e-3),
    "sign": lambda: optax.sign_sgd(1e-3),
    "lbfgs": lambda: optax.scale_by_lbfgs(3),
    "muon": lambda: optax.contrib.muon(1e-3),
    "multi_step": lambda: optax.MultiSteps(optax.adam(1e-3), 2),
    "clipped": lambda: optax.chain(optax.clip_by_global_norm(1.0), optax.adam(optax.cosine_decay_schedule(1e-3, 100))),
    "if_finite": lambda: optax.apply_if_finite(optax.adam(1e-3), 3),
}
for name, make in OPTIMIZERS.items():
    def step(parameters, gradient, make=make):
        optimizer = make()
        updates, state = optimizer.update(gradient, optimizer.init(parameters), parameters)
        return optax.apply_updates(parameters, updates), state

    add(f"optax_{name}", step, (16, 8), (16, 8))
add("optax_losses", lambda x, y: [optax.l2_loss(x, y), optax.huber_loss(x, y), optax.cosine_similarity(x, y),
                                  optax.sigmoid_binary_cross_entropy(x, y), optax.kl_divergence(x, y),
                                  optax.log_cosh(x, y)],
    (4, 8), (4, 8))
add("optax_ctc", lambda x, p, y, q: optax.ctc_loss(x, p, y, q), (2, 6, 5), (2, 6), ((2, 3), "int32"), (2, 3))


# Shardings, shard_map.
def spec(*dims):
    return NamedSharding(mesh(), P(*dims))


def manual(function, ins, outs, **more):
    return jax.shard_map(function, mesh=mesh(), in_specs=ins, out_specs=outs, **more)


add(
    "sharded",
    jax.jit(lambda x, y: x @ y, in_shardings=(spec("data"), spec(None, "model")), out_shardings=spec("data", "model")),
    (8, 8),
    (8, 8),
)
add("constrained", lambda x: lax.with_sharding_constraint(jnp.sin(x), spec(P.UNCONSTRAINED, "model")), (8, 8))
if importlib.util.find_spec("jax.experimental.shard_alike"):  # JAX 0.11 has it no more
    add("shard_alike", importlib.import_module("jax.experimental.shard_alike").shard_alike, (8, 8), (8, 8))
D, M, DM = P("data"), P("model"), P(("data", "model"))
add("map_sum", manual(lambda x: lax.psum(x, "data"), D, P()), (8, 8))
add("map_sums", manual(lambda x, y: lax.psum((x, y), ("data", "model")), (DM, DM), (P(), P())), (8, 8), ((8,), "int32"))
add("map_max", manual(lambda x: [lax.pmax(x, "data"), lax.pmin(x, "data"), lax.pmean(x, "data")], D, P()), (8, 8))
add("map_gather", manual(lambda x: lax.all_gather(x, "data", tiled=True), D, P(), check_vma=False), (8, 8))
add("map_gather_new_dim", manual(lambda x: lax.all_gather(x, "model", axis=1), M, P(), check_vma=False), (8, 8))
add("map_scatter_sum", manual(lambda x: lax.psum_scatter(x, "model", tiled=True), P(), M, check_vma=False), (8, 8))
add("map_all_to_all", manual(lambda x: lax.all_to_all(x, "model", 1, 0, tiled=True), M, P(None, "model")), (8, 8))
add("map_permute", manual(lambda x: lax.ppermute(x, "model", [(0, 1), (1, 2), (2, 3), (3, 0)]), M, M), (8, 8))
add("map_shuffle", manual(lambda x: lax.pshuffle(x, "model", [3, 2, 1, 0]), M, M), (8, 8))
add("map_index", manual(lambda x: x + lax.axis_index("model") * lax.axis_size("data"), M, M), (8, 8))
add("map_groups", manual(lambda x: lax.psum(x, "model", axis_index_groups=[[0, 1], [2, 3]]), M, M, check_vma=False),
    (8, 8))
add(
    "map_part_manual",
    jax.shard_map(lambda x: lax.psum(x, "data"), mesh=mesh(), in_specs=D, out_specs=P(), axis_names={"data"}),
    (8, 8),
)
add("map_gradient", jax.grad(lambda x: manual(lambda x: lax.psum(jnp.sin(x), "data"), D, P())(x).sum()), (8, 8))
add("map_loop", manual(lambda x: lax.fori_loop(0, 3, lambda i, x: lax.ppermute(x, "model", [(0, 1), (1, 0)]) + x, x), M,
                       M), (8, 8))
add("map_nothing", manual(lambda: lax.axis_index("data")[None], (), D))
add("map_broadcast_collectively", manual(lambda x: jax.lax.pcast(x, "data", to="varying"), M, P("model", "data")),
    (8, 8))
add("map_async", manual(lambda x: lax.psum(x.astype(jnp.bfloat16), "data"), D, P()), (8, 8))
add("map_random", manual(lambda x: x + jax.random.normal(jax.random.key(0), x.shape), D, D), (8, 8))


@program(KEY, ((8, 16), "int32"))
def train_step(key, tokens):
    """An embedding, attention, an MLP, a loss, Adam."""

    class Model(nn.Module):
        @nn.compact
        def __call__(self, tokens):
            x = nn.Embed(64, 32)(tokens)
            x = x + nn.SelfAttention(4)(nn.LayerNorm()(x))
            x = x + nn.Dense(32)(nn.gelu(nn.Dense(64)(nn.RMSNorm()(x))))
            return nn.Dense(64)(x)

    model, optimizer = Model(), optax.adamw(1e-3)
    variables = model.init(key, tokens)

    def loss(variables):
        return optax.softmax_cross_entropy_with_integer_labels(model.apply(variables, tokens), tokens).mean()

    value, gradient = jax.value_and_grad(loss)(variables)
    updates, _ = optimizer.update(gradient, optimizer.init(variables), variables)
    return optax.apply_updates(variables, updates), value


@program(KEY, (4, 8, 8, 3))
def train_convolutions(key, images):
    class Model(nn.Module):
        @nn.compact
        def __call__(self, x):
            x = nn.max_pool(nn.relu(nn.BatchNorm(use_running_average=False)(nn.Conv(8, (3, 3))(x))), (2, 2), (2, 2))
            return nn.Dense(10)(x.reshape(x.shape[0], -1))

    model = Model()
    variables = model.init(key, images)

    def loss(parameters):
        output, state = model.apply({**variables, "params": parameters}, images, mutable=["batch_stats"])
        return (output**2).mean(), state

    return jax.value_and_grad(loss, has_aux=True)(variables["params"])


FOR_TPU = (
    "dot_ragged linalg_cholesky linalg_svd linalg_inv linalg_solve linalg_expm sorted top_k approximate_top_k cumsum "
    "random_rbg random_0 fourier special_betainc special_double float_0 convolved_NHWC attention_dot_product "
    "window_gradient"
).split()

SYMBOLIC = {
    "sizes": (lambda x: [x.reshape(-1), x @ x.T, jnp.sum(x + 1, axis=0), x * x.shape[0]], [(None, 4)]),
    "sizes sliced": (lambda x: [x[1:], x[:-1], x[::2], jnp.roll(x, 1), jnp.concatenate([x, x])], [(None, 4)]),
    "sizes padded": (lambda x: [jnp.pad(x, 1), jnp.broadcast_to(x[0], (x.shape[0], 4)), jnp.cumsum(x, 0)], [(None, 4)]),
    "sizes gathered": (
        lambda x: [jnp.take(x, jnp.array([0, 1]), axis=0), jnp.take_along_axis(x, x.argmax(1)[:, None], 1)],
        [(None, 4)],
    ),
    "sizes counted": (
        lambda x: [jnp.arange(x.shape[0]), jnp.zeros((x.shape[0], x.shape[0])), x[jnp.arange(x.shape[0])]],
        [(None, 4)],
    ),
    "sizes convolved": (
        lambda x, k: lax.conv_general_dilated(x, k, (2, 2), "SAME", dimension_numbers=CONV[0]),
        [(2, None, None, 4), (3, 3, 4, 5)],
    ),
    "sizes random": (lambda x: jax.random.normal(jax.random.key(0), x.shape), [(None, 4)]),
}
NAMES = [*PROGRAMS, *(f"{name} tpu" for name in FOR_TPU), *SYMBOLIC]

if __name__ == "__main__":
    for chosen in sys.argv[1:]:
        print(text(chosen))
    if len(sys.argv) == 1:
        print(f"{len(NAMES)} programs")
