"""Random programs over all kinds of ops, with random partial shardings, priorities, constraints and groups."""

import math
import random
import re


def tensor(shape, element="f32"):
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


class Program:
    """A function of random ops on tensors of few sizes, so that dims, and the axes on them, meet often."""

    def __init__(self, seed, even, priorities=False, ops=None, length=14):
        self.rng = random.Random(seed)
        self.axes = {"a": 2, "b": 2, "c": 2} if even else {"a": 2, "b": 3, "c": 4}
        self.sizes = (8, 16) if even else (6, 8, 12)
        self.priorities = priorities
        self.lines = []
        self.functions = {}  # private ones, by name
        self.values = [(f"%a{i}", self.shape()) for i in range(self.rng.randint(2, 4))]
        self.arguments = list(self.values)
        while len(self.lines) < length:
            shaped = [value for value in self.values if value[1]]
            self.rng.choice(ops or OPS)(self, *self.rng.choice(shaped))

    def shape(self):
        return [self.rng.choice(self.sizes) for _ in range(self.rng.randint(1, 3))]

    def sharding(self, rank):
        axes, dims = self.rng.sample(list(self.axes), len(self.axes)), []
        for _ in range(rank):
            parts = []
            while axes and self.rng.random() < 0.4:
                parts.append(f'"{axes.pop()}"')
            open_dim = self.rng.random() < 0.7
            parts += ["?"] * open_dim
            later = self.priorities and parts and self.rng.random() < 0.4
            dims.append(f"{{{', '.join(parts)}}}" + (f"p{self.rng.choice((1, 2))}" if later else ""))
        return f"<@mesh, [{', '.join(dims)}]>"

    def attribute(self, rank, probability):
        if self.rng.random() > probability:
            return ""
        return f" {{sdy.sharding = #sdy.sharding{self.sharding(rank)}}}"

    def emit(self, op, result):
        name = f"%{len(self.values)}"
        self.lines.append(f"{name} = {op}")
        self.values.append((name, result))

    def constant(self, value, element):
        name = f"%c{len(self.lines)}"
        self.lines.append(f"{name} = sdy.constant dense<{value}> : tensor<{element}>")
        return name

    def other(self, shape):
        return self.rng.choice([name for name, other in self.values if other == shape])

    def text(self):
        body = "\n".join(self.lines)
        used = set(re.findall(r"%\w+", re.sub(r"^%\w+ =", "", body, flags=re.M)))
        # All that is left over is returned: import removes dead code.
        returned = [value for value in self.values[len(self.arguments) :] if value[0] not in used]
        sizes = ", ".join(f'"{axis}"={size}' for axis, size in self.axes.items())
        arguments = ", ".join(f"{n}: {tensor(s)}{self.attribute(len(s), 0.7)}" for n, s in self.arguments)
        results = ", ".join(f"{tensor(s)}{self.attribute(len(s), 0.3)}" for _, s in returned)
        names, types = ", ".join(n for n, _ in returned), ", ".join(tensor(s) for _, s in returned)
        return (
            f"module {{\nsdy.mesh @mesh = <[{sizes}]>\nfunc.func @main({arguments}) -> ({results}) {{\n{body}\n"
            f"return {names} : {types}\n}}\n" + "\n".join(self.functions.values()) + "\n}\n"
        )


def unary(program, value, shape):
    program.emit(f"stablehlo.tanh {value} : {tensor(shape)}", shape)


def binary(program, value, shape):
    program.emit(f"stablehlo.add {value}, {program.other(shape)} : {tensor(shape)}", shape)


def dot(program, value, shape):
    other, other_shape = program.rng.choice([v for v in program.values if v[1]])
    pairs = [(i, j) for i, x in enumerate(shape) for j, y in enumerate(other_shape) if x == y]
    program.rng.shuffle(pairs)
    contracted, batch = pairs[:1], []
    for i, j in pairs[1:]:
        if all(i != p and j != q for p, q in contracted + batch) and program.rng.random() < 0.5:
            batch.append((i, j))
    left, right = ([pair[side] for pair in contracted + batch] for side in (0, 1))
    result = [shape[i] for i, _ in batch]
    result += [size for i, size in enumerate(shape) if i not in left]
    result += [size for j, size in enumerate(other_shape) if j not in right]
    if not contracted or not 1 <= len(result) <= 4:
        return
    dims = f"batching_dims = {[i for i, _ in batch]} x {[j for _, j in batch]}, " if batch else ""
    dims += f"contracting_dims = {[contracted[0][0]]} x {[contracted[0][1]]}"
    types = f"({tensor(shape)}, {tensor(other_shape)}) -> {tensor(result)}"
    program.emit(f"stablehlo.dot_general {value}, {other}, {dims} : {types}", result)


def transpose(program, value, shape):
    order = program.rng.sample(range(len(shape)), len(shape))
    result = [shape[i] for i in order]
    program.emit(f"stablehlo.transpose {value}, dims = {order} : ({tensor(shape)}) -> {tensor(result)}", result)


def reshape(program, value, shape):
    left, result = math.prod(shape), []
    while left > 1 and len(result) < 3:
        result.append(program.rng.choice([size for size in (2, 3, 4, 6, 8, 12) if left % size == 0] or [left]))
        left //= result[-1]
    result += [left] * (left > 1)
    program.emit(f"stablehlo.reshape {value} : ({tensor(shape)}) -> {tensor(result)}", result)


def broadcast(program, value, shape):
    at = program.rng.randint(0, len(shape))
    result = shape[:at] + [program.rng.choice(program.sizes)] + shape[at:]
    dims = [i + (i >= at) for i in range(len(shape))]
    types = f"({tensor(shape)}) -> {tensor(result)}"
    if len(result) <= 4:
        program.emit(f"stablehlo.broadcast_in_dim {value}, dims = {dims} : {types}", result)


def reduce(program, value, shape):
    dim = program.rng.randrange(len(shape))
    result = shape[:dim] + shape[dim + 1 :]
    zero = program.constant(0.0, "f32")
    types = f"({tensor(shape)}, tensor<f32>) -> {tensor(result)}"
    program.emit(
        f"stablehlo.reduce({value} init: {zero}) applies stablehlo.add across dimensions = [{dim}] : {types}", result
    )


def dynamic_slice(program, value, shape):
    result = list(shape)
    result[program.rng.randrange(len(shape))] //= 2
    if 0 in result:
        return
    zero = program.constant(0, "i32")
    indices, types = ", ".join([zero] * len(shape)), ", ".join(["tensor<i32>"] * len(shape))
    program.emit(
        f"stablehlo.dynamic_slice {value}, {indices}, sizes = {result} : ({tensor(shape)}, {types}) -> "
        f"{tensor(result)}",
        result,
    )


def concatenate(program, value, shape):
    dim = program.rng.randrange(len(shape))
    result = [size * (1 + (i == dim)) for i, size in enumerate(shape)]
    types = f"({tensor(shape)}, {tensor(shape)}) -> {tensor(result)}"
    if result[dim] <= 64:
        program.emit(f"stablehlo.concatenate {value}, {program.other(shape)}, dim = {dim} : {types}", result)


def constraint(program, value, shape):
    sharding = program.sharding(len(shape))
    program.emit(f"sdy.sharding_constraint {value} {sharding} : {tensor(shape)}", shape)


def barrier(program, value, shape):
    direction = program.rng.choice(("NONE", "FORWARD", "BACKWARD"))
    program.emit(f"sdy.propagation_barrier {value} allowed_direction={direction} : {tensor(shape)}", shape)


def optimization_barrier(program, value, shape):
    program.emit(f"stablehlo.optimization_barrier {value} : {tensor(shape)}", shape)


def group(program, value, shape):
    if not any("sharding_group" in line for line in program.lines):
        for member in (value, program.other(shape)):
            program.lines.append(f"sdy.sharding_group {member} group_id=0 : {tensor(shape)}")


def slice(program, value, shape):
    start = [program.rng.choice((0, 0, 2)) for _ in shape]
    limit = [size - program.rng.choice((0, 0, 2)) for size in shape]
    result = [b - a for a, b in zip(start, limit)]
    if min(result) > 0:
        bounds = ", ".join(f"{a}:{b}" for a, b in zip(start, limit))
        program.emit(f"stablehlo.slice {value} [{bounds}] : ({tensor(shape)}) -> {tensor(result)}", result)


def pad(program, value, shape):
    low, high, inner = ([program.rng.choice((0, 0, 2)) for _ in shape] for _ in range(3))
    result = [size + a + b + (size - 1) * c for size, a, b, c in zip(shape, low, high, inner)]
    zero = program.constant(0.0, "f32")
    types = f"({tensor(shape)}, tensor<f32>) -> {tensor(result)}"
    if max(result) <= 64:
        program.emit(f"stablehlo.pad {value}, {zero}, low = {low}, high = {high}, interior = {inner} : {types}", result)


def reverse(program, value, shape):
    dims = [dim for dim in range(len(shape)) if program.rng.random() < 0.5]
    program.emit(f"stablehlo.reverse {value}, dims = {dims} : {tensor(shape)}", shape)


def select(program, value, shape):
    other, predicate = program.other(shape), f"%p{len(program.lines)}"
    booleans = tensor(shape, "i1")
    types = f"({tensor(shape)}, {tensor(shape)}) -> {booleans}"
    program.lines.append(f"{predicate} = stablehlo.compare GT, {value}, {other}, FLOAT : {types}")
    program.emit(f"stablehlo.select {predicate}, {value}, {program.other(shape)} : {booleans}, {tensor(shape)}", shape)


def clamp(program, value, shape):
    zero, one = program.constant(0.0, "f32"), program.constant(1.0, "f32")
    types = f"(tensor<f32>, {tensor(shape)}, tensor<f32>) -> {tensor(shape)}"
    if zero != one:
        program.emit(f"stablehlo.clamp {zero}, {value}, {one} : {types}", shape)


def iota(program, value, shape):
    dim = program.rng.randrange(len(shape))
    program.emit(f"stablehlo.iota dim = {dim} : {tensor(shape)}", shape)


def update(program, value, shape):
    window = list(shape)
    window[program.rng.randrange(len(shape))] //= 2
    piece, zero = f"%u{len(program.lines)}", f"%z{len(program.lines)}"
    if 0 in window:
        return
    bounds = ", ".join(f"0:{size}" for size in window)
    program.lines.append(f"{piece} = stablehlo.slice {value} [{bounds}] : ({tensor(shape)}) -> {tensor(window)}")
    program.lines.append(f"{zero} = sdy.constant dense<0> : tensor<i32>")
    indices, types = ", ".join([zero] * len(shape)), ", ".join(["tensor<i32>"] * len(shape))
    program.emit(
        f"stablehlo.dynamic_update_slice {program.other(shape)}, {piece}, {indices} : "
        f"({tensor(shape)}, {tensor(window)}, {types}) -> {tensor(shape)}",
        shape,
    )


def rows(program, shape):
    """An index for each of as many rows as a dim has."""
    count, name = program.rng.choice(program.sizes), f"%i{len(program.lines)}"
    program.lines.append(f"{name} = stablehlo.iota dim = 0 : {tensor([count], 'i32')}")
    return name, count


def gather(program, value, shape):
    indices, count = rows(program, shape)
    dim = program.rng.randrange(len(shape))
    sizes = [1 if d == dim else size for d, size in enumerate(shape)]
    rest = shape[:dim] + shape[dim + 1 :]
    numbers = (
        f"offset_dims = {list(range(1, len(shape)))}, collapsed_slice_dims = [{dim}], start_index_map = [{dim}], "
        "index_vector_dim = 1"
    )
    program.emit(
        f'"stablehlo.gather"({value}, {indices}) <{{dimension_numbers = #stablehlo.gather<{numbers}>, '
        f"slice_sizes = array<i64: {str(sizes)[1:-1]}>}}> : ({tensor(shape)}, {tensor([count], 'i32')}) -> "
        f"{tensor([count, *rest])}",
        [count, *rest],
    )


def scatter(program, value, shape):
    indices, count = rows(program, shape)
    updates = [count, *shape[1:]]
    candidates = [name for name, other in program.values if other == updates]
    if not candidates:
        return
    numbers = (
        f"update_window_dims = {list(range(1, len(shape)))}, inserted_window_dims = [0], "
        "scatter_dims_to_operand_dims = [0], index_vector_dim = 1"
    )
    program.emit(
        f'"stablehlo.scatter"({value}, {indices}, {program.rng.choice(candidates)}) '
        f"<{{scatter_dimension_numbers = #stablehlo.scatter<{numbers}>}}> ({{\n^bb0(%l: tensor<f32>, %r: "
        "tensor<f32>):\n%sum = stablehlo.add %l, %r : tensor<f32>\nstablehlo.return %sum : tensor<f32>\n}) : "
        f"({tensor(shape)}, {tensor([count], 'i32')}, {tensor(updates)}) -> {tensor(shape)}",
        shape,
    )


def loop(program, value, shape):
    """Carries a value through a body of element-wise ops."""
    name, zero = f"%w{len(program.lines)}", f"%z{len(program.lines)}"
    program.lines.append(f"{zero} = sdy.constant dense<0> : tensor<i32>")
    operands = f"%n = {zero}, %carried = {value}"
    body = (
        f"stablehlo.while({operands}) : tensor<i32>, {tensor(shape)}\ncond {{\n"
        "%limit = stablehlo.constant dense<3> : tensor<i32>\n"
        "%more = stablehlo.compare LT, %n, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
        "stablehlo.return %more : tensor<i1>\n} do {\n"
        "%one = stablehlo.constant dense<1> : tensor<i32>\n%next = stablehlo.add %n, %one : tensor<i32>\n"
        f"%new = stablehlo.sine %carried : {tensor(shape)}\n"
        f"stablehlo.return %next, %new : tensor<i32>, {tensor(shape)}\n}}"
    )
    program.lines.append(f"{name}:2 = {body}")
    program.emit(f"stablehlo.tanh {name}#1 : {tensor(shape)}", shape)


def branches(program, value, shape):
    index = f"%b{len(program.lines)}"
    program.lines.append(f"{index} = sdy.constant dense<1> : tensor<i32>")
    other = program.other(shape)
    program.emit(
        f'"stablehlo.case"({index}) ({{\n%first = stablehlo.sine {value} : {tensor(shape)}\n'
        f"stablehlo.return %first : {tensor(shape)}\n}}, {{\n"
        f"stablehlo.return {other} : {tensor(shape)}\n}}) : (tensor<i32>) -> {tensor(shape)}",
        shape,
    )


OPS = [unary, binary, binary, dot, dot, transpose, reshape, broadcast, reduce, dynamic_slice, concatenate]
OPS += [constraint, barrier, optimization_barrier, group]
# With these, the pipelines are compared from the start.
MORE_OPS = [slice, pad, reverse, select, clamp, iota, update, gather, scatter, loop, branches]
