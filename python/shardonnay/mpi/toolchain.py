"""Where LLVM's tools and the installed MPIs are."""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from ..errors import ShardonnayError

_LLVM = "/usr/lib/llvm-22/bin"
_KINDS = ("mpich", "openmpi")
_HOW = "on Debian: apt-get install mpich libmpich-dev, or openmpi-bin libopenmpi-dev"


class MpiError(ShardonnayError, RuntimeError):
    """A program cannot be lowered, built or run; the message says which tool said what."""


def llvm_tool(name):
    """The path of a tool of LLVM 22: in $SHARDONNAY_LLVM, where Debian has it, or in $PATH."""
    for folder in filter(None, (os.environ.get("SHARDONNAY_LLVM"), _LLVM)):
        if os.access(f"{folder}/{name}", os.X_OK):
            return f"{folder}/{name}"
    found = shutil.which(f"{name}-22") or shutil.which(name)
    if not found:
        raise MpiError(
            f"{name} of LLVM 22 is not there; install mlir-22-tools and clang-22, or set SHARDONNAY_LLVM to the folder "
            "that has it"
        )
    return found


def run_tool(command, text=None, **more):
    """What a tool writes to stdout; MpiError with the first lines that it says if it fails."""
    done = subprocess.run(command, input=text, capture_output=True, text=True, **more)
    if done.returncode:
        said = "\n".join((done.stderr or done.stdout).strip().splitlines()[:12])
        raise MpiError(f"{Path(command[0]).name} failed ({done.returncode}): {said or 'it said nothing'}")
    return done.stdout


@dataclass(frozen=True)
class Mpi:
    """An installed MPI."""

    kind: str  # "mpich" or "openmpi"
    compiler: str
    launcher: str

    def launch(self, ranks, command):
        """The command that runs `ranks` processes of `command` on this machine."""
        if self.kind == "mpich":
            return [self.launcher, "-n", str(ranks), *command]
        as_root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
        return [self.launcher, *as_root, "--oversubscribe", "--bind-to", "none", "-n", str(ranks), *command]

    def environment(self):
        """The environment of the launcher and its processes."""
        defaults = {
            # A container may forbid one process to read another's memory.
            "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
            # With more processes than cores, who waits lets the others run.
            "MPIR_CVAR_POLLS_BEFORE_YIELD": "10",
        }
        return {**defaults, **os.environ}


def _kind_of(launcher):
    said = subprocess.run([launcher, "--version"], capture_output=True, text=True).stdout
    return "openmpi" if re.search(r"Open MPI|OpenRTE", said) else "mpich"


def installed():
    """The MPIs that have a compiler and a launcher here, MPICH first."""
    found = []
    for kind in _KINDS:
        compiler, launcher = shutil.which(f"mpicc.{kind}"), shutil.which(f"mpirun.{kind}")
        if compiler and launcher:
            found.append(Mpi(kind, compiler, launcher))
    if not found:
        compiler, launcher = shutil.which("mpicc"), shutil.which("mpirun")
        if compiler and launcher:
            found.append(Mpi(_kind_of(launcher), compiler, launcher))
    return found


def find(kind=None):
    """The MPI of that kind, or the first that there is."""
    found = installed()
    for mpi in found:
        if kind in (None, mpi.kind):
            return mpi
    if found:
        raise MpiError(f"{kind} is not installed, {', '.join(mpi.kind for mpi in found)} is; {_HOW}")
    raise MpiError(f"no MPI is installed; {_HOW}")
