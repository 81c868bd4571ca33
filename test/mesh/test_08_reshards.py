"""Acceptance test 8: an 8x8 tensor from every sharding to every other, on 2x2 and 2x2x2, in processes.

Among them are those that MLIR's own partitioner gets wrong: several axes that move at once, and a swap.
"""

import functools
import itertools

import batch
import pytest
from shardonnay import mpi as package


def shardings(axes):
    """The axes of each of two dims, in every order."""
    found = []
    for count in range(len(axes) + 1):
        for chosen in itertools.permutations(axes, count):
            found += [(chosen[:split], chosen[split:]) for split in range(count + 1)]
    return found


def attribute(sharding):
    dims = ", ".join("{" + ", ".join(f'"{axis}"' for axis in dim) + "}" for dim in sharding)
    return f"#sdy.sharding<@mesh, [{dims}]>"


def program(axes, source):
    """From one sharding to all."""
    targets = shardings(axes)
    sizes = ", ".join(f'"{axis}"=2' for axis in axes)
    results = ", ".join(f"tensor<8x8xi32> {{sdy.sharding = {attribute(target)}}}" for target in targets)
    return f"""sdy.mesh @mesh = <[{sizes}]>
func.func @main(%x: tensor<8x8xi32> {{sdy.sharding = {attribute(source)}}}) -> ({results}) {{
  return {", ".join(["%x"] * len(targets))} : {", ".join(["tensor<8x8xi32>"] * len(targets))}
}}"""


@functools.cache
def identity(axes):
    (found,) = batch.run([program(axes, ((), ()))], package.find(), whole=True)
    return found


def check(axes, sources, mpi):
    texts = [program(axes, source) for source in sources]
    wrong = {}
    for source, found in zip(sources, batch.run(texts, mpi)):
        said = str(found) if isinstance(found, Exception) else batch.disagreement(found, identity(axes), exact=True)
        if said:
            wrong[source] = said[:300]
    assert not wrong


def test_two_axes(mpi):
    assert len(shardings("xy")) == 11
    check("xy", shardings("xy"), mpi)


def test_three_axes_some(mpi):
    check("xyz", shardings("xyz")[::8], mpi)


@pytest.mark.long
def test_three_axes(mpi):
    assert len(shardings("xyz")) == 49
    check("xyz", shardings("xyz"), mpi)
