"""Steps of recommenders, graphs, fields, reinforcement learning, optimizers and solvers."""

import jax
import jax.numpy as jnp
from jax import lax
from registry import floats, integers, normalized, square_error, step, trained, weight


@step(
    {
        "tables": weight(26, 100_000, 64, split=1),
        "bottom": weight(13, 64),
        "top": weight(415, 512, split=1),
        "output": weight(512, 1, split=0),
    },
    floats(16_384, 13),
    integers(16_384, 26),
    floats(16_384),
)
@trained
def dlrm(parameters, dense, categories, labels):
    """A recommender: 26 tables of embeddings, and products of each pair of features."""
    embedded = jax.vmap(lambda table, category: table[category], (0, 1), 1)(parameters["tables"], categories)
    bottom = jax.nn.relu(dense @ parameters["bottom"])
    features = jnp.concatenate([bottom[:, None], embedded], 1)
    products = jnp.einsum("bik,bjk->bij", features, features)
    rows, columns = jnp.triu_indices(27, 1)
    top = jnp.concatenate([bottom, products[:, rows, columns]], -1)
    output = jax.nn.relu(top @ parameters["top"]) @ parameters["output"]
    return jnp.mean(jnp.logaddexp(0, -output[:, 0] * labels))


NODES, EDGES = 100_000, 1_600_000


@step(
    {"layer1": weight(256, 256, split=1), "layer2": weight(256, 256, split=0)},
    floats(NODES, 256),
    integers(EDGES),
    integers(EDGES),
)
@trained
def gnn(parameters, x, senders, receivers):
    for name in ("layer1", "layer2"):
        messages = (x @ parameters[name])[senders]
        x = jax.nn.relu(jax.ops.segment_sum(messages, receivers, NODES))
    return (x**2).mean()


@step(
    {
        "left": weight(128, 128, split=1),
        "right": weight(128, 128, split=1),
        "output": weight(128, 128, split=0),
        "query": weight(128, 4, 32, split=1),
        "key": weight(128, 4, 32, split=1),
        "value": weight(128, 4, 32, split=1),
    },
    floats(8, 256, 256, 128),
)
@trained
def evoformer(parameters, pairs):
    """A triangle's product and its attention, over pairs of 256 residues."""
    left = normalized(pairs) @ parameters["left"]
    right = normalized(pairs) @ parameters["right"]
    pairs = pairs + jnp.einsum("bikc,bjkc->bijc", left, right) @ parameters["output"]
    inputs = normalized(pairs)
    query, key, value = (
        jnp.einsum("bijc,chd->bijhd", inputs, parameters[name]) for name in ("query", "key", "value")
    )
    shares = jax.nn.softmax(jnp.einsum("bijhd,bikhd->bihjk", query, key) / 5.6)
    pairs = pairs + jnp.einsum("bihjk,bikhd->bijhd", shares, value).reshape(pairs.shape)
    return (pairs**2).mean()


@step(
    {
        "modes": weight(64, 64, 32, 17, split=1),
        "lift": weight(3, 64, split=1),
        "project": weight(64, 1, split=0),
    },
    floats(64, 128, 128, 3),
    floats(64, 128, 128, 1),
)
@trained
def fno(parameters, x, target):
    """A Fourier neural operator: one layer, on the lowest 32 x 17 modes."""
    hidden = x @ parameters["lift"]
    spectrum = jnp.fft.rfft2(hidden, axes=(1, 2))
    lowest = spectrum[:, :32, :17]
    mixed = jnp.einsum("bxyi,ioxy->bxyo", lowest, parameters["modes"].astype(jnp.complex64))
    filtered = jnp.zeros_like(spectrum).at[:, :32, :17].set(mixed)
    hidden = jax.nn.gelu(hidden + jnp.fft.irfft2(filtered, axes=(1, 2)))
    return square_error(hidden @ parameters["project"], target)


@step(
    {
        "policy1": weight(64, 256, split=1),
        "policy2": weight(256, 8, split=0),
        "value1": weight(64, 256, split=1),
        "value2": weight(256, 1, split=0),
    },
    floats(128, 1024, 64),
    integers(128, 1024),
    floats(128, 1024),
    floats(128, 1024),
)
@trained
def ppo(parameters, observations, actions, rewards, done):
    """Advantages by a loop back through 128 steps of 1,024 environments, then the losses of policy and value."""
    values = (jnp.tanh(observations @ parameters["value1"]) @ parameters["value2"])[..., 0]
    chances = jax.nn.log_softmax(jnp.tanh(observations @ parameters["policy1"]) @ parameters["policy2"])
    following = jnp.concatenate([values[1:], values[-1:]])
    surprises = rewards + 0.99 * following * (1 - done) - values

    def back(advantage, moment):
        surprise, ended = moment
        advantage = surprise + 0.99 * 0.95 * (1 - ended) * advantage
        return advantage, advantage

    _, advantages = lax.scan(back, jnp.zeros(1024), (surprises, done), reverse=True)
    advantages = lax.stop_gradient(advantages)
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    taken = jnp.take_along_axis(chances, actions[..., None], -1)[..., 0]
    return -(taken * advantages).mean() + square_error(values, lax.stop_gradient(values + advantages))


@step({"weights": weight(4096, 4096, split=1)}, floats(8192, 4096))
def muon(parameters, x):
    """An update of orthogonal columns, by five steps of Newton and Schulz."""

    def loss(weights):
        return square_error(jnp.tanh(x @ weights), x)

    gradient = jax.grad(loss)(parameters["weights"])
    update = gradient / (jnp.linalg.norm(gradient) + 1e-7)
    for _ in range(5):
        gram = update @ update.T
        update = 3.4445 * update + (-4.775 * gram + 2.0315 * gram @ gram) @ update
    return {"weights": parameters["weights"] - 0.02 * update}


@step({"scales": weight(2048)}, floats(8192, 128), floats(8192), floats(1024, 128))
def gp(parameters, x, y, others):
    """A Gaussian process: 20 steps of conjugate gradients on an 8,192-square kernel, then 1,024 predictions."""

    def distances(x, others):
        return ((x[:, None] - others[None]) ** 2).sum(-1)

    kernel = jnp.exp(-distances(x, x) / parameters["scales"][0]) + 1e-3 * jnp.eye(8192)

    def improve(_, carried):
        solution, residual, direction, square = carried
        product = kernel @ direction
        length = square / (direction @ product)
        solution = solution + length * direction
        residual = residual - length * product
        next_square = residual @ residual
        return solution, residual, residual + next_square / square * direction, next_square

    solution, *_ = lax.fori_loop(0, 20, improve, (jnp.zeros(8192), y, y, y @ y))
    return jnp.exp(-distances(others, x)) @ solution
