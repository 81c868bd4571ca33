"""The programs of the benchmark, as flat StableHLO text with shardings on arguments only.

A train step of a JAX model is lowered once and unrolled: `unrolled` chains as many steps as make the wanted number of
ops, parameters threaded through. `priorities` is written directly.
"""

import re
from functools import partial

import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec


def _normalized(x):
    return (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)


def _attention(x, layer):
    query, key, value = (jnp.einsum("bsd,dhk->bshk", x, layer[name]) for name in "qkv")
    scores = jnp.einsum("bshk,bthk->bhst", query, key) * key.shape[-1] ** -0.5
    return jnp.einsum("bhst,bthk,hkd->bsd", jax.nn.softmax(scores), value, layer["o"])


def _mlp(x, layer):
    return jnp.maximum(x @ layer["up"], 0) @ layer["down"]


def _experts(x, layer):
    """Every token goes to one expert, by one-hot dispatch."""
    gate = jax.nn.softmax(jnp.einsum("bsd,de->bse", x, layer["gate"]))
    chosen = jax.nn.one_hot(gate.argmax(-1), gate.shape[-1]) * gate
    sent = jnp.einsum("bse,bsd->ebsd", chosen, x)
    hidden = jnp.maximum(jnp.einsum("ebsd,edf->ebsf", sent, layer["up"]), 0)
    return jnp.einsum("ebsf,efd,bse->bsd", hidden, layer["down"], chosen)


def _block(feed_forward, x, layer):
    x = x + _attention(_normalized(x), layer)
    return x + feed_forward(_normalized(x), layer)


def _language_model(feed_forward, parameters, batch):
    x = batch
    for layer in parameters:
        x = _block(feed_forward, x, layer)
    return x


def _scanned(parameters, batch):
    def body(x, layer):
        return _block(_mlp, x, layer), None

    return jax.lax.scan(body, batch, parameters)[0]


def _convnet(parameters, batch):
    x = batch
    for layer in parameters:
        x = x + jax.nn.relu(
            jax.lax.conv_general_dilated(x, layer["kernel"], (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        )
    return x


_BLOCK = {name: (64, 8, 16) for name in "qkv"} | {"o": (8, 16, 64)}
_BLOCK_SPECS = {name: PartitionSpec(None, "model") for name in "qkv"} | {"o": PartitionSpec("model")}
_DENSE = {"up": (64, 256), "down": (256, 64)}
_DENSE_SPECS = {"up": PartitionSpec(None, "model"), "down": PartitionSpec("model")}
_EXPERT = {"gate": (64, 8), "up": (8, 64, 256), "down": (8, 256, 64)}
_EXPERT_SPECS = {"gate": PartitionSpec(), "up": PartitionSpec("model"), "down": PartitionSpec("model")}


def _stacked(shapes, layers):
    return {name: (layers, *shape) for name, shape in shapes.items()}


# name -> (model, shapes of the parameters, their shardings, shape of the batch)
MODELS = {
    "transformer": (partial(_language_model, _mlp), [_BLOCK | _DENSE] * 2, [_BLOCK_SPECS | _DENSE_SPECS] * 2,
                    (8, 32, 64)),
    "moe": (partial(_language_model, _experts), [_BLOCK | _EXPERT] * 2, [_BLOCK_SPECS | _EXPERT_SPECS] * 2,
            (8, 32, 64)),
    "convnet": (_convnet, [{"kernel": (3, 3, 16, 16)}] * 4, [{"kernel": PartitionSpec(None, None, None, "model")}] * 4,
                (8, 32, 32, 16)),
    "scan": (
        _scanned,
        _stacked(_BLOCK | _DENSE, 4),
        {name: PartitionSpec(None, *spec) for name, spec in (_BLOCK_SPECS | _DENSE_SPECS).items()},
        (8, 32, 64),
    ),
}


def _adam(parameter, first, second, gradient):
    first = 0.9 * first + 0.1 * gradient
    second = 0.999 * second + 0.001 * gradient * gradient
    return parameter - 1e-3 * first / (jnp.sqrt(second) + 1e-8), first, second


def train_step(name, devices):
    """The text of one AdamW step on a mesh of `devices` (data, model): (parameters, first, second, batch) -> the first
    three.
    """
    model, shapes, specs, batch = MODELS[name]
    is_shape = lambda leaf: isinstance(leaf, tuple)  # noqa: E731
    mesh = jax.sharding.AbstractMesh((4, 2), ("data", "model"), axis_types=(AxisType.Auto,) * 2)

    def step(parameters, first, second, batch):
        gradient = jax.grad(lambda values: (model(values, batch) ** 2).mean())(parameters)
        updated = jax.tree.map(_adam, parameters, first, second, gradient)
        return jax.tree.transpose(jax.tree.structure(parameters), jax.tree.structure((0, 0, 0)), updated)

    def sharded(spec, shape):
        return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(mesh, spec))

    parameters = jax.tree.map(lambda shape, spec: sharded(spec, shape), shapes, specs, is_leaf=is_shape)
    state = jax.tree.map(lambda shape: jax.ShapeDtypeStruct(shape, jnp.float32), shapes, is_leaf=is_shape)
    batch = sharded(PartitionSpec("data"), batch)
    text = jax.jit(step, keep_unused=True).trace(parameters, state, state,
                                                 batch).lower(lowering_platforms=("cpu",)).as_text()
    # JAX refuses what does not divide; the passes do not mind.
    sizes = r'(sdy\.mesh @mesh = <\["data"=)4(, "model"=)2'
    text = re.sub(sizes, rf"\g<1>{devices[0]}\g<2>{devices[1]}", text)
    return re.sub(r" \{stablehlo\.mesh = .*\}$", "", text, flags=re.MULTILINE)


def _types(text):
    return re.findall(r"tensor<[^>]*>", text)


def unrolled(text, steps):
    """`steps` calls of the step in `text`, each on the results of the one before; to be inlined."""
    signature = re.search(r"func\.func public @main\((.*)\) -> \((.*)\) \{\n", text)
    arguments, results = (_types(part) for part in signature.groups())
    header = text[: signature.start()]
    body = text[signature.end() :]
    one = (
        f"  func.func private @step({', '.join(f'%arg{i}: {t}' for i, t in enumerate(arguments))}) -> "
        f"({', '.join(results)}) {{\n"
    )
    lines = [f"  func.func public @main({signature[1]}) -> ({', '.join(results)}) {{"]
    carried, batch = (
        [f"%arg{i}" for i in range(len(results))],
        [f"%arg{i}" for i in range(len(results), len(arguments))],
    )
    for step in range(steps):
        lines.append(
            f"    %s{step}:{len(results)} = func.call @step({', '.join(carried + batch)})"
            f" : ({', '.join(arguments)}) -> ({', '.join(results)})"
        )
        carried = [f"%s{step}#{i}" for i in range(len(results))]
    lines += [f"    return {', '.join(carried)} : {', '.join(results)}", "  }\n"]
    return header + "\n".join(lines) + one + body


def priorities(ops, levels, devices):
    """A chain of dots and adds, every tenth constrained, with `levels` priorities taking turns."""
    lines = [
        "module {",
        f'  sdy.mesh @mesh = <["data"={devices[0]}, "model"={devices[1]}]>',
        "  func.func public @main(%0: tensor<512x512xf32>, %w: tensor<512x512xf32>) -> tensor<512x512xf32> {",
    ]
    value, type_ = 0, "tensor<512x512xf32>"
    while value < ops:
        kind, value = value % 10, value + 1
        if kind == 9:
            axes = ('{"data", ?}', '{"model", ?}') if (value // 10) % 2 else ('{"model", ?}', '{"data", ?}')
            level = (value // 10 * 7) % levels
            sharding = ", ".join(f"{dim}p{level}" for dim in axes)
            lines.append(f"    %{value} = sdy.sharding_constraint %{value - 1} <@mesh, [{sharding}]> : {type_}")
        elif kind == 4:
            lines.append(f"    %{value} = stablehlo.dot_general %{value - 1}, %w, contracting_dims = [1] x [0] : "
                         f"({type_}, {type_}) -> {type_}")
        else:
            other = max(0, value - 1 - kind)
            lines.append(f"    %{value} = stablehlo.add %{value - 1}, %{other} : {type_}")
    return "\n".join([*lines, f"    return %{value} : {type_}", "  }", "}"])
