"""Random cases of torch ops: `generate(number)` is a function with arguments, the same for the same number."""

import itertools
import math

import torch
import torch.nn.functional as F
from random_cases import FLOATS, INTEGERS, Case, CaseBuilder, with_gradient

UNARY_FLOAT = (
    "exp expm1 log log2 log10 log1p sin cos tan tanh sqrt rsqrt sigmoid erf erfc asin acos atan sinh cosh asinh "
    "acosh atanh reciprocal exp2"
).split()  # fmt: skip
UNARY_ANY = "neg abs sign square positive".split()
ROUND = "floor ceil round trunc frac".split()
ACTIVATIONS = (
    "relu gelu silu mish elu selu celu leaky_relu softplus hardtanh hardswish hardsigmoid relu6 logsigmoid softsign "
    "tanhshrink hardshrink softshrink"
).split()  # fmt: skip


def unary(m):
    kind = m.pick("float", "float", "any", "round", "activation", "test")
    special = m.chance(0.4)
    if kind == "float":
        name, dtype = m.pick(*UNARY_FLOAT), m.pick(*FLOATS, torch.int32, torch.bool)
        case = Case(f"torch.{name}", getattr(torch, name), [m.tensor(m.shape(), dtype, special)], 2)
        return with_gradient(case) if not special and dtype.is_floating_point and m.chance(0.2) else case
    if kind == "any":
        name = m.pick(*UNARY_ANY)
        dtype = m.pick(*FLOATS, *INTEGERS, *([torch.complex64] if name in ("neg", "square", "positive") else []))
        return Case(f"torch.{name}", getattr(torch, name), [m.tensor(m.shape(), dtype, special)])
    if kind == "round":
        name, dtype = m.pick(*ROUND), m.pick(*FLOATS)
        return Case(f"torch.{name}", getattr(torch, name), [m.tensor(m.shape(), dtype, special and name != "frac")])
    if kind == "test":
        name, dtype = m.pick("isnan", "isinf", "isfinite", "signbit", "logical_not", "isposinf"), m.pick(*FLOATS,
            torch.int32)
        return Case(f"torch.{name}", getattr(torch, name), [m.tensor(m.shape(), dtype, special)])
    name, dtype = m.pick(*ACTIVATIONS), m.pick(torch.float32, torch.float64, torch.bfloat16)
    if name == "hardsigmoid" and dtype == torch.float64:
        dtype = torch.float32  # torch's gradient has a sixth in single precision
    case = Case(f"F.{name}", getattr(F, name), [m.tensor(m.shape(), dtype)], 2)
    return with_gradient(case) if m.chance(0.6) else case


def binary(m):
    shape = m.shape()
    name = m.pick(
        "add", "sub", "mul", "div", "maximum", "minimum", "fmax", "fmin", "pow", "atan2", "fmod", "remainder",
        "floor_divide", "trunc_div", "rsub", "alpha", "hypot", "lerp", "addcmul", "addcdiv", "clamp", "where", "xlogy",
        "logaddexp", "copysign",
    )  # fmt: skip
    exact = name in ("add", "sub", "mul", "maximum", "minimum", "fmax", "fmin", "alpha", "rsub", "where", "clamp",
                     "div")
    first = m.pick(*FLOATS, *(INTEGERS if exact else []))
    second = first if not exact or m.chance(0.6) else m.pick(*FLOATS, *INTEGERS)
    special = m.chance(0.3) and name in "add sub mul div maximum minimum fmax fmin where rsub".split()
    x, y = m.tensor(shape, first, special), m.tensor(m.broadcast_partner(shape), second, special)
    if name in ("fmod", "remainder", "floor_divide", "trunc_div",
                "addcdiv") or (name == "div" and not second.is_floating_point):
        y = torch.where(y == 0, torch.ones_like(y), y)
    if name == "pow":
        x = x.abs() + 0.1
    number = m.pick(2, -1.5, 0.3, 3)
    functions = {
        "trunc_div": lambda x, y: torch.div(x, y, rounding_mode="trunc"),
        "rsub": lambda x, y: number - x + y,
        "alpha": lambda x, y: torch.add(x, y, alpha=2),
        "lerp": lambda x, y: torch.lerp(torch.lerp(x, y, 0.3), y, 0.7),
        "addcmul": lambda x, y: torch.addcmul(x, y, y, value=0.5),
        "addcdiv": lambda x, y: torch.addcdiv(x, x, y, value=0.5),
        "clamp": lambda x, y: torch.clamp(x, min=-1, max=2) + torch.clamp(y, min=0),
        "where": lambda x, y: torch.where(x > 0, x, y),
    }
    if not second.is_floating_point and name in ("floor_divide", "fmod", "remainder"):
        y = y.abs() + 1
    function = functions.get(name) or getattr(torch, name)
    case = Case(f"torch.{name}", function, [x, y], 4 if name in ("pow", "addcdiv", "hypot", "div") else 2)
    smooth = name in ("add", "sub", "mul", "where", "lerp", "addcmul", "atan2")
    both = first.is_floating_point and second.is_floating_point and first == second
    return with_gradient(case) if smooth and both and not special and first != torch.float16 and m.chance(0.3) else case


def scalar(m):
    """A tensor and a Python number."""
    dtype = m.pick(*FLOATS, *INTEGERS)
    number = m.pick(2, 3, 7, 0.1, -1.7, True)
    if dtype == torch.uint8 and number == -1.7:
        number = 1.7
    name = m.pick("+", "-", "*", "/", "**", "%", "//", "<", "==", "r-", "r/", ">=")
    functions = {
        "+": lambda x: x + number, "-": lambda x: x - (number if number is not True else 1), "*": lambda x: x * number,
        "/": lambda x: x / number, "**": lambda x: x.abs() ** 2, "%": lambda x: x % abs(number),
        "//": lambda x: x // number, "<": lambda x: x < number, "==": lambda x: x == number, "r-": lambda x: 1 - x,
        "r/": lambda x: number / (x.abs() + 1), ">=": lambda x: x >= number,
    }  # fmt: skip
    x = m.tensor(m.shape(), dtype)
    if x.numel() and m.chance(0.5):
        x.view(-1)[0] = number
    return Case(f"x {name} {number} of {dtype}", functions[name], [x], 2)


def logic(m):
    shape, name = (
        m.shape(),
        m.pick("and", "or", "xor", "not", "land", "lor", "lxor", "<<", ">>", "eq", "ne", "lt", "le", "gt", "ge"),
    )
    if name in ("eq", "ne", "lt", "le", "gt", "ge"):
        dtypes = [m.pick(*FLOATS, *INTEGERS, torch.bool) for _ in range(2)]
        pair = [m.tensor(shape, dtypes[0], m.chance(0.3)),
                m.tensor(m.broadcast_partner(shape), dtypes[1], m.chance(0.3))]
        return Case(f"torch.{name}", getattr(torch, name), pair)
    dtype = m.pick(*INTEGERS) if name in ("<<", ">>") else m.pick(*INTEGERS, torch.bool)
    x, y = m.tensor(shape, dtype), m.tensor(m.broadcast_partner(shape), dtype)
    functions = {
        "and": lambda x, y: x & y, "or": lambda x, y: x | y, "xor": lambda x, y: x ^ y, "not": lambda x, y: ~x,
        "land": torch.logical_and, "lor": torch.logical_or, "lxor": torch.logical_xor,
        "<<": lambda x, y: x << (y.abs() % 4),
        ">>": lambda x, y: x >> (y.abs() % 4),
    }  # fmt: skip
    return Case(f"{name} of {dtype}", functions[name], [x, y])


def conversion(m):
    every = [*FLOATS, *INTEGERS, torch.bool, torch.complex64]
    source, target = m.pick(*every), m.pick(*every)
    x = m.tensor(m.shape(), source)
    if target == torch.uint8 and source != torch.bool:
        x = x.abs() if not source.is_complex else x.abs().to(source)
    if source.is_complex and not target.is_complex:
        return Case("x.real.to", lambda x: x.real.to(target), [x])
    return Case(f"{source} to {target}", lambda x: x.to(target), [x])


def reduction(m):
    name = m.pick("sum", "mean", "prod", "amax", "amin", "any", "all", "var", "std", "var_mean", "argmax", "argmin",
                  "max", "min", "norm", "logsumexp", "count_nonzero", "cumsum", "cumprod", "softmax", "log_softmax",
                  "nansum", "logcumsumexp", "maxall")  # fmt: skip
    inexact = name in ("mean", "var", "std", "var_mean", "norm", "logsumexp", "softmax", "log_softmax", "logcumsumexp")
    dtype = m.pick(*FLOATS[:4]) if inexact else m.pick(*FLOATS[:4], torch.int64, torch.int32, torch.uint8, torch.bool)
    if name in ("nansum",):
        dtype = torch.float32
    if name in ("amax", "amin", "argmax", "argmin", "max", "min", "logsumexp", "maxall", "softmax", "log_softmax"):
        shape = m.filled(0)
    else:
        shape = m.shape()
    if dtype == torch.bool and name in ("argmax", "argmin", "cumprod", "nansum"):
        dtype = torch.int32
    x = m.tensor(shape, dtype, m.chance(0.2) and name in ("amax", "amin", "max", "min", "argmax", "argmin", "nansum"))
    rank, keep = len(shape), m.chance(0.4)
    dims = m.dims(rank)
    along = () if dims is None else dims
    one = m.dim(rank) if rank else 0
    functions = {
        "sum": lambda x: torch.sum(x, dims, keepdim=keep), "mean": lambda x: torch.mean(x, dims, keepdim=keep),
        "prod": lambda x: torch.prod(x, one, keep), "amax": lambda x: torch.amax(x, along, keep),
        "amin": lambda x: torch.amin(x, along, keep),
        "any": lambda x: torch.any(x, dims, keep) if dims else torch.any(x),
        "all": lambda x: torch.all(x, dims, keep) if dims else torch.all(x),
        "var": lambda x: torch.var(x, dims, correction=0, keepdim=keep),
        "std": lambda x: torch.std(x, dims, correction=0, keepdim=keep),
        "var_mean": lambda x: torch.var_mean(x, dims, correction=0, keepdim=keep),
        "argmax": lambda x: torch.argmax(x, one, keep), "argmin": lambda x: torch.argmin(x, None),
        "max": lambda x: tuple(torch.max(x, one, keep)), "min": lambda x: tuple(torch.min(x, one, keep)),
        "norm": lambda x: torch.linalg.vector_norm(x, 2, dims, keep),
        "logsumexp": lambda x: torch.logsumexp(x, along if dims else tuple(range(rank)), keep),
        "count_nonzero": lambda x: torch.count_nonzero(x, dims), "cumsum": lambda x: torch.cumsum(x, one),
        "cumprod": lambda x: torch.cumprod(x, one), "softmax": lambda x: torch.softmax(x, one),
        "log_softmax": lambda x: torch.log_softmax(x, one), "nansum": lambda x: torch.nansum(x, dims, keep),
        "logcumsumexp": lambda x: torch.logcumsumexp(x, one), "maxall": lambda x: torch.max(x),
    }  # fmt: skip
    case = Case(f"torch.{name} {dims} {one} {keep}", functions[name], [x], 3)
    # XLA takes the product with a mask for a choice, where a NaN times zero is zero.
    smooth = name in ("sum", "mean", "var", "softmax", "log_softmax", "logsumexp", "norm",
                      "cumsum") or (name == "amax" and not x.isnan().any())
    return with_gradient(case) if smooth and dtype in (torch.float32,
                                                       torch.float64) and x.numel() and m.chance(0.5) else case


def view(m):
    shape = m.filled(1, 4) if m.chance(0.8) else m.shape(1, 4)
    dtype, rank = m.pick(torch.float32, torch.int64, torch.bool, torch.bfloat16, torch.complex64), len(shape)
    x, dim = m.tensor(shape, dtype), m.dim(len(shape))
    extent = shape[dim]
    start, stop, step = m.draw.randint(-extent - 1, extent), m.draw.randint(-1, extent + 2), m.pick(1, 1, 2, 3)
    sizes = m.filled(1, 2)
    order = m.draw.sample(range(rank), rank)
    padding = [m.pick(0, 1, 2, 0) for _ in range(2 * m.draw.randint(1, rank))]
    at = m.draw.randrange(-extent, extent) if extent else 0
    other = (dim + 1) % rank
    name = m.pick("permute", "reshape", "slice", "flip", "roll", "expand", "repeat", "cat", "stack", "pad", "diagonal",
                  "tril", "triu", "select", "split", "chunk", "unfold", "squeeze", "movedim", "set_slice", "set_select",
                  "narrow", "rot", "tile", "unbind", "interleave", "crop", "set_diagonal", "reflect")  # fmt: skip
    if name in ("select", "set_select", "unbind", "unfold") and not extent:
        name = "flip"
    if name in ("diagonal", "tril", "triu", "rot", "set_diagonal") and rank < 2:
        name = "flip"
    window = m.draw.randint(1, extent) if extent else 1
    slices = tuple(slice(start, stop, step) if i == dim % rank else slice(None) for i in range(rank))

    def set_slice(x):
        y = x.clone()
        y[slices] = 1
        return y

    def set_select(x):
        y = x.clone()
        y.select(dim, at).copy_(x.select(dim, 0))
        return y

    def set_diagonal(x):
        y = x.clone()
        y.diagonal(0, dim, other).zero_()
        return y

    functions = {
        "permute": lambda x: x.permute(order) + 0,
        "reshape": lambda x: x.reshape(-1, *([1] * (rank - 1))) if x.numel() else x.reshape(shape[::-1]),
        "slice": lambda x: x[slices] | x[slices] if dtype == torch.bool else x[slices] * 1,
        "flip": lambda x: x.flip([dim]), "roll": lambda x: x.roll(at + 2, dim),
        "expand": lambda x: x.unsqueeze(0).expand(3, *shape).clone(),
        "repeat": lambda x: x.repeat(*sizes, *([2] + [1] * (rank - 1))),
        "cat": lambda x: torch.cat([x, x.flip([dim]), x], dim), "stack": lambda x: torch.stack([x, x], dim),
        "pad": lambda x: F.pad(x, padding, value=1), "diagonal": lambda x: x.diagonal(m_offset, dim, other).clone(),
        "tril": lambda x: x.tril(m_offset), "triu": lambda x: x.triu(m_offset),
        "select": lambda x: x.select(dim, at).clone(), "split": lambda x: [p.clone() for p in x.split(2, dim)],
        "chunk": lambda x: [p.clone() for p in x.chunk(3, dim)],
        "unfold": lambda x: x.unfold(dim, window, step).clone(), "squeeze": lambda x: x.squeeze().clone(),
        "movedim": lambda x: x.movedim(dim, 0).clone(), "set_slice": set_slice, "set_select": set_select,
        "narrow": lambda x: x.narrow(dim, 0, extent // 2).clone(), "rot": lambda x: x.rot90(1, [dim, other]),
        "tile": lambda x: x.tile([2] * rank), "unbind": lambda x: [p.clone() for p in x.unbind(dim)],
        "interleave": lambda x: x.repeat_interleave(2, dim), "crop": lambda x: F.pad(x, [-(extent_last // 3), 1]),
        "set_diagonal": set_diagonal, "reflect": lambda x: F.pad(x[None, None].flatten(2), [1, 1], mode="replicate"),
    }  # fmt: skip
    m_offset, extent_last = m.draw.randint(-2, 2), shape[-1]
    if name == "reflect" and (dtype in (torch.bool, torch.int64, torch.complex64) or not x.numel()):
        name = "flip"
    if name == "crop" and not extent_last:
        name = "flip"
    case = Case(f"{name} {shape} {dim} {start}:{stop}:{step} {padding}", functions[name], [x])
    return with_gradient(case) if dtype == torch.float32 and x.numel() and m.chance(0.4) else case


def product(m):
    a, b, c, d = (max(1, m.size()) for _ in range(4))
    if m.chance(0.1):
        b = 0
    dtype = m.pick(torch.float32, torch.float32, torch.float64, torch.bfloat16, torch.int32, torch.complex64)
    names = "mm bmm matmul linear addmm baddbmm einsum mv dot outer batched tensordot bilinear addmv permuted".split()
    name = m.pick(*names)
    order = m.pick((0, 1, 2), (1, 0, 2), (2, 0, 1), (1, 2, 0))
    beta, alpha = m.pick((1, 1), (2, 1), (1, 3), (0, 1))
    t = lambda *shape: m.tensor(shape, dtype)
    cases = {
        "mm": (torch.mm, [t(a, b), t(b, c)]), "bmm": (torch.bmm, [t(d, a, b), t(d, b, c)]),
        "matmul": (torch.matmul, [t(d, 1, a, b), t(c, b, a)]),
        "linear": (F.linear, [t(d, a, b), t(c, b), t(c)]),
        "addmm": (lambda x, y, z: torch.addmm(x, y, z, beta=beta, alpha=alpha), [t(c), t(a, b), t(b, c)]),
        "baddbmm": (lambda x, y, z: torch.baddbmm(x, y, z, beta=beta, alpha=alpha),
                    [t(d, a, c), t(d, a, b), t(d, b, c)]),
        "einsum": (lambda x, y: torch.einsum("abc,cbd->da", x, y), [t(a, b, c), t(c, b, d)]),
        "mv": (torch.mv, [t(a, b), t(b)]), "dot": (torch.dot, [t(b), t(b)]), "outer": (torch.outer, [t(a), t(c)]),
        "batched": (lambda x, y: x @ y, [t(a, b), t(d, b, c)]),
        "tensordot": (lambda x, y: torch.tensordot(x, y, dims=([1], [0])), [t(a, b, d), t(b, c)]),
        "bilinear": (lambda x, y: torch.einsum("ab,cb->ac", x, y) * 2, [t(a, b), t(c, b)]),
        "addmv": (torch.addmv, [t(a), t(a, b), t(b)]),
        "permuted": (lambda x, y: x.permute(order) @ y,
                     [t(*((d, a, b)[order.index(dim)] for dim in range(3))), t(b, c)]),
    }  # fmt: skip
    function, arguments = cases[name]
    case = Case(f"{name} of {dtype}", function, arguments, 4)
    return with_gradient(case) if dtype in (torch.float32, torch.float64) and m.chance(0.4) else case


def _by_tensors(m, name, x):
    """A tensor, or a slice, for each dim."""
    shape, dtype = list(x.shape), x.dtype
    kept = [m.chance(0.6) for _ in shape]
    if not any(kept):
        kept[0] = True
    common = m.filled(1, 2)
    indices = [m.index(common if m.chance(0.8) else common[-1:], extent, True)
               for extent, keep in zip(shape, kept) if keep]

    def full(given):
        given = iter(given)
        return tuple(next(given) if keep else slice(None) for keep in kept)

    if name == "index":
        return Case(f"x[{kept}] {shape}", lambda x, *indices: x[full(indices)], [x, *indices])
    accumulate = name == "index_add_put"
    if not accumulate:  # which of several writes to a place is kept, torch does not say
        indices = [torch.arange(1) for _ in indices]
    listed = lambda indices: [part if isinstance(part, torch.Tensor) else None for part in full(indices)]
    values = m.tensor(x[full(indices)].shape, dtype)
    return Case(
        f"index_put {kept} {shape} {accumulate}",
        lambda x, values, *indices: torch.index_put(x,
                                                    [i if i is not None else torch.arange(n).reshape([-1] + [1] * 0)
                                                     for i, n in zip(listed(indices), shape)], values, accumulate)
        if all(kept)
        else torch.ops.aten.index_put(x, listed(indices), values, accumulate),
        [x, values, *indices],
        2,
    )


def _along_dim(m, name, x, dim):
    """By one list of places, or by a mask."""
    shape, dtype = list(x.shape), x.dtype
    flat = m.index([m.draw.randint(1, 5)], shape[dim])
    if name == "index_select":
        case = Case("index_select", lambda x, index: torch.index_select(x, dim, index), [x, flat])
        return with_gradient(case) if dtype.is_floating_point and m.chance(0.5) else case
    part = list(shape)
    part[dim] = len(flat)
    if name == "index_add":
        return Case("index_add", lambda x, index, s: torch.index_add(x, dim, index, s, alpha=2),
                    [x, flat, m.tensor(part, dtype)], 2)
    whole = torch.randperm(shape[dim], generator=m.generator)
    if name == "index_copy":
        return Case("index_copy", lambda x, index, s: torch.index_copy(x, dim, index, s),
                    [x, whole, m.tensor(shape, dtype)])
    if name == "index_fill":
        return Case("index_fill", lambda x, index: torch.index_fill(x, dim, index, 3), [x, flat])
    if name == "embedding":
        rows = m.draw.randint(1, 6)
        padding = m.pick(None, 0)
        case = Case("embedding", lambda w, index: F.embedding(index, w, padding),
                    [m.tensor([rows, 3]), m.index(m.filled(0, 2), rows)])
        return with_gradient(case)
    mask = m.tensor(m.broadcast_partner(shape), torch.bool)
    if name == "masked_fill":
        return Case("masked_fill", lambda x, mask: x.masked_fill(mask, 2), [x, mask])
    whole_mask = m.tensor(shape, torch.bool)

    def put(x, mask):
        y = x.clone()
        y[mask] = 5
        return y

    def put_number(x, index):
        y = x.clone()
        y[index] = 2
        return y

    if name == "masked_put":
        return Case("x[mask] = 5", put, [x, whole_mask])
    return Case("x[i] = 2", put_number, [x, m.index([2], shape[0])])


def indexing(m):
    shape = m.filled(1, 4)
    rank, dim = len(shape), m.dim(len(shape))
    dtype = m.pick(torch.float32, torch.float64, torch.int64, torch.int32)
    x = m.tensor(shape, dtype)
    name = m.pick("index", "index_put", "index_add_put", "gather", "scatter", "scatter_add", "scatter_value",
                  "scatter_reduce", "index_select", "index_add", "index_copy", "index_fill", "take_along", "embedding",
                  "masked_fill", "masked_put", "put_number")  # fmt: skip
    smaller = [max(1, m.draw.randint(1, extent)) for extent in shape]
    smaller[dim] = m.draw.randint(1, 4)
    index = m.index(smaller, shape[dim])
    if name in ("index", "index_put", "index_add_put"):
        return _by_tensors(m, name, x)
    if name == "gather":
        case = Case(f"gather {shape} {dim}", lambda x, index: torch.gather(x, dim, index), [x, index])
        return with_gradient(case) if dtype.is_floating_point and m.chance(0.5) else case
    unique = torch.argsort(torch.rand(shape[:dim % rank] + [shape[dim]] + shape[dim % rank + 1 :],
                                      generator=m.generator), dim)
    if name == "scatter":
        source = m.tensor(shape, dtype)
        return Case(f"scatter {shape} {dim}", lambda x, index, s: torch.scatter(x, dim, index, s), [x, unique, source])
    source = m.tensor(smaller, dtype)
    if name == "scatter_value":
        return Case(f"scatter value {shape} {dim}", lambda x, index: torch.scatter(x, dim, index, 3), [x, index])
    if name == "scatter_add":
        return Case(f"scatter_add {shape} {dim}", lambda x, index, s: torch.scatter_add(x, dim, index, s),
                    [x, index, source], 2)
    if name == "scatter_reduce":
        how, own = m.pick("sum", "prod", "amax", "amin", "mean"), m.chance(0.5)
        if how == "mean" and not dtype.is_floating_point:
            how = "sum"
        return Case(f"scatter_reduce {how} {own}",
                    lambda x, index, s: torch.scatter_reduce(x, dim, index, s, how, include_self=own),
                    [x, index, source], 3)
    if name == "take_along":
        return Case("take_along_dim", lambda x, index: torch.take_along_dim(x, index, dim), [x, unique])
    return _along_dim(m, name, x, dim)


def convolution(m):
    space = m.pick(1, 2, 2, 3)
    groups = m.pick(1, 1, 2, 3)
    inputs, outputs = groups * m.draw.randint(1, 2), groups * m.draw.randint(1, 2)
    kernel = [m.draw.randint(1, 3) for _ in range(space)]
    stride, dilation, padding = ([m.pick(*choices) for _ in range(space)]
                                 for choices in ((1, 1, 2, 3), (1, 1, 2), (0, 0, 1, 2)))
    extents = [m.draw.randint((k - 1) * d + 1, (k - 1) * d + 5) for k, d in zip(kernel, dilation)]
    batch = m.pick(1, 2, 3)
    x = m.tensor([batch, inputs, *extents])
    if m.chance(0.4):
        output_padding = [m.draw.randint(0, max(s, d) - 1) for s, d in zip(stride, dilation)]
        padding = [min(p, (k - 1) * d) for p, k, d in zip(padding, kernel, dilation)]
        function = getattr(F, f"conv_transpose{space}d")
        w, bias = m.tensor([inputs, outputs // groups, *kernel]), m.tensor([outputs])
        call = lambda x, w, bias: function(x, w, bias, stride, padding, output_padding, groups, dilation)
        if any(size < 1 for size in _transposed_sizes(extents, kernel, stride, padding, output_padding, dilation)):
            return convolution(m)
    else:
        function = getattr(F, f"conv{space}d")
        w, bias = m.tensor([outputs, inputs // groups, *kernel]), m.tensor([outputs])
        call = lambda x, w, bias: function(x, w, bias, stride, padding, dilation, groups)
    case = Case(f"{function.__name__} {list(x.shape)} {list(w.shape)} {stride} {padding} {dilation} {groups}", call,
                [x, w, bias], 4)
    return with_gradient(case) if m.chance(0.7) else case


def _transposed_sizes(extents, kernel, stride, padding, more, dilation):
    return [(n - 1) * s - 2 * p + d * (k - 1) + o + 1
            for n, k, s, p, o, d in zip(extents, kernel, stride, padding, more, dilation)]


def pooling(m):
    names = "max2 avg2 max1 avg1 adaptive2 max3 avg3 nearest bilinear adaptive1 adaptive_max linear bicubic".split()
    name = m.pick(*names)
    space = 1 if name in ("max1", "avg1", "adaptive1", "linear") else 3 if name.endswith("3") else 2
    kernel, extents = [m.draw.randint(1, 3) for _ in range(space)], [m.draw.randint(3, 7) for _ in range(space)]
    stride, padding = [m.draw.randint(1, 3) for _ in range(space)], [m.draw.randint(0, k // 2) for k in kernel]
    x = m.tensor([m.pick(1, 2), m.pick(1, 3), *extents])
    ceil, count, dilation = m.chance(0.3), m.chance(0.5), m.pick(1, 1, 2)
    if any((k - 1) * dilation + 1 > n for k, n in zip(kernel, extents)):
        dilation = 1
    sizes = [m.draw.randint(1, 8) for _ in range(space)]
    align = m.chance(0.5)
    functions = {
        "max": lambda x: getattr(F, f"max_pool{space}d")(x, kernel, stride, padding, dilation, ceil),
        "avg": lambda x: getattr(F, f"avg_pool{space}d")(x, kernel, stride, padding, ceil, count),
        "adaptive": lambda x: getattr(F, f"adaptive_avg_pool{space}d")(x, sizes),
        "nearest": lambda x: F.interpolate(x, sizes, mode="nearest"),
        "bilinear": lambda x: F.interpolate(x, sizes, mode="bilinear", align_corners=align),
        "linear": lambda x: F.interpolate(x, sizes, mode="linear", align_corners=align),
        "adaptive_max": lambda x: F.max_pool2d(x, 2),
        "bicubic": lambda x: F.interpolate(x, sizes, mode="bicubic", align_corners=align),
    }  # fmt: skip
    function = functions.get(name) or functions[name.rstrip("123")]
    case = Case(f"{name} {list(x.shape)} {kernel} {stride} {padding} {dilation} {ceil} {count} {sizes} {align}",
                function, [x], 4)
    return with_gradient(case) if m.chance(0.6) else case


def padding(m):
    """Paddings that repeat the edge or reflect, and their gradients."""
    space, mode = m.pick(1, 2, 2, 3), m.pick("reflect", "reflect", "replicate")
    extents = [m.draw.randint(2, 5) for _ in range(space)]
    sizes = [m.draw.randint(-1 if extent > 2 else 0, extent - 1) for extent in reversed(extents) for _ in (0, 1)]
    if mode == "replicate":
        sizes = [max(0, size) + m.pick(0, 1) for size in sizes]
    lead = [m.draw.randint(1, 3), m.draw.randint(1, 2)][: 1 if m.chance(0.2) else 2]
    x = m.tensor([*lead, *extents], m.pick(torch.float32, torch.float32, torch.float64, torch.bfloat16))
    case = Case(f"{mode} {list(x.shape)} {sizes}", lambda x: F.pad(x, sizes, mode=mode), [x], 2)
    return with_gradient(case) if m.chance(0.8) else case


def normalization(m):
    groups = m.pick(1, 2)
    channels = groups * m.draw.randint(1, 3)
    x = m.tensor([m.draw.randint(2, 4), channels, *(m.draw.randint(1, 4) for _ in range(m.pick(0, 1, 2)))])
    dtype = m.pick(torch.float32, torch.float32, torch.float64)
    x, w, bias = x.to(dtype), m.tensor([channels], dtype), m.tensor([channels], dtype)
    last = list(x.shape[-1:])
    running = [m.tensor([channels], dtype), m.tensor([channels], dtype).abs() + 0.1]
    name = m.pick("layer", "group", "batch", "batch_eval", "rms", "instance", "normalize", "batch_running")
    if name == "instance" and x.dim() < 3 or (name == "instance" and math.prod(x.shape[2:]) < 2):
        name = "group"
    if name == "group" and math.prod(x.shape[1:]) // groups < 2:
        name = "layer"

    def with_running(x, mean, var):
        mean, var = mean.clone(), var.clone()
        return F.batch_norm(x, mean, var, training=True, momentum=0.3), mean, var

    cases = {
        "layer": (lambda x, w: F.layer_norm(x, last, w, w), [x, m.tensor(last, dtype)]),
        "group": (lambda x, w, b: F.group_norm(x, groups, w, b), [x, w, bias]),
        "batch": (lambda x, w, b: F.batch_norm(x, None, None, w, b, True), [x, w, bias]),
        "batch_eval": (lambda x, w, b: F.batch_norm(x, running[0], running[1], w, b, False), [x, w, bias]),
        "rms": (lambda x: F.rms_norm(x, last), [x]), "instance": (F.instance_norm, [x]),
        "normalize": (lambda x: F.normalize(x, dim=1), [x]),
        "batch_running": (with_running, [x, *running]),
    }  # fmt: skip
    function, arguments = cases[name]
    case = Case(f"{name} norm {list(x.shape)} {groups}", function, arguments, 40)
    return with_gradient(case) if m.chance(0.6) and name != "batch_running" else case


def ordering(m):
    shape = m.filled(1, 3)
    dtype = m.pick(torch.float32, torch.bfloat16, torch.int64, torch.int8, torch.bool, torch.uint8)
    x, dim, down = m.tensor(shape, dtype, m.chance(0.3)), m.dim(len(shape)), m.chance(0.5)
    name = m.pick("sort", "argsort", "topk", "kthvalue", "msort", "median")
    if name in ("topk", "kthvalue", "median", "msort"):  # which of equals, torch does not say
        x = torch.rand(shape, generator=m.generator) * 10
    k = m.draw.randint(1, shape[dim])
    functions = {
        "sort": lambda x: tuple(torch.sort(x, dim=dim, descending=down, stable=True)),
        "argsort": lambda x: torch.argsort(x, dim=dim, descending=down, stable=True),
        "topk": lambda x: tuple(torch.topk(x, k, dim, down)), "kthvalue": lambda x: tuple(torch.kthvalue(x, k, dim)),
        "msort": torch.msort, "median": lambda x: torch.sort(x, dim).values.select(dim, (shape[dim] - 1) // 2),
    }  # fmt: skip
    case = Case(f"{name} {shape} {dim} {down}", functions[name], [x])
    return with_gradient(case) if name in ("topk", "msort") and m.chance(0.5) else case


def loss(m):
    rows, classes = m.draw.randint(1, 6), m.draw.randint(2, 5)
    x, target = m.tensor([rows, classes]), m.index([rows], classes)
    how = m.pick("mean", "sum", "none")
    y, soft = m.tensor([rows, classes]), torch.softmax(m.tensor([rows, classes]), -1)
    weight, ignored = m.tensor([classes]).abs(), target.clone()
    ignored[0] = -100
    cases = {
        "ce": (lambda x: F.cross_entropy(x, target, reduction=how, label_smoothing=0.1), [x]),
        "ce_soft": (lambda x, p: F.cross_entropy(x, p, reduction=how), [x, soft]),
        "ce_weight": (lambda x: F.cross_entropy(x, target, weight, reduction=how), [x]),
        "nll": (lambda x, t: F.nll_loss(F.log_softmax(x, -1), t, reduction=how), [x, target]),
        "mse": (lambda x, y: F.mse_loss(x, y, reduction=how), [x, y]),
        "l1": (lambda x, y: F.l1_loss(x, y, reduction=how), [x, y]),
        "smooth": (lambda x, y: F.smooth_l1_loss(x, y, reduction=how), [x, y]),
        "huber": (lambda x, y: F.huber_loss(x, y, reduction=how, delta=0.7), [x, y]),
        "bce": (lambda x, p: F.binary_cross_entropy_with_logits(x, p, reduction=how), [x, soft]),
        "kl": (lambda x, p: F.kl_div(F.log_softmax(x, -1), p, reduction=how), [x, soft]),
        "cosine": (lambda x, y: F.cosine_similarity(x, y, dim=-1), [x, y]),
        "ignored": (lambda x, t: F.cross_entropy(x, t, reduction="sum"), [x, ignored]),
        "bce_p": (lambda p: F.binary_cross_entropy(p, soft, reduction=how), [soft.clone()]),
        "attention": (lambda q, k: F.scaled_dot_product_attention(q[None, None], k[None, None], k[None, None],
                                                                  is_causal=True), [x, y]),
        "margin": (lambda x, y: F.triplet_margin_loss(x, y, y.flip([0]) + 1, reduction=how), [x, y]),
        "softmargin": (lambda x: F.soft_margin_loss(x, torch.sign(y)), [x]),
    }  # fmt: skip
    name = m.pick(*cases)
    function, arguments = cases[name]
    return with_gradient(Case(f"{name} {how}", function, arguments, 3))


def creation(m):
    shape, dtype = m.filled(1, 3), m.pick(torch.float32, torch.int64, torch.bfloat16)
    name = m.pick(
        "arange", "linspace", "full", "eye", "like", "tri", "one_hot", "meshgrid", "embedding_arange", "bincount"
    )
    n, step = m.draw.randint(1, 9), m.pick(1, 2, 0.5)
    x = m.tensor(shape, dtype)
    functions = {
        "arange": lambda x: torch.arange(1, n + 1, step) + x.sum().float(),
        "linspace": lambda x: torch.linspace(-1, 2, n) + x.sum().float(),
        "full": lambda x: torch.full((2, 3), 7, dtype=dtype) + x.flatten()[0],
        "eye": lambda x: torch.eye(n, 3) * x.flatten()[0].float(),
        "like": lambda x: torch.zeros_like(x) + torch.ones_like(x) + torch.full_like(x, 3),
        "tri": lambda x: torch.ones(n, n).tril() + x.flatten()[0].float(),
        "one_hot": lambda x: F.one_hot(torch.arange(n) % 3, 3) + x.flatten()[0].long(),
        "meshgrid": lambda x: torch.meshgrid(torch.arange(n), torch.arange(3), indexing="ij")[0]
        + x.flatten()[0].long(), "embedding_arange": lambda x: torch.arange(n)[None].expand(2, n)
        * x.flatten()[0].long(), "bincount": lambda x: torch.zeros(4).index_add(0, torch.arange(n) % 4, torch.ones(n))
        + x.flatten()[0].float(),
    }  # fmt: skip
    return Case(name, functions[name], [x])


FAMILIES = [unary, binary, scalar, logic, conversion, reduction, view, product, indexing, convolution, pooling,
            padding, normalization, ordering, loss, creation]
FAMILY_BY_NAME = {family.__name__: family for family in FAMILIES}


def generate(number, family=None):
    """The case of this number; in turn of each family, unless one is named."""
    m = CaseBuilder(number)
    chosen = FAMILY_BY_NAME[family] if family else FAMILIES[number % len(FAMILIES)]
    return chosen(m)


def batches(first, count, size):
    """Numbers in groups of `size`."""
    numbers = iter(range(first, first + count))
    while group := list(itertools.islice(numbers, size)):
        yield group
