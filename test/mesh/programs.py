"""Programs of linalg, TOSA, tensor, arith, math and scf, on meshes with axes x and y of 2, 4 and 8 devices.

    PROGRAMS[name](ranks)     the text
    EXACT                     names of those whose numbers are equal to the last bit
"""

import re
from pathlib import Path

UPSTREAM = Path(__file__).resolve().parents[2] / "shardonnay/models/Upstream/test"
MESHES = {2: '"x"=2, "y"=1', 4: '"x"=2, "y"=2', 8: '"x"=2, "y"=4', "?": '"x"=2, "y"=?', "??": '"x"=?, "y"=?'}
PROGRAMS = {}
EXACT = set()


def on_mesh(text, ranks):
    """On a mesh of so many devices, whose x and y there are; "?": of any number."""
    return re.sub(r"sdy\.mesh @mesh = <.*?>\n", f"sdy.mesh @mesh = <[{MESHES[ranks]}]>\n", text)


def program(name, text, exact=True):
    PROGRAMS[name] = lambda ranks: on_mesh("sdy.mesh @mesh = <[]>\n" + text, ranks)
    if exact:
        EXACT.add(name)


def sharded(*dims):
    return "{sdy.sharding = #sdy.sharding<@mesh, [" + ", ".join("{" + dim + "}" for dim in dims) + "]>}"


X, Y = '"x"', '"y"'


def _reduction(name, element, op, start):
    program(f"reduce_{name}_{element}", f"""
func.func @main(%a: tensor<8x12x{element}> {sharded(X, Y)}) -> (tensor<8x{element}> {sharded(X)}, tensor<12x{element}>) {{
  %s = arith.constant dense<{start}> : tensor<8x{element}>
  %t = arith.constant dense<{start}> : tensor<12x{element}>
  %0 = linalg.reduce {{ {op} }} ins(%a : tensor<8x12x{element}>) outs(%s : tensor<8x{element}>) dimensions = [1]
  %1 = linalg.reduce {{ {op} }} ins(%a : tensor<8x12x{element}>) outs(%t : tensor<12x{element}>) dimensions = [0]
  return %0, %1 : tensor<8x{element}>, tensor<12x{element}>
}}""")


for _element in ("f32", "f64", "f16", "bf16"):
    _reduction("sum", _element, "arith.addf", "1.0")
    _reduction("max", _element, "arith.maximumf", "-1.0")
    _reduction("min", _element, "arith.minimumf", "1.0")
for _element in ("i8", "i16", "i32", "i64"):
    _reduction("sum", _element, "arith.addi", "1")
    _reduction("max", _element, "arith.maxsi", "-1")
    _reduction("min", _element, "arith.minsi", "1")
_reduction("or", "i1", "arith.ori", "false")
_reduction("and", "i1", "arith.andi", "true")
# A combiner that is none of sum, maximum, minimum is computed on the whole dim.
_reduction("product", "f32", "arith.mulf", "1.0")

program("matmul_f64", f"""
func.func @main(%a: tensor<8x16xf64> {sharded(X, Y)}, %b: tensor<16x12xf64> {sharded(Y, "")}) -> (tensor<8x12xf64> {sharded(X, Y)}) {{
  %s = arith.constant dense<1.0> : tensor<8x12xf64>
  %0 = linalg.matmul ins(%a, %b : tensor<8x16xf64>, tensor<16x12xf64>) outs(%s : tensor<8x12xf64>) -> tensor<8x12xf64>
  return %0 : tensor<8x12xf64>
}}""")

program("matmul_i32", f"""
func.func @main(%a: tensor<8x16xi32> {sharded("", X)}, %b: tensor<16x12xi32> {sharded("", Y)}) -> tensor<8x12xi32> {{
  %s = arith.constant dense<0> : tensor<8x12xi32>
  %0 = linalg.matmul ins(%a, %b : tensor<8x16xi32>, tensor<16x12xi32>) outs(%s : tensor<8x12xi32>) -> tensor<8x12xi32>
  return %0 : tensor<8x12xi32>
}}""")

# Queries, keys and values by heads and by positions of queries; softmax along what is whole.
program("attention", f"""
func.func @main(%q: tensor<4x8x16xf32> {sharded(X, Y, "")}, %k: tensor<4x16x8xf32> {sharded(X, "", "")}, %v: tensor<4x8x16xf32> {sharded(X, "", "")})
    -> (tensor<4x8x16xf32> {sharded(X, Y, "")}) {{
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8x8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x8x8xf32>) -> tensor<4x8x8xf32>
  %s = linalg.batch_matmul ins(%q, %k : tensor<4x8x16xf32>, tensor<4x16x8xf32>) outs(%z : tensor<4x8x8xf32>) -> tensor<4x8x8xf32>
  %low = arith.constant dense<0xFF800000> : tensor<4x8xf32>
  %m = linalg.reduce {{ arith.maximumf }} ins(%s : tensor<4x8x8xf32>) outs(%low : tensor<4x8xf32>) dimensions = [2]
  %me = tensor.empty() : tensor<4x8x8xf32>
  %mb = linalg.broadcast ins(%m : tensor<4x8xf32>) outs(%me : tensor<4x8x8xf32>) dimensions = [2]
  %d = arith.subf %s, %mb : tensor<4x8x8xf32>
  %x = math.exp %d : tensor<4x8x8xf32>
  %none = arith.constant dense<0.0> : tensor<4x8xf32>
  %n = linalg.reduce {{ arith.addf }} ins(%x : tensor<4x8x8xf32>) outs(%none : tensor<4x8xf32>) dimensions = [2]
  %nb = linalg.broadcast ins(%n : tensor<4x8xf32>) outs(%me : tensor<4x8x8xf32>) dimensions = [2]
  %p = arith.divf %x, %nb : tensor<4x8x8xf32>
  %oe = tensor.empty() : tensor<4x8x16xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<4x8x16xf32>) -> tensor<4x8x16xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<4x8x8xf32>, tensor<4x8x16xf32>) outs(%oz : tensor<4x8x16xf32>) -> tensor<4x8x16xf32>
  return %o : tensor<4x8x16xf32>
}}""", exact=False)

# A five-point sum on rows that are sharded by x: each device asks its neighbours for a row.
STENCIL = """
  %a{0} = tensor.pad %{1} low[1, 1] high[1, 1] {{
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  }} : tensor<{n}x{n}xf32> to tensor<{p}x{p}xf32>
  %u{0} = tensor.extract_slice %a{0}[0, 1] [{n}, {n}] [1, 1] : tensor<{p}x{p}xf32> to tensor<{n}x{n}xf32>
  %d{0} = tensor.extract_slice %a{0}[2, 1] [{n}, {n}] [1, 1] : tensor<{p}x{p}xf32> to tensor<{n}x{n}xf32>
  %l{0} = tensor.extract_slice %a{0}[1, 0] [{n}, {n}] [1, 1] : tensor<{p}x{p}xf32> to tensor<{n}x{n}xf32>
  %r{0} = tensor.extract_slice %a{0}[1, 2] [{n}, {n}] [1, 1] : tensor<{p}x{p}xf32> to tensor<{n}x{n}xf32>
  %p{0} = arith.addf %u{0}, %d{0} : tensor<{n}x{n}xf32>
  %q{0} = arith.addf %l{0}, %r{0} : tensor<{n}x{n}xf32>
  %s{0} = arith.addf %p{0}, %q{0} : tensor<{n}x{n}xf32>
"""


def stencil(size, steps, dims=(X, Y)):
    body = "".join(
        STENCIL.format(step, "x" if step == 0 else f"s{step - 1}", n=size, p=size + 2) for step in range(steps)
    )
    return f"""
func.func @main(%x: tensor<{size}x{size}xf32> {sharded(*dims)}) -> (tensor<{size}x{size}xf32> {sharded(*dims)}) {{
  %zero = arith.constant 0.0 : f32{body}
  return %s{steps - 1} : tensor<{size}x{size}xf32>
}}"""


program("stencil", stencil(16, 3))

program("rotation", f"""
func.func @main(%x: tensor<16x6xf32> {sharded(X, "")}) -> (tensor<16x6xf32> {sharded(X, "")}) {{
  %a = tensor.extract_slice %x[13, 0] [3, 6] [1, 1] : tensor<16x6xf32> to tensor<3x6xf32>
  %b = tensor.extract_slice %x[0, 0] [13, 6] [1, 1] : tensor<16x6xf32> to tensor<13x6xf32>
  %0 = tensor.concat dim(0) %a, %b : (tensor<3x6xf32>, tensor<13x6xf32>) -> tensor<16x6xf32>
  return %0 : tensor<16x6xf32>
}}""")

program("loop", f"""
func.func @main(%x: tensor<8x8xf32> {sharded(X, "")}, %w: tensor<8x8xf32> {sharded(X, Y)}) -> (tensor<8x8xf32> {sharded(X, "")}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %z = arith.constant dense<0.0> : tensor<8x8xf32>
  %0 = scf.for %i = %c0 to %c3 step %c1 iter_args(%v = %x) -> (tensor<8x8xf32>) {{
    %1 = linalg.matmul ins(%v, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%z : tensor<8x8xf32>) -> tensor<8x8xf32>
    scf.yield %1 : tensor<8x8xf32>
  }}
  return %0 : tensor<8x8xf32>
}}""")


def _existing(stem):
    for number, part in enumerate((UPSTREAM / f"{stem}.mlir").read_text().split("// -----")):
        signature = re.search(r"^func\.func @main.*?\{\n", part, re.M | re.S)[0]
        if re.search(r": index\b", signature):
            continue
        PROGRAMS[f"{stem}-{number}"] = lambda ranks, part=part: on_mesh(part, ranks)


for _stem in ("linalg-mlp", "tosa-mlp", "local"):
    _existing(_stem)

# MLIR 22 itself has no lowering of these: what its tools say.
program("sum_f8", f"""
func.func @main(%x: tensor<8xf8E4M3FN> {sharded(X)}) -> tensor<8xf8E4M3FN> {{
  %0 = arith.addf %x, %x : tensor<8xf8E4M3FN>
  return %0 : tensor<8xf8E4M3FN>
}}""")
REFUSED = {"sum_f8": "arith.extf"}
