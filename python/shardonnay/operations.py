"""Walks over MLIR modules of JAX's."""

from jax.extend.mlir import ir


def operations(module):
    """All operations of a module, those inside first."""
    found = []

    def visit(operation):
        found.append(operation)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    return found
