"""JAX functions whose text is lowered once and then sharded in many ways: every pair is a program."""

import math
import random
import re

import jax
import jax.numpy as jnp

MESHES = ({"a": 8}, {"a": 4, "b": 2}, {"a": 2, "b": 2, "c": 2}, {"a": 2, "b": 3, "c": 4})


def s(*shape, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype)


def mlp(x, w1, w2):
    return x + jax.nn.gelu(x @ w1) @ w2


def mlp_step(x, w1, w2):
    grads = jax.grad(lambda w: jnp.mean(mlp(x, *w) ** 2))((w1, w2))
    return tuple(w - 0.1 * g for w, g in zip((w1, w2), grads))


def attention(x, wq, wk, wv, wo):
    q, k, v = (jnp.einsum("bld,dhe->bhle", x, w) for w in (wq, wk, wv))
    scores = jax.nn.softmax(jnp.einsum("bhle,bhme->bhlm", q, k) / math.sqrt(q.shape[-1]))
    return jnp.einsum("bhlm,bhme,hed->bld", scores, v, wo)


def attention_step(x, *weights):
    return jax.grad(lambda w: jnp.sum(attention(x, *w)))(weights)


def layer_norm(x, scale, bias):
    mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + 1e-6) * scale + bias


def embedding(tokens, table):
    return jnp.take(table, tokens, axis=0).sum(1) @ table.T


def embedding_step(tokens, table):
    return table - jax.grad(lambda t: jnp.sum(embedding(tokens, t) ** 2))(table)


def moe(x, gate, w1, w2):
    probabilities = jax.nn.softmax(x @ gate)
    hidden = jax.nn.relu(jnp.einsum("td,edh->teh", x, w1))
    return jnp.einsum("teh,ehd,te->td", hidden, w2, probabilities)


def convolution(x, kernel, bias):
    y = jax.lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return jax.nn.relu(y + bias).mean((1, 2))


def scan(x, w):
    return jax.lax.scan(lambda c, _: (jnp.tanh(c @ w), c.sum()), x, None, length=3)


def scan_step(x, w):
    return jax.grad(lambda w: scan(x, w)[0].sum())(w)


def loop(x, y):
    return jax.lax.fori_loop(0, 4, lambda i, c: (c[0] + jnp.sin(c[1]), c[1] * 2), (x, y))


def branches(x, y):
    return jax.lax.cond(x.sum() > 0, lambda x, y: x @ y, lambda x, y: (x + 1) @ y, x, y)


def adam(w, m, v, g):
    m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g * g
    return w - 1e-3 * m / (jnp.sqrt(v) + 1e-8), m, v


def cumulative(x, y):
    return jnp.cumsum(x, axis=1), jnp.sort(y, axis=0), jnp.argmax(x, axis=1)


def slices(x, y):
    return jnp.concatenate([x[:4], y[2:]]), jnp.pad(x, ((0, 0), (1, 1))), x[::-1], jnp.roll(y, 2, axis=1)


def indexing(x, i):
    row = jax.lax.dynamic_slice_in_dim(x, i[0], 4, axis=0)
    return jax.lax.dynamic_update_slice_in_dim(x, row * 2, i[1], axis=0), x.at[i].add(1.0), x[i]


def reshapes(x, y):
    return x.reshape(4, 6, 48), x.T.reshape(-1), jnp.stack([y, y * 2]), y.reshape(2, -1, 4).swapaxes(0, 2)


def dropout(x):
    return x * jax.random.bernoulli(jax.random.key(0), 0.9, x.shape)


def helpers(x, y):
    inner = jax.jit(lambda z: jax.nn.silu(z) * jax.nn.softplus(z))
    return inner(x) @ inner(y), jnp.where(x > 0, x, jax.checkpoint(jnp.sin)(x))


def statistics(x, y):
    return jnp.linalg.norm(x, axis=1), jnp.outer(x[0], y[0]), jnp.max(x), jnp.mean(y, axis=0), (x > y).any(0)


D = s(24, 48)
FUNCTIONS = {
    mlp: (D, s(48, 96), s(96, 48)),
    mlp_step: (D, s(48, 96), s(96, 48)),
    attention: (s(8, 24, 16), *[s(16, 8, 6)] * 3, s(8, 6, 16)),
    attention_step: (s(8, 24, 16), *[s(16, 8, 6)] * 3, s(8, 6, 16)),
    layer_norm: (s(8, 24, 48), s(48), s(48)),
    embedding: (s(24, 8, dtype=jnp.int32), s(96, 48)),
    embedding_step: (s(24, 8, dtype=jnp.int32), s(96, 48)),
    moe: (D, s(48, 8), s(8, 48, 96), s(8, 96, 48)),
    convolution: (s(8, 24, 24, 16), s(3, 3, 16, 48), s(48)),
    scan: (D, s(48, 48)),
    scan_step: (D, s(48, 48)),
    loop: (D, D),
    branches: (D, s(48, 24)),
    adam: (D, D, D, D),
    cumulative: (D, D),
    slices: (D, D),
    indexing: (D, s(8, dtype=jnp.int32)),
    reshapes: (D, D),
    dropout: (D,),
    helpers: (D, s(48, 24)),
    statistics: (D, D),
}
_TEXTS = {}


def text_of(function):
    """As JAX prints it, without shardings."""
    if function not in _TEXTS:
        _TEXTS[function] = jax.jit(function, keep_unused=True).lower(*FUNCTIONS[function]).as_text()
    return _TEXTS[function]


def sharding(rng, mesh, shape):
    """As JAX would print it: full axes that divide, mostly closed dims."""
    axes, dims = rng.sample(list(mesh), len(mesh)), []
    for size in shape:
        parts, left = [], size
        while axes and rng.random() < 0.5 and left % mesh[axes[-1]] == 0:
            left //= mesh[axes[-1]]
            parts.append(f'"{axes.pop()}"')
        dims.append("{" + ", ".join(parts + ["?"] * (rng.random() < 0.2)) + "}")
    return f"<@mesh, [{', '.join(dims)}]>"


def program(function, seed):
    """The function's text with random shardings on some arguments and results."""
    rng = random.Random(f"{function.__name__} {seed}")
    mesh = rng.choice(MESHES)
    lines = text_of(function).splitlines()
    main = next(i for i, line in enumerate(lines) if "@main(" in line)

    def annotated(text, pattern, probability):
        def annotate(match):
            shape = [int(size) for size in match[2].split("x")[:-1]]
            if not shape or rng.random() > probability:
                return match[0]
            # A dictionary that is there already goes on after the sharding.
            rest = ", " if match[3] else "}"
            return f"{match[1]} {{sdy.sharding = #sdy.sharding{sharding(rng, mesh, shape)}{rest}"

        return re.sub(pattern + r"( \{)?", annotate, text)

    arguments, results = lines[main].split(") -> ")
    arguments = annotated(arguments, r"(%arg\d+: tensor<([^>]*)>)", 0.7)
    results = annotated(results, r"(tensor<([^>]*)>)", 0.2)
    axes = ", ".join(f'"{name}"={size}' for name, size in mesh.items())
    lines[main] = f"sdy.mesh @mesh = <[{axes}]>\n{arguments}) -> {results}"
    return "\n".join(lines)


def programs(count):
    """{name: text} of the first `count` pairs, all functions in turn."""
    found, functions = {}, list(FUNCTIONS)
    for index in range(count):
        function = functions[index % len(functions)]
        seed = index // len(functions)
        found[f"{function.__name__} {seed}"] = program(function, seed)
    return found
