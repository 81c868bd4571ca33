"""Steps of language models: transformers, routed experts and recurrences, in training and in decoding."""

import jax
import jax.numpy as jnp
from jax import lax
from registry import (
    block,
    block_weights,
    cross_entropy,
    descend,
    feed_forward,
    floats,
    integers,
    normalized,
    square_error,
    step,
    trained,
    weight,
)

BATCH, LENGTH, WIDTH, VOCABULARY = 32, 1024, 1024, 32_000
BY_WIDTH = {"embedding": weight(VOCABULARY, WIDTH, split=1), "block": block_weights()}
BY_WORD = {"embedding": weight(VOCABULARY, WIDTH, split=0), "block": block_weights()}


@step(BY_WIDTH, integers(BATCH, LENGTH))
@trained
def gpt(parameters, tokens):
    x = block(parameters["embedding"][tokens], parameters["block"])
    return cross_entropy(normalized(x) @ parameters["embedding"].T, tokens)


@step(BY_WORD, integers(BATCH, LENGTH))
@trained
def chunked_ce(parameters, tokens):
    """The logits of 128 positions at a time, computed again in the backward pass."""
    x = normalized(block(parameters["embedding"][tokens], parameters["block"]))
    chunks = x.reshape(BATCH, 8, 128, WIDTH).swapaxes(0, 1)
    labels = tokens.reshape(BATCH, 8, 128).swapaxes(0, 1)

    @jax.checkpoint
    def add(total, chunk):
        logits = chunk[0] @ parameters["embedding"].T
        return total + cross_entropy(logits, chunk[1]), None

    return lax.scan(add, 0.0, (chunks, labels))[0] / 8


@step({**BY_WORD, "block": block_weights(layers=(12,))}, integers(BATCH, LENGTH))
@trained
def scanned(parameters, tokens):
    """Twelve blocks in a loop."""

    @jax.checkpoint
    def layer(x, weights):
        return block(x, weights), None

    x, _ = lax.scan(layer, parameters["embedding"][tokens], parameters["block"])
    return cross_entropy(normalized(x) @ parameters["embedding"].T, tokens)


EXPERTS, CAPACITY = 8, 320
ROUTED = {
    "router": weight(WIDTH, EXPERTS),
    "up": weight(EXPERTS, WIDTH, 4096, split=0),
    "down": weight(EXPERTS, 4096, WIDTH, split=0),
}


@step(ROUTED, floats(BATCH, LENGTH, WIDTH))
@trained
def moe_dense(parameters, x):
    """Every expert computes every token, and two of them count."""
    gates = jax.nn.softmax(x @ parameters["router"])
    weights, chosen = lax.top_k(gates, 2)
    rows, columns = jnp.arange(BATCH)[:, None, None], jnp.arange(LENGTH)[None, :, None]
    combine = jnp.zeros_like(gates).at[rows, columns, chosen].set(weights)
    hidden = jax.nn.gelu(jnp.einsum("bsd,edf->bsef", x, parameters["up"]))
    return square_error(jnp.einsum("bsef,efd,bse->bsd", hidden, parameters["down"], combine), x)


@step(ROUTED, floats(BATCH, LENGTH, WIDTH))
@trained
def moe_capacity(parameters, x):
    """An expert takes so many tokens of a sequence; one-hot products send them there and back."""
    gates = jax.nn.softmax(x @ parameters["router"])
    weights, chosen = lax.top_k(gates, 2)
    experts = jax.nn.one_hot(chosen, EXPERTS)
    ranks = jnp.cumsum(experts.reshape(BATCH, 2 * LENGTH, EXPERTS), 1)
    places = ranks.reshape(BATCH, LENGTH, 2, EXPERTS) * experts - 1
    dispatch = jax.nn.one_hot(places.astype(jnp.int32), CAPACITY) * experts[..., None]
    combine = (dispatch * weights[..., None, None]).sum(2)
    dispatch = dispatch.sum(2)
    received = jnp.einsum("bsec,bsd->ebcd", dispatch, x)
    hidden = jax.nn.gelu(jnp.einsum("ebcd,edf->ebcf", received, parameters["up"]))
    output = jnp.einsum("ebcf,efd->ebcd", hidden, parameters["down"])
    return square_error(jnp.einsum("bsec,ebcd->bsd", combine, output), x)


@step(ROUTED, floats(BATCH, LENGTH, WIDTH))
@trained
def moe_sorted(parameters, x):
    """Tokens sorted by their expert, and ragged products."""
    tokens = x.reshape(-1, WIDTH)
    gates = jax.nn.softmax(tokens @ parameters["router"])
    weights, chosen = lax.top_k(gates, 2)
    chosen = chosen.reshape(-1)
    order = jnp.argsort(chosen)
    sorted_tokens = tokens[order // 2]
    sizes = jnp.bincount(chosen, length=EXPERTS)
    hidden = jax.nn.gelu(lax.ragged_dot(sorted_tokens, parameters["up"], sizes))
    output = lax.ragged_dot(hidden, parameters["down"], sizes)
    output = output * weights.reshape(-1)[order][:, None]
    return square_error(jnp.zeros_like(tokens).at[order // 2].add(output), tokens)


@step(
    {
        "input": weight(1024, 8192, split=1),
        "recurrent": weight(2048, 8192, split=1),
        "output": weight(2048, 1024, split=0),
    },
    floats(64, 256, 1024),
)
@trained
def lstm(parameters, x):
    def cell(carried, inputs):
        hidden, memory = carried
        gates = inputs @ parameters["input"] + hidden @ parameters["recurrent"]
        enter, forget, leave, update = jnp.split(gates, 4, -1)
        memory = jax.nn.sigmoid(forget) * memory + jax.nn.sigmoid(enter) * jnp.tanh(update)
        hidden = jax.nn.sigmoid(leave) * jnp.tanh(memory)
        return (hidden, memory), hidden

    zeros = jnp.zeros((64, 2048))
    _, hidden = lax.scan(cell, (zeros, zeros), x.swapaxes(0, 1))
    return square_error(hidden @ parameters["output"], x.swapaxes(0, 1))


@step(
    {
        "input": weight(WIDTH, 4096, split=1),
        "rate": weight(2048, 2048, split=1),
        "decay": weight(2048, 16, split=0),
        "mix": weight(2048, 32, split=0),
        "output": weight(2048, WIDTH, split=0),
    },
    floats(BATCH, LENGTH, WIDTH),
)
@trained
def mamba(parameters, x):
    """A selective state space: an associative scan in chunks of 64 positions, a loop over the chunks."""
    inputs, gates = jnp.split(x @ parameters["input"], 2, -1)
    rates = jax.nn.softplus(inputs @ parameters["rate"])
    into, out_of = jnp.split(inputs @ parameters["mix"], 2, -1)

    def compose(first, second):
        return first[0] * second[0], second[0] * first[1] + second[1]

    def scan_chunk(state, chunk):
        rates, inputs, into, out_of = chunk
        kept = jnp.exp(rates[..., None] * -jnp.exp(parameters["decay"]))
        added = (rates * inputs)[..., None] * into[:, :, None]
        kept, added = lax.associative_scan(compose, (kept, added), axis=1)
        states = kept * state[:, None] + added
        return states[:, -1], (states * out_of[:, :, None]).sum(-1)

    def chunked(values):
        return values.reshape(BATCH, 16, 64, -1).swapaxes(0, 1)

    chunks = (chunked(rates), chunked(inputs), chunked(into), chunked(out_of))
    _, output = lax.scan(jax.checkpoint(scan_chunk), jnp.zeros((BATCH, 2048, 16)), chunks)
    output = output.swapaxes(0, 1).reshape(BATCH, LENGTH, 2048)
    return square_error((output * jax.nn.silu(gates)) @ parameters["output"], x)


@step({"block": block_weights()}, floats(4, 8192, WIDTH))
@trained
def flash(parameters, x):
    """Attention over 8,192 positions in tiles of 512, with a running maximum and sum."""
    weights, inputs = parameters["block"], normalized(x)
    query, key, value = (
        jnp.einsum("bsd,dhk->bhsk", inputs, weights[name]) for name in ("query", "key", "value")
    )

    def tiled(values):
        return values.reshape(4, 16, 16, 512, 64).transpose(2, 0, 1, 3, 4)

    def attend(query):
        def add(carried, tile):
            highest, total, mixed = carried
            key, value = tile
            scores = jnp.einsum("bhqk,bhsk->bhqs", query, key) / 8
            higher = jnp.maximum(highest, scores.max(-1))
            shrink = jnp.exp(highest - higher)
            shares = jnp.exp(scores - higher[..., None])
            total = total * shrink + shares.sum(-1)
            mixed = mixed * shrink[..., None] + jnp.einsum("bhqs,bhsk->bhqk", shares, value)
            return (higher, total, mixed), None

        zeros = jnp.zeros((4, 16, 512))
        start = (zeros - 1e9, zeros, jnp.zeros((4, 16, 512, 64)))
        (_, total, mixed), _ = lax.scan(jax.checkpoint(add), start, (tiled(key), tiled(value)))
        return mixed / total[..., None]

    mixed = lax.map(attend, tiled(query)).transpose(1, 2, 0, 3, 4).reshape(4, 16, 8192, 64)
    x = x + jnp.einsum("bhsk,hkd->bsd", mixed, weights["output"])
    x = x + feed_forward(normalized(x), weights)
    return (x**2).mean()


@step(
    {"embedding": weight(250_000, 768, split=0), "project": weight(768, 768, split=1)},
    integers(1024, 128),
    integers(1024, 128, 4),
)
@trained
def word2vec(parameters, words, negatives):
    """The half of the loss that negative samples make, as the other is the same again."""
    embedded = parameters["embedding"][words] @ parameters["project"]
    others = parameters["embedding"][negatives]
    scores = jnp.einsum("bsd,bsnd->bsn", embedded, others)
    return jnp.logaddexp(0, scores).mean()


@step(BY_WIDTH, integers(BATCH, LENGTH), integers(BATCH, LENGTH))
def dpo(parameters, chosen, rejected):
    """Direct preference optimization; the reference model starts as the same parameters, without a gradient."""

    def log_probability(parameters, tokens):
        x = block(parameters["embedding"][tokens], parameters["block"])
        logits = jax.nn.log_softmax(normalized(x) @ parameters["embedding"].T)
        return jnp.take_along_axis(logits[:, :-1], tokens[:, 1:, None], -1)[..., 0].sum(-1)

    reference = jax.tree.map(lax.stop_gradient, parameters)

    def loss(parameters):
        tokens = jnp.concatenate([chosen, rejected])
        gain = log_probability(parameters, tokens) - log_probability(reference, tokens)
        return -jax.nn.log_sigmoid(0.1 * (gain[:BATCH] - gain[BATCH:])).mean()

    return descend(parameters, jax.grad(loss)(parameters), 1e-5)


@step(BY_WIDTH, floats(BATCH, 2048, 16, 64), floats(BATCH, 2048, 16, 64), integers(BATCH, 1), integers(BATCH))
def decode(parameters, keys, values, tokens, positions):
    """The next token of each sequence, and caches of 2,048 positions written in place."""
    weights = parameters["block"]
    x = parameters["embedding"][tokens]
    inputs = normalized(x)
    query, key, value = (
        jnp.einsum("bsd,dhk->bshk", inputs, weights[name]) for name in ("query", "key", "value")
    )

    @jax.vmap
    def write(cache, update, position):
        return lax.dynamic_update_slice(cache, update, (position, 0, 0))

    keys = write(keys, key, positions)
    values = write(values, value, positions)
    scores = jnp.einsum("bqhk,bshk->bhqs", query, keys) / 8
    scores = jnp.where(jnp.arange(2048) <= positions[:, None, None, None], scores, -1e9)
    mixed = jnp.einsum("bhqs,bshk->bqhk", jax.nn.softmax(scores), values)
    x = x + jnp.einsum("bqhk,hkd->bqd", mixed, weights["output"])
    x = x + feed_forward(normalized(x), weights)
    logits = normalized(x) @ parameters["embedding"].T
    return logits[:, 0].argmax(-1), keys, values
