"""For every test of this folder eight CPU devices, before anything uses JAX."""

from shardonnay import engine

engine.prepare(8)
