"""One AdamW step of a flax transformer on eight CPU devices, partitioned by us: `scripts/demo`.

The mesh is data=2, model=4. The user's part is Megatron's shardings on the parameters and a sharded batch; the compiler
decides the rest. Exit code 1 if the devices' numbers do not agree with the unpartitioned program's.
"""

import sys
import time

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
import shardonnay
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from shardonnay import compare, engine, report, run, xla

MESH = {"data": 2, "model": 4}
BATCH, LENGTH, VOCABULARY, WIDTH, HEADS, LAYERS = 8, 32, 256, 64, 4, 2


class Block(nn.Module):
    """Attention and MLP, each after a layer norm and around a residual."""

    width: int
    heads: int

    @nn.compact
    def __call__(self, x, mask):
        x = x + nn.MultiHeadDotProductAttention(num_heads=self.heads)(nn.LayerNorm()(x), mask=mask)
        y = nn.Dense(4 * self.width)(nn.LayerNorm()(x))
        return x + nn.Dense(self.width)(nn.gelu(y))


class LanguageModel(nn.Module):
    """A causal transformer over tokens, from flax's building blocks."""

    vocabulary: int
    width: int
    heads: int
    layers: int
    length: int

    @nn.compact
    def __call__(self, tokens):
        x = nn.Embed(self.vocabulary, self.width)(tokens)
        x = x + nn.Embed(self.length, self.width)(jnp.arange(tokens.shape[1]))
        mask = nn.make_causal_mask(tokens)
        for _ in range(self.layers):
            x = Block(self.width, self.heads)(x, mask)
        return nn.Dense(self.vocabulary)(nn.LayerNorm()(x))


def megatron(path, value):
    """Megatron's sharding of a parameter, by its path such as `params/Block_0/Dense_1/kernel`."""
    if any(path.endswith(f"{name}/kernel") for name in ("query", "key", "value")):
        return PartitionSpec(None, "model", None)  # heads
    if path.endswith("out/kernel"):
        return PartitionSpec("model", None, None)
    if path.endswith("Dense_0/kernel"):
        return PartitionSpec(None, "model")  # the MLP's columns, and the vocabulary of the last layer
    if path.endswith("Dense_1/kernel") or path.endswith("Embed_0/embedding"):
        return PartitionSpec("model", None)
    return PartitionSpec()


def step_and_arguments():
    """The step, which takes and gives parameters and the optimizer's state, and its arguments: these, tokens and
    labels.
    """
    model = LanguageModel(VOCABULARY, WIDTH, HEADS, LAYERS, LENGTH)
    optimizer = optax.adamw(1e-3)
    generator = np.random.default_rng(0)
    tokens, labels = generator.integers(0, VOCABULARY, (2, BATCH, LENGTH)).astype(np.int32)
    parameters = jax.jit(model.init)(jax.random.key(0), tokens)

    def step(parameters, state, tokens, labels):
        def loss(values):
            logits = model.apply(values, tokens)
            return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

        value, gradient = jax.value_and_grad(loss)(parameters)
        updates, state = optimizer.update(gradient, state, parameters)
        return optax.apply_updates(parameters, updates), state, value

    return step, (parameters, optimizer.init(parameters), tokens, labels)


def training_step():
    """(lowered, inputs): the step as JAX lowers it, and its inputs in order."""
    step, arguments = step_and_arguments()
    mesh = Mesh(np.array(jax.devices("cpu")[:8]).reshape(tuple(MESH.values())), tuple(MESH))

    def sharding(path, value):
        spec = megatron(jax.tree_util.keystr(path, simple=True, separator="/"), value)
        return NamedSharding(mesh, spec) if spec else None

    batch = NamedSharding(mesh, PartitionSpec("data"))
    shardings = (jax.tree_util.tree_map_with_path(sharding, arguments[0]), None, batch, batch)
    lowered = jax.jit(step, in_shardings=shardings, keep_unused=True).lower(*arguments)
    return lowered, [np.asarray(leaf) for leaf in jax.tree.leaves(arguments)]


def print_xla(partitioned):
    """What XLA's own partitioner emits for the same program."""
    kinds = ", ".join(
        f"{count} {kind} ({report.size(partitioned.bytes[kind])})" for kind, count in sorted(partitioned.count.items())
    )
    total = sum(partitioned.bytes.values())
    print(f"XLA's partitioner on the same program: {kinds or 'no collectives'}, {report.size(total)} in all")


def main():
    engine.prepare(8)
    lowered, inputs = training_step()
    text = lowered.as_text(debug_info=True)
    print(f"flax transformer, one AdamW step, mesh {MESH}: {len(inputs)} inputs, {text.count(chr(10)):,} lines of "
          "StableHLO")
    start = time.monotonic()
    compiled = shardonnay.compile(text, report=True)
    seconds = time.monotonic() - start
    for diagnostic in compiled.diagnostics:
        print(diagnostic)
    print("\n".join(report.lines(compiled.report, causes=False)))
    start = time.monotonic()
    program = run.LoadedProgram(compiled)
    engine_seconds = time.monotonic() - start
    partitioned = xla.partition(lowered)
    print(
        f"compile time: {seconds:.2f} s to partition, {engine_seconds:.1f} s for XLA to compile the result "
        f"(XLA, partitioning itself: {partitioned.seconds:.1f} s)"
    )
    print_xla(partitioned)
    expected = compare.reference(text, inputs)
    agreements = run.check(program, inputs, expected)
    measured = program.memory()
    print(
        "memory per device as XLA allocates it: temporaries "
        f"{report.size(expected.memory['temporaries'])} -> {report.size(measured['temporaries'])}"
    )
    return conclude(agreements)


def conclude(agreements):
    """Prints the verdict; the exit code."""
    wrong = [agreement for agreement in agreements if not agreement.ok]
    for agreement in wrong:
        print(agreement)
    if wrong:
        print(f"\n{len(wrong)} of {len(agreements)} outputs of the 8 devices DISAGREE with the unpartitioned program.")
        return 1
    worst = max(agreements, key=lambda agreement: agreement.error)
    print(
        f"\nAll {len(agreements)} outputs of the 8 devices agree with the unpartitioned program; "
        f"the largest error is {worst.error:.2g} (allowed {worst.tolerance:.2g}) in {worst.name}."
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
