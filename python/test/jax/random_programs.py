"""Random JAX programs of a seed, as people write them: a pool of values, ops that draw from it, and functions of such
programs under scan, while, cond, vmap, grad, remat, jit and shard_map, with constraints at any value.

A program is a Python function. What it does is drawn while JAX traces it, from a random stream that starts anew with
every trace, so each trace of it is the same. Its reference has no constraints, and what shards do is done on the whole
value, so XLA's partitioner, which dies of some programs, has nothing to do with it. Floats are kept small, so that
rounding stays what it is.
"""

import dataclasses
import math
import random

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

MESHES = [{"x": 8}, {"x": 2, "y": 4}, {"x": 4, "y": 2}, {"x": 2, "y": 2, "z": 2}]
SIZES = [1, 2, 3, 4, 4, 5, 6, 8, 8, 8, 12, 16, 16]
MOST_ELEMENTS = 4096
DEEPEST = 2  # programs in programs
OPS = []


def op(weight=1, nests=False):
    """Adds a function of (draw, pool) to the ops. `nests`: it has programs within."""

    def add(function):
        OPS.extend([(function, nests)] * weight)
        return function

    return add


def fitted(value, shape):
    """The elements of a value, repeated or left out, in another shape."""
    count, flat = math.prod(shape), value.reshape(-1)
    if flat.shape[0] < count:
        flat = jnp.tile(flat, -(-count // flat.shape[0]))
    return flat[:count].reshape(shape)


class Draw:
    """What a program is drawn with."""

    def __init__(self, stream, mesh):
        self.stream, self.mesh, self.depth, self.whole = stream, mesh, 0, False
        self.choice, self.randint, self.sample = stream.choice, stream.randint, stream.sample

    def chance(self, percent):
        return self.stream.random() * 100 < percent

    def shape(self):
        return tuple(self.choice(SIZES) for _ in range(self.choice([1, 2, 2, 2, 3, 3])))

    def dim(self, value):
        return self.randint(0, value.ndim - 1)

    def float(self, pool, rank=None):
        """A float tensor of the pool, rather one of the last; one value is drawn many times."""
        found = [value for value in pool if value.dtype == jnp.float32 and rank in (None, value.ndim)]
        if not found:
            return fitted(self.float(pool), tuple(self.choice(SIZES) for _ in range(rank)))
        return self.choice(found[-8:] if self.chance(60) else found)

    def ints(self, pool):
        """A vector of the pool."""
        return self.choice([value for value in pool if value.dtype == jnp.int32])

    def spec(self, shape, whole=10):
        """Axes on dims that they divide, as JAX wants it."""
        dims = [[] for _ in shape]
        names = () if self.chance(whole) or not shape else self.mesh.axis_names
        for axis in self.sample(names, len(names)):
            at = self.randint(0, len(shape) - 1)
            count = math.prod(self.mesh.shape[name] for name in [*dims[at], axis])
            if self.chance(75) and shape[at] % count == 0:
                dims[at].append(axis)
        return P(*[tuple(axes) or None for axes in dims])

    def sharding(self, shape):
        return NamedSharding(self.mesh, self.spec(shape))

    def program(self, length):
        """A function of a pool that returns it with what was computed from it."""
        state = random.Random(self.stream.random()).getstate()

        def run(pool):
            outer = self.stream.getstate()
            self.stream.setstate(state)
            self.depth += 1
            pool = list(pool)
            for _ in range(length):
                function, nests = self.choice(OPS)
                if not nests or self.depth <= DEEPEST:
                    self._add(pool, function(self, pool))
            self.depth -= 1
            self.stream.setstate(outer)
            return pool

        return run

    def function(self, length, *captured):
        """A function of one float tensor to another of its shape, by a program."""
        run = self.program(length)
        return lambda value: fitted(run([*captured, value])[-1].astype(jnp.float32), value.shape)

    def _add(self, pool, results):
        for value in results if isinstance(results, list) else [results]:
            if value.dtype == jnp.int32 and value.ndim == 1:
                pool.append(value)
            elif value.ndim and value.size <= MOST_ELEMENTS and value.dtype in (jnp.float32, jnp.bfloat16):
                pool.append(jnp.tanh(value.astype(jnp.float32)) if self.chance(30) else value.astype(jnp.float32))


# Elements and reductions.


@op(3)
def one_operand(draw, pool):
    functions = [jnp.tanh, jnp.sin, jnp.negative, jnp.abs, jax.nn.softplus, jax.nn.relu, lambda x: x * 0.5 + 1]
    functions += [lambda x: jnp.clip(x, -0.5, 0.7), lambda x: jnp.floor(x * 3), lambda x: x.astype(jnp.bfloat16)]
    return draw.choice(functions)(draw.float(pool))


@op(4)
def two_operands(draw, pool):
    a = draw.float(pool)
    b = fitted(draw.float(pool), a.shape) if draw.chance(60) else a
    functions = [jnp.add, jnp.subtract, jnp.multiply, jnp.maximum, lambda a, b: a / (1 + jnp.abs(b))]
    return draw.choice([*functions, lambda a, b: jnp.where(a > b, a, b * 0.5)])(a, b)


@op(2)
def broadcasting(draw, pool):
    a = draw.float(pool)
    at = draw.dim(a)
    return a + jnp.expand_dims(fitted(draw.float(pool), a.shape[at : at + 1]), [d for d in range(a.ndim) if d != at])


@op(4)
def reduction(draw, pool):
    a = draw.float(pool)
    dims = tuple(draw.sample(range(a.ndim), draw.randint(1, a.ndim)))
    function = draw.choice([jnp.sum, jnp.max, jnp.min, jnp.mean, jax.nn.logsumexp, jnp.var])
    return function(a, axis=dims, keepdims=draw.chance(50))


@op(3)
def along_a_dim(draw, pool):
    a = draw.float(pool)
    at = draw.dim(a)
    functions = [jax.nn.softmax, jax.nn.log_softmax, lax.cummax, jnp.sort, lambda a, at: jnp.cumsum(a, at) * 0.3]
    functions += [lambda a, at: lax.cumsum(a, at, reverse=True) * 0.3, lambda a, at: a - a.mean(at, keepdims=True)]
    functions += [lambda a, at: jnp.roll(a, draw.randint(-3, 3), at), lambda a, _: lax.top_k(a, min(3, a.shape[-1]))[0]]
    return draw.choice(functions)(a, at)


@op(2)
def vectors_of_ints(draw, pool):
    a, i = draw.float(pool), draw.ints(pool)
    functions = [lambda: jnp.argmax(a, draw.dim(a)).reshape(-1).astype(jnp.int32), lambda: (i * 3 + 1) % 17]
    functions += [lambda: jnp.cumsum(i) % 11, lambda: jnp.argsort(i), lambda: jnp.arange(draw.choice(SIZES))]
    functions += [lambda: jnp.flip(i), lambda: jax.nn.one_hot(i % 8, 8, dtype=jnp.int32).sum(0)]
    return draw.choice(functions)()


# Movements.


@op(3)
def reshaping(draw, pool):
    a = draw.float(pool)
    count = draw.choice([number for number in range(1, a.size + 1) if a.size % number == 0])
    shapes = [(count, -1), (-1,), a.shape[::-1], (1, *a.shape), (count, 1, -1)]
    return a.reshape(draw.choice(shapes))


@op(3)
def transposing(draw, pool):
    a = draw.float(pool)
    return a.transpose(draw.sample(range(a.ndim), a.ndim))


@op(3)
def slicing(draw, pool):
    def part(size):
        start = draw.randint(0, size - 1)
        return draw.choice([slice(start, draw.randint(start + 1, size), draw.choice([1, 1, 2])), slice(None, None, -1)])

    a = draw.float(pool)
    return a[tuple(map(part, a.shape))]


@op(3)
def joining(draw, pool):
    """Of a value, windows of it and others."""
    a = draw.float(pool)
    at, parts = draw.dim(a), [a]
    for _ in range(draw.randint(1, 2)):
        size = draw.randint(1, a.shape[at])
        start = draw.randint(0, a.shape[at] - size)
        window = lax.slice_in_dim(a, start, start + size, axis=at)
        other = fitted(draw.float(pool), (*a.shape[:at], draw.randint(1, 4), *a.shape[at + 1 :]))
        parts.insert(draw.randint(0, len(parts)), draw.choice([window, other]))
    return jnp.concatenate(parts, at)


@op(2)
def padding(draw, pool):
    a = draw.float(pool)
    if draw.chance(30):
        low = [draw.randint(-1 if size > 2 else 0, 2) for size in a.shape]
        return lax.pad(a, jnp.float32(0.5), [(start, draw.randint(0, 2), draw.randint(0, 1)) for start in low])
    widths = [(draw.randint(0, min(2, size - 1)), draw.randint(0, min(2, size - 1))) for size in a.shape]
    return jnp.pad(a, widths, mode=draw.choice(["constant", "edge", "wrap", "reflect"]))


@op(3)
def gathering(draw, pool):
    a, i = draw.float(pool), draw.ints(pool)
    at = draw.dim(a)
    mode = draw.choice(["fill", "clip", "wrap"])
    return jnp.take(a, i % a.shape[at] if draw.chance(40) else i, at, mode=mode, fill_value=0.3)


@op(3)
def scattering(draw, pool):
    a, i = draw.float(pool), draw.ints(pool)
    if draw.chance(30):
        a = a.T
    updates = fitted(draw.float(pool), (i.shape[0], *a.shape[1:]))
    functions = [lambda: a.at[i].add(updates), lambda: a.at[i % a.shape[0]].max(updates), lambda: a.at[1:].set(0.2)]
    functions += [lambda: a.at[i[:1]].set(updates[:1]), lambda: a.at[i[0]].set(updates[0])]
    functions += [lambda: jax.ops.segment_sum(updates, i % 8, 8)]
    return draw.choice(functions)()


@op(3)
def moving_windows(draw, pool):
    a, i = draw.float(pool), draw.ints(pool)
    sizes = tuple(draw.randint(1, size) for size in a.shape)
    starts = [i[at % i.shape[0]] if draw.chance(60) else 0 for at in range(a.ndim)]
    if draw.chance(50):
        return lax.dynamic_slice(a, starts, sizes)
    return lax.dynamic_update_slice(a, fitted(draw.float(pool), sizes), starts)


# Contractions and windows.


@op(5)
def contraction(draw, pool):
    plain, batched = ["mk,kn->mn", "mk,nk->mn", "km,kn->nm"], ["tmk,tkn->tmn", "tmk,tk->tm", "mtk,ntk->tmn"]
    text = draw.choice([*plain, *batched, "tmk,kn->tmn", "tmk,tmn->kn"])
    sizes = {letter: draw.choice([2, 4, 5, 6, 8, 16]) for letter in "mknt"}
    shapes = [tuple(sizes[letter] for letter in letters) for letters in text.split("->")[0].split(",")]
    return jnp.einsum(text, *[fitted(draw.float(pool), shape) for shape in shapes]) * 0.3


@op(2)
def contraction_with_itself(draw, pool):
    a = draw.float(pool, 2)
    return draw.choice([lambda: a @ a.T, lambda: a.T @ a, lambda: jnp.einsum("ij,ik->jk", a, jnp.tanh(a))])() * 0.2


@op()
def convolution(draw, pool):
    batch, length, features = draw.choice([2, 4, 8]), draw.choice([6, 8, 12, 16]), draw.choice([4, 8])
    groups = draw.choice([1, 1, 2, features])
    x = fitted(draw.float(pool), (batch, length, features))
    kernel = fitted(draw.float(pool), (3, features // groups, features))
    options = {"dimension_numbers": ("NWC", "WIO", "NWC"), "rhs_dilation": (draw.randint(1, 2),)}
    padding = draw.choice(["SAME", "VALID", [(2, 0)]])
    strides = (draw.randint(1, 2),)
    return lax.conv_general_dilated(x, kernel, strides, padding, feature_group_count=groups, **options) * 0.3


@op()
def pooling(draw, pool):
    a = draw.float(pool, 2)
    window = tuple(min(size, draw.randint(1, 3)) for size in a.shape)
    strides = tuple(draw.choice([1, 1, 2]) for _ in window)
    start, function = draw.choice([(-jnp.inf, lax.max), (0.0, lax.add)])
    return lax.reduce_window(a, start, function, window, strides, draw.choice(["SAME", "VALID"]))


# What the user says of shardings, and programs in programs.


@op(6)
def constraint(draw, pool):
    a = draw.float(pool)
    spec = list(draw.spec(a.shape)) + [None] * a.ndim
    open_dims = [P.UNCONSTRAINED if dim is None and draw.chance(20) else dim for dim in spec[: a.ndim]]
    return a if draw.whole else lax.with_sharding_constraint(a, NamedSharding(draw.mesh, P(*open_dims)))


@op(2, nests=True)
def scan(draw, pool):
    carried = [draw.float(pool) for _ in range(draw.randint(1, 2))]
    rows = [fitted(draw.float(pool), (4, *draw.shape()[:2]))] if draw.chance(70) else None
    run, captured = draw.program(draw.randint(2, 5)), [draw.float(pool), draw.ints(pool)]

    def step(carried, row):
        new = [value for value in run([*captured, *carried, *(row or ())]) if value.dtype == jnp.float32]
        return [jnp.tanh(fitted(new[-1 - at], old.shape) + 0.5 * old) for at, old in enumerate(carried)], new[-1]

    carried, outputs = lax.scan(step, carried, rows, length=4, reverse=draw.chance(30))
    return [*carried, outputs] if draw.chance(70) else carried[:1]


@op(nests=True)
def loop(draw, pool):
    function = draw.function(draw.randint(2, 4), draw.float(pool), draw.ints(pool))
    return lax.fori_loop(0, 3, lambda i, value: jnp.tanh(function(value + 0.1 * i) + value), draw.float(pool))


@op(nests=True)
def branch(draw, pool):
    a, captured = draw.float(pool), [draw.float(pool), draw.ints(pool)]
    return lax.cond(a.sum() > 0, *(draw.function(draw.randint(1, 3), *captured) for _ in range(2)), a)


@op(2, nests=True)
def private_function(draw, pool):
    a = draw.float(pool)
    function = jax.jit(draw.function(draw.randint(1, 4), draw.ints(pool)))
    if draw.chance(30):
        function = jax.checkpoint(function)
    return [function(a), function(fitted(draw.float(pool), a.shape)) + function(a)]


@op(2, nests=True)
def gradient(draw, pool):
    run, i = draw.program(draw.randint(2, 5)), draw.ints(pool)

    def loss(a, b):
        last = [jnp.tanh(value).sum() for value in run([a, b, i])[-2:] if value.dtype == jnp.float32]
        return sum(last) * 0.1 + jnp.sum(a) * 0.1

    return list(jax.grad(loss, (0, 1))(draw.float(pool), draw.float(pool)))


@op(nests=True)
def mapped(draw, pool):
    return jax.vmap(draw.function(draw.randint(1, 3), draw.float(pool), draw.ints(pool)))(draw.float(pool, 2))


@op(2)
def on_shards(draw, pool):
    """A shard_map over all axes of the mesh, or one of them."""
    names = draw.mesh.axis_names
    axis = draw.choice(names)
    count = draw.mesh.shape[axis]
    a = fitted(draw.float(pool), (count * draw.choice([1, 2]), draw.choice([4, 8])))

    manual = {axis} if len(names) > 1 and draw.chance(30) else set(names)
    if draw.whole:
        shards = a.reshape(count, -1, a.shape[1])
        positions = jnp.arange(count, dtype=jnp.float32).reshape(-1, 1, 1)
        summed = shards.sum(0) * 0.3 + jnp.roll(shards, 1, 0) + positions + a.sum(0) * 0.1
        return summed.reshape(a.shape)

    def body(shard):
        around = lax.ppermute(shard, axis, [(at, (at + 1) % count) for at in range(count)])
        gathered = lax.all_gather(shard, axis, axis=0, tiled=True).sum(0)
        return lax.psum(shard, axis) * 0.3 + around + lax.axis_index(axis) + gathered * 0.1

    return jax.shard_map(body, mesh=draw.mesh, in_specs=P(axis), out_specs=P(axis), axis_names=manual)(a)


@dataclasses.dataclass(frozen=True)
class Program:
    """function, reference: of the arguments, a list of arrays; shardings: of these, None where nothing is said."""

    function: object
    reference: object
    arguments: list
    shardings: tuple
    options: dict


def generated(seed):
    """The program of a seed, on eight devices in some order."""
    stream = random.Random(seed)
    sizes, devices = stream.choice(MESHES), list(jax.devices()[:8])
    if stream.random() < 0.4:
        stream.shuffle(devices)
    mesh = Mesh(np.array(devices).reshape(tuple(sizes.values())), tuple(sizes))
    draw = Draw(stream, mesh)
    values = np.random.default_rng(seed)
    arguments = [values.normal(size=draw.shape()).astype(np.float32) for _ in range(4)]
    arguments.append(values.integers(0, 12, draw.choice([2, 4, 5, 8])).astype(np.int32))
    run, kept = draw.program(draw.randint(8, 22)), draw.randint(1, 6)
    shardings = tuple(draw.sharding(value.shape) if draw.chance(85) else None for value in arguments)
    options = draw.choice([{}, {}, {"device_model": "bytes"}, {"device_model": "gpu-cluster"}])

    def results(given, whole):
        draw.whole = whole
        new = run(given)[len(given) :]
        return new[-1 : -1 - 3 * kept : -3]

    return Program(
        lambda *given: results(given, False), lambda *given: results(given, True), arguments, shardings, options
    )
