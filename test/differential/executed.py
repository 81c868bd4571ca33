"""A plan of reshards or collectives, executed: whether its numbers are right, and what it costs.

The plans of both compilers take the same way: what is not a collective yet becomes one, sdy-convert-global-to-local
lowers them, PJRT runs the program of each device, and the cost is counted in its StableHLO. So a collective that is
left out shows as a wrong number or, where the lowering puts it in again, as bytes.
"""

import math
import re
from collections import Counter
from dataclasses import dataclass

import numpy as np
import shardonnay
from comparison import Refused, ours, theirs
from jaxlib.mlir import ir
from shardonnay import boundary, compare, engine
from shardonnay.operations import operations

COMPLETE = "func.func(sdy-insert-explicit-reshards{enable-full-version=true}),"
PLAN = "func.func(sdy-reshard-to-collectives)"
LOWER = "sdy-convert-global-to-local,sdy-drop-sharding-and-mesh,sdy-inline-private-functions"
# What all devices of a group send, and in how many steps: of a ring of n devices that each put `size` bytes in.
SENT = {
    "stablehlo.all_gather": (lambda size, n: size * n * (n - 1), 1),
    "stablehlo.all_to_all": (lambda size, n: size * (n - 1), 1),
    "stablehlo.all_reduce": (lambda size, n: 2 * size * (n - 1), 2),
    "stablehlo.reduce_scatter": (lambda size, n: size * (n - 1), 1),
}
PERMUTE = "stablehlo.collective_permute"
# Round figures of a CPU: bytes a second sent and touched, seconds a step, FLOPs a second.
LINK, MEMORY, LATENCY, FLOPS = 4e9, 1e10, 2e-6, 5e10


@dataclass(frozen=True)
class Cost:
    """Of a program, the bodies of loops once: bytes that all devices send, collectives, seconds of a device."""

    bytes: int
    collectives: int
    seconds: float


@dataclass(frozen=True)
class Executed:
    right: bool
    cost: Cost
    outputs: tuple

    def agrees(self, other):
        """Whether both come to the same numbers, be they right or not."""
        pairs = zip(self.outputs, other.outputs, strict=True)
        return all(
            one.shape == two.shape and np.allclose(one, two, rtol=1e-4, atol=1e-4, equal_nan=True) for one, two in pairs
        )


def tensor_bytes(value):
    kind = value.type
    if not isinstance(kind, ir.RankedTensorType):
        return 0
    width = int(re.search(r"\d+", str(kind.element_type)).group())
    return math.prod(kind.shape) * -(-width // 8)


def numbers(attribute):
    """The elements of a dense attribute; what is the same everywhere comes as one."""
    return np.broadcast_to(np.array(attribute), ir.ShapedType(attribute.type).shape)


def collective(operation):
    """(bytes that all devices send, by one device, steps); None of another op."""
    size = sum(map(tensor_bytes, operation.operands))
    if operation.name == PERMUTE:
        pairs = sum(int(a != b) for a, b in numbers(operation.attributes["source_target_pairs"]))
        return size * pairs, size, 2
    if operation.name not in SENT:
        return None
    sends, rounds = SENT[operation.name]
    groups = [sum(1 for device in group if device >= 0) for group in numbers(operation.attributes["replica_groups"])]
    largest = max(groups)
    return sum(sends(size, n) for n in groups), sends(size,
                                                      largest) / largest, 1 + rounds * math.ceil(math.log2(largest))


def compute_time(operation):
    touched = sum(map(tensor_bytes, [*operation.operands, *operation.results])) if operation.name != "func.func" else 0
    flops = 0
    if operation.name == "stablehlo.dot_general":
        shapes = [
            math.prod(ir.RankedTensorType(value.type).shape) for value in [*operation.operands, *operation.results]
        ]
        flops = 2 * math.sqrt(math.prod(shapes))  # exact without batch dims
    return max(touched / MEMORY, flops / FLOPS)


def cost(local):
    """Of the program of a device, in which equal ops are one."""
    with engine.context():
        module = ir.Module.parse(theirs(local, "builtin.module(canonicalize{region-simplify=disabled},cse)"))
        found = list(operations(module))
        sends = [one for one in map(collective, found) if one and one[0]]
        seconds = sum(own / LINK + steps * LATENCY for _, own, steps in sends)
        seconds += sum(compute_time(operation) for operation in found if not collective(operation))
    return Cost(sum(one[0] for one in sends), len(sends), seconds)


def signature(plan):
    """The meshes of a plan, and the (type, sharding) of the arguments and of the results of @main, all as text."""
    with engine.context():
        module = ir.Module.parse(plan)
        meshes = [str(one) for one in module.body.operations if one.operation.name == "sdy.mesh"]
        (main,) = [
            one for one in operations(module) if one.name == "func.func" and "sym_visibility" not in one.attributes
        ]
        types = ir.FunctionType(ir.TypeAttr(main.attributes["function_type"]).value)
        sides = []
        for kind, tensors in (("arg_attrs", types.inputs), ("res_attrs", types.results)):
            entries = list(main.attributes[kind]) if kind in main.attributes else [{}] * len(tensors)
            # None, and one without axes, say the same here.
            shardings = [str(entry["sdy.sharding"]) if "sdy.sharding" in entry else "" for entry in entries]
            shardings = ["" if re.search(r"<@\w+, \[[{}, ]+\]>", sharding) else sharding for sharding in shardings]
            sides.append(list(zip(map(str, tensors), shardings, strict=True)))
        return meshes, sides


def mesh_name(text):
    return re.search(r"@(\w+)", text).group(1)


class Boundary:
    """The shardings of the arguments and results of a plan, which a program that hands all of them on has to state."""

    def __init__(self, plan):
        meshes, sides = signature(plan)
        ones = [mesh for mesh in meshes if "<[]" in mesh]
        grids = [mesh for mesh in meshes if mesh not in ones] or ones[:1]
        self.devices, self.inputs, self.outputs = 1, [None] * len(sides[0]), [None] * len(sides[1])
        for grid in grids:
            others = [mesh_name(mesh) for mesh in grids if mesh != grid]
            rest = grid != grids[0]
            self._read(
                "\n".join([grid, *ones]), sides, lambda name: name == mesh_name(grid) if rest else name not in others
            )

    def _read(self, meshes, sides, is_here):
        here = [
            [i for i, (_, sharding) in enumerate(side) if is_here(mesh_name(sharding) if sharding else None)]
            for side in sides
        ]
        values = [sides[0][i] for i in here[0]] + [sides[1][i] for i in here[1]]
        if not values:
            return
        written = [f"{kind} {{sdy.sharding = {sharding}}}" if sharding else kind for kind, sharding in values]
        names = [f"%a{i}" for i in range(len(values))]
        arguments = ", ".join(map("{}: {}".format, names, written))
        manifest = shardonnay.compile(
            f"module {{\n{meshes}\nfunc.func @main({arguments}) -> ({', '.join(written)}) {{\n"
            f"return {', '.join(names)} : {', '.join(kind for kind, _ in values)}\n}}\n}}"
        ).manifest
        self.devices = max(self.devices, manifest["devices"])
        for at, place in enumerate(here[0]):
            self.inputs[place] = manifest["inputs"][at] | {"mesh": manifest["mesh"], "index": place}
        for at, place in enumerate(here[1]):
            self.outputs[place] = manifest["outputs"][len(here[0]) + at] | {"mesh": manifest["mesh"], "index": place}


# How one kind of collective is counted on both levels: dims, or pairs of them, that change. A permute may be a halo's.
EXCHANGES = {
    "all_gather": ("sdy.all_gather", "stablehlo.all_gather"),
    "all_to_all": ("sdy.all_to_all", "stablehlo.all_to_all"),
    "reduction": ("sdy.all_reduce", "sdy.reduce_scatter", "stablehlo.all_reduce", "stablehlo.reduce_scatter"),
}
KINDS = {name: kind for kind, names in EXCHANGES.items() for name in names}
BY_DIMS = ("sdy.all_gather", "sdy.all_to_all")
OPERATION = re.compile(r' = "?((?:sdy|stablehlo)\.\w+)"?(.*)')


def exchanges(text):
    """{kind: how many} in a program, its calls inlined; equal ones of one value count once."""
    inlined = re.sub(r"<handle = \d+", "<handle = 1", ours(text, "builtin.module(sdy-inline-private-functions)"))
    found = Counter()
    for name, rest in set(OPERATION.findall(inlined)):
        if name in KINDS:
            found[KINDS[name]] += rest.split("%")[0].count('{"') if name in BY_DIMS else 1
    return found


def completed(plan, complete):
    """{kind: how many} of what the lowering puts in since a plan has no collective where a value changes."""
    plan = ours(plan, f"builtin.module({COMPLETE if complete else ''}{PLAN})")
    return exchanges(ours(plan, f"builtin.module({LOWER})")) - exchanges(plan)


def executed(start, plan, complete):
    """A plan of `start`; `complete`: it leaves some reshards to the passes behind it. Refused: it is not lowered."""
    local = ours(plan, f"builtin.module({COMPLETE if complete else ''}{PLAN},{LOWER})")
    try:
        edge = Boundary(plan)
    except shardonnay.ShardonnayError as error:
        raise Refused(str(error)) from None
    return run(start, local, edge)


def run(start, local, edge):
    """The program of a device, against the whole program."""
    inputs = compare.random_inputs(edge.inputs)
    shards = [boundary.shard(entry, value, entry["mesh"]) for entry, value in zip(edge.inputs, inputs, strict=True)]
    pieces = engine.Executable(local, edge.devices, optimize=False)(shards)
    found = [boundary.assemble(entry, one, entry["mesh"]) for entry, one in zip(edge.outputs, pieces, strict=True)]
    outputs, spreads = [output for output, _ in found], [spread for _, spread in found]
    agreements = compare.agreements(edge.outputs, outputs, spreads, compare.reference(start, inputs))
    return Executed(all(one.ok for one in agreements), cost(local), tuple(outputs))
