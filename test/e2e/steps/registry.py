"""What a step of the corpus is, and how one is added to it."""

from dataclasses import dataclass, field

import jax
import jax.numpy as jnp
import numpy as np
import optax

MODELS = {}


@dataclass(frozen=True)
class Model:
    """A step `function(parameters, *batch)`; `arguments()` makes them.

    split: which dim of a parameter Megatron shards, by a part of the parameter's path.
    also: strategies beyond those that every step is tried with.
    """

    function: callable
    arguments: callable
    split: dict = field(default_factory=dict)
    also: tuple = ()


def step(arguments, **more):
    """Registers a step by the name of its function."""

    def register(function):
        MODELS[function.__name__.replace("_", "-")] = Model(function, arguments, **more)
        return function

    return register


def normal(*shape, seed=0, scale=1.0):
    return (scale * np.random.default_rng(seed).standard_normal(shape)).astype(np.float32)


def integers(*shape, high, seed=0, low=0):
    return np.random.default_rng(seed).integers(low, high, shape).astype(np.int32)


def train(name, module, loss, *batch, optimizer=None, mutable=False, **more):
    """Registers a training step of a flax module: loss(output, *batch after the first)."""

    def initial():
        variables = module.init(jax.random.key(0), batch[0])
        return variables["params"], {key: value for key, value in variables.items() if key != "params"}

    def apply(parameters, rest, inputs):
        if mutable:
            return module.apply({"params": parameters, **rest}, inputs, mutable=list(rest))
        return module.apply({"params": parameters, **rest}, inputs), rest

    fit(name, initial, apply, loss, *batch, optimizer=optimizer, **more)


def fit(name, initial, apply, loss, *batch, optimizer=None, **more):
    """Registers a training step of anything: initial() = (parameters, rest), apply(parameters, rest, inputs) =
    (output, rest).
    """
    optimizer = optimizer or optax.sgd(1e-2)

    def arguments():
        parameters, rest = initial()
        return ({"params": parameters, "state": optimizer.init(parameters), "rest": rest}, *batch)

    def function(carried, inputs, *labels):
        def value(parameters):
            output, rest = apply(parameters, carried["rest"], inputs)
            return loss(output, *labels), rest

        (result, rest), gradient = jax.value_and_grad(value, has_aux=True)(carried["params"])
        updates, state = optimizer.update(gradient, carried["state"], carried["params"])
        return {"params": optax.apply_updates(carried["params"], updates), "state": state, "rest": rest}, result

    MODELS[name] = Model(function, arguments, **more)


def cross_entropy(logits, labels):
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()


def square_error(output, labels):
    return jnp.mean((output - labels) ** 2)
