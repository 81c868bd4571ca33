"""Eight CPU devices for every test of this folder, before anything uses JAX."""

from shardonnay import engine

engine.prepare(8)
