"""Runs the program of a device with torch: an FX graph with functional collectives, on any process group.

    program = engine.load("step.shard")          # what the process that compiled saved; no compiler, no JAX here
    step = engine.Executable(program)            # on the ranks of the default process group
    results = step(*local_inputs)
"""

from .elements import EngineError
from .executable import Executable
from .groups import Groups
from .program import Program, load

__all__ = ["EngineError", "Executable", "Groups", "Program", "load"]
