"""Random programs of linalg, TOSA and tensor, on random meshes, with random shardings.

    program(seed, ranks)     a text; the same one for the same numbers

Numbers stay exact: 32-bit integers, or floats of 64 bits (32 in TOSA) that are small and whole.
"""

import random

MESHES = {2: [(2, 1)], 4: [(2, 2), (4, 1), (1, 4)], 8: [(2, 4), (4, 2), (8, 1)]}
LETTERS = "abcdef"

# Of linalg: what multiplies, by the dims of its operands and its result.
PRODUCTS = {
    "matmul": ("ik", "kj", "ij"), "batch_matmul": ("bik", "bkj", "bij"), "matvec": ("ik", "k", "i"),
    "vecmat": ("k", "kj", "j"), "dot": ("k", "k", ""), "batch_matvec": ("bik", "bk", "bi"),
    "batch_vecmat": ("bk", "bkj", "bj"), "batch_reduce_matmul": ("bik", "bkj", "ij"),
    "mmt4d": ("acmk", "bcnk", "abmn"), "batch_mmt4d": ("eacmk", "ebcnk", "eabmn"),
}
# The same of convolutions and pooling: a capital is a dim of windows, along a small letter of the result, of a size in
# the kernel.
WINDOWS = {
    1: {"W": ("w", "k")},
    2: {"H": ("h", "k"), "W": ("w", "l")},
    3: {"D": ("d", "j"), "H": ("h", "k"), "W": ("w", "l")},
}
CONVOLUTIONS = {
    "conv_1d": ("W", "k", "w"), "conv_1d_nwc_wcf": ("nWc", "kcf", "nwf"), "conv_1d_ncw_fcw": ("ncW", "fck", "nfw"),
    "conv_2d": ("HW", "kl", "hw"), "conv_2d_nhwc_hwcf": ("nHWc", "klcf", "nhwf"),
    "conv_2d_nhwc_fhwc": ("nHWc", "fklc", "nhwf"), "conv_2d_nchw_fchw": ("ncHW", "fckl", "nfhw"),
    "conv_3d_ndhwc_dhwcf": ("nDHWc", "jklcf", "ndhwf"),
    "depthwise_conv_1d_nwc_wc": ("nWc", "kc", "nwc"), "depthwise_conv_1d_ncw_cw": ("ncW", "ck", "ncw"),
    "depthwise_conv_1d_nwc_wcm": ("nWc", "kcm", "nwcm"), "depthwise_conv_2d_nhwc_hwc": ("nHWc", "klc", "nhwc"),
    "depthwise_conv_2d_nchw_chw": ("ncHW", "ckl", "nchw"), "depthwise_conv_2d_nhwc_hwcm": ("nHWc", "klcm", "nhwcm"),
}
POOLING = {
    f"pooling_{order}_{kind}": dims
    for order, dims, kinds in (
        ("nwc", ("nWc", "k", "nwc"), ("sum", "max", "min")), ("ncw", ("ncW", "k", "ncw"), ("sum", "max")),
        ("nhwc", ("nHWc", "kl", "nhwc"), ("sum", "max", "min")), ("nchw", ("ncHW", "kl", "nchw"), ("sum", "max")),
        ("ndhwc", ("nDHWc", "jkl", "ndhwc"), ("sum", "max", "min")),
    )
    for kind in kinds
}


class Generator:
    """Adds ops to a program, each on values that are there."""

    def __init__(self, seed, ranks):
        self.random = random.Random(seed)
        self.mesh = self.random.choice(MESHES[ranks])
        self.tosa = self.random.random() < 0.3
        self.element = "f32" if self.tosa else self.random.choice(["i32", "i32", "f64"])
        self.arguments, self.body, self.values = [], [], []
        self.multiplied = 0

    # What is there.

    def kind(self, shape):
        return f"tensor<{''.join(f'{size}x' for size in shape)}{self.element}>"

    def sharding(self, rank):
        """Each axis, or a half of it, shards some dim or none."""
        dims = [[] for _ in range(rank)]
        for name, size in zip("xy", self.mesh):
            if rank == 0 or size == 1 or self.random.random() < 0.3:
                continue
            axis = f'"{name}"'
            if size == 4 and self.random.random() < 0.15:
                axis += self.random.choice([":(1)2", ":(2)2"])
            self.random.choice(dims).append(axis)
        text = ", ".join("{" + ", ".join(dim + (["?"] if self.random.random() < 0.3 else [])) + "}" for dim in dims)
        return f"#sdy.sharding<@mesh, [{text}]>"

    def argument(self, shape):
        name = f"arg{len(self.arguments)}"
        given = f" {{sdy.sharding = {self.sharding(len(shape))}}}" if self.random.random() < 0.7 else ""
        self.arguments.append(f"%{name}: {self.kind(shape)}{given}")
        self.values.append((name, shape))
        return name, shape

    def shape(self, rank):
        return [self.random.choice([1, 2, 3, 4, 5, 6, 8, 8]) for _ in range(rank)]

    def pick(self, rank=None, shape=None):
        """A value of this rank or shape; a new argument where there is none."""
        fitting = [each for each in self.values
                   if (rank is None or len(each[1]) == rank) and (shape is None or each[1] == shape)]
        if fitting and self.random.random() < 0.8:
            return self.random.choice(fitting)
        return self.argument(shape if shape is not None else self.shape(rank or self.random.choice([1, 2, 3])))

    def emit(self, text, shape, indent="  "):
        """A line that makes a value of this shape."""
        name = f"v{len(self.body)}"
        self.body.append(f"{indent}%{name} = {text}")
        self.values.append((name, shape))

    def constant(self, shape, number=0):
        name = f"c{len(self.body)}"
        spelled = f"{number}" if self.element == "i32" else f"{float(number)}"
        self.body.append(f"  %{name} = arith.constant dense<{spelled}> : {self.kind(shape)}")
        return name

    def scalar(self, number=0):
        name = f"s{len(self.body)}"
        spelled = f"{number}" if self.element == "i32" else f"{float(number)}"
        self.body.append(f"  %{name} = arith.constant {spelled} : {self.element}")
        return name

    def arith(self, kinds=("add", "sub", "max", "min")):
        """The name of an element-wise op of arith."""
        kind = self.random.choice(kinds)
        if self.element == "i32":
            return {"max": "arith.maxsi", "min": "arith.minsi"}.get(kind, f"arith.{kind}i")
        return {"max": "arith.maximumf", "min": "arith.minimumf"}.get(kind, f"arith.{kind}f")

    # Ops.

    def elementwise(self):
        name, shape = self.pick()
        other, _ = self.pick(shape=shape)
        self.emit(f"{self.arith()} %{name}, %{other} : {self.kind(shape)}", shape)

    def transpose(self):
        name, shape = self.pick(rank=self.random.choice([2, 3]))
        order = list(range(len(shape)))
        self.random.shuffle(order)
        result = [shape[dim] for dim in order]
        start = self.constant(result)
        self.emit(f"linalg.transpose ins(%{name} : {self.kind(shape)}) outs(%{start} : {self.kind(result)}) "
                  f"permutation = {order}", result)

    def broadcast(self):
        name, shape = self.pick(rank=self.random.choice([1, 2]))
        at = self.random.randrange(len(shape) + 1)
        result = shape[:at] + [self.random.choice([2, 3, 4, 8])] + shape[at:]
        start = self.constant(result)
        self.emit(f"linalg.broadcast ins(%{name} : {self.kind(shape)}) outs(%{start} : {self.kind(result)}) "
                  f"dimensions = [{at}]", result)

    def reduce(self):
        name, shape = self.pick(rank=self.random.choice([1, 2, 3]))
        dims = sorted(self.random.sample(range(len(shape)), self.random.randint(1, len(shape))))
        result = [size for dim, size in enumerate(shape) if dim not in dims]
        start = self.constant(result, self.random.choice([0, 1, -2]))
        self.emit(f"linalg.reduce {{ {self.arith(('add', 'add', 'max', 'min'))} }} ins(%{name} : {self.kind(shape)}) "
                  f"outs(%{start} : {self.kind(result)}) dimensions = {dims}", result)

    def named(self):
        """Element by element, an op of linalg's own."""
        name, shape = self.pick()
        kind, start = self.kind(shape), self.constant(shape)
        if self.element == "f64" and self.random.random() < 0.4:
            op = self.random.choice(["abs", "negf", "copy"])
            return self.emit(f"linalg.{op} ins(%{name} : {kind}) outs(%{start} : {kind}) -> {kind}", shape)
        other, _ = self.pick(shape=shape)
        op = self.random.choice(["add", "sub", "max", "min"])
        return self.emit(
            f"linalg.{op} ins(%{name}, %{other} : {kind}, {kind}) outs(%{start} : {kind}) -> {kind}", shape
        )

    def product(self):
        if self.multiplied >= 2:
            return self.elementwise()
        self.multiplied += 1
        op = self.random.choice(list(PRODUCTS))
        left, right, result = PRODUCTS[op]
        a, shape = (
            self.pick(rank=len(left)) if len(left) < 4 else self.argument([self.random.choice([2, 3, 4]) for _ in left])
        )
        extent = dict(zip(left, shape))
        other = [extent.setdefault(letter, self.random.choice([2, 4, 6])) for letter in right]
        b, _ = self.pick(shape=other)
        made = [extent[letter] for letter in result]
        start = self.constant(made, self.random.choice([0, 1]))
        self.emit(f"linalg.{op} ins(%{a}, %{b} : {self.kind(shape)}, {self.kind(other)}) "
                  f"outs(%{start} : {self.kind(made)}) -> {self.kind(made)}", made)
        return None

    def generic(self):
        """Two operands with random projected permutations of up to four loops; loops without result are summed."""
        if self.multiplied >= 2:
            return self.reduce()
        self.multiplied += 1
        a, shape = self.pick(rank=self.random.choice([1, 2, 3]))
        loops = list(LETTERS[: len(shape)])
        extent = dict(zip(loops, shape))
        new = LETTERS[len(shape)]
        extent[new] = self.random.choice([2, 3, 4])
        every = [*loops, new]
        right = self.random.sample(every, self.random.randint(1, min(3, len(every))))
        used = [letter for letter in every if letter in loops or letter in right]
        result = self.random.sample(used, self.random.randint(0, min(3, len(used))))
        order = [*result, *(letter for letter in used if letter not in result)]
        b, other = self.pick(shape=[extent[letter] for letter in right])
        made = [extent[letter] for letter in result]
        start = self.constant(made)
        maps = ", ".join(f"affine_map<({', '.join(order)}) -> ({', '.join(each)})>" for each in (loops, right, result))
        kinds = ", ".join('"parallel"' if letter in result else '"reduction"' for letter in order)
        multiply = "arith.muli" if self.element == "i32" else "arith.mulf"
        add = "arith.addi" if self.element == "i32" else "arith.addf"
        element = self.element
        self.emit(f"""linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}
      ins(%{a}, %{b} : {self.kind(shape)}, {self.kind(other)}) outs(%{start} : {self.kind(made)}) {{
  ^bb0(%p: {element}, %q: {element}, %r: {element}):
    %s = {multiply} %p, %q : {element}
    %t = {add} %r, %s : {element}
    linalg.yield %t : {element}
  }} -> {self.kind(made)}""", made)
        return None

    def index(self):
        """Adds the position along a loop."""
        name, shape = self.pick(rank=self.random.choice([1, 2, 3]))
        loops = list(LETTERS[: len(shape)])
        identity = f"affine_map<({', '.join(loops)}) -> ({', '.join(loops)})>"
        kinds = ", ".join(['"parallel"'] * len(shape))
        add = "arith.addi" if self.element == "i32" else "arith.addf"
        self.emit(f"""linalg.generic {{indexing_maps = [{identity}], iterator_types = [{kinds}]}} outs(%{name} : {self.kind(shape)}) {{
  ^bb0(%p: {self.element}):
    %i = linalg.index {self.random.randrange(len(shape))} : index
    {self.converted("i")}
    %t = {add} %p, %n : {self.element}
    linalg.yield %t : {self.element}
  }} -> {self.kind(shape)}""", shape)

    def windowed(self, op, dims, operand=None):
        """A convolution or pooling op of these dims; `operand`: makes the second operand of a shape."""
        image, kernel, result = dims
        windows = WINDOWS[sum(letter.isupper() for letter in image)]
        plain = op in ("conv_1d", "conv_2d")
        steps = {
            letter: (1, 1) if plain else (self.random.choice([1, 1, 2]), self.random.choice([1, 1, 2]))
            for letter in windows
        }
        extent = {letter: self.random.choice([1, 2, 3, 4]) for letter in kernel + result}
        for letter, (position, _) in windows.items():
            extent[position] = self.random.choice([4, 5, 8] if len(windows) < 3 else [2, 3, 4])
        for letter, (position, size) in windows.items():
            extent[size] = self.random.choice([1, 2, 3])
            stride, dilation = steps[letter]
            extent[letter] = (extent[position] - 1) * stride + (extent[size] - 1) * dilation + 1
        shape, other, made = ([extent[letter] for letter in each] for each in dims)
        x, _ = self.pick(shape=shape)
        w = operand(other) if operand else self.pick(shape=other)[0]
        start = self.constant(made)
        count = len(windows)
        strides, dilations = ([step[at] for step in steps.values()] for at in (0, 1))
        kind = f"tensor<{count}xi64>"
        said = "" if plain else f"{{strides = dense<{strides}> : {kind}, dilations = dense<{dilations}> : {kind}}} "
        self.emit(f"linalg.{op} {said}ins(%{x}, %{w} : {self.kind(shape)}, {self.kind(other)}) "
                  f"outs(%{start} : {self.kind(made)}) -> {self.kind(made)}", made)

    def convolution(self):
        if self.multiplied >= 2:
            return self.pooling()
        self.multiplied += 1
        op = self.random.choice(list(CONVOLUTIONS))
        return self.windowed(op, CONVOLUTIONS[op])

    def pooling(self):
        def empty(shape):
            name = f"e{len(self.body)}"
            self.body.append(f"  %{name} = tensor.empty() : {self.kind(shape)}")
            return name

        op = self.random.choice(list(POOLING))
        self.windowed(op, POOLING[op], empty)

    def pad(self):
        name, shape = self.pick(rank=2)
        low, high = [[self.random.choice([0, 1, 2]) for _ in shape] for _ in range(2)]
        made = [a + size + b for a, size, b in zip(low, shape, high)]
        fill = self.scalar(self.random.choice([0, 3]))
        self.emit(f"""tensor.pad %{name} low{low} high{high} {{
  ^bb0(%i: index, %j: index):
    tensor.yield %{fill} : {self.element}
  }} : {self.kind(shape)} to {self.kind(made)}""", made)

    def pad_by_position(self):
        """Filled with the position along a dim."""
        name, shape = self.pick(rank=2)
        low, high = [[self.random.choice([0, 0, 1, 2]) for _ in shape] for _ in range(2)]
        made = [a + size + b for a, size, b in zip(low, shape, high)]
        self.emit(f"""tensor.pad %{name} low{low} high{high} {{
  ^bb0(%i: index, %j: index):
    {self.converted(self.random.choice("ij"))}
    tensor.yield %n : {self.element}
  }} : {self.kind(shape)} to {self.kind(made)}""", made)

    def converted(self, index):
        """%n: an index as an element."""
        if self.element == "i32":
            return f"%n = arith.index_cast %{index} : index to i32"
        return f"%m = arith.index_cast %{index} : index to i32\n    %n = arith.sitofp %m : i32 to {self.element}"

    def read(self):
        """Rows of a table, or single elements of it, read at computed places."""
        name, shape = self.pick(rank=2)
        made = [self.random.choice([1, 3, 5, 8]), shape[1]]
        e, columns = f"e{len(self.body)}", self.random.choice(["%j", "%back"])
        self.body.append(f"  %{e} = tensor.empty() : {self.kind(made)}")
        self.emit(f"""linalg.generic {{indexing_maps = [affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]}}
      outs(%{e} : {self.kind(made)}) {{
  ^bb0(%out: {self.element}):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %three = arith.constant 3 : index
    %rows = arith.constant {shape[0]} : index
    %last = arith.constant {shape[1] - 1} : index
    %far = arith.muli %i, %three : index
    %row = arith.remui %far, %rows : index
    %back = arith.subi %last, %j : index
    %x = tensor.extract %{name}[%row, {columns}] : {self.kind(shape)}
    linalg.yield %x : {self.element}
  }} -> {self.kind(made)}""", made)

    def scan(self):
        """The sums of the rows so far, by a loop."""
        name, shape = self.pick(rank=2)
        row, at = [shape[1]], len(self.body)
        start = self.constant(row)
        for text in (f"%e{at} = tensor.empty() : {self.kind(shape)}", f"%from{at} = arith.constant 0 : index",
                     f"%by{at} = arith.constant 1 : index", f"%to{at} = arith.constant {shape[0]} : index"):
            self.body.append(f"  {text}")
        one = f"[%i, 0] [1, {shape[1]}] [1, 1]"
        self.body.append(f"""  %s{at}:2 = scf.for %i = %from{at} to %to{at} step %by{at} iter_args(%all = %e{at}, %sum = %{start}) -> ({self.kind(shape)}, {self.kind(row)}) {{
    %x = tensor.extract_slice %{name}{one} : {self.kind(shape)} to {self.kind(row)}
    %more = {self.arith(("add",))} %sum, %x : {self.kind(row)}
    %next = tensor.insert_slice %more into %all{one} : {self.kind(row)} into {self.kind(shape)}
    scf.yield %next, %more : {self.kind(shape)}, {self.kind(row)}
  }}""")
        self.emit(f"tensor.cast %s{at}#0 : {self.kind(shape)} to {self.kind(shape)}", shape)

    def tiles(self):
        """Packed into tiles, of which the last may be partly full; and maybe unpacked."""
        name, shape = self.pick(rank=2)
        tile = [self.random.choice([1, 2, 3, 4]) for _ in shape]
        made = [-(-size // each) for size, each in zip(shape, tile)][::-1] + tile
        fill, e = self.scalar(self.random.choice([0, 3])), f"e{len(self.body)}"
        said = f"outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = {tile} into"
        self.body.append(f"  %{e} = tensor.empty() : {self.kind(made)}")
        self.emit(f"linalg.pack %{name} padding_value(%{fill} : {self.element}) {said} %{e} : {self.kind(shape)} -> "
                  f"{self.kind(made)}", made)
        if self.random.random() < 0.5:
            packed, start = self.values[-1][0], self.constant(shape)
            self.emit(f"linalg.unpack %{packed} {said} %{start} : {self.kind(made)} -> {self.kind(shape)}", shape)

    def divide(self):
        """By elements of a constant, which are zero nowhere."""
        if self.element != "i32":
            return self.elementwise()
        name, shape = self.pick(rank=1)
        by = f"c{len(self.body)}"
        self.body.append(
            f"  %{by} = arith.constant dense<{[at % 3 + 1 for at in range(shape[0])]}> : {self.kind(shape)}"
        )
        op = self.random.choice(["arith.divsi", "arith.remui", "arith.floordivsi"])
        self.emit(f"{op} %{name}, %{by} : {self.kind(shape)}", shape)
        return None

    def slice(self):
        name, shape = self.pick(rank=self.random.choice([1, 2, 3]))
        starts = [self.random.randrange(size) for size in shape]
        made = [self.random.randint(1, size - start) for size, start in zip(shape, starts)]
        self.emit(f"tensor.extract_slice %{name}{starts} {made} {[1] * len(shape)} : {self.kind(shape)} to "
                  f"{self.kind(made)}", made)

    def neighbours(self):
        """Slices of a padded tensor, each of the tensor's own shape, combined."""
        name, shape = self.pick(rank=self.random.choice([1, 2, 2, 3]))
        low, high = [[self.random.choice([0, 1, 1, 2]) for _ in shape] for _ in range(2)]
        padded = [a + size + b for a, size, b in zip(low, shape, high)]
        fill, whole = self.scalar(self.random.choice([0, 3])), f"p{len(self.body)}"
        arguments = ", ".join(f"%i{dim}: index" for dim in range(len(shape)))
        self.body.append(f"""  %{whole} = tensor.pad %{name} low{low} high{high} {{
  ^bb0({arguments}):
    tensor.yield %{fill} : {self.element}
  }} : {self.kind(shape)} to {self.kind(padded)}""")
        total = name
        for _ in range(self.random.randint(1, 4)):
            starts = [self.random.randint(0, a + b) for a, b in zip(low, high)]
            part = f"n{len(self.body)}"
            self.body.append(f"  %{part} = tensor.extract_slice %{whole}{starts} {shape} {[1] * len(shape)} : "
                             f"{self.kind(padded)} to {self.kind(shape)}")
            if self.random.random() < 0.2:
                self.values.append((part, shape))
            self.emit(f"{self.arith()} %{total}, %{part} : {self.kind(shape)}", shape)
            total = self.values[-1][0]

    def concat(self):
        name, shape = self.pick(rank=self.random.choice([1, 2]))
        dim = self.random.randrange(len(shape))
        other, _ = self.pick(shape=shape)
        made = list(shape)
        made[dim] *= 2
        self.emit(f"tensor.concat dim({dim}) %{name}, %{other} : ({self.kind(shape)}, {self.kind(shape)}) -> "
                  f"{self.kind(made)}", made)

    def collapse(self):
        name, shape = self.pick(rank=self.random.choice([2, 3]))
        made = [shape[0] * shape[1], *shape[2:]]
        groups = [[0, 1], *([dim] for dim in range(2, len(shape)))]
        self.emit(f"tensor.collapse_shape %{name} {groups} : {self.kind(shape)} into {self.kind(made)}", made)

    # Ops of TOSA.

    def tosa_elementwise(self):
        name, shape = self.pick()
        other = [1 if self.random.random() < 0.2 else size for size in shape]
        b, _ = self.pick(shape=other)
        op = self.random.choice(["add", "sub", "maximum", "minimum"])
        self.emit(f"tosa.{op} %{name}, %{b} : ({self.kind(shape)}, {self.kind(other)}) -> {self.kind(shape)}", shape)

    def tosa_reduce(self):
        name, shape = self.pick(rank=self.random.choice([1, 2, 3]))
        axis = self.random.randrange(len(shape))
        made = [1 if dim == axis else size for dim, size in enumerate(shape)]
        op = self.random.choice(["sum", "max", "min"])
        self.emit(f"tosa.reduce_{op} %{name} {{axis = {axis} : i32}} : ({self.kind(shape)}) -> {self.kind(made)}", made)

    def tosa_matmul(self):
        if self.multiplied >= 2:
            return self.tosa_elementwise()
        self.multiplied += 1
        a, shape = self.pick(rank=3)
        other = [shape[0], shape[2], self.random.choice([2, 4, 6])]
        b, _ = self.pick(shape=other)
        made = [shape[0], shape[1], other[2]]
        zero = f"z{len(self.body)}"
        self.body.append(f'  %{zero} = "tosa.const"() {{values = dense<0.0> : tensor<1xf32>}} : () -> tensor<1xf32>')
        self.emit(f"tosa.matmul %{a}, %{b}, %{zero}, %{zero} : ({self.kind(shape)}, {self.kind(other)}, tensor<1xf32>, "
                  f"tensor<1xf32>) -> {self.kind(made)}", made)
        return None

    def tosa_transpose(self):
        name, shape = self.pick(rank=self.random.choice([2, 3]))
        order = list(range(len(shape)))
        self.random.shuffle(order)
        made = [shape[dim] for dim in order]
        text = ", ".join(map(str, order))
        self.emit(
            f"tosa.transpose %{name} {{perms = array<i32: {text}>}} : ({self.kind(shape)}) -> {self.kind(made)}", made
        )

    def tosa_concat(self):
        name, shape = self.pick(rank=self.random.choice([1, 2, 3]))
        axis = self.random.randrange(len(shape))
        other, _ = self.pick(shape=shape)
        made = [2 * size if dim == axis else size for dim, size in enumerate(shape)]
        self.emit(
            f"tosa.concat %{name}, %{other} {{axis = {axis} : i32}} : ({self.kind(shape)}, {self.kind(shape)}) -> "
            f"{self.kind(made)}",
            made,
        )

    def tosa_shape(self, sizes):
        name = f"h{len(self.body)}"
        text = ", ".join(map(str, sizes))
        self.body.append(
            f"  %{name} = tosa.const_shape {{values = dense<[{text}]> : tensor<{len(sizes)}xindex>}} : () -> "
            f"!tosa.shape<{len(sizes)}>"
        )
        return name, f"!tosa.shape<{len(sizes)}>"

    def tosa_zero(self):
        name = f"z{len(self.body)}"
        self.body.append(f'  %{name} = "tosa.const"() {{values = dense<0.0> : tensor<1xf32>}} : () -> tensor<1xf32>')
        return name

    def tosa_reshape(self):
        name, shape = self.pick(rank=self.random.choice([2, 3]))
        at = self.random.randrange(len(shape) - 1)
        made = [*shape[:at], shape[at] * shape[at + 1], *shape[at + 2:]]
        if self.random.random() < 0.3:
            made.insert(self.random.randrange(len(made) + 1), 1)
        to, kind = self.tosa_shape(made)
        self.emit(f"tosa.reshape %{name}, %{to} : ({self.kind(shape)}, {kind}) -> {self.kind(made)}", made)

    def tosa_pad(self):
        name, shape = self.pick(rank=self.random.choice([1, 2, 3]))
        around = [self.random.choice([0, 1, 2]) for _ in range(2 * len(shape))]
        made = [size + around[2 * dim] + around[2 * dim + 1] for dim, size in enumerate(shape)]
        by, kind = self.tosa_shape(around)
        fill = self.tosa_zero()
        self.emit(
            f"tosa.pad %{name}, %{by}, %{fill} : ({self.kind(shape)}, {kind}, tensor<1xf32>) -> {self.kind(made)}", made
        )

    def tosa_slice(self):
        name, shape = self.pick(rank=self.random.choice([1, 2, 3]))
        starts = [self.random.randrange(size) for size in shape]
        made = [self.random.randint(1, size - start) for size, start in zip(shape, starts)]
        (start, kind), (size, _) = self.tosa_shape(starts), self.tosa_shape(made)
        self.emit(
            f"tosa.slice %{name}, %{start}, %{size} : ({self.kind(shape)}, {kind}, {kind}) -> {self.kind(made)}", made
        )

    def tosa_tile(self):
        name, shape = self.pick(rank=self.random.choice([1, 2]))
        times = [self.random.choice([1, 2, 3]) for _ in shape]
        made = [size * by for size, by in zip(shape, times)]
        by, kind = self.tosa_shape(times)
        self.emit(f"tosa.tile %{name}, %{by} : ({self.kind(shape)}, {kind}) -> {self.kind(made)}", made)

    def tosa_reverse(self):
        name, shape = self.pick(rank=self.random.choice([1, 2, 3]))
        axis = self.random.randrange(len(shape))
        self.emit(f"tosa.reverse %{name} {{axis = {axis} : i32}} : ({self.kind(shape)}) -> {self.kind(shape)}", shape)

    def tosa_image(self, kernel, channels=None):
        """(name, shape, pad, stride, made): windows of a kernel that fill an image with its padding."""
        pad = [self.random.choice([0, 1]) if size > 1 else 0 for size in kernel for _ in range(2)]
        stride = [self.random.choice([1, 2]) for _ in kernel]
        made = [self.random.choice([3, 4, 6]) for _ in kernel]
        sizes = [(out - 1) * step + size - pad[2 * at] - pad[2 * at + 1]
                 for at, (out, step, size) in enumerate(zip(made, stride, kernel))]
        shape = [self.random.choice([1, 2]), *sizes, channels or self.random.choice([1, 2, 4])]
        return (*self.pick(shape=shape), pad, stride, made)

    def tosa_max_pool(self):
        kernel = [self.random.choice([1, 2, 3]) for _ in range(2)]
        name, shape, pad, stride, made = self.tosa_image(kernel)
        result = [shape[0], *made, shape[3]]
        spelled = [", ".join(map(str, each)) for each in (kernel, pad, stride)]
        self.emit(f"tosa.max_pool2d %{name} {{kernel = array<i64: {spelled[0]}>, pad = array<i64: {spelled[1]}>, "
                  f"stride = array<i64: {spelled[2]}>}} : ({self.kind(shape)}) -> {self.kind(result)}", result)

    def tosa_convolution(self):
        if self.multiplied >= 2:
            return self.tosa_max_pool()
        self.multiplied += 1
        kernel, features = [self.random.choice([1, 2, 3]) for _ in range(2)], self.random.choice([2, 4])
        name, shape, pad, stride, made = self.tosa_image(kernel)
        deep = self.random.random() < 0.4
        weights = [*kernel, shape[3], features] if deep else [features, *kernel, shape[3]]
        result = [shape[0], *made, shape[3] * features if deep else features]
        w, _ = self.pick(shape=weights)
        bias, _ = self.pick(shape=[result[3]])
        zero = self.tosa_zero()
        op = "depthwise_conv2d" if deep else "conv2d"
        spelled = [", ".join(map(str, each)) for each in (pad, stride)]
        self.emit(
            f"tosa.{op} %{name}, %{w}, %{bias}, %{zero}, %{zero} {{acc_type = f32, dilation = array<i64: 1, 1>, "
            f"pad = array<i64: {spelled[0]}>, stride = array<i64: {spelled[1]}>}} : ({self.kind(shape)}, "
            f"{self.kind(weights)}, {self.kind([result[3]])}, tensor<1xf32>, tensor<1xf32>) -> {self.kind(result)}",
            result,
        )
        return None

    def text(self):
        linalg = [self.elementwise, self.named, self.transpose, self.broadcast, self.reduce, self.reduce, self.product,
                  self.product, self.generic, self.generic, self.index, self.convolution, self.pooling, self.pad,
                  self.slice, self.concat, self.collapse, self.neighbours, self.neighbours, self.pad_by_position,
                  self.read, self.scan, self.tiles, self.divide]
        tosa = [self.tosa_elementwise, self.tosa_elementwise, self.tosa_reduce, self.tosa_matmul, self.tosa_transpose,
                self.tosa_concat, self.tosa_reshape, self.tosa_pad, self.tosa_slice, self.tosa_tile, self.tosa_reverse,
                self.tosa_max_pool, self.tosa_convolution]
        for _ in range(self.random.randint(2, 6)):
            self.random.choice(tosa if self.tosa else linalg)()
        made = [value for value in self.values if value[0].startswith("v")]
        results = [made[-1], *self.random.sample(made[:-1], min(1, len(made) - 1))]
        x, y = self.mesh
        returned = ", ".join(
            self.kind(shape)
            + (f" {{sdy.sharding = {self.sharding(len(shape))}}}" if self.random.random() < 0.4 else "")
            for _, shape in results
        )
        names = ", ".join(f"%{name}" for name, _ in results)
        kinds = ", ".join(self.kind(shape) for _, shape in results)
        body = "\n".join(self.body)
        return (
            f'sdy.mesh @mesh = <["x"={x}, "y"={y}]>\n'
            f"func.func @main({', '.join(self.arguments)}) -> ({returned}) {{\n{body}\n  return {names} : {kinds}\n}}\n"
        )


def program(seed, ranks):
    return Generator(seed, ranks).text()
