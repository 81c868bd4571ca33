"""A run of a case's ops in a manual computation, and the same program without it, to compare with.

Of a run of any ops the manual axes shard nothing: every device along them computes the same, and the other axes are the
compiler's. There a result may be reduced by the user along these axes before it is returned. A run of element-wise ops
on one shape is sharded along the manual axes, and computes on what a device has. Either has a form without the manual
computation: its body, on the whole tensors.
"""

import math
import re

import numpy as np
from elements import tensor
from jaxlib.mlir import ir
from shardonnay import engine
from shardonnay.operations import operations

# What may not stand in the body: shardings of its own meshes, functions that have such, and what is manual already.
CLOSED = re.compile(r"func\.call|manual_computation|@other|@single")
ELEMENTWISE = re.compile(
    r'"(?:stablehlo\.(?:add|multiply|subtract|maximum|minimum|negate|abs|sign|and|or|xor|not|select|compare|ceil|floor|'
    r'sqrt|rsqrt|tanh|exponential|logistic|is_finite)|chlo\.square)"'
)


def _axes(text):
    """The names of mesh axes in the shardings of a text."""
    return set(re.findall(r'"(\w+)"(?=[,}:])', text))


def _sharding(graph, shape, sizes, manual, at):
    """<@mesh, [...]>: the manual axes on dim `at`, if there is one; of the others perhaps one behind them, or on a
    dim.
    """
    free = [name for name in sizes if name not in manual]
    dims = [[f'"{name}"' for name in manual] if dim == at else [] for dim in range(len(shape))]
    if free and shape and graph.chance(40):
        dims[graph.int(0, len(shape) - 1)].append(f'"{graph.choose(free)}"')
    mark = ["?"] if free and graph.chance(50) else []
    return f"<@{graph.setting.meshes[0].name}, [{', '.join('{' + ', '.join(axes + mark) + '}' for axes in dims)}]>"


def _elementwise_dim(graph, run, results, sizes, manual):
    """A dim that the manual axes can shard throughout the run; nothing if there is none."""
    values = [*run.takes, *results]
    shape = values[0].shape
    if any(value.shape != shape for value in values) or not all(ELEMENTWISE.search(line) for line in run.lines):
        return None
    if any(f"tensor<{'x'.join(map(str, shape))}x" not in line for line in run.lines) and shape:
        return None
    count = 1
    for name in manual:
        count *= sizes[name]
    fits = [dim for dim, size in enumerate(shape) if size and size % count == 0]
    return graph.choose(fits) if fits else None


def _groups(mesh, manual):
    """The devices that differ along the manual axes alone, by number."""
    sizes = [size for _, size in mesh.axes]
    devices = np.array(mesh.order or range(math.prod(sizes))).reshape(sizes)
    along = [at for at, (name, _) in enumerate(mesh.axes) if name in manual]
    return np.moveaxis(devices, along, range(-len(along), 0)).reshape(-1, math.prod(sizes[at] for at in along)).tolist()


def _reduced(graph, value, name, groups):
    """(lines, the name of the result): what all devices of a group have alike, as their maximum, or as the sum of two.

    Of integers alone: an engine's own maximum of floats may lose NaN and subnormal numbers.
    """
    kinds = ["maximum", "minimum"] if re.fullmatch(r"u?i\d\d?", value.element) else []
    kinds += ["add"] * (bool(kinds) and len(groups[0]) == 2 and value.element != "i1")
    if not kinds or not graph.chance(40):
        return [], name
    result, left, right, sum_ = (graph.fresh() for _ in range(4))
    scalar, rows = tensor([], value.element), f"dense<{groups}> : tensor<{len(groups)}x{len(groups[0])}xi64>"
    graph.ops.append("stablehlo.all_reduce")
    return [
        f'{result} = "stablehlo.all_reduce"({name}) <{{channel_handle = #stablehlo.channel_handle<handle = 1, type = '
        '1>, '
        f"replica_groups = {rows}, use_global_device_ids}}> ({{\n^bb0({left}: {scalar}, {right}: {scalar}):\n"
        f"{sum_} = stablehlo.{graph.choose(kinds)} {left}, {right} : {scalar}\nstablehlo.return {sum_} : {scalar}\n"
        f"}}) : ({value.type}) -> {value.type}"
    ], result


def wrapped(graph, run, results):
    """The lines of the run in a manual computation; as they are where no axis is left for it."""
    mesh = graph.setting.meshes[0]
    sizes = dict(mesh.axes)
    text = "\n".join(run.lines)
    unused = [name for name in sizes if name not in _axes(text)]
    if not unused or not results or CLOSED.search(text):
        return run.lines
    manual = graph.subset(unused, 1)
    lines, names = run.copy(graph)
    at = _elementwise_dim(graph, run, results, sizes, manual) if run.takes else None
    count = 1
    for name in manual if at is not None else []:
        count *= sizes[name]

    def local(value):
        return tensor([size // count if dim == at else size for dim, size in enumerate(value.shape)], value.element)

    if at is not None:
        shape = run.takes[0].shape
        whole, piece = ("tensor<" + "x".join(map(str, [*dims, ""])) for dims in
                        (shape, [size // count if dim == at else size for dim, size in enumerate(shape)]))
        lines = [line.replace(whole, piece) for line in lines]
    inside = {value.name: graph.fresh() for value in run.takes}
    lines = [re.sub(r"(?<!@)\$\d+", lambda found: inside.get(found[0], found[0]), line) for line in lines]
    for value in results if at is None else []:
        more, names[value.name] = _reduced(graph, value, names[value.name], _groups(mesh, manual))
        lines += more
    in_shardings, out_shardings = (
        [_sharding(graph, value.shape, sizes, manual, at) for value in values] for values in (run.takes, results)
    )
    block = ", ".join(f"{inside[value.name]}: {local(value)}" for value in run.takes)
    returned = ", ".join(names[value.name] for value in results)
    axes = ", ".join(f'"{name}"' for name in manual)
    graph.ops.append("sdy.manual_computation")
    return [
        f"{', '.join(value.name for value in results)} = "
        f"sdy.manual_computation({', '.join(value.name for value in run.takes)}) "
        f"in_shardings=[{', '.join(in_shardings)}] out_shardings=[{', '.join(out_shardings)}] "
        f"manual_axes={{{axes}}} ({block}) {{\n"
        + "\n".join([*lines, f"sdy.return {returned} : {', '.join(local(value) for value in results)}"])
        + f"\n}} : ({', '.join(value.type for value in run.takes)}) -> "
        + (results[0].type if len(results) == 1 else f"({', '.join(value.type for value in results)})")
    ]


def _alone(operation):
    """Puts in the place of a user's reduction what one device has without the others."""
    (computation,) = operation.regions[0].blocks
    value, name = operation.operands[0], next(iter(computation.operations)).operation.name
    if name == "stablehlo.add":
        with ir.InsertionPoint(operation):
            value = ir.Operation.create(name, operands=[value, value], results=[value.type]).result
    operation.results[0].replace_all_uses_with(value)
    operation.operation.erase()


def _inline(operation):
    """Puts the body before the op, on whole tensors."""
    (block,) = operation.regions[0].blocks
    shapes = {}
    for argument, operand in zip(block.arguments, operation.operands, strict=True):
        if argument.type != operand.type:
            shapes[tuple(ir.RankedTensorType(argument.type).shape)] = list(ir.RankedTensorType(operand.type).shape)
        argument.replace_all_uses_with(operand)
    for inner in list(block.operations):
        if inner.operation.name == "stablehlo.all_reduce":
            _alone(inner)
    *body, end = block.operations
    for inner in body:
        inner.move_before(operation)
        for result in inner.results:
            kind = ir.RankedTensorType(result.type) if isinstance(result.type, ir.RankedTensorType) else None
            if kind and shapes and tuple(kind.shape) in shapes:
                result.set_type(ir.RankedTensorType.get(shapes[tuple(kind.shape)], kind.element_type))
    for result, value in zip(operation.results, end.operands, strict=True):
        result.replace_all_uses_with(value)
    operation.operation.erase()


def inlined(text):
    """The program with the bodies of its manual computations, which `wrapped` made, in their places."""
    if "sdy.manual_computation" not in text:
        return text
    with engine.context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        for operation in operations(module):
            if operation.name == "sdy.manual_computation":
                _inline(operation)
        return str(module)
