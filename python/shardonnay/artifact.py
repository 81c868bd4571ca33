"""Portable StableHLO artefacts, as `jax.export` writes them: read by jaxlib, whose form they have."""


def is_artifact(program):
    """True for bytecode whose producer is StableHLO's serialisation: magic, version, then the producer's name."""
    return isinstance(program, bytes) and program[:4] == b"ML\xefR" and program[5:].startswith(b"StableHLO_v")


def as_text(program):
    """An artefact as text with its locations, any other program as it is; ValueError if jaxlib cannot read the artefact."""
    if not is_artifact(program):
        return program
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import chlo, sdy, stablehlo

    with ir.Context() as context:
        for dialect in (chlo, sdy, stablehlo):
            dialect.register_dialect(context)
        try:
            module = stablehlo.deserialize_portable_artifact(context, program)
        except ir.MLIRError as error:
            raise ValueError(f"jaxlib cannot read this artefact: {error}") from None
        return module.operation.get_asm(enable_debug_info=True)
