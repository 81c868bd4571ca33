"""Programs that we propagated go through XLA's own partitioner, our shardings written back as HLO shardings."""

import re

import jax
import jax_programs
import numpy as np
import pytest
from comparison import ours
from jax._src.lib import xla_client
from jax._src.sharding_impls import GSPMDSharding
from jaxlib import _jax
from jaxlib.mlir import ir
from shardonnay import engine

PIPELINE = "builtin.module(sdy-propagation-pipeline,sdy-export-gspmd-shardings)"
NAMES = (
    "mlp mlp_step attention_step layer_norm embedding_step moe scan loop branches indexing slices statistics".split()
)
FUNCTIONS = {function.__name__: function for function in jax_programs.FUNCTIONS}


def inputs(function):
    generator = np.random.default_rng(0)

    def value(aval):
        if np.issubdtype(aval.dtype, np.integer):
            return generator.integers(0, 8, aval.shape).astype(aval.dtype)
        return generator.uniform(-1, 1, aval.shape).astype(aval.dtype)

    return [value(aval) for aval in jax_programs.FUNCTIONS[function]]


def eight_devices(function):
    """The first of its random shardings that is on a mesh of 8 devices and says something."""
    for seed in range(20):
        text = jax_programs.program(function, seed)
        sizes = [int(size) for size in re.findall(r'"\w"=(\d)', text)]
        if np.prod(sizes) == 8 and '{"' in text:
            return text.replace("mhlo.num_partitions = 1", "mhlo.num_partitions = 8")
    raise AssertionError(f"{function.__name__}: no sharding for 8 devices")


def boundary(text):
    """The HLO shardings of arguments and results; replicated where nothing is said."""
    header = next(line for line in text.splitlines() if "@main(" in line)
    found = []
    for side in header.split(") -> "):
        parts = re.split(r"tensor<[^>]*>", side)[1:]
        words = [re.search(r'mhlo.sharding = "(.*?)"', part) for part in parts]
        found.append([word[1] if word else "{replicated}" for word in words])
    return found


def run(text, values):
    """XLA partitions and runs it; the shardings that it has on are `mhlo.sharding`."""
    devices = jax.devices("cpu")[:8]
    options = _jax.CompileOptions()
    options.num_replicas, options.num_partitions = 1, 8
    build = options.executable_build_options
    build.num_replicas, build.num_partitions = 1, 8
    build.use_spmd_partitioning, build.use_shardy_partitioner = True, False
    build.device_assignment = _jax.DeviceAssignment.create(np.arange(8).reshape(1, 8))
    with engine.context():
        module = ir.Module.parse(text)
        executable = devices[0].client.compile_and_load(module, _jax.DeviceList(tuple(devices)), options)
    arguments, results = (
        [GSPMDSharding(tuple(devices), xla_client.HloSharding.from_string(word)) for word in side]
        for side in boundary(text)
    )
    placed = [jax.device_put(value, sharding) for value, sharding in zip(values, arguments, strict=True)]
    shards = executable.execute_sharded(placed).disassemble_into_single_device_arrays()
    shapes = re.findall(r"tensor<([^>]*)>", text.split(") -> ")[1].split("\n")[0])
    outputs = []
    for pieces, sharding, shape in zip(shards, results, shapes):
        shape = tuple(int(size) for size in shape.split("x")[:-1])
        outputs.append(jax.make_array_from_single_device_arrays(shape, sharding, pieces))
    return [np.asarray(output) for output in outputs]


@pytest.mark.parametrize("name", NAMES)
def test_numbers_agree(name):
    function = FUNCTIONS[name]
    text = ours(eight_devices(function), PIPELINE)
    assert "devices=[" in text and "sdy" not in text
    values = inputs(function)
    expected = jax.tree.leaves(jax.jit(function)(*values))
    for got, wanted in zip(run(text, values), expected, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-4 * max(1.0, np.abs(wanted).max()))
