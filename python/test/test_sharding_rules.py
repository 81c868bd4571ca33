"""Our factor rules, printed, against those of the sdy passes inside jaxlib, op by op."""

import itertools
import random
import re
import subprocess
from pathlib import Path

import pytest
from jax._src.interpreters import mlir as jax_mlir
from jaxlib.mlir import ir
from jaxlib.mlir.passmanager import PassManager

pytestmark = pytest.mark.pinned
SDY_OPT = Path(__file__).resolve().parents[2] / "build/bin/sdy-opt"
PASS = "sdy-populate-op-sharding-rules"


def tensor(shape, element="f32"):
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


def call(name, attributes, operands, result, region=""):
    """One op in generic form, with the types of its operands as placeholders."""
    return name, attributes, operands, result, region


def program(ops):
    """Each op in a function of its own, which has its operands for arguments."""
    functions = []
    for i, (name, attributes, operands, result, region) in enumerate(ops):
        arguments = ", ".join(f"%a{k}: {type}" for k, type in enumerate(operands))
        names = ", ".join(f"%a{k}" for k in range(len(operands)))
        properties = f"<{{{attributes}}}>" if attributes else ""
        count = result.count("tensor<")
        functions.append(
            f'func.func @f{i}({arguments}) {{ %r:{count} = "stablehlo.{name}"({names}) {properties} {region} : '
            f"({', '.join(operands)}) -> {result}\n return }}"
        )
    return "\n".join(functions)


def rules(text):
    """The rule of every function's op (not of those in regions), None where it has none."""
    found = []
    for function in text.split("func.func")[1:]:
        matches = re.findall(r"#sdy.op_sharding_rule<(.*?)>}", function)
        found.append(matches[-1] if matches else None)
    return found


def jaxlib_rules(text):
    with jax_mlir.make_ir_context():
        module = ir.Module.parse(text)
        PassManager.parse(f"builtin.module(func.func({PASS}))").run(module.operation)
        return rules(str(module))


def our_rules(text):
    done = subprocess.run([SDY_OPT, f"--{PASS}"], input=text, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return rules(done.stdout)


def without(rule, kind):
    return re.sub(rf" {kind}=\{{.*?\}}", "", rule)


def check(ops, ignored=None):
    text = program(ops)
    for op, expected, got in zip(ops, jaxlib_rules(text), our_rules(text), strict=True):
        if ignored and got:
            got = without(got, ignored)
        assert got == expected, program([op])


def split(rng, total, dims):
    shape = [1] * dims
    for prime in (2, 3, 5, 7):
        while total % prime == 0:
            shape[rng.randrange(dims)] *= prime
            total //= prime
    return shape


def test_reshape():
    """Where shapes diverge we ask for replication of factors that one side only has; jaxlib does not."""
    rng = random.Random(0)
    ops = []
    for _ in range(500):
        total = rng.choice([12, 24, 30, 36, 48, 60, 72, 96, 210, 900])
        source, target = (tensor(split(rng, total, rng.randint(1, 4))) for _ in range(2))
        ops.append(call("reshape", "", [source], target))
    check(ops, ignored="need_replication")


def test_transpose_and_broadcast():
    rng = random.Random(1)
    ops = []
    for _ in range(50):
        shape = [rng.choice([1, 2, 3, 8]) for _ in range(rng.randint(1, 4))]
        order = rng.sample(range(len(shape)), len(shape))
        permuted = tensor([shape[d] for d in order])
        ops.append(call("transpose", f"permutation = array<i64: {str(order)[1:-1]}>", [tensor(shape)], permuted))
        rank = len(shape) + rng.randint(0, 2)
        dims = sorted(rng.sample(range(rank), len(shape)))
        result = [rng.choice([1, 4]) for _ in range(rank)]
        for size, dim in zip(shape, dims, strict=True):
            result[dim] = size if size > 1 else rng.choice([1, 5])
        attribute = f"broadcast_dimensions = array<i64: {str(dims)[1:-1]}>"
        ops.append(call("broadcast_in_dim", attribute, [tensor(shape)], tensor(result)))
    check(ops)


def test_dot_general():
    rng = random.Random(2)
    ops = []
    for _ in range(50):
        batch, contract, left, right = ([rng.choice([2, 3, 4]) for _ in range(rng.randint(0, 2))] for _ in range(4))
        sides, numbers = [], []
        for name, free in (("lhs", left), ("rhs", right)):
            sizes = batch + contract + free
            place = rng.sample(range(len(sizes)), len(sizes))
            shape = [0] * len(sizes)
            for size, dim in zip(sizes, place, strict=True):
                shape[dim] = size
            # The free dims keep their order.
            taken = place[: len(batch) + len(contract)]
            rest = [dim for dim in range(len(sizes)) if dim not in taken]
            for size, dim in zip(free, rest, strict=True):
                shape[dim] = size
            sides.append(tensor(shape))
            numbers.append(f"{name}_batching_dimensions = {taken[: len(batch)]}")
            numbers.append(f"{name}_contracting_dimensions = {taken[len(batch) :]}")
        attribute = f"dot_dimension_numbers = #stablehlo.dot<{', '.join(sorted(numbers, key=lambda n: n[4:5] != 'b'))}>"
        ops.append(call("dot_general", attribute, sides, tensor(batch + left + right)))
    check(ops)


class Indexing:
    """Random dimension numbers, for gather and scatter alike: the window is the gathered or the scattered slice."""

    def __init__(self, rng):
        self.operand = [rng.choice([1, 4, 6, 8]) for _ in range(rng.randint(1, 4))]
        dims = list(range(len(self.operand)))
        self.batching = sorted(rng.sample(dims, rng.randint(0, min(1, len(dims) - 1))))
        free = [dim for dim in dims if dim not in self.batching]
        self.dropped = sorted(dim for dim in free if rng.random() < 0.5)
        self.index_map = rng.sample(free, rng.randint(1, len(free)))
        self.slice = [
            1 if dim in self.batching + self.dropped else rng.choice([1, size, max(1, size // 2)])
            for dim, size in enumerate(self.operand)
        ]
        batch = [self.operand[dim] for dim in self.batching] + [rng.choice([2, 3]) for _ in range(rng.randint(0, 2))]
        self.index_batching = list(range(len(self.batching)))
        self.vector_dim = len(batch) if rng.random() < 0.7 else rng.randint(len(self.batching), len(batch))
        self.indices = list(batch)
        if len(self.index_map) > 1 or rng.random() < 0.8:
            self.indices.insert(self.vector_dim, len(self.index_map))
        else:
            self.vector_dim = len(batch)
        window = [self.slice[dim] for dim in free if dim not in self.dropped]
        rank = len(batch) + len(window)
        self.window_dims = sorted(rng.sample(range(rank), len(window)))
        window, batch = iter(window), iter(batch)
        self.result = [next(window if dim in self.window_dims else batch) for dim in range(rank)]

    def numbers(self, attribute, names):
        lists = (self.window_dims, self.dropped, self.batching, self.index_batching, self.index_map)
        fields = [f"{name} = {list}" for name, list in zip(names, lists, strict=True) if list]
        if self.vector_dim:
            fields.append(f"index_vector_dim = {self.vector_dim}")
        return f"#stablehlo.{attribute}<{', '.join(fields)}>"


def test_gather():
    rng = random.Random(3)
    names = (
        "offset_dims", "collapsed_slice_dims", "operand_batching_dims", "start_indices_batching_dims", "start_index_map"
    )
    ops = []
    for _ in range(300):
        x = Indexing(rng)
        attributes = (
            f"dimension_numbers = {x.numbers('gather', names)}, slice_sizes = array<i64: {str(x.slice)[1:-1]}>"
        )
        ops.append(call("gather", attributes, [tensor(x.operand), tensor(x.indices, "i32")], tensor(x.result)))
    check(ops)


def test_scatter():
    rng = random.Random(4)
    names = (
        "update_window_dims", "inserted_window_dims", "input_batching_dims", "scatter_indices_batching_dims",
        "scatter_dims_to_operand_dims",
    )
    bodies = ["%c = stablehlo.add %x, %y : tensor<f32>", "%c = stablehlo.maximum %x, %y : tensor<f32>", None]
    ops = []
    for _ in range(300):
        x = Indexing(rng)
        body = rng.choice(bodies)
        result = "%c" if body else "%y"
        region = (
            f"({{ ^bb0(%x: tensor<f32>, %y: tensor<f32>): {body or ''}\n stablehlo.return {result} : tensor<f32> }})"
        )
        operands = [tensor(x.operand), tensor(x.indices, "i32"), tensor(x.result)]
        attributes = f"scatter_dimension_numbers = {x.numbers('scatter', names)}"
        ops.append(call("scatter", attributes, operands, tensor(x.operand), region))
    check(ops)


COMPARE = (
    "%c = stablehlo.compare LT, %x0, %y0 : (tensor<f32>, tensor<f32>) -> tensor<i1> stablehlo.return %c : tensor<i1>"
)


def several(type, count):
    return f"({', '.join([type] * count)})"


def sort(shape, count, dim):
    arguments = ", ".join(f"%{side}{i}: tensor<f32>" for i in range(count) for side in "xy")
    type = tensor(shape)
    return call(
        "sort",
        f"dimension = {dim} : i64",
        [type] * count,
        several(type, count),
        f"({{ ^bb0({arguments}): {COMPARE} }})",
    )


def test_sort():
    rng = random.Random(5)
    shapes = [[rng.choice([1, 4, 6]) for _ in range(rng.randint(1, 3))] for _ in range(60)]
    check([sort(shape, rng.randint(1, 3), rng.randrange(len(shape))) for shape in shapes])


def test_sort_of_a_dim_counted_from_the_end():
    """jaxlib would shard it: where it counts from the front, it does as we do."""
    text, same = program([sort([4, 6], 2, -1)]), program([sort([4, 6], 2, 1)])
    assert jaxlib_rules(text) == ["([i, j], [i, j])->([i, j], [i, j]) {i=4, j=6}"]
    assert our_rules(text) == jaxlib_rules(same)


def test_triangular_solve():
    """Columns of the right side, or rows from the other side, are solved each by itself: jaxlib replicates them too."""
    ops, alone = [], []
    for batch in ([], [2], [1, 3]):
        matrix, right, left = tensor([*batch, 4, 4]), tensor([*batch, 4, 5]), tensor([*batch, 5, 4])
        for (side, other), form in itertools.product((("true", right), ("false", left)), ("NO_TRANSPOSE", "TRANSPOSE")):
            attributes = (
                f"left_side = {side}, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose {form}>"
            )
            ops.append(call("triangular_solve", attributes, [matrix, other], other))
            alone.append("ijklm"[len(batch) + (side == "true")])
    text = program(ops)
    for rule, factor, got in zip(jaxlib_rules(text), alone, our_rules(text), strict=True):
        before, replicated = re.fullmatch(r"(.*need_replication=\{)(.*)\}", rule).groups()
        assert factor in replicated.split(", ")
        assert got == before + ", ".join(other for other in replicated.split(", ") if other != factor) + "}"


def test_matrices_and_transforms():
    ops = []
    for batch in ([], [2], [1, 3]):
        matrix = tensor([*batch, 4, 4])
        ops.append(call("cholesky", "lower = true", [matrix], matrix))
        for kind, dims, half in (("RFFT", [6, 8], 5), ("RFFT", [8], 5), ("RFFT", [1], 1), ("RFFT", [2], 2)):
            lengths = ", ".join(map(str, dims))
            attributes = "fft_type = #stablehlo<fft_type {}>, fft_length = array<i64: {}>"
            real, spectrum = [*batch, *dims], tensor([*batch, *dims[:-1], half], "complex<f32>")
            ops.append(call("fft", attributes.format(kind, lengths), [tensor(real)], spectrum))
            ops.append(call("fft", attributes.format("IRFFT", lengths), [spectrum], tensor(real)))
            whole = tensor(real, "complex<f32>")
            ops += [call("fft", attributes.format(name, lengths), [whole], whole) for name in ("FFT", "IFFT")]
    check(ops)


def test_random_bits():
    check([
        call("rng_bit_generator", "rng_algorithm = #stablehlo<rng_algorithm DEFAULT>", [tensor([2], "ui64")],
             f"({tensor([2], 'ui64')}, {tensor(shape, 'ui32')})")
        for shape in ([], [4], [4, 6], [1, 3, 5])
    ])


def custom_call(target, operands, results):
    return call("custom_call", f'call_target_name = "{target}"', operands, f"({', '.join(results)})")


def test_custom_calls():
    x, scalar = tensor([2, 4, 6]), tensor([])
    ops = [
        custom_call(target, [x] * operands, [x] * results)
        for target in ("annotate_device_placement", "InspectSharding", "LayoutConstraint", "MoveToDevice", "MoveToHost",
                       "X64Combine", "X64SplitHigh", "X64SplitLow", "mhlo.erf", "no_such_target")
        for operands in (1, 2) for results in (1, 2)
    ]
    ops += [custom_call("mhlo.topk", [x], [tensor([2, 4, 3])] * count) for count in (1, 2)]
    ops.append(custom_call("Qr", [tensor([3, 5, 4])], [tensor([3, 5, 4]), tensor([3, 4])]))
    householder = [tensor([3, 5, 4]), tensor([3, 4])]
    ops.append(custom_call("ProductOfElementaryHouseholderReflectors", householder, [tensor([3, 5, 4])]))
    check(ops)


def test_selections():
    x, best, scalar = tensor([2, 4, 6]), tensor([2, 4, 3]), tensor([])
    check([custom_call(target, [x, x, scalar, scalar], [best, best]) for target in ("ApproxTopK", "PartialReduce")])


def test_a_custom_call_that_jaxlib_would_shard():
    """A matrix is not made of the results of its shards."""
    ops = [custom_call("Eigh", [tensor([3, 4, 4])], [tensor([3, 4, 4]), tensor([3, 4])])]
    assert jaxlib_rules(program(ops)) == ["([i, j, k])->([i, j, k], [i, k]) {i=3, j=4, k=4}"]
    assert our_rules(program(ops)) == [
        "([i, j, k])->([i, j, k], [i, l]) {i=3, j=4, k=4, l=4} need_replication={j, k, l}"
    ]


def same_mapping(ops):
    """Which factor is where, and what is summed or moves; sizes aside, and what only we ask to be whole."""

    def view(rule):
        return rule and re.sub(r" \{.*?\}", "", without(rule, "need_replication"), count=1)

    text = program(ops)
    for op, expected, got in zip(ops, jaxlib_rules(text), our_rules(text), strict=True):
        assert view(got) == view(expected), (program([op]), expected, got)


def test_convolution():
    """The kernel's window has a factor of its own, which jaxlib gives size 1. Windows overlap; see `test_patches` for
    the rest.
    """
    rng = random.Random(5)
    ops = []
    for _ in range(200):
        spatial = rng.randint(0, 2)
        features, batches = rng.choice([(1, 1), (1, 1), (2, 1), (4, 1), (1, 2)])
        batch, kernel_in, out = rng.choice([2, 4]) * batches, rng.choice([2, 3]), rng.choice([2,
            5]) * features * batches
        kernel = [rng.choice([1, 3]) for _ in range(spatial)]
        size = [rng.choice([9, 16]) for _ in range(spatial)]
        result = [n - k + 1 for n, k in zip(size, kernel, strict=True)]
        texts, shapes = [], []
        for names, sizes in (
            ("bf", [batch, kernel_in * features, *size]),
            ("io", [kernel_in, out, *kernel]),
            ("bf", [batch // batches, out, *result]),
        ):
            order = rng.sample(range(spatial + 2), spatial + 2)
            texts.append("[" + ", ".join([*names, *map(str, range(spatial))][dim] for dim in order) + "]")
            shapes.append(tensor([sizes[dim] for dim in order]))
        attributes = (
            f"dimension_numbers = #stablehlo.conv<{texts[0]}x{texts[1]}->{texts[2]}>, "
            f"feature_group_count = {features} : i64, batch_group_count = {batches} : i64"
        )
        ops.append(call("convolution", attributes, shapes[:2], shapes[2]))
    same_mapping(ops)


def test_patches():
    numbers = (
        "dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, "
        "batch_group_count = 1 : i64"
    )
    check([
        call("convolution", f"{numbers}, window_strides = array<i64: {k}>", [tensor([4, n * k, 6]), tensor([k, 6, 8])],
             tensor([4, n, 8]))
        for n, k in ((8, 2), (4, 4), (5, 3))
    ])


REDUCE = (
    "({{ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %c = stablehlo.{} %x, %y : tensor<f32>\n stablehlo.return %c : "
    "tensor<f32> }})"
)
# Its init may be anything: of a body that is one op ours is asked to be neutral where windows are padded.
ANY_BODY = (
    REDUCE.format("add")
    .replace("%x, %y :", "%x, %x :")
    .replace("%c = ", "%d = ")
    .replace("stablehlo.return", "%c = stablehlo.maximum %d, %y : tensor<f32>\n stablehlo.return")
)


def test_reduce_window():
    rng = random.Random(6)
    ops = []
    for _ in range(100):
        window, strides, low, shape, result = [], [], [], [], []
        for _ in range(rng.randint(1, 3)):
            k, s, p, n = rng.choice([1, 2, 3]), rng.choice([1, 1, 2]), rng.choice([0, 0, 1]), rng.choice([6, 8])
            window, strides, low, shape = [*window, k], [*strides, s], [*low, p], [*shape, n]
            result.append((n + p - k) // s + 1)
        padding = "[" + ", ".join(f"[{p}, 0]" for p in low) + "]"
        attributes = (
            f"window_dimensions = array<i64: {str(window)[1:-1]}>, window_strides = array<i64: {str(strides)[1:-1]}>, "
            f"padding = dense<{padding}> : tensor<{len(low)}x2xi64>"
        )
        ops.append(
            call(
                "reduce_window",
                attributes,
                [tensor(shape), tensor([])],
                tensor(result),
                ANY_BODY if any(low) else REDUCE.format("add"),
            )
        )
    check(ops)


def test_select_and_scatter():
    select = (
        "({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %c = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) "
        "-> tensor<i1>\n stablehlo.return %c : tensor<i1> }"
    )
    region = select + ", " + REDUCE.format("add")[1:]
    attributes = "window_dimensions = array<i64: 1, {0}>, window_strides = array<i64: 1, {1}>"
    check([
        call("select_and_scatter", attributes.format(k, s), [tensor([4, 8]), tensor([4, (8 - k) // s + 1]), tensor([])],
             tensor([4, 8]), region)
        for k, s in ((1, 1), (2, 2), (3, 1), (3, 2))
    ])


def test_batch_norm_inference():
    attributes = "epsilon = 1.0e-03 : f32, feature_index = {} : i64"
    check([
        call("batch_norm_inference", attributes.format(dim), [tensor(shape), *[tensor([shape[dim]])] * 4],
             tensor(shape))
        for shape in ([4, 6], [2, 3, 5]) for dim in range(len(shape))
    ])


def test_conservative():
    """What needs neighbours' data is blocked; a reversed dim is not. jaxlib gives concatenated dims unrelated factors,
    ours is blocked.
    """
    option = f"{PASS}{{conservative-propagation=true}}"
    x, scalar = tensor([4, 8]), tensor([])
    body = "({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): stablehlo.return %x : tensor<f32> })"
    text = program([
        call("slice", "start_indices = array<i64: 0, 0>, limit_indices = array<i64: 2, 8>, strides = array<i64: 1, "
                      "1>", [x], tensor([2, 8])),
        call("pad", "edge_padding_low = array<i64: 1, 0>, edge_padding_high = array<i64: 1, 0>, interior_padding = "
                    "array<i64: 0, 0>",
             [x, scalar], tensor([6, 8])),
        call("reverse", "dimensions = array<i64: 0>", [x], x),
        call("reduce_window", "window_dimensions = array<i64: 1, 3>, padding = dense<[[0, 0], [1, 1]]> : "
                              "tensor<2x2xi64>",
             [x, scalar], x, body),
        call("concatenate", "dimension = 0 : i64", [x, x], tensor([8, 8])),
    ])
    with jax_mlir.make_ir_context():
        module = ir.Module.parse(text)
        PassManager.parse(f"builtin.module(func.func({option}))").run(module.operation)
        theirs = rules(str(module))
    done = subprocess.run(
        [SDY_OPT, f"--pass-pipeline=builtin.module(func.func({option}))"], input=text, capture_output=True, text=True,
        check=True
    )
    ours = rules(done.stdout)
    assert ours[:4] == theirs[:4]
    assert theirs[4] == "([j, i], [k, i])->([l, i]) {i=8, j=1, k=1, l=1}"
    assert ours[4] == "([i, j], [i, j])->([i, j]) {i=8, j=8} need_replication={i} blocked_propagation={i}"
