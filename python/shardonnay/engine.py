"""Runs StableHLO text as it is on PJRT's CPU client, one partition a device.

XLA must not partition the text again, so its partitioning passes are switched off; what runs is the program that the
compiler wrote. Importing this module imports JAX, but starts no backend; `prepare` decides how many CPU devices there
are and has to come first.
"""

import functools
import os
import re

import jax
import numpy as np
from jax._src.interpreters import mlir as jax_mlir
from jax._src.lib import _jax
from jax.experimental.layout import Format, Layout
from jaxlib.lapack import _lapack
from jaxlib.mlir import ir
from jaxlib.mlir._mlir_libs import _stablehlo
from jaxlib.mlir.passmanager import PassManager

from .boundary import BoundaryError, dtype_of
from .errors import ShardonnayError

_PARTITIONING_PASSES = ("spmd-partitioning", "shardy-xla", "sharding-propagation")


class EngineError(ShardonnayError, RuntimeError):
    """The engine cannot run this program, or not with this number of devices."""


class CallbackError(EngineError):
    """The program calls Python functions, which only the process that lowered it has."""


def prepare(devices):
    """Makes JAX see at least `devices` CPU devices. Only possible before JAX starts its backends.

    Where the user asked for as many, by JAX's option or XLA's flag, that stays.
    """
    flag = re.search(r"--xla_force_host_platform_device_count=(\d+)", os.environ.get("XLA_FLAGS", ""))
    if devices > max(1, jax.config.jax_num_cpu_devices, int(flag[1]) if flag else 0):
        try:
            jax.config.update("jax_num_cpu_devices", devices)
        except RuntimeError:
            pass  # started already: what counts is how many devices there are
    try:
        found = len(jax.devices("cpu"))
    except RuntimeError as error:
        raise EngineError(f"no CPU devices: {error}") from None
    if found < devices:
        raise EngineError(
            f"JAX started with {found} CPU devices, expected {devices}; call prepare({devices}) before using JAX, "
            f"or set XLA_FLAGS=--xla_force_host_platform_device_count={devices}"
        )


@functools.cache
def _register_once():
    _stablehlo.register_stablehlo_passes()  # twice would abort the process
    _lapack.initialize()  # JAX does it while it lowers; without it LAPACK custom calls crash


def context():
    """A jaxlib MLIR context with every dialect that JAX prints, entered with an unknown location."""
    _register_once()
    return jax_mlir.make_ir_context()


def _is_public(function):
    return "sym_visibility" not in function.attributes or function.visibility.value == "public"


def _main(module):
    """The function to run: @main, or the only public one, which is called @main from here on, as XLA asks for."""
    functions = {op.sym_name.value: op for op in module.body.operations if op.operation.name == "func.func"}
    public = [op for op in functions.values() if _is_public(op)]
    main = functions.get("main") or (public[0] if len(public) == 1 else None)
    if main is None:
        names = ", ".join(f"@{name}" for name in functions)
        raise EngineError(f"expected a function @main to run, got {names or 'no function'}")
    main.attributes["sym_name"] = ir.StringAttr.get("main")
    return main


def _in_one_memory(main):
    """Leaves out in which memories arguments and results are: all that is fed is in the devices' own."""
    for kind in ("arg_attrs", "res_attrs"):
        if kind in main.attributes:
            entries = [{item.name: item.attr for item in entry} for entry in main.attributes[kind]]
            for entry in entries:
                entry.pop("mhlo.memory_kind", None)
            main.attributes[kind] = ir.ArrayAttr.get([ir.DictAttr.get(entry) for entry in entries])


def _local_types(main):
    types = []
    for kind in ir.FunctionType(main.function_type.value).inputs:
        if not isinstance(kind, ir.RankedTensorType):
            raise EngineError(f"inputs of type {kind} are not supported")
        types.append((tuple(kind.shape), dtype_of(str(kind.element_type))))
    return types


def _unusual(layout):
    """The layout that a program asks for (jax.experimental.layout), None for the one that arrays have by themselves.

    Where a layout is named, JAX compiles a program for each type of array and keeps it.
    """
    rows = tuple(range(len(layout.major_to_minor)))
    return None if layout.major_to_minor == rows and not layout.tiling else layout


class Executable:
    """A StableHLO program compiled by XLA, its collectives as they stand in the text.

    It runs on `devices`, a partition each; on `replicas` > 1 as that many replicas, device r * partitions + p being
    partition p of replica r. Under jax.distributed every process makes the same one; `positions` are the devices that
    this process runs. optimize: False compiles about three times as fast, for large programs that run once,
    and rounds where the text does. without: passes of XLA that are left out, by name, to find whose a fault is.
    """

    def __init__(self, text, devices, optimize=True, replicas=1, without=()):
        if "_python_cpu_callback" in text:
            raise CallbackError(
                "the program calls back into Python (jax.pure_callback, io_callback, debug.callback), whose functions "
                "only the process that lowered it has; expected a program without callbacks to run from its text"
            )
        prepare(devices)
        self.devices = jax.devices("cpu")[:devices]
        partitions = devices // replicas
        here = jax.process_index()
        self.positions = [at for at, device in enumerate(self.devices) if device.process_index == here]
        options = _jax.CompileOptions()
        options.num_replicas, options.num_partitions = replicas, partitions
        build = options.executable_build_options
        build.num_replicas, build.num_partitions = replicas, partitions
        build.use_shardy_partitioner = False
        build.use_spmd_partitioning = partitions > 1
        ids = np.array([device.id for device in self.devices]).reshape(replicas, partitions)
        build.device_assignment = _jax.DeviceAssignment.create(ids)
        build.debug_options.xla_disable_hlo_passes = ",".join((*_PARTITIONING_PASSES, *without))
        if not optimize:
            build.debug_options.xla_backend_optimization_level = 0
            build.debug_options.xla_llvm_disable_expensive_passes = True
            options.env_option_overrides = [
                ("xla_allow_excess_precision", False),
                ("xla_cpu_use_fusion_emitters", False),
                ("xla_cpu_parallel_codegen_split_count", 1),
            ]
        with context(), ir.Location.unknown():
            module = ir.Module.parse(text)
            PassManager.parse("builtin.module(func.func(chlo-legalize-to-stablehlo))").run(module.operation)
            main = _main(module)
            self._types = _local_types(main)
            _in_one_memory(main)
            device_list = _jax.DeviceList(tuple(self.devices))
            self._executable = self.devices[self.positions[0]].client.compile_and_load(module, device_list, options)
        self._layouts = [
            _unusual(Layout.from_pjrt_layout(layout)) for layout in self._executable.get_parameter_layouts()
        ]

    def memory(self):
        """XLA's figures for one device in bytes: arguments, outputs, temporaries, and outputs that alias arguments."""
        stats = self._executable.get_compiled_memory_stats()
        return {
            "arguments": stats.argument_size_in_bytes,
            "outputs": stats.output_size_in_bytes,
            "temporaries": stats.temp_size_in_bytes,
            "aliased": stats.alias_size_in_bytes,
        }

    def optimized(self):
        """The HLO text of the program after all of XLA's passes."""
        return "\n".join(module.to_string() for module in self._executable.hlo_modules())

    def __call__(self, inputs):
        """Runs once. `inputs[i][d]` is what device d is fed for input i; returns outputs in the same arrangement.

        Inputs are for all devices, outputs of those at `positions` only.
        """
        with jax.enable_x64(True):
            return [[np.asarray(shard) for shard in shards] for shards in self.run(self.place(inputs))]

    def place(self, inputs):
        """Puts the inputs of a call on the devices, for `run`."""
        if len(inputs) != len(self._types):
            raise BoundaryError(f"the program takes {len(self._types)} inputs, got {len(inputs)}")
        for index, (shards, expected) in enumerate(zip(inputs, self._types)):
            for shard in shards:
                if (shard.shape, shard.dtype) != expected:
                    raise BoundaryError(
                        f"input {index}: the program takes {expected[1].name}{list(expected[0])}, "
                        f"got {shard.dtype.name}{list(shard.shape)}"
                    )
        with jax.enable_x64(True):
            return [self._array(shards, layout) for shards, layout in zip(inputs, self._layouts, strict=True)]

    def run(self, arrays):
        """Starts the program on what `place` returned; per output, the arrays of the devices at `positions`."""
        return self._executable.execute_sharded(arrays).disassemble_into_single_device_arrays()

    def _array(self, shards, layout):
        # The engine looks at the buffers only; a replicated sharding lets every device bring its own.
        mesh = jax.sharding.Mesh(np.array(self.devices), ("device",))
        sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec())
        places = [jax.sharding.SingleDeviceSharding(self.devices[at]) for at in self.positions]
        if layout:
            places = [Format(layout, place) for place in places]
        buffers = [jax.device_put(shards[at], place) for at, place in zip(self.positions, places)]
        return jax.make_array_from_single_device_arrays(shards[0].shape, sharding, buffers)
