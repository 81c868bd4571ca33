"""Our propagation against the sdy passes inside jaxlib: random programs, every value's sharding equal."""

import math
import random
import re
import subprocess
from pathlib import Path

import pytest
from jax._src.interpreters import mlir as jax_mlir
from jaxlib.mlir import ir
from jaxlib.mlir.passmanager import PassManager

SDY_OPT = Path(__file__).resolve().parents[2] / "build/bin/sdy-opt"
PASSES = [f"sdy-{name}-propagate" for name in ("basic", "aggressive", "op-priority", "user-priority")]
SEPARATOR = "\n// -----\n"


def tensor(shape, element="f32"):
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


class Program:
    """A function of random ops on tensors of few sizes, so that dims, and the axes on them, meet often."""

    def __init__(self, seed, even, priorities=False):
        self.rng = random.Random(seed)
        self.axes = {"a": 2, "b": 2, "c": 2} if even else {"a": 2, "b": 3, "c": 4}
        self.sizes = (8, 16) if even else (6, 8, 12)
        self.priorities = priorities
        self.lines = []
        self.values = [(f"%a{i}", self.shape()) for i in range(self.rng.randint(2, 4))]
        self.arguments = list(self.values)
        while len(self.lines) < 14:
            shaped = [value for value in self.values if value[1]]
            self.rng.choice(OPS)(self, *self.rng.choice(shaped))

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
            f"return {names} : {types}\n}}\n}}\n"
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
        f"stablehlo.dynamic_slice {value}, {indices}, sizes = {result} : ({tensor(shape)}, {types}) -> {tensor(result)}",
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


OPS = [unary, binary, binary, dot, dot, transpose, reshape, broadcast, reduce, dynamic_slice, concatenate]
OPS += [constraint, barrier, optimization_barrier, group]


def jaxlib_run(text, *passes):
    with jax_mlir.make_ir_context():
        module = ir.Module.parse(text)
        PassManager.parse(f"builtin.module({','.join(passes)})").run(module.operation)
        return str(module)


def shardings(text):
    """What each value has, in the order of the program; nothing for a value that has no axes and no closed dim."""
    with jax_mlir.make_ir_context():
        lines = str(ir.Module.parse(text)).splitlines()
    found = []
    for line in lines:
        line = re.sub(r"sdy.given_sharding = #sdy.sharding<.*?>, ", "", line)
        written = re.findall(r"<@mesh, \[.*?\](?:, (?:replicated|unreduced)=\{.*?\})*>|tensor<\w+>(?=[,)])", line)
        found.append([item for item in written if "@mesh" in item and not re.fullmatch(r"<@mesh, [\[{?}, \]]*>", item)])
    return found


@pytest.mark.parametrize("name", PASSES)
@pytest.mark.parametrize("even", [True, False])
def test_random_programs(name, even):
    texts = [
        jaxlib_run(Program(f"{name}{even}{seed}", even, name == PASSES[-1]).text(), "sdy-import-pipeline")
        for seed in range(15)
    ]
    done = subprocess.run(
        [SDY_OPT, "-split-input-file", f"--{name}"], input=SEPARATOR.join(texts), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    outputs = done.stdout.split(SEPARATOR)
    for text, ours in zip(texts, outputs, strict=True):
        assert shardings(ours) == shardings(jaxlib_run(text, name)), text
