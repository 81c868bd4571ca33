"""All families of cases, and the ops that have none, each with the reason."""

import contractions
import control
import dynamic
import elementwise
import indexed
import reductions
import shapes
import structured

_ON_TENSORS = {
    **elementwise.FAMILIES, **shapes.FAMILIES, **reductions.FAMILIES, **indexed.FAMILIES, **contractions.FAMILIES,
    **structured.FAMILIES,
}


def _flattened(graph):
    """Ops on dims that were merged of a sharded one and another, and are split again."""
    graph.parts = {}
    for _ in range(graph.int(1, 3)):
        _ON_TENSORS[graph.choose(list(_ON_TENSORS))](graph)


FAMILIES = {**_ON_TENSORS, **control.FAMILIES, **dynamic.FAMILIES, "flattened": _flattened}
# Ops that stand before and after others.
COMMON = [
    "stablehlo.add",
    "stablehlo.multiply",
    "stablehlo.negate",
    "stablehlo.select",
    "stablehlo.maximum",
    "stablehlo.convert",
    "stablehlo.transpose",
    "stablehlo.reshape",
    "stablehlo.slice",
    "stablehlo.broadcast_in_dim",
    "stablehlo.reduce add",
    "stablehlo.concatenate",
    "sdy.sharding_constraint",
    "stablehlo.pad",
    "stablehlo.dot_general",
]

COLLECTIVE = (
    "the user's own collective: needs the device's view, see test/e2e/structure/test_control_flow.py on manual "
    "computations"
)
TRANSFER = "has no other end on PJRT's CPU client"
NOT_RUN = {
    **{f"stablehlo.{name}": COLLECTIVE for name in (
        "all_gather", "all_to_all", "collective_broadcast", "collective_permute", "cross-replica-sum", "reduce_scatter",
        "partition_id", "async_start", "async_done")},
    **{f"stablehlo.{name}": TRANSFER for name in ("infeed", "outfeed", "send", "recv", "after_all", "create_token")},
    "stablehlo.dynamic_conv": "no translation in XLA, whose pipeline makes it a convolution first, as import does",
    "stablehlo.set_dimension_size": "import takes it away where the dim has the size already, else refuses it",
    "stablehlo.rng": "other numbers at every run: no whole program to compare with",
    "stablehlo.uniform_quantize": "jaxlib registers no quantised element types: its text does not parse",
    "stablehlo.uniform_dequantize": "jaxlib registers no quantised element types: its text does not parse",
    "stablehlo.return": "ends the regions of others",
    "stablehlo.unary_einsum": "XLA has no such op",
    "chlo.constant": "XLA's import has stablehlo.constant",
    "chlo.scan": "no lowering in jaxlib's pipeline",
    "chlo._asin_acos_kernel": "a part of the lowering of asin and acos",
}
