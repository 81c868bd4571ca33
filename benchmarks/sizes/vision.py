"""Steps of models of images, and of images beside text."""

import jax
import jax.numpy as jnp
from jax import lax
from registry import (
    block,
    block_weights,
    cross_entropy,
    descend,
    floats,
    integers,
    square_error,
    step,
    trained,
    weight,
)


@step(
    {
        "patch": weight(768, 1024),
        "position": weight(196, 1024),
        "block": block_weights(),
        "head": weight(1024, 1000, split=1),
    },
    floats(256, 224, 224, 3),
    integers(256),
)
@trained
def vit(parameters, images, labels):
    patches = images.reshape(-1, 14, 16, 14, 16, 3).transpose(0, 1, 3, 2, 4, 5).reshape(-1, 196, 768)
    x = patches @ parameters["patch"] + parameters["position"]
    x = block(x, parameters["block"], causal=False)
    return cross_entropy(x.mean(1) @ parameters["head"], labels)


def convolution(x, kernel, stride=1):
    return lax.conv_general_dilated(
        x, kernel, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )


def batch_normalized(x):
    mean = x.mean((0, 1, 2))
    variance = ((x - mean) ** 2).mean((0, 1, 2))
    return (x - mean) * lax.rsqrt(variance + 1e-5)


@step(
    {
        "conv1": weight(7, 7, 3, 64),
        "conv2": weight(3, 3, 64, 128, split=3),
        "conv3": weight(3, 3, 128, 256, split=3),
        "conv4": weight(1, 1, 256, 1024, split=3),
        "head": weight(1024, 1000, split=0),
    },
    floats(256, 224, 224, 3),
    integers(256),
)
@trained
def resnet(parameters, x, labels):
    x = jax.nn.relu(batch_normalized(convolution(x, parameters["conv1"], 2)))
    x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
    x = jax.nn.relu(batch_normalized(convolution(x, parameters["conv2"], 2)))
    x = jax.nn.relu(batch_normalized(convolution(x, parameters["conv3"], 2)))
    x = jax.nn.relu(batch_normalized(convolution(x, parameters["conv4"])))
    return cross_entropy(x.mean((1, 2)) @ parameters["head"], labels)


def twice_as_large(x):
    batch, height, width, channels = x.shape
    return jax.image.resize(x, (batch, 2 * height, 2 * width, channels), "nearest")


@step(
    {
        "down1": weight(3, 3, 64, 128, split=3),
        "down2": weight(3, 3, 128, 256, split=3),
        "time": weight(256, 256),
        "up1": weight(3, 3, 384, 128, split=2),
        "up2": weight(3, 3, 192, 64, split=2),
    },
    floats(64, 128, 128, 64),
    floats(64),
)
@trained
def unet(parameters, images, times):
    """A diffusion model that says which noise was added."""
    angles = times[:, None] * jnp.exp(-jnp.arange(128) / 20.0)
    embedded = jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], -1) @ parameters["time"]
    noise = jax.random.normal(jax.random.key(0), images.shape)
    kept = jnp.cos(times / 1000.0)[:, None, None, None]
    noisy = kept * images + jnp.sqrt(1 - kept**2) * noise
    half = jax.nn.silu(convolution(noisy, parameters["down1"], 2))
    quarter = jax.nn.silu(convolution(half, parameters["down2"], 2) + embedded[:, None, None])
    upper = jnp.concatenate([twice_as_large(quarter), half], -1)
    upper = jax.nn.silu(convolution(upper, parameters["up1"]))
    whole = jnp.concatenate([twice_as_large(upper), noisy], -1)
    return square_error(convolution(whole, parameters["up2"]), noise)


@step(
    {"image": weight(2048, 512, split=1), "text": weight(1024, 512, split=1), "temperature": weight(1)},
    floats(8192, 2048),
    floats(8192, 1024),
)
@trained
def clip(parameters, images, texts):
    """The contrastive loss of 8,192 pairs."""

    def unit(x):
        return x * lax.rsqrt((x**2).sum(-1, keepdims=True))

    scale = jnp.exp(parameters["temperature"])
    logits = scale * unit(images @ parameters["image"]) @ unit(texts @ parameters["text"]).T
    labels = jnp.arange(8192)
    return cross_entropy(logits, labels) + cross_entropy(logits.T, labels)


@step(
    {
        "hidden": weight(512, 1024, split=1),
        "latent": weight(1024, 512, split=0),
        "codebook": weight(8192, 512, split=0),
    },
    floats(64, 256, 512),
)
@trained
def vqvae(parameters, x):
    """Each vector becomes the nearest of 8,192 codes, with a straight-through gradient."""
    codebook = parameters["codebook"]
    latent = jax.nn.gelu(x @ parameters["hidden"]) @ parameters["latent"]
    products = 2 * latent @ codebook.T
    distances = (latent**2).sum(-1, keepdims=True) - products + (codebook**2).sum(-1)
    code = codebook[distances.argmin(-1)]
    commitment = square_error(lax.stop_gradient(code), latent)
    moved = square_error(code, lax.stop_gradient(latent))
    return commitment + moved + square_error(latent + lax.stop_gradient(code - latent), x)


@step(
    {"layer1": weight(63, 256), "layer2": weight(256, 256, split=1), "layer3": weight(256, 4, split=0)},
    floats(65_536, 3),
    floats(65_536, 3),
    floats(65_536, 3),
)
@trained
def nerf(parameters, origins, directions, colours):
    """A radiance field, seen along 65,536 rays at 64 points each."""
    depths = jnp.linspace(2, 6, 64)
    points = origins[:, None] + directions[:, None] * depths[:, None]
    frequencies = 2.0 ** jnp.arange(10)

    def waves(function):
        return function(points[..., None] * frequencies).reshape(*points.shape[:2], -1)

    encoded = jnp.concatenate([points, waves(jnp.sin), waves(jnp.cos)], -1)
    hidden = jax.nn.relu(encoded @ parameters["layer1"])
    hidden = jax.nn.relu(hidden @ parameters["layer2"])
    output = hidden @ parameters["layer3"]
    opacity = 1 - jnp.exp(-jax.nn.relu(output[..., 3]) * 0.06)
    passing = jnp.concatenate([jnp.ones_like(opacity[:, :1]), 1 - opacity + 1e-10], 1)
    reaching = jnp.cumprod(passing, 1)[:, :-1]
    seen = ((opacity * reaching)[..., None] * jax.nn.sigmoid(output[..., :3])).sum(1)
    return square_error(seen, colours)


@step(
    {
        "generator1": weight(128, 1024, split=1),
        "generator2": weight(1024, 3072, split=0),
        "discriminator1": weight(3072, 1024, split=1),
        "discriminator2": weight(1024, 1, split=0),
    },
    floats(4096, 128),
    floats(4096, 3072),
)
def gan(parameters, noise, images):
    """Generator and discriminator each take a step against the other's old parameters."""

    def generated(weights):
        return jnp.tanh(jax.nn.relu(noise @ weights["generator1"]) @ weights["generator2"])

    def judged(weights, x):
        return jax.nn.relu(x @ weights["discriminator1"]) @ weights["discriminator2"]

    def generator_loss(varied):
        return jnp.logaddexp(0, -judged(parameters, generated({**parameters, **varied}))).mean()

    def discriminator_loss(varied):
        weights = {**parameters, **varied}
        real = jnp.logaddexp(0, -judged(weights, images)).mean()
        return real + jnp.logaddexp(0, judged(weights, lax.stop_gradient(generated(parameters)))).mean()

    def own(part):
        return {name: value for name, value in parameters.items() if name.startswith(part)}

    gradient = jax.grad(generator_loss)(own("generator"))
    gradient |= jax.grad(discriminator_loss)(own("discriminator"))
    return descend(parameters, gradient)
