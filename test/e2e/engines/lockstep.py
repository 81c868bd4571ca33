"""Runs the program of every device of a mesh, in one function that takes each step for all devices in turn, by MLIR's
own lowering of linalg, tensor, tosa, scf and its JIT: for dialects that PJRT does not know.

What `sdy-opt` leaves after `sdy-partition-to-local` is read as text, op by op. The ops of `spmd` become tensor ops on
what the devices of a group hold, by the descriptions in shardonnay/dialect/spmd/Ops.td; all others are copied for each
device.
"""

import itertools
import re
import subprocess

import numpy as np

LLVM = "/usr/lib/llvm-22"
PASSES = """sdy-lift-inlined-meshes sdy-captures-to-operands sdy-check-supported sdy-constant-or-scalar-splitter sdy-add-data-flow-edges
    sdy-user-priority-propagate sdy-constant-or-scalar-merger sdy-sink-data-flow-edges sdy-close-shardings
    sdy-insert-explicit-reshards=enable-full-version=true sdy-defer-reductions sdy-reshard-to-collectives""".split()
LOWER = """builtin.module(func.func(tosa-to-linalg-named,tosa-to-linalg,tosa-to-arith,tosa-to-tensor,
    convert-elementwise-to-linalg),canonicalize,
    one-shot-bufferize{bufferize-function-boundaries},func.func(convert-linalg-to-loops,scf-forall-to-for),expand-strided-metadata,lower-affine,
    convert-scf-to-cf,convert-math-to-llvm,convert-arith-to-llvm,convert-index-to-llvm,finalize-memref-to-llvm,
    convert-cf-to-llvm,convert-func-to-llvm,reconcile-unrealized-casts)"""


def run(command, text):
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def literal(array):
    return f"arith.constant dense<{array.astype(float).tolist()}> : {type_of(array.shape)}"


def type_of(shape):
    return "tensor<" + "".join(f"{size}x" for size in shape) + "f32>"


def shape_of(text):
    return [int(size) for size in re.findall(r"(\d+)x", text)]


class Mesh:
    def __init__(self, text):
        axes = re.search(r"sdy\.mesh @mesh = <\[(.*?)\]>", text)[1]
        self.axes = {name: int(size) for name, size in re.findall(r'"(\w+)"=(\d+)', axes)}
        self.devices = list(itertools.product(*map(range, self.axes.values())))

    def index(self, device, axes):
        """The device's number along `axes`."""
        number = 0
        for axis in axes:
            number = number * self.axes[axis] + device[list(self.axes).index(axis)]
        return number

    def size(self, axes):
        return int(np.prod([self.axes[axis] for axis in axes], dtype=int))

    def group(self, device, axes):
        """Numbers of the devices that differ from this one in `axes` only, by their index."""
        same = [i for i, name in enumerate(self.axes) if name not in axes]
        members = [d for d in self.devices if all(d[i] == device[i] for i in same)]
        return [self.devices.index(d) for d in sorted(members, key=lambda d: self.index(d, axes))]

    def piece(self, array, dims, device):
        """What the device holds of an array whose dims are sharded by lists of axes; behind the end, 99."""
        for dim, axes in enumerate(dims):
            local = -(-array.shape[dim] // self.size(axes))
            start = local * self.index(device, axes)
            pad = [(0, 0)] * array.ndim
            pad[dim] = (0, local * self.size(axes) - array.shape[dim])
            array = np.pad(array, pad, constant_values=99).take(range(start, start + local), dim)
        return array


class Lockstep:
    def __init__(self, mesh):
        self.mesh, self.lines, self.fresh = mesh, [], itertools.count()

    def emit(self, op, results=""):
        name = f"%t{next(self.fresh)}"
        self.lines.append(f"{name} = {op}")
        return name

    def name(self, value, number):
        return f"{value.replace('%', '%v')}_{number}"

    def rename(self, text, number):
        return re.sub(r"%\w+", lambda found: self.name(found[0], number), text)

    def gather(self, value, group, dim, shape):
        """The group's tensors behind each other along `dim`."""
        whole = list(shape)
        whole[dim] *= len(group)
        result = self.emit(f"tensor.empty() : {type_of(whole)}")
        for i, member in enumerate(group):
            offsets = [i * shape[dim] if d == dim else 0 for d in range(len(shape))]
            result = self.emit(f"tensor.insert_slice {self.name(value, member)} into {result}{offsets} {list(shape)} "
                               f"{[1] * len(shape)} : {type_of(shape)} into {type_of(whole)}")
        return result, whole

    def slice(self, value, shape, dim, start, size):
        offsets = [start if d == dim else 0 for d in range(len(shape))]
        sizes = [size if d == dim else n for d, n in enumerate(shape)]
        return self.emit(f"tensor.extract_slice {value}{offsets} {sizes} {[1] * len(shape)} : {type_of(shape)} to "
                         f"{type_of(sizes)}"), sizes

    def pad(self, value, shape, dim, low, high, fill):
        padded = [n + low + high if d == dim else n for d, n in enumerate(shape)]
        arguments = ", ".join(f"%p{next(self.fresh)}: index" for _ in shape)
        lows, highs = ([n if d == dim else 0 for d in range(len(shape))] for n in (low, high))
        return self.emit(
            f"tensor.pad {value} low{lows} high{highs} {{\n^bb0({arguments}):\ntensor.yield {fill} : f32\n}} : "
            f"{type_of(shape)} to {type_of(padded)}"
        ), padded

    def device_index(self, text, number):
        index = self.mesh.index(self.mesh.devices[number], re.findall(r'"(\w+)"', text))
        return f"arith.constant dense<{index}> : tensor<i32>"

    def all_reduce(self, text, number):
        kind = {"max": "arith.maximumf", "min": "arith.minimumf"}.get(text.split()[1], "arith.addf")
        value, tensor = re.search(r"%\w+", text)[0], text.rsplit(" : ", 1)[1].strip()
        first, *others = self.mesh.group(self.mesh.devices[number], re.findall(r'"(\w+)"', text))
        result = self.name(value, first)
        for other in others:
            result = self.emit(f"{kind} {result}, {self.name(value, other)} : {tensor}")
        return f"tensor.cast {result} : {tensor} to {tensor}"

    def all_gather(self, text, number):
        dim, shape = int(re.search(r"dim=(\d+)", text)[1]), shape_of(text.rsplit(" : ", 1)[1].split("->")[0])
        group = self.mesh.group(self.mesh.devices[number], re.findall(r'"(\w+)"', text))
        whole, sizes = self.gather(re.search(r"%\w+", text)[0], group, dim, shape)
        return f"tensor.cast {whole} : {type_of(sizes)} to {type_of(sizes)}"

    def all_slice(self, text, number):
        dim, shape = int(re.search(r"dim=(\d+)", text)[1]), shape_of(text.rsplit(" : ", 1)[1].split("->")[0])
        device, axes = self.mesh.devices[number], re.findall(r'"(\w+)"', text)
        size = shape[dim] // self.mesh.size(axes)
        value, result = re.search(r"(%\w+)(#\d+)?", text).groups("")
        value, shape = self.slice(
            self.name(value, number) + result, shape, dim, size * self.mesh.index(device, axes), size
        )
        return f"tensor.cast {value} : {type_of(shape)} to {type_of(shape)}"

    def fetch_window(self, text, number):
        device, axes = self.mesh.devices[number], re.findall(r'"(\w+)"', text)
        dim, limit, start, step, size = (
            int(re.search(rf"\b{name}=(-?\d+)", text)[1]) for name in ("dim", "global_size", "start", "step", "size"))
        shape = shape_of(text.rsplit(" : ", 1)[1].split("->")[0].split(",")[0])
        values = re.findall(r"%\w+", text)
        value, shape = self.gather(values[0], self.mesh.group(device, axes), dim, shape)
        value, shape = self.slice(value, shape, dim, 0, limit)
        fill = "%garbage"
        if len(values) > 1:
            fill = self.emit(f"tensor.extract {self.name(values[1], number)}[] : tensor<f32>")
        begin = start + step * self.mesh.index(device, axes)
        low, high = max(0, -begin), max(0, begin + size - limit)
        value, shape = self.pad(value, shape, dim, low, high, fill)
        value, shape = self.slice(value, shape, dim, begin + low, size)
        return f"tensor.cast {value} : {type_of(shape)} to {type_of(shape)}"

    def step(self, op):
        """One op of the device's program, for all devices."""
        match = re.match(r"(%\w+) = spmd\.(\w+)(.*)", op)
        for number in range(len(self.mesh.devices)):
            if match:
                # What a reduction is called with stands before its operand.
                text = getattr(self, match[2])(match[2] + match[3], number)
                self.lines.append(f"{self.name(match[1], number)} = {text}")
            else:
                self.lines.append(self.rename(op, number).replace("sdy.constant", "arith.constant"))


def body_ops(text):
    """The ops of @main, each with its regions."""
    body = text[text.index("func.func @main"):].split("\n")[1:]
    ops = []
    for line in body[:body.index("  }")]:
        if re.match(r"    [^ }^]", line):
            ops.append(line.strip())
        else:
            ops[-1] += "\n" + line.strip()
    return ops


def execute(lines, results):
    """The f32 tensors that `results`, pairs of name and shape, hold behind `lines`."""
    aliases = sorted(set(re.findall(r"#map\d*", "\n".join(lines))))
    assert not aliases, aliases
    prints = []
    for i, (name, shape) in enumerate(results):
        prints.append(f"%out{i} = tensor.cast {name} : {type_of(shape)} to tensor<*xf32>")
        prints.append(f"call @printMemrefF32(%out{i}) : (tensor<*xf32>) -> ()")
    module = "\n".join(["func.func private @printMemrefF32(tensor<*xf32>)", "func.func @main() {",
                        "%garbage = arith.constant 77.0 : f32", *lines, *prints, "return", "}"])
    lowered = run([f"{LLVM}/bin/mlir-opt", "--pass-pipeline=" + "".join(LOWER.split())], module)
    printed = run([f"{LLVM}/bin/mlir-runner", "-e", "main", "--entry-point-result=void",
                   f"--shared-libs={LLVM}/lib/libmlir_runner_utils.so,{LLVM}/lib/libmlir_c_runner_utils.so"], lowered)
    datas = printed.split("Unranked Memref")[1:]
    return [np.array([float(x) for x in re.findall(r"-?[\d.]+(?:e[+-]?\d+)?", data.split("data =")[1])]).reshape(shape)
            for data, (_, shape) in zip(datas, results)]


def spelled_out(text):
    """Affine maps in place of their aliases, which one function can't have of two modules."""
    for alias, value in re.findall(r"^(#map\d*) = (.*)$", text, re.M)[::-1]:
        text = re.sub(rf"{alias}\b", value, text)
    return text


def dims_of(sharding, rank):
    if not sharding:
        return [[] for _ in range(rank)]
    return [re.findall(r'"(\w+)"', dim) for dim in re.findall(r"\{([^{}]*)\}", sharding)]


def compare(sdy_opt, program, seed=0):
    """The local programs' results equal the shards of the whole program's. Returns the local program."""
    mesh = Mesh(program)
    flags = [f"-{name}" for name in PASSES]
    sharded = run([sdy_opt, "-", *flags], program)
    local = spelled_out(run([sdy_opt, "-", "-sdy-partition-to-local"], sharded))

    signature = re.search(r"func\.func @main\((.*)\) -> (.*) \{\n", sharded)
    argument = r'(tensor<[^>]*>)(?: \{sdy\.sharding = #sdy\.sharding<@mesh, \[(.*?)\]>\})?'
    arguments = re.findall(r"%\w+: " + argument, signature[1])
    results = re.findall(argument, signature[2])
    random = np.random.default_rng(seed)
    inputs = [random.integers(-3, 4, shape_of(tensor)).astype(np.float32) for tensor, _ in arguments]

    lockstep = Lockstep(mesh)
    for i, (array, (_, sharding)) in enumerate(zip(inputs, arguments)):
        for number, device in enumerate(mesh.devices):
            piece = mesh.piece(array, dims_of(sharding, array.ndim), device)
            lockstep.lines.append(f"{lockstep.name(f'%arg{i}', number)} = {literal(piece)}")
    *ops, end = body_ops(local)
    for op in ops:
        lockstep.step(op)
    returned = re.findall(r"%\w+", end)
    pieces = [np.zeros(shape_of(tensor), np.float32) for tensor, _ in results]
    wanted = [
        (lockstep.name(value, number), mesh.piece(piece, dims_of(sharding, piece.ndim), device).shape)
        for value, piece, (_, sharding) in zip(returned, pieces, results)
        for number, device in enumerate(mesh.devices)
    ]
    got = execute(lockstep.lines, wanted)

    whole = run([sdy_opt, "-", "-sdy-drop-sharding-and-mesh"], program)
    *ops, end = body_ops(spelled_out(whole))
    lines = [f"%arg{i} = {literal(array)}" for i, array in enumerate(inputs)] + ops
    expected = execute(lines, [(value, piece.shape) for value, piece in zip(re.findall(r"%\w+", end), pieces)])
    got = iter(got)
    for array, (_, sharding) in zip(expected, results):
        for device in mesh.devices:
            piece = mesh.piece(array, dims_of(sharding, array.ndim), device)
            exists = mesh.piece(np.ones(array.shape), dims_of(sharding, array.ndim), device) == 1
            np.testing.assert_allclose(np.where(exists, next(got), 0), np.where(exists, piece, 0), rtol=1e-5, atol=1e-5)
    return local
