"""Runs a program in processes of an MPI: global arrays in, global arrays out."""

import copy
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from .. import _core, agreement, boundary
from ..compiler import compile, diagnostics_of
from ..errors import CompileError
from .building import build
from .toolchain import MpiError


class LoadedProgram:
    """A Program that was compiled with target="mpi", as an executable in a folder of its own.

    programs: one, or several for different numbers of devices, as of `build`. The first one runs, or what `on` says.
    wrapper: what stands before the executable on the command line of every process. timeout: seconds that a run may
    take. More keywords are those of `build`.
    """

    def __init__(self, programs, mpi, *, wrapper=(), timeout=None, **options):
        programs = programs if isinstance(programs, (list, tuple)) else [programs]
        self._manifests = {program.manifest["devices"]: program.manifest for program in programs}
        self.manifest = programs[0].manifest
        self.mpi = mpi
        self._wrapper, self._timeout = list(wrapper), timeout
        self._folder = tempfile.TemporaryDirectory(prefix="shardonnay-mpi-")
        self.executable = Path(self._folder.name) / "program"
        self.said = ""
        build(programs, self.executable, mpi, **options)

    def on(self, devices):
        """This program for so many devices, which it was compiled for; the executable is the same."""
        other = copy.copy(self)
        other.manifest = self._manifests[devices]
        return other

    def __call__(self, inputs):
        """(outputs, spreads): the global outputs, and for each the largest difference between copies of a shard."""
        with tempfile.TemporaryDirectory(prefix="shardonnay-mpi-") as folder:
            names = [
                self._write(Path(folder), entry, value)
                for entry, value in zip(self.manifest["inputs"], inputs, strict=True)
            ]
            results = [f"{folder}/out{number}.%r.npy" for number in range(len(self.manifest["outputs"]))]
            self.said = self.launch([*names, "-o", *results])
            pairs = [
                self._read(entry, path) for entry, path in zip(self.manifest["outputs"], results, strict=True)
            ]
        return [output for output, _ in pairs], [spread for _, spread in pairs]

    def launch(self, arguments):
        """Runs the executable on all ranks; what they say."""
        command = self.mpi.launch(self.manifest["devices"], [*self._wrapper, str(self.executable), *arguments])
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                errors="replace",
                env=self.mpi.environment(),
                timeout=self._timeout,
                stdin=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired:
            raise MpiError(f"the program ran for more than {self._timeout} s") from None
        if done.returncode:
            lines = (done.stderr + done.stdout).strip().splitlines()
            own = [line for line in lines if line.startswith("shardonnay: ")]
            said = "\n".join((own or lines)[:12])
            raise MpiError(f"{Path(self.mpi.launcher).name} ended with {done.returncode}: {said or 'nothing was said'}")
        return done.stdout

    def _write(self, folder, entry, value):
        """The name of a file with an input: the global array, or of a partial sum each device's part."""
        path = folder / f"in{entry['index']}.npy"
        if entry["partial"] is None:
            np.save(path, boundary.check_array(entry, value))
            return str(path)
        for rank, shard in enumerate(boundary.shard(entry, value, self.manifest["mesh"])):
            np.save(folder / f"in{entry['index']}.{rank}.npy", shard)
        return str(folder / f"in{entry['index']}.%r.npy")

    def _read(self, entry, path):
        dtype = boundary.dtype_of(entry["dtype"])
        shards = [np.load(path.replace("%r", str(rank))) for rank in range(self.manifest["devices"])]
        shards = [shard.view(dtype) if shard.dtype != dtype else shard for shard in shards]
        return boundary.assemble(entry, shards, self.manifest["mesh"])


def reference(source, mpi, inputs, **options):
    """The agreement.Reference of a program: what it yields in one process without its shardings, by the same tools."""
    stripped = _core.unpartitioned(source.text, source.name)
    if not stripped.ok:
        raise CompileError(diagnostics_of(stripped))
    whole = LoadedProgram(compile(stripped.text, name=source.name, target="mpi"), mpi, **options)
    return agreement.expected(stripped.text, lambda values: whole(values)[0], inputs)
