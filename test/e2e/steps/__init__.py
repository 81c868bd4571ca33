"""The corpus: importing this registers every step in registry.MODELS."""

from . import attention, convolutions, decoding, libraries, numerics, recurrences, routing

__all__ = ["attention", "convolutions", "decoding", "libraries", "numerics", "recurrences", "routing"]
