"""The programs of the Mesh dialect's design: an MLP that is sharded in several ways, experts, attention, a stencil.

Each is a function of the mesh's axes: {"x": 2, "y": 2}.
"""

from programs import stencil



def mesh(axes):
    return "sdy.mesh @mesh = <[" + ", ".join(f'"{name}"={size}' for name, size in axes.items()) + "]>\n"


def spec(*dims, unreduced=""):
    """The text of a sharding: axes of each dim, as `spec("x", "", "y:(1)2")`."""

    def axis(text):
        name, _, part = text.partition(":")
        return f'"{name}"' + (f":{part}" if part else "")

    lists = ["{" + ", ".join(axis(each) for each in dim.split()) + "}" for dim in dims]
    return f"<@mesh, [{', '.join(lists)}]" + (f", unreduced={{{axis(unreduced)}}}" if unreduced else "") + ">"


def value(*dims, unreduced=""):
    """The attribute of an op with one result that has this sharding."""
    return f"sdy.sharding = #sdy.sharding_per_value<[{spec(*dims, unreduced=unreduced)}]>"


def option(*factors):
    """The attribute of an op whose factors are sharded so, in the order of its loops."""
    return f"sdy.op_sharding = #sdy.sharding{spec(*factors)}"


def argument(name, shape, *dims):
    attribute = f" {{sdy.sharding = #sdy.sharding{spec(*dims)}}}" if dims else ""
    return f"%{name}: tensor<{shape}xf32>{attribute}"


def einsum(result, equation, a, b, attributes=""):
    """%result of two (name, shape) operands as one linalg.generic; returns the text and (name, shape) of the result.

    The loops are the letters of the result, then those that are summed.
    """
    inputs, output = equation.split("->")
    left, right = inputs.split(",")
    extent = {}
    for letters, (_, shape) in ((left, a), (right, b)):
        extent.update(zip(letters, shape.split("x"), strict=True))
    loops = list(output) + [letter for letter in extent if letter not in output]
    maps = ", ".join(f"affine_map<({', '.join(loops)}) -> ({', '.join(each)})>" for each in (left, right, output))
    kinds = ", ".join('"parallel"' if letter in output else '"reduction"' for letter in loops)
    shape = "x".join(extent[letter] for letter in output)
    typed = [f"tensor<{each}xf32>" for each in (a[1], b[1], shape)]
    text = f"""
  %start_{result} = arith.constant dense<0.0> : {typed[2]}
  %{result} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}
      ins(%{a[0]}, %{b[0]} : {typed[0]}, {typed[1]}) outs(%start_{result} : {typed[2]}) attrs = {{{attributes}}} {{
  ^bb0(%p: f32, %q: f32, %r: f32):
    %s = arith.mulf %p, %q : f32
    %t = arith.addf %r, %s : f32
    linalg.yield %t : f32
  }} -> {typed[2]}"""
    return text, (result, shape)


def relu(result, a, attributes=""):
    kind = f"tensor<{a[1]}xf32>"
    text = f"""
  %zero_{result} = arith.constant dense<0.0> : {kind}
  %{result} = arith.maximumf %{a[0]}, %zero_{result} {{{attributes}}} : {kind}"""
    return text, (result, a[1])


def constraint(result, a, *dims, unreduced=""):
    text = f"\n  %{result} = sdy.sharding_constraint %{a[0]} {spec(*dims, unreduced=unreduced)} : tensor<{a[1]}xf32>"
    return text, (result, a[1])


def function(arguments, body, result, sharding=None):
    kind = f"tensor<{result[1]}xf32>"
    returned = f"({kind} {{sdy.sharding = #sdy.sharding{spec(*sharding)}}})" if sharding else kind
    return f"func.func @main({', '.join(arguments)}) -> {returned} {{{body}\n  return %{result[0]} : {kind}\n}}\n"


def mlp(axes, form):
    """1-D weight stationary; `form` says whether the second product's tensors or its loops are annotated."""
    second = value("", "", "", unreduced="x") if form == "annotations" else option("", "", "", "x")
    a, hidden = einsum("0", "bsk,kj->bsj", ("x", "2x4x8"), ("w1", "8x32"))
    b, positive = relu("1", hidden)
    c, parts = einsum("2", "bsk,kj->bsj", positive, ("w2", "32x8"), second)
    d, result = constraint("3", parts, "", "", "x")
    arguments = [argument("x", "2x4x8", "", "", "x"), argument("w1", "8x32"), argument("w2", "32x8")]
    return mesh(axes) + function(arguments, a + b + c + d, result)


def mlp_2d(axes, first=("", "", "y", "x"), positive=("", "", "y x"), second=("", "", "x", "y")):
    """2-D weight stationary: weights stay, sharded by x and y; activations are gathered and scattered by one axis each.
    The options are those of the loops of its three ops."""
    a, hidden = einsum("0", "bsk,kj->bsj", ("x", "2x4x16"), ("w1", "16x32"), option(*first))
    b, rectified = relu("1", hidden, option(*positive))
    c, parts = einsum("2", "bsk,kj->bsj", rectified, ("w2", "32x16"), option(*second))
    arguments = [argument("x", "2x4x16", "", "", "x y"), argument("w1", "16x32"), argument("w2", "32x16")]
    return mesh(axes) + function(arguments, a + b + c, parts, ("", "", "x y"))


def experts(axes):
    """Two experts on an axis of more devices: on a part of it. Tokens in groups, which the whole axis shards."""
    expert = "x:(2)2" if axes["x"] == 4 else "x"
    group = "x:(1)2" if axes["x"] == 4 else ""
    a, dispatched = einsum("0", "gsm,gsec->egcm", ("x", "4x8x6"), ("mask", "4x8x2x4"))
    b, sent = constraint("1", dispatched, expert, group, "", "")
    c, hidden = einsum("2", "egcm,emh->egch", sent, ("w1", "2x6x10"))
    d, positive = relu("3", hidden)
    e, made = einsum("4", "egch,ehm->egcm", positive, ("w2", "2x10x6"))
    f, kept = constraint("5", made, expert, group, "", "")
    g, returned = constraint("6", kept, "", "x", "", "")
    h, result = einsum("7", "egcm,gsec->gsm", returned, ("mask", "4x8x2x4"))
    arguments = [
        argument("x", "4x8x6", "x", "", ""),
        argument("mask", "4x8x2x4", "x", "", "", ""),
        argument("w1", "2x6x10", expert, "", ""),
        argument("w2", "2x10x6", expert, "", ""),
    ]
    return mesh(axes) + function(arguments, a + b + c + d + e + f + g + h, result, ("x", "", ""))


def matmul(axes, m, k, n):
    """All three matrices in blocks on x and y, as SUMMA has them."""
    kinds = [f"tensor<{shape}xf32>" for shape in (f"{m}x{k}", f"{k}x{n}", f"{m}x{n}")]
    body = f"""
  %zero = arith.constant dense<0.0> : {kinds[2]}
  %0 = linalg.matmul ins(%a, %b : {kinds[0]}, {kinds[1]}) outs(%zero : {kinds[2]}) -> {kinds[2]}"""
    arguments = [argument("a", f"{m}x{k}", "x", "y"), argument("b", f"{k}x{n}", "x", "y")]
    return mesh(axes) + function(arguments, body, ("0", f"{m}x{n}"), ("x", "y"))


def rows_of_stencil(axes):
    """A five-point sum, rows by x and columns by y: halos on both sides."""
    return mesh(axes) + stencil(16, 2, ('"x"', '"y"'))
