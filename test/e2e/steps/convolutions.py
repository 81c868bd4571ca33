"""Convolutional networks."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

from .registry import cross_entropy, integers, normal, square_error, train


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
train("u-net", UNet(), square_error, IMAGES, normal(8, 16, 16, 1, seed=1), also=("spatial",))
train("mobilenet", MobileNet(), cross_entropy, IMAGES, LABELS)
train("wavenet", WaveNet(), cross_entropy, normal(8, 20, 8), integers(8, 20, high=32), also=("sequence",))


class Autoencoder(nn.Module):
    """A variational one: noise from a key, transposed convolutions on the way back."""

    @nn.compact
    def __call__(self, batch):
        x, key = batch
        code = nn.Dense(16)(nn.relu(nn.Conv(16, (4, 4), strides=2)(x)).reshape(x.shape[0], -1))
        mean, log_scale = jnp.split(code, 2, -1)
        z = mean + jnp.exp(log_scale) * jax.random.normal(jax.random.wrap_key_data(key), mean.shape)
        y = nn.relu(nn.Dense(8 * 8 * 8)(z)).reshape(-1, 8, 8, 8)
        return nn.ConvTranspose(3, (4, 4), strides=(2, 2))(y), mean, log_scale


def evidence(output, x):
    image, mean, log_scale = output
    return jnp.mean((image - x) ** 2) + 1e-3 * jnp.mean(mean**2 + jnp.exp(2 * log_scale) - 2 * log_scale)


class FourierOperator(nn.Module):
    """Products in the space of two-dimensional frequencies."""

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(8)(x)
        for _ in range(2):
            frequencies = jnp.fft.rfft2(x, axes=(1, 2))[:, :6, :6]
            real, imaginary = (
                self.param(f"{part}_{_}", nn.initializers.normal(0.1), (6, 6, 8, 8)) for part in ("real", "imaginary")
            )
            mixed = jnp.einsum("bxyi,xyio->bxyo", frequencies, real + 1j * imaginary)
            mixed = jnp.pad(mixed, ((0, 0), (0, x.shape[1] - 6), (0, x.shape[2] // 2 + 1 - 6), (0, 0)))
            x = nn.gelu(jnp.fft.irfft2(mixed, x.shape[1:3], axes=(1, 2)) + nn.Dense(8)(x))
        return nn.Dense(1)(x)


class ConvNext(nn.Module):
    """Wide depthwise windows, an uneven image, a stride that does not divide it."""

    @nn.compact
    def __call__(self, x):
        x = nn.LayerNorm()(nn.Conv(16, (4, 4), strides=3)(x))
        x = x + nn.Dense(16)(nn.gelu(nn.Dense(64)(nn.LayerNorm()(nn.Conv(16, (7, 7), feature_group_count=16)(x)))))
        return nn.Dense(10)(x.mean((1, 2)))


train(
    "autoencoder", Autoencoder(), evidence, (IMAGES, np.array([3, 4], np.uint32)), IMAGES, optimizer=optax.rmsprop(1e-3)
)
train("fourier-operator", FourierOperator(), square_error, IMAGES, normal(8, 16, 16, 1, seed=1))
train("convnext", ConvNext(), cross_entropy, normal(6, 17, 17, 3), LABELS[:6])
