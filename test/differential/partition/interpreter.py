"""StableHLO's own interpreter, a second judge where the engine's whole program and ours differ: it shares no code with
either.
"""

import manual
import numpy as np
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo
from jaxlib.mlir.passmanager import PassManager
from shardonnay import boundary, compare, engine


def _attribute(array, kind):
    if not array.size:
        return ir.Attribute.parse(f"dense<> : {kind}")
    if array.dtype.kind == "b":
        return ir.DenseElementsAttr.get(
            np.packbits(array, bitorder="little"), type=kind.element_type, shape=list(array.shape)
        )
    return ir.Attribute.parse(f'dense<"0x{np.ascontiguousarray(array).tobytes().hex().upper()}"> : {kind}')


def _array(attribute):
    kind = ir.RankedTensorType(attribute.type)
    dtype, shape = boundary.dtype_of(str(kind.element_type)), tuple(kind.shape)
    count = int(np.prod(shape))
    return np.array([attribute[at] for at in range(count)],
                    np.float64 if boundary.is_inexact(dtype) else object).astype(dtype).reshape(shape)


def outputs(text, inputs):
    """What the whole program yields; None if the interpreter cannot say."""
    if "stablehlo.rng_bit_generator" in text:
        return None  # it would end the process
    try:
        with engine.context(), ir.Location.unknown():
            module = ir.Module.parse(compare.unpartitioned(manual.inlined(text)))
            PassManager.parse("builtin.module(func.func(chlo-legalize-to-stablehlo))").run(module.operation)
            main = next(
                op for op in module.body.operations if op.operation.name == "func.func" and op.sym_name.value == "main"
            )
            signature = ir.FunctionType(main.function_type.value)
            if any("complex" in str(kind) for kind in signature.results):
                return None  # Python has no such attribute: it would end the process
            kinds = [ir.RankedTensorType(kind) for kind in signature.inputs]
            found = stablehlo.eval_module(
                module, [_attribute(value, kind) for value, kind in zip(inputs, kinds, strict=True)]
            )
            return [_array(attribute) for attribute in found]
    except Exception:  # custom calls ...
        return None
