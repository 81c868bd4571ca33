"""Portable StableHLO artefacts, as `jax.export` writes them: read by jaxlib, whose form they have."""


def is_artifact(program):
    """True for bytecode whose producer is StableHLO's serialisation: magic, version, then the producer's name."""
    return isinstance(program, bytes) and program[:4] == b"ML\xefR" and program[5:].startswith(b"StableHLO_v")


def to_text(artifact):
    """The module as text with its locations; ValueError if jaxlib cannot read it."""
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import chlo, sdy, stablehlo

    with ir.Context() as context:
        for dialect in (chlo, sdy, stablehlo):
            dialect.register_dialect(context)
        try:
            module = stablehlo.deserialize_portable_artifact(context, artifact)
        except ir.MLIRError as error:
            raise ValueError(str(error)) from None
        return module.operation.get_asm(enable_debug_info=True)
