"""Runs a compiled program on its devices, and checks it against the unpartitioned program."""

import numpy as np

from . import agreement, boundary


class LoadedProgram:
    """A compiled program on PJRT's CPU devices: global arrays in, global arrays out."""

    def __init__(self, program):
        from . import engine  # needs JAX, the rest of this file does not

        self.manifest = program.manifest
        self._executable = engine.Executable(program.text, self.manifest["devices"])

    def __call__(self, inputs):
        """(outputs, spreads): the global outputs, and for each the largest difference between copies of a shard."""
        entries, mesh = self.manifest["inputs"], self.manifest["mesh"]
        shards = [boundary.shard(entry, value, mesh) for entry, value in zip(entries, inputs, strict=True)]
        outputs = self._executable(shards)
        results = [
            boundary.assemble(entry, shards, mesh)
            for entry, shards in zip(self.manifest["outputs"], outputs, strict=True)
        ]
        return [output for output, _ in results], [spread for _, spread in results]

    def memory(self):
        """XLA's figures for one device, see engine.Executable.memory."""
        return self._executable.memory()


def load_inputs(path, entries):
    """The inputs in an .npz file: by the manifest's names, or `arr_0`, `arr_1`, ... in order."""
    try:
        stored = np.load(path)
    except ValueError:  # numpy's own text asks for a pickle
        stored = None
    if not isinstance(stored, np.lib.npyio.NpzFile):
        raise boundary.BoundaryError(f"{path}: expected an .npz file, as numpy.savez writes it")
    with stored:
        inputs = []
        for entry in entries:
            names = (entry["name"], f"arr_{entry['index']}")
            name = next((name for name in names if name in stored), None)
            if name is None:
                raise boundary.BoundaryError(f"{path}: expected an array {names[0]} or {names[1]}, got {stored.files}")
            try:
                inputs.append(boundary.check_array(entry, stored[name]))
            except boundary.BoundaryError as error:
                raise boundary.BoundaryError(f"{path}: {error}") from None
        return inputs


def save_outputs(path, entries, outputs):
    """Writes an .npz file that has each output by its name, or where two have one name, as `result` and its number."""
    names = [entry["name"] for entry in entries]
    if len(set(names)) < len(names):
        names = [f"result{entry['index']}" for entry in entries]
    with open(path, "wb") as file:
        np.savez(file, **dict(zip(names, outputs, strict=True)))


def random_inputs(program):
    """agreement.random_inputs of signs such that the program does not yield NaN (a square root of a variance, say)."""
    entries = program.manifest["inputs"]
    inputs = agreement.random_inputs(entries)
    outputs, _ = program(inputs)
    if any(np.isnan(output).any() for output in outputs if boundary.is_inexact(output.dtype)):
        return agreement.random_inputs(entries, positive=True)
    return inputs


def check(program, inputs, expected):
    """One agreement.Agreement per output of `program`, `expected` being the agreement.Reference for these inputs."""
    outputs, spreads = program(inputs)
    return agreement.agreements(program.manifest["outputs"], outputs, spreads, expected)
