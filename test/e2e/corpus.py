"""Model steps as their authors write them, in flax, optax and plain JAX: what the partitioner must get through whole.

    python corpus.py [NAME-STRATEGY...]     compiles, runs and compares; one line each
"""

import os
import sys
from dataclasses import dataclass

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import lax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

MODELS = {}


@dataclass(frozen=True)
class Model:
    """A step `function(parameters, *batch)`; `arguments()` makes them."""

    function: callable
    arguments: callable


def step(arguments):
    """Registers a step by the name of its function."""

    def register(function):
        MODELS[function.__name__.replace("_", "-")] = Model(function, arguments)
        return function

    return register


def normal(*shape, seed=0, scale=1.0):
    return (scale * np.random.default_rng(seed).standard_normal(shape)).astype(np.float32)


def integers(*shape, high, seed=0):
    return np.random.default_rng(seed).integers(0, high, shape).astype(np.int32)


def train(name, module, loss, *batch, optimizer=None, mutable=False):
    """Registers a training step of a flax module: loss(output, *batch after the first)."""
    optimizer = optimizer or optax.sgd(1e-2)

    def arguments():
        variables = module.init(jax.random.key(0), batch[0])
        rest = {key: value for key, value in variables.items() if key != "params"}
        return ({"params": variables["params"], "state": optimizer.init(variables["params"]), "rest": rest}, *batch)

    def function(carried, inputs, *labels):
        def value(parameters):
            variables = {"params": parameters, **carried["rest"]}
            if not mutable:
                return loss(module.apply(variables, inputs), *labels), carried["rest"]
            output, rest = module.apply(variables, inputs, mutable=list(carried["rest"]))
            return loss(output, *labels), rest

        (result, rest), gradient = jax.value_and_grad(value, has_aux=True)(carried["params"])
        updates, state = optimizer.update(gradient, carried["state"], carried["params"])
        return {"params": optax.apply_updates(carried["params"], updates), "state": state, "rest": rest}, result

    MODELS[name] = Model(function, arguments)


def cross_entropy(logits, labels):
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()


def square_error(output, labels):
    return jnp.mean((output - labels) ** 2)


# Convolutions.


class ResNet(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.BatchNorm(use_running_average=False)(nn.Conv(16, (3, 3), strides=2)(x)))
        for width, stride in ((16, 1), (32, 2)):
            y = nn.relu(nn.BatchNorm(use_running_average=False)(nn.Conv(width, (3, 3), strides=stride)(x)))
            y = nn.BatchNorm(use_running_average=False)(nn.Conv(width, (3, 3))(y))
            x = nn.relu(y + nn.Conv(width, (1, 1), strides=stride)(x))
        return nn.Dense(10)(nn.max_pool(x, (2, 2), (2, 2)).mean((1, 2)))


class UNet(nn.Module):
    @nn.compact
    def __call__(self, x):
        down = nn.relu(nn.Conv(8, (3, 3))(x))
        low = nn.relu(nn.Conv(16, (3, 3))(nn.avg_pool(down, (2, 2), (2, 2))))
        up = nn.ConvTranspose(8, (2, 2), strides=(2, 2))(low)
        return nn.Conv(1, (1, 1))(jnp.concatenate([down, up], -1))


class MobileNet(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.relu6(nn.Conv(16, (3, 3), strides=2)(x))
        x = nn.relu6(nn.Conv(16, (3, 3), feature_group_count=16)(x))
        return nn.Dense(10)(nn.GroupNorm(4)(nn.Conv(32, (1, 1))(x)).mean((1, 2)))


class WaveNet(nn.Module):
    @nn.compact
    def __call__(self, x):
        for dilation in (1, 2, 4):
            y = nn.Conv(16, (2,), kernel_dilation=dilation, padding="CAUSAL")(x)
            x = x + nn.Conv(8, (1,))(jnp.tanh(y) * nn.sigmoid(y))
        return nn.Dense(32)(x)


IMAGES, LABELS = normal(8, 16, 16, 3), integers(8, high=10)
train("resnet", ResNet(), cross_entropy, IMAGES, LABELS, mutable=True)
train("u-net", UNet(), square_error, IMAGES, normal(8, 16, 16, 1, seed=1))
train("mobilenet", MobileNet(), cross_entropy, IMAGES, LABELS)
train("wavenet", WaveNet(), cross_entropy, normal(8, 20, 8), integers(8, 20, high=32))


# Attention and its relatives.


class Attention(nn.Module):
    """Grouped queries, rotary positions, a causal mask; `heads` and the length need not divide."""

    heads: int = 8
    groups: int = 4
    width: int = 32

    @nn.compact
    def __call__(self, tokens):
        x = nn.Embed(64, self.width)(tokens)
        size, length = self.width // 4, tokens.shape[1]
        query = nn.DenseGeneral((self.heads, size))(x)
        key, value = (nn.DenseGeneral((self.groups, size))(x) for _ in range(2))
        angle = jnp.arange(length)[:, None, None] / 100.0 ** (jnp.arange(size // 2) / size)
        query, key = (jnp.concatenate([a * jnp.cos(angle) - b * jnp.sin(angle), a * jnp.sin(angle) + b * jnp.cos(angle)], -1)
                      for a, b in (jnp.split(part, 2, -1) for part in (query, key)))
        key, value = (jnp.repeat(part, self.heads // self.groups, 2) for part in (key, value))
        scores = jnp.einsum("bqhd,bkhd->bhqk", query, key) / size**0.5
        scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e9)
        x = x + nn.DenseGeneral(self.width, (-2, -1))(jnp.einsum("bhqk,bkhd->bqhd", nn.softmax(scores), value))
        x = x + nn.Dense(self.width)(nn.silu(nn.Dense(2 * self.width)(nn.RMSNorm()(x))) * nn.Dense(2 * self.width)(x))
        return nn.Dense(64)(x)


class VisionTransformer(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Conv(32, (4, 4), strides=4)(x).reshape(x.shape[0], -1, 32)
        x = jnp.concatenate([jnp.broadcast_to(self.param("class", nn.initializers.normal(), (1, 1, 32)), (x.shape[0], 1, 32)), x], 1)
        x = x + nn.MultiHeadDotProductAttention(4)(nn.LayerNorm()(x))
        x = x + nn.Dense(32)(nn.gelu(nn.Dense(64)(nn.LayerNorm()(x))))
        return nn.Dense(10)(x[:, 0])


class Mixer(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Dense(32)(x.reshape(x.shape[0], 16, -1))
        x = x + nn.Dense(16)(nn.gelu(nn.Dense(32)(nn.LayerNorm()(x).swapaxes(1, 2)))).swapaxes(1, 2)
        return nn.Dense(10)((x + nn.Dense(32)(nn.gelu(nn.Dense(64)(nn.LayerNorm()(x))))).mean(1))


class Fourier(nn.Module):
    @nn.compact
    def __call__(self, tokens):
        x = nn.Embed(64, 32)(tokens)
        x = nn.LayerNorm()(x + jnp.fft.fft(jnp.fft.fft(x, axis=-1), axis=-2).real)
        return nn.Dense(64)(x + nn.Dense(32)(nn.gelu(nn.Dense(64)(x))))


TOKENS, NEXT = integers(8, 16, high=64), integers(8, 16, high=64, seed=1)
train("attention", Attention(), cross_entropy, TOKENS, NEXT, optimizer=optax.adamw(1e-3))
train("attention-uneven", Attention(heads=6, groups=3, width=24), cross_entropy, TOKENS[:6, :13], NEXT[:6, :13])
train("vit", VisionTransformer(), cross_entropy, IMAGES, LABELS, optimizer=optax.lamb(1e-3))
train("mixer", Mixer(), cross_entropy, IMAGES, LABELS, optimizer=optax.lion(1e-3))
train("fourier", Fourier(), cross_entropy, TOKENS, NEXT)


# Recurrences.


class Lstm(nn.Module):
    @nn.compact
    def __call__(self, tokens):
        return nn.Dense(64)(nn.RNN(nn.OptimizedLSTMCell(32))(nn.Embed(64, 32)(tokens)))


class ScannedBlocks(nn.Module):
    """Layers stacked along a leading dim and scanned over, each rematerialised."""

    @nn.compact
    def __call__(self, x):
        class Block(nn.Module):
            @nn.compact
            def __call__(self, x, _):
                return x + nn.Dense(32)(nn.relu(nn.Dense(64)(nn.LayerNorm()(x)))), None

        stack = nn.scan(nn.remat(Block), variable_axes={"params": 0}, split_rngs={"params": True}, length=4)
        return stack()(x, None)[0]


train("lstm", Lstm(), cross_entropy, TOKENS, NEXT)
train("scanned-blocks", ScannedBlocks(), square_error, normal(8, 32), normal(8, 32, seed=1))


@step(lambda: ({"a": normal(16), "b": normal(8, 16), "c": normal(16, 8)}, normal(8, 24, 8)))
def state_space(parameters, x):
    """A linear recurrence by a parallel scan, and the gradient of its energy."""

    def loss(p):
        decay = jnp.broadcast_to(nn.sigmoid(p["a"]), (*x.shape[:2], 16))
        _, states = lax.associative_scan(lambda l, r: (l[0] * r[0], r[0] * l[1] + r[1]), (decay, x @ p["b"]), axis=1)
        return jnp.mean((states @ p["c"] - x) ** 2)

    return jax.value_and_grad(loss)(parameters)


# Experts, graphs, tables.


@step(lambda: ({"gate": normal(16, 4), "up": normal(4, 16, 32, scale=0.2), "down": normal(4, 32, 16, scale=0.2)}, normal(8, 6, 16)))
def experts(parameters, x):
    """Two of four experts a token, with a capacity: dispatch and combine by one-hot products."""

    def loss(p):
        weights, chosen = lax.top_k(nn.softmax(x @ p["gate"]), 2)
        place = jax.nn.one_hot(chosen, 4) * weights[..., None]
        sent = jnp.einsum("bske,bsd->ebsd", (place > 0).astype(x.dtype), x)
        hidden = nn.relu(jnp.einsum("ebsd,edf->ebsf", sent, p["up"]))
        return jnp.mean(jnp.einsum("ebsf,efd,bske->bsd", hidden, p["down"], place) ** 2)

    return jax.value_and_grad(loss)(parameters)


@step(lambda: ({"gate": normal(16, 4), "up": normal(4, 16, 32, scale=0.2)}, normal(48, 16)))
def ragged_experts(parameters, x):
    """Tokens sorted by expert and multiplied in groups."""
    chosen = jnp.argmax(x @ parameters["gate"], -1)
    order = jnp.argsort(chosen)
    sizes = jnp.bincount(chosen, length=4).astype(jnp.int32)
    return lax.ragged_dot(x[order], parameters["up"], sizes)[jnp.argsort(order)]


@step(lambda: ({"w": normal(16, 16, scale=0.3), "u": normal(16, 8)}, normal(40, 16), integers(120, high=40), integers(120, high=40, seed=1)))
def graph(parameters, nodes, senders, receivers):
    """Message passing over edges, mean by receiver."""

    def loss(p):
        x = nodes
        for _ in range(2):
            messages = nn.relu(x @ p["w"])[senders]
            count = jax.ops.segment_sum(jnp.ones(senders.shape), receivers, 40)
            x = x + jax.ops.segment_sum(messages, receivers, 40) / jnp.maximum(count, 1)[:, None]
        return jnp.mean((x @ p["u"]) ** 2)

    return jax.value_and_grad(loss)(parameters)


@step(lambda: ({"table": normal(96, 16), "w": normal(16, 1)}, integers(32, 5, high=96)))
def embedding_bag(parameters, ids):
    def loss(p):
        return jnp.mean(jnp.tanh(p["table"][ids].sum(1) @ p["w"]) ** 2)

    return jax.value_and_grad(loss)(parameters)


# Decoding and sampling.


@step(lambda: ({"k": normal(8, 32, 4, 8), "v": normal(8, 32, 4, 8), "q": normal(32, 4, 8), "o": normal(4, 8, 32)}, normal(8, 32), integers(1, high=31)))
def cached_attention(parameters, x, position):
    """One decoding step: the cache is written at a position known at run time."""
    new = jnp.einsum("bd,dhk->bhk", x, parameters["q"])[:, None]
    k, v = (lax.dynamic_update_slice(parameters[n], new, (0, position[0], 0, 0)) for n in "kv")
    scores = jnp.where(jnp.arange(32) <= position[0], jnp.einsum("bhk,bshk->bhs", new[:, 0], k), -1e9)
    return jnp.einsum("bhs,bshk,hkd->bd", nn.softmax(scores), v, parameters["o"]), k, v


@step(lambda: ({"e": normal(64, 16), "w": normal(16, 64)}, integers(8, high=64)))
def greedy_decoding(parameters, start):
    """A loop until a token or the limit, the best of three drawn by a counter."""

    def body(state):
        i, token, out = state
        logits, ids = lax.top_k(nn.tanh(parameters["e"][token]) @ parameters["w"], 3)
        token = jnp.take_along_axis(ids, (jnp.argmax(logits, -1) + i)[:, None] % 3, 1)[:, 0]
        return i + 1, token, out.at[:, i].set(token)

    return lax.while_loop(lambda s: (s[0] < 12) & jnp.any(s[1] != 0), body, (0, start, jnp.zeros((8, 12), jnp.int32)))[2]


@step(lambda: ({"w": normal(32, 64), "key": np.array([1, 2], np.uint32)}, normal(8, 32)))
def dropout(parameters, x):
    key = jax.random.wrap_key_data(parameters["key"])
    keep = jax.random.bernoulli(key, 0.8, (8, 64))
    noise = jax.random.normal(jax.random.fold_in(key, 1), (8, 64))
    return jnp.where(keep, x @ parameters["w"] / 0.8, 0) + noise


# Numerics.


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
    return ordered[:, 7], ranks, jnp.cumsum(ordered, -1) * parameters["w"][:, None], jnp.clip(x, None, ordered[:, 20:21])


@step(lambda: ({"k": normal(3, 3)}, normal(24, 20)))
def stencil(parameters, field):
    """Five steps of diffusion with a periodic border and one of a five-point maximum."""
    for _ in range(2):
        field = field + 0.1 * sum(jnp.roll(field, s, d) - field for s in (1, -1) for d in (0, 1))
    return field, lax.reduce_window(field, -jnp.inf, lax.max, (3, 3), (1, 1), "SAME"), jnp.pad(field, ((2, 1), (0, 3)))


# Strategies, on a mesh data=2, model=4.


def _cut(value, axes, size, first):
    dims = [d for d, length in enumerate(value.shape) if length % size == 0 and length >= size]
    if not dims:
        return None
    dim = dims[0] if first else dims[-1]
    return P(*(axes if d == dim else None for d in range(value.ndim)))


STRATEGIES = {
    "data": (lambda v: None, lambda v: _cut(v, ("data", "model"), 8, True) or _cut(v, "data", 2, True)),
    "2-D": (lambda v: _cut(v, "model", 4, False), lambda v: _cut(v, "data", 2, True)),
    "fsdp": (lambda v: _cut(v, ("data", "model"), 8, True), lambda v: _cut(v, ("data", "model"), 8, True)),
}


def lowered(name, strategy):
    """The step under the strategy as jax.jit lowers it, and its arguments."""
    model, (parameter, batch) = MODELS[name], STRATEGIES[strategy]
    arguments = jax.tree.map(np.asarray, model.arguments())
    mesh = Mesh(np.array(jax.devices("cpu")[:8]).reshape(2, 4), ("data", "model"))

    def shardings(tree, spec):
        return jax.tree.map(lambda value: NamedSharding(mesh, spec(np.asarray(value)) or P()), tree)

    specs = (shardings(arguments[0], parameter), *(shardings(a, batch) for a in arguments[1:]))
    return jax.jit(model.function, in_shardings=specs, keep_unused=True).lower(*arguments), arguments


def lower(name, strategy):
    """(text, inputs) of the step under the strategy, as JAX prints it."""
    step, arguments = lowered(name, strategy)
    return step.as_text(debug_info=True), [np.asarray(leaf) for leaf in jax.tree.leaves(arguments)]


PAIRS = [(name, strategy) for name in MODELS for strategy in STRATEGIES]


def main(wanted):
    import shardonnay
    from shardonnay import compare, run

    for name, strategy in PAIRS:
        pair = f"{name}-{strategy}"
        if wanted and pair not in wanted and name not in wanted:
            continue
        try:
            text, inputs = lower(name, strategy)
            if folder := os.environ.get("SAVE"):
                with open(f"{folder}/{pair}.mlir", "w") as file:
                    file.write(text)
            compiled = shardonnay.compile(text)
            agreements = run.check(run.Program(compiled), inputs, compare.reference(text, inputs))
            wrong = [str(a) for a in agreements if not a.ok]
            flops = compiled.report["contraction_flops"]
            ratio = flops["per_device"] * 8 / flops["global"] if flops["global"] else 1
            print(f"{pair:28} {'WRONG ' + wrong[0] if wrong else 'agrees'}  ratio {ratio:.2f}", flush=True)
        except Exception as error:  # noqa: BLE001 -- the table names whatever happened
            print(f"{pair:28} {type(error).__name__}: {str(error)[:300]}".replace("\n", " "), flush=True)


if __name__ == "__main__":
    from shardonnay import engine

    engine.prepare(8)
    main(sys.argv[1:])
