"""Small steps whose time is latency: recurrences, conditionals, reshapes of sharded dims, and dims that do not divide.

A name stands for (function, arguments, specs of the arguments) on a mesh data=2, model=4.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import PartitionSpec as P

ALL = ("data", "model")
BATCH, TIME, WIDTH, HIDDEN = 16, 24, 32, 64
_random = np.random.default_rng(0)


def _array(*shape):
    return _random.standard_normal(shape).astype(np.float32)


def _gru(parameters, x):
    """The loss of a GRU over a sequence, and its parameters after a step."""

    def loss(p):
        def cell(h, xt):
            z = jax.nn.sigmoid(xt @ p["wz"] + h @ p["uz"] + p["bz"])
            r = jax.nn.sigmoid(xt @ p["wr"] + h @ p["ur"] + p["br"])
            n = jnp.tanh(xt @ p["wn"] + (r * h) @ p["un"] + p["bn"])
            h = (1 - z) * n + z * h
            return h, h

        _, states = jax.lax.scan(cell, jnp.zeros((BATCH, HIDDEN)), jnp.swapaxes(x, 0, 1))
        return (states**2).mean()

    value, gradient = jax.value_and_grad(loss)(parameters)
    return jax.tree.map(lambda p, g: p - 0.1 * g, parameters, gradient), value


_PARAMETERS = {
    **{name: _array(WIDTH, HIDDEN) for name in ("wz", "wr", "wn")},
    **{name: _array(HIDDEN, HIDDEN) for name in ("uz", "ur", "un")},
    **{name: _array(HIDDEN) for name in ("bz", "br", "bn")},
}


def _of_parameters(matrix, vector):
    return {name: matrix if value.ndim == 2 else vector for name, value in _PARAMETERS.items()}


def _conditional(number, x, up, down):
    return jax.lax.cond(number > 0, lambda: jax.nn.relu(x @ up) @ down, lambda: jnp.tanh(x @ up) @ down).sum()


def _loop(x, w):
    def body(carry):
        i, x = carry
        return i + 1, jax.lax.cond(i % 2 == 0, lambda: jnp.tanh(x @ w), lambda: x)

    return jax.lax.while_loop(lambda carry: carry[0] < 6, body, (0, x))[1]


def _sorted_and_summed(x):
    return jnp.cumsum(x, 0), jnp.sort(x, 1), jnp.cumsum(x, 1)


def _transposed(x):
    return jnp.transpose(x.reshape(8, 16, 8, 32), (2, 0, 3, 1)).reshape(64, 512) * 2


PROGRAMS = {
    "gru-fsdp": (_gru, (_PARAMETERS, _array(BATCH, TIME, WIDTH)), (_of_parameters(P(ALL), P(ALL)), P(ALL))),
    "gru-data": (_gru, (_PARAMETERS, _array(BATCH, TIME, WIDTH)), (_of_parameters(P(), P()), P(ALL))),
    "gru-2-D": (
        _gru,
        (_PARAMETERS, _array(BATCH, TIME, WIDTH)),
        (_of_parameters(P("data", "model"), P("model")), P("data")),
    ),
    "conditional": (
        _conditional,
        (_array(), _array(8, 32), _array(32, 64), _array(64, 32)),
        (P(), P("data"), P(None, "model"), P("model")),
    ),
    "loop": (_loop, (_array(16, 64), _array(64, 64)), (P("data"), P(None, "model"))),
    "reshape-transpose": (_transposed, (_array(128, 256),), (P("data", "model"),)),
    "reshape-split": (
        lambda x, w: (x.reshape(16, 24, 64) @ w).reshape(384, 32),
        (_array(384, 64), _array(64, 32)),
        (P("model", "data"), P("data", "model")),
    ),
    "sorted-and-summed": (_sorted_and_summed, (_array(16, 32),), (P("data", "model"),)),
    "thirteen-rows": (lambda x, w: jax.nn.softmax(x @ w), (_array(13, 32), _array(32, 16)), (P(), P("data", "model"))),
    "uneven": (lambda x, y: x @ y + x[:, :1], (_array(13, 22), _array(22, 30)), (P(), P())),
}


def lowered(name, mesh):
    """The step as jax.jit lowers it on `mesh`, and its arguments."""
    function, arguments, specs = PROGRAMS[name]
    shardings = jax.tree.map(
        lambda spec: jax.sharding.NamedSharding(mesh, spec), specs, is_leaf=lambda s: isinstance(s, P)
    )
    return jax.jit(function, in_shardings=shardings, keep_unused=True).lower(*arguments), arguments
