"""As many CPU devices as the largest mesh of this folder has, before anything uses JAX."""

from shardonnay import engine

engine.prepare(24)
