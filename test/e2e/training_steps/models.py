"""Training steps of flax models, and the ways to shard them: every pair is a program for the compiler.

Shardings are given on parameters and batch only, as a user would; the rest is for the compiler to decide.
"""

from dataclasses import dataclass

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from demo import LanguageModel, megatron
from jax.sharding import Mesh, NamedSharding, PartitionSpec

BATCH, LENGTH, VOCABULARY, WIDTH, HEADS = 8, 16, 64, 32, 8


class Mlp(nn.Module):
    """Two dense layers and a residual: the Megatron MLP block."""

    @nn.compact
    def __call__(self, x):
        return x + nn.Dense(WIDTH)(nn.relu(nn.Dense(4 * WIDTH)(x)))


class TiedEmbedding(nn.Module):
    """A bag-of-words model whose output matrix is its input embedding."""

    @nn.compact
    def __call__(self, tokens):
        embed = nn.Embed(VOCABULARY, WIDTH)
        x = embed(tokens)
        x = nn.LayerNorm()(x + nn.Dense(WIDTH)(nn.gelu(x)))
        return embed.attend(x)


def _tokens(seed):
    return np.random.default_rng(seed).integers(0, VOCABULARY, (BATCH, LENGTH)).astype(np.int32)


def _cross_entropy(logits, labels):
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()


def _square_error(output, labels):
    return jnp.mean((output - labels) ** 2)


@dataclass(frozen=True)
class Program:
    """A model with its loss, its optimizer and one batch of inputs and labels."""

    model: nn.Module
    loss: callable
    optimizer: optax.GradientTransformation
    batch: tuple

    def step(self, parameters, state, inputs, labels):
        def loss(values):
            return self.loss(self.model.apply(values, inputs), labels)

        value, gradient = jax.value_and_grad(loss)(parameters)
        updates, state = self.optimizer.update(gradient, state, parameters)
        return optax.apply_updates(parameters, updates), state, value


def _normal(seed):
    return np.random.default_rng(seed).standard_normal((BATCH, WIDTH)).astype(np.float32)


PROGRAMS = {
    "mlp": lambda: Program(Mlp(), _square_error, optax.sgd(1e-2, momentum=0.9), (_normal(1), _normal(2))),
    "transformer": lambda: Program(
        LanguageModel(VOCABULARY, WIDTH, HEADS, 1, LENGTH), _cross_entropy, optax.adamw(1e-3), (_tokens(1), _tokens(2))
    ),
    "tied": lambda: Program(TiedEmbedding(), _cross_entropy, optax.adamw(1e-3), (_tokens(1), _tokens(2))),
}


def _replicated(path, value):
    return PartitionSpec()


def _fully_sharded(path, value):
    sharded = next((dim for dim, size in enumerate(value.shape) if size % 8 == 0), None)
    if sharded is None:
        return PartitionSpec()
    return PartitionSpec(*(("data",) if dim == sharded else (None,) for dim in range(value.ndim)))


def _tensor(path, value):
    """Megatron's, with the MLP's and the embedding's matrices sharded the same way as the transformer's."""
    if path.endswith("Dense_1/kernel"):
        return PartitionSpec("model", None)
    if path in ("params/Dense_0/kernel",):
        return PartitionSpec(None, "model")
    return megatron(path, value)


@dataclass(frozen=True)
class Strategy:
    """A mesh, where each parameter goes, and the sharding of the batch."""

    mesh: dict
    parameter: callable
    batch: PartitionSpec


STRATEGIES = {
    "data": Strategy({"data": 8}, _replicated, PartitionSpec("data")),
    "tensor": Strategy({"model": 8}, _tensor, PartitionSpec()),
    "fsdp": Strategy({"data": 8}, _fully_sharded, PartitionSpec("data")),
    "2-D": Strategy({"data": 2, "model": 4}, _tensor, PartitionSpec("data")),
}


def lower(program_name, strategy_name):
    """(text, inputs): the pair's training step as JAX prints it, and its inputs in the order of the text."""
    program, strategy = PROGRAMS[program_name](), STRATEGIES[strategy_name]
    devices = np.array(jax.devices("cpu")[:8]).reshape(tuple(strategy.mesh.values()))
    mesh = Mesh(devices, tuple(strategy.mesh))
    parameters = program.model.init(jax.random.key(0), program.batch[0])
    state = program.optimizer.init(parameters)

    def sharding(path, value):
        return NamedSharding(mesh, strategy.parameter(jax.tree_util.keystr(path, simple=True, separator="/"), value))

    batch = NamedSharding(mesh, strategy.batch)
    shardings = (jax.tree_util.tree_map_with_path(sharding, parameters), None, batch, batch)
    arguments = (parameters, state, *program.batch)
    lowered = jax.jit(program.step, in_shardings=shardings, keep_unused=True).lower(*arguments)
    return lowered.as_text(debug_info=True), [np.asarray(leaf) for leaf in jax.tree.leaves(arguments)]
