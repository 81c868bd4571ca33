"""Programs as processes of MPI, see README.md."""

from .building import build
from .execution import LoadedProgram, reference
from .toolchain import Mpi, MpiError, find, installed

__all__ = ["LoadedProgram", "Mpi", "MpiError", "build", "find", "installed", "reference"]
