"""Shardonnay: splits a tensor program over many devices.

    import shardonnay
    device = shardonnay.compile(jax.jit(f, in_shardings=...).lower(...).as_text(debug_info=True))
    print(device.text, device.manifest)
"""

from .compiler import STAGES, Compiled, CompileError, Diagnostic, compile

__all__ = ["STAGES", "Compiled", "CompileError", "Diagnostic", "compile"]
