"""Compiled programs as functions of global arrays, in JAX's public terms."""

import itertools

import jax
import scipy.linalg  # noqa: F401  JAX loads it when it first lowers an exported program, within the user's first call
from jax.sharding import AxisType

from .. import boundary
from . import artefacts, callbacks
from .placements import KINDS, Placements, explicit_part
from .signature import Signature, is_key, key_implementation, physical, physical_type


class Program:
    """The program of one device, called under `jax.shard_map` over all axes of the mesh.

    So everything in it is manual and XLA has nothing to partition; JAX places the arguments and collects the results.
    """

    kind = "partition"
    partial = tuple(KINDS)  # what arguments may be

    def __init__(self, signature: Signature, artefact, manifest, meshes, platform, functions=None):
        """`artefact`: what runs; `manifest`: its boundary; `meshes`: that the user named, its own among them.

        functions: of Python, which it calls, by number.
        """
        self.signature, self.artefact, self.manifest, self.platform = signature, artefact, manifest, platform
        self.functions = functions or {}
        self.placements = Placements(manifest, meshes, self.partial)
        with jax.enable_x64(signature.wide):
            self._exported = self._export()

    def _export(self):
        local = [tuple(entry["local_shape"]) for entry in self.manifest["outputs"]]
        inputs = [_local_type(entry) for entry in self.manifest["inputs"]]
        outputs = [
            jax.ShapeDtypeStruct(shape, kind.dtype, weak_type=kind.weak_type)
            for shape, kind in zip(local, map(physical_type, self.signature.out_types), strict=True)
        ]
        return artefacts.exported(self.signature.name, self.artefact, inputs, outputs, self.platform)

    def portable(self):
        """What runs, for another process and another version of JAX."""
        return artefacts.portable(self.artefact)

    def call(self, arguments):
        """The flat results of, or traced with, the flat arguments."""
        results = list(self._run([physical(argument) for argument in arguments]))
        for at in itertools.compress(range(len(results)), self.signature.host_results):
            # A shard_map returns what is in the devices' memory, wherever its function left it.
            results[at] = jax.device_put(results[at], jax.memory.Space.Host)
        return [_logical(result, kind) for result, kind in zip(results, self.signature.out_types, strict=True)]

    def _run(self, arguments):
        if self.placements.mesh is None:
            return callbacks.linked(self._exported.call(*arguments), self.functions)
        manual = jax.shard_map(
            lambda *shards: tuple(callbacks.linked(self._exported.call(*shards), self.functions)),
            mesh=self.placements.mesh,
            in_specs=self.placements.in_specs,
            out_specs=self.placements.out_specs,
            check_vma=False,
        )
        # The caller's jax.set_mesh may name another mesh of the devices, which a shard_map refuses.
        with jax.sharding.use_abstract_mesh(self.placements.mesh.abstract_mesh):
            if AxisType.Explicit in self.placements.mesh.axis_types:
                # Types on an explicit mesh are to have the arguments' shardings; those that `in_shardings` move do not.
                arguments = map(jax.reshard, arguments, map(explicit_part, self.placements.inputs))
            return manual(*arguments)


class PropagatedProgram(Program):
    """The global program with the shardings of all its values, which XLA partitions by them."""

    kind = "propagate"
    partial = ("sum",)  # jax.export keeps no other kind

    def portable(self):
        """What runs, which is written so from the start: shardings are the artefact's to encode."""
        return self.artefact

    def _export(self):
        types = [list(map(physical_type, kinds)) for kinds in (self.signature.in_types, self.signature.out_types)]
        shardings = (tuple(self.placements.inputs), tuple(self.placements.outputs)) if self.placements.mesh else None
        return artefacts.exported(self.signature.name, self.artefact, *types, self.platform, shardings)

    def _run(self, arguments):
        results = self._exported.call(*arguments)
        if self.placements.mesh is None or AxisType.Explicit in self.placements.mesh.axis_types:
            return results
        # The call's own `jax.jit` learns here of which devices the mesh is, where no argument says it.
        return map(jax.lax.with_sharding_constraint, results, self.placements.outputs)


def _local_type(entry):
    return jax.ShapeDtypeStruct(tuple(entry["local_shape"]), boundary.dtype_of(entry["dtype"]))


def _logical(value, kind):
    """What `physical` came from, `kind` being its type."""
    return jax.random.wrap_key_data(value, impl=key_implementation(kind)) if is_key(kind.dtype) else value
