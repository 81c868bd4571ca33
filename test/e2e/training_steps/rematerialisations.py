"""Counts the gathers of a whole operand that nothing in the program needs; shares no code with the planner.

Reads the program as it is behind `collectives` (text), with jaxlib's MLIR, and each op's sharding rule as sdy-opt
prints it. A gather is *of a whole operand* if nothing shards its result. It is demanded if one of its users

  * needs that dim whole: it has no rule, or the dim's factor needs replication;
  * sums over that dim, or looks it up, and a sum over the devices of what it makes would send more than the gather
    does;
  * has the gather's axes on another factor, in another operand or in its result: no op is sharded by an axis twice, and
    the other sharding is the user's;
  * gives it to the outside, where the user says that it is whole: `return`, or the end of a region;

or if a user passes the dim on to its result (one factor has both), and a use of that needs it. Else the op could
have been computed on the shards.

    python rematerialisations.py FILE...    (JAX's text; needs build/bin/sdy-opt)
"""

import math
import re
import subprocess
import sys
from pathlib import Path

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import sdy  # noqa: F401 -- registers it

SDY_OPT = Path(__file__).resolve().parents[3] / "build/bin/sdy-opt"
WHOLE_KINDS = ("need_replication", "permutation", "blocked_propagation")


def with_rules(text):
    """The module with every op's rule, as `generic` has it."""
    return generic(text, "--sdy-populate-op-sharding-rules")


def generic(text, *passes):
    """The module in generic form, behind passes; reduction kinds that jaxlib does not know are left out."""
    command = [SDY_OPT, "-", *passes, "--mlir-print-op-generic"]
    text = subprocess.run(command, input=text, text=True, capture_output=True, check=True).stdout
    return re.sub(r"unreduced=(max|min)\{", "unreduced={", text)


class Rule:
    """Factor names per dim of each tensor, from the text of a rule."""

    def __init__(self, text):
        sides = re.match(r".*?<\((.*)\)->\((.*?)\)\s*\{", text, re.S)
        self.tensors = [
            [dim.split() for dim in tensor.split(",")] if tensor.strip() else []
            for side in sides.groups()
            for tensor in re.findall(r"\[(.*?)\]", side)
        ]
        self.whole = {
            name.strip()
            for kind in WHOLE_KINDS
            for found in re.findall(kind + r"=\{(.*?)\}", text)
            for name in found.split(",")
        }


def axes_per_dim(sharding):
    """[["x", "y:(1)2"], []] of the text of a sharding."""
    dims = re.search(r"@\w+, \[(.*?)\]", sharding, re.S)
    axis = re.compile(r'"(\w+)"((?::\(\d+\)\d+)?)')
    return (
        [["".join(found) for found in axis.findall(dim)] for dim in re.findall(r"\{(.*?)\}", dims[1])] if dims else []
    )


def axis_size(axis, mesh):
    """Of an axis or a part of one, in a mesh of {axis: size}."""
    name, _, part = axis.partition(":")
    return int(part.partition(")")[2]) if part else mesh[name]


def shardings_of(operation):
    for name in ("out_sharding", "sdy.sharding"):
        if name in operation.attributes:
            return [axes_per_dim(text) for text in re.findall(r"<@\w+, \[.*?\]", str(operation.attributes[name]))]
    return []


def sharding_of(value):
    owner = value.owner
    if not isinstance(owner, ir.Block):
        found = shardings_of(owner.opview if hasattr(owner, "opview") else owner)
        number = ir.OpResult(value).result_number
        return found[number] if number < len(found) else []
    return []


def bytes_of(value, mesh):
    """Of a device's shard, in a mesh of {axis: size}."""
    counts = [axis_size(axis, mesh) for axes in sharding_of(value) for axis in axes]
    width = re.search(r"(\d+)>?$", str(value.type.element_type))
    return math.prod(value.type.shape) * max(int(width[1]) // 8, 1) // math.prod(counts)


def needs(value, dim, axes, gathered, mesh, depth=0):
    """Some use of `value` needs `dim` whole, of which `axes` were gathered, `gathered` bytes in all."""
    for use in value.uses:
        user = use.owner
        if (
            user.name.endswith("return")
            or user.name in ("stablehlo.while", "stablehlo.case", "stablehlo.if")
            or (len(list(user.regions)) and "reduce" not in user.name)
        ):
            return True
        if user.name.startswith("sdy."):
            # Another collective goes on from it; what it leads to is looked at from there.
            if depth < 8 and any(needs(result, dim, axes, gathered, mesh, depth + 1) for result in user.results):
                return True
            continue
        if "sdy.sharding_rule" not in user.attributes:
            return True
        rule = Rule(str(user.attributes["sdy.sharding_rule"]))
        factors = rule.tensors[use.operand_number][dim] if rule.tensors[use.operand_number] else []
        if any(factor in rule.whole for factor in factors):
            return True
        # A sum in a ring sends each byte twice.
        in_results = {factor for tensor in rule.tensors[len(user.operands) :] for names in tensor for factor in names}
        if not in_results & set(factors) and 2 * sum(bytes_of(result, mesh) for result in user.results) >= gathered:
            return True
        values = [*user.operands, *user.results]
        for number, (other, tensor) in enumerate(zip(values, rule.tensors)):
            for place, (own, names) in enumerate(zip(sharding_of(other), tensor)):
                if {axis.partition(":")[0] for axis in own} & set(axes) and not set(names) & set(factors):
                    return True
        for result, tensor in zip(user.results, rule.tensors[len(user.operands) :]):
            for place, names in enumerate(tensor):
                passed = set(names) & set(factors)
                if passed and depth < 8 and needs(result, place, axes, gathered, mesh, depth + 1):
                    return True
    return False


def undemanded(text):
    """(gathers of whole operands, those that nothing needs as text) of a program behind `collectives`."""
    whole, found = 0, []
    with ir.Context() as context:
        context.allow_unregistered_dialects = True
        text = with_rules(text)
        mesh = {name: int(size) for name, size in re.findall(r'"(\w+)"=(\d+)', re.search(r'"sdy.mesh"\(.*', text)[0])}
        module = ir.Module.parse(text)

        def visit(operation):
            nonlocal whole
            if operation.name == "sdy.all_gather" and not any(sharding_of(operation.results[0])):
                lists = [
                    re.findall(r'"(\w+)"', dim)
                    for dim in re.findall(r"\{(.*?)\}", str(operation.attributes["gathering_axes"]))
                ]
                whole += 1
                value = operation.results[0]
                size = bytes_of(value, mesh)
                if not any(axes and needs(value, dim, axes, size, mesh) for dim, axes in enumerate(lists)):
                    found.append(str(operation))
            return ir.WalkResult.ADVANCE

        module.operation.walk(
            lambda operation: visit(operation.operation if hasattr(operation, "operation") else operation)
        )
    return whole, found


def main(paths):
    import shardonnay

    for path in paths:
        whole, found = undemanded(
            shardonnay.compile(Path(path).read_text(), to="collectives", device_model="bytes").text
        )
        print(f"{Path(path).name}: {whole} gathers of a whole operand, {len(found)} not demanded")
        for text in found:
            print("   ", text[:200])


if __name__ == "__main__":
    main(sys.argv[1:])
