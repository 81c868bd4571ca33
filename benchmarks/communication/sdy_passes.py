"""What jaxlib's own `sdy` passes make of programs: the bytes of their collectives, or where they end.

    python sdy_passes.py < PATHS     one line of JSON a path

Their propagation shards results as it goes, and what is left sharded has not been gathered. So beside the bytes stands
the program as it was read, its results sharded like theirs: another's bytes for that are what theirs compare with.

The passes abort on some programs, and take their process with them: `run` starts another for the paths that remain.
"""

import json
import math
import subprocess
import sys
from collections import Counter
from pathlib import Path

PASSES = (
    "sdy-propagation-pipeline",
    "func.func(sdy-insert-explicit-reshards{enable-full-version=true})",
    "sdy-resolve-permutation-factors",
    "func.func(sdy-reshard-to-collectives)",
    "func.func(sdy-pad-for-divisibility)",
    "sdy-convert-global-to-local",
)
KINDS = ("all_gather", "all_reduce", "all_to_all", "collective_permute", "reduce_scatter")


def _collectives(module, ir, ring_bytes):
    """(kind -> count, bytes that a device sends) of the StableHLO collectives."""
    counts, total = Counter(), 0.0

    def visit(operation):
        nonlocal total
        kind = operation.name.removeprefix("stablehlo.")
        if kind in KINDS and operation.name.startswith("stablehlo."):
            group = (
                2
                if kind == "collective_permute"
                else ir.DenseElementsAttr(operation.attributes["replica_groups"]).type.shape[1]
            )
            for result in operation.results:
                kind_of = ir.RankedTensorType(result.type)
                total += ring_bytes(kind, math.prod(kind_of.shape) * _width(str(kind_of.element_type)), group)
            counts[kind] += 1
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    return counts, total


def _width(element):
    digits = "".join(filter(str.isdigit, element.split("E")[0]))
    return max(int(digits) // 8, 1) * (2 if element.startswith("complex") else 1)


def _main(module):
    return next(op for op in module.body if op.operation.name == "func.func" and op.name.value == "main")


def _with_results_of(done, module, ir):
    """The text of `module` with the results of @main sharded like `done`'s, whole where that says nothing."""
    mesh = next(op.attributes["sym_name"].value for op in module.body if op.operation.name == "sdy.mesh")
    attributes = []
    for kind, given, found in zip(
        _main(module).type.results, *(_main(m).attributes["res_attrs"] for m in (module, done))
    ):
        whole = ", ".join(["{}"] * ir.RankedTensorType(kind).rank)
        found = {item.name: item.attr for item in found}
        sharding = found.get("sdy.sharding") or ir.Attribute.parse(f"#sdy.sharding<@{mesh}, [{whole}]>")
        attributes.append(ir.DictAttr.get({**{item.name: item.attr for item in given}, "sdy.sharding": sharding}))
    _main(module).attributes["res_attrs"] = ir.ArrayAttr.get(attributes)
    return str(module)


def _serve():
    from jax._src.interpreters import mlir
    from jaxlib.mlir import ir
    from jaxlib.mlir._mlir_libs import _stablehlo
    from jaxlib.mlir.passmanager import PassManager
    from shardonnay.xla import ring_bytes

    _stablehlo.register_stablehlo_passes()
    for path in map(str.strip, sys.stdin):
        found = {}
        with mlir.make_ir_context(), ir.Location.unknown():
            module = ir.Module.parse(Path(path).read_text())
            PassManager.parse("builtin.module(func.func(chlo-legalize-to-stablehlo))").run(module.operation)
            for name in PASSES:
                print(json.dumps({"path": path, "at": name}), flush=True)
                try:
                    PassManager.parse(f"builtin.module({name})").run(module.operation)
                except Exception as error:  # noqa: BLE001 -- what they refuse is a result here
                    found = {"refused": name, "why": str(error).splitlines()[0]}
                    break
            if not found:
                counts, total = _collectives(module, ir, ring_bytes)
                as_theirs = _with_results_of(module, ir.Module.parse(Path(path).read_text()), ir)
                found = {"bytes": total, "count": counts, "program": as_theirs}
        print(json.dumps({"path": path, **found}), flush=True)


def run(paths):
    """{path: {"bytes", "count", "program"} or {"refused", "why"}} of every path."""
    found, remaining = {}, [str(path) for path in paths]
    while remaining:
        done = subprocess.run(
            [sys.executable, __file__], input="\n".join(remaining), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            text=True
        )
        last = None
        for line in map(json.loads, done.stdout.splitlines()):
            last = line
            if "at" not in line:
                found[line.pop("path")] = line
        if last and "at" in last:
            found[last["path"]] = {"refused": last["at"], "why": "aborts"}
        before = len(remaining)
        remaining = [path for path in remaining if path not in found]
        if len(remaining) == before:
            raise RuntimeError(f"jaxlib's passes never got to {remaining[0]}")
    return found


if __name__ == "__main__":
    _serve()
