"""Runs a program of each device in StableHLO's own interpreter, which may end the process: inputs and outputs are
pickled.

A device is a thread of a pool that has one for each core, so there may be no more devices than cores.
"""

import pickle
import sys

import numpy as np
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo
from jaxlib.mlir.passmanager import PassManager
from shardonnay import boundary, engine


def _array(attribute):
    kind = ir.RankedTensorType(attribute.type)
    dtype, shape = boundary.dtype_of(str(kind.element_type)), tuple(kind.shape)
    return np.array([attribute[at] for at in range(int(np.prod(shape)))]).astype(dtype).reshape(shape)


def side_by_side(text, shards):
    """For each output what each device has; `shards` are that of the inputs."""
    devices = len(shards[0])
    with engine.context() as context, ir.Location.unknown():
        stablehlo.register_interpreter_dialect(context)
        module = ir.Module.parse(text)
        PassManager.parse("builtin.module(func.func(chlo-legalize-to-stablehlo))").run(module.operation)
        text = str(module)
        main = next(
            op for op in module.body.operations if op.operation.name == "func.func" and op.sym_name.value == "main"
        )
        signature = ir.FunctionType(main.function_type.value)
        takes, gives = ([str(kind) for kind in kinds] * devices for kinds in (signature.inputs, signature.results))
        names = [f"%a{i}" for i in range(len(takes))]
        results = [f"%r#{i}" for i in range(len(gives))]
        whole = f"""func.func @main({", ".join(f"{name}: {kind}" for name, kind in zip(names, takes))}) -> ({", ".join(gives)}) {{
          %r:{len(gives)} = "interpreter.run_parallel"({", ".join(names)}) {{programs = [[{", ".join(["@device"] * devices)}]]}} :
            ({", ".join(takes)}) -> ({", ".join(gives)})
          return {", ".join(results)} : {", ".join(gives)}
        }}\n"""
        at = text.rindex("}")
        # The first function is the one that is run.
        functions = text.index("\n", text.index("module")) + 1
        text = text[:functions] + whole + text[functions:at].replace("@main(", "@device(") + "}"
        given = [ir.DenseElementsAttr.get(one[device]) for device in range(devices) for one in shards]
        found = [_array(one) for one in stablehlo.eval_module(ir.Module.parse(text), given)]
    count = len(found) // devices
    return [found[output::count] for output in range(count)]


if __name__ == "__main__":
    pickle.dump(side_by_side(*pickle.load(sys.stdin.buffer)), sys.stdout.buffer)
