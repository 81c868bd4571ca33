"""Rare ops and old faults: a table of cases by hand, and families of random ones."""

import math

import models
import torch
import torch.nn as nn
import torch.nn.functional as F

X, C, W = models.numbers(3, 4, 6), torch.complex(models.numbers(3, 4), models.numbers(3, 4, seed=2)), models.numbers(5,
    3)
ROWS, BAGS, EACH = torch.tensor([0, 4, 1, 1, 2, 3, 0]), torch.tensor([0, 2, 2, 5]), models.numbers(7, seed=3)
BOUNDS = torch.tensor([-1.0, 0.0, 1.0])
V = models.numbers(6, 5)
# An infinity and a NaN, each with finite neighbours that no result takes together with it.
GAPS = models.numbers(2, 6, 6)
GAPS[0, 2, 2], GAPS[1, 3, 3] = math.inf, math.nan


def masked(x, value):
    x = x.clone()
    x[x[:, 0] > 0] = value
    x[:, value > 0] = value[:1]
    return x


def polynomials(x):
    """Of matrices in a half type, one of the other, which shows where each is rounded."""
    x = x / x.norm()
    for _ in range(5):
        square = x @ x.mT
        x = torch.addmm(x, torch.addmm(square, square, square, beta=-4.8, alpha=2.0), x, beta=3.4)
    return x.float()


def layers(x):
    """What forward-mode AD finds parameters of, whose tangents are zero."""
    return F.layer_norm(F.gelu(x @ W.T[:, :4].abs()), [4], EACH[:4], EACH[3:]) @ V[:4]


def at_numbers(x, i, j):
    """`x[i]`, where arguments say the numbers, one of them from the end; and beside other kinds of indices."""
    mask = torch.tensor([True, False, True, True])
    some = [x[i], x[:, j], x[..., i], x[i, :, j, None], x[i, mask], x[i, :, [0, 2]], x[x.sum((1, 2)).argmax()]]
    rows = [x.index_select(1, i), x.index_copy(0, i, x[:1]), x.index_fill(1, i, 2), x.index_add(1, i, x[:, :1])]
    return [*some, *rows, torch.take(x, i), x[[True, False, True], j]]


def put_at_numbers(x, i, j):
    y = x.clone()
    y[:, i, j] = 3 * y[:, 1, i]
    y[..., i] *= 2
    y[j, :, None, 2:3] = 5
    y[i] = x[:1, :, :1]
    y[torch.tensor(1), j] = x[0, 0]
    return y


def rows_at_numbers(x, i, j):
    """`x[i]` is a view: what is written to it, to views of it, or to what it is of, is in all of them."""
    x, i = x * 1, i.clone()
    row, column, older = x[i], x[:, j], x[i + 1][j]
    row[0].mul_(3)
    i += 1
    column.data[..., 0] = 3
    x[1, j, 1:] = 5
    older.add_(1)
    x[..., j] *= 0.5
    x[i, None, 1:].mul_(x[0, :3].clone())
    return x, row, column, older


def without_diagonal(x):
    """What a mask takes that follows from no argument, and what it is written to."""
    similar = x[0] @ x[0].T
    eye, upper = torch.eye(4, dtype=torch.bool), torch.ones(4, 4).triu(1) == 1
    row, column = torch.nonzero(upper, as_tuple=True)
    written = similar.clone()
    written[~eye] = similar[~eye].exp()
    written[eye] = 2
    places = torch.zeros(4, dtype=torch.int64)
    places[1:3][1] = 3
    lengths = torch.tensor([1, 2, 1])
    parts = x[0].split(lengths.tolist())
    return [
        similar[~eye], similar.masked_select(upper).view(2, 3), similar[row, column], written, x[0][places],
        x[0].repeat_interleave(torch.tensor([1, 0, 2, 1]), 0), *parts, x[:, int(places.argmax())],
    ]  # fmt: skip


def annotated(x):
    with torch.fx.traceback.annotate({"stage": 1}):
        x = x.sin()
    return x.cos()


def by_a_kernel(x):
    """Attention by the kernel that a model asks for, as x-transformers' do."""
    with torch.nn.attention.sdpa_kernel([torch.nn.attention.SDPBackend.FLASH_ATTENTION]):
        return F.scaled_dot_product_attention(x[None], x[None], x[None])


BY_HAND = {
    "at numbers gradient": (at_numbers, [X, torch.tensor(2), torch.tensor(-1)]),
    "put at numbers gradient": (put_at_numbers, [X, torch.tensor(2), torch.tensor(-1)]),
    "rows at numbers gradient": (rows_at_numbers, [X, torch.tensor(1), torch.tensor(-1)]),
    "rows at numbers of a function": (
        torch.func.grad(lambda x, i, j: sum((y**2).sum() for y in rows_at_numbers(x, i, j))),
        [X, torch.tensor(1), torch.tensor(-1)],
    ),
    "a constant changed in place": (lambda x: x + torch.zeros_like(BOUNDS).masked_fill_(BOUNDS > 0, -2), [W]),
    "without the diagonal gradient": (without_diagonal, [X]),
    "annotated gradient": (annotated, [X]),
    "attention by a kernel gradient": (by_a_kernel, [X]),
    "jvp of layers": (lambda x: torch.func.jvp(layers, (x,), (torch.ones_like(x),)), [W]),
    "hessian of layers": (lambda x: torch.func.vmap(torch.func.hessian(lambda x: layers(x).sum()))(x), [W]),
    "jacfwd of layers": (torch.func.jacfwd(layers), [W]),
    "linearize": (lambda x: torch.func.linearize(torch.sin, x)[1](x), [W]),
    "polynomials of halves": (polynomials, [W.bfloat16()]),
    **{
        f"{mode} resize of gaps": (lambda x, mode=mode: F.interpolate(x[None], scale_factor=2, mode=mode), [GAPS])
        for mode in ("nearest", "nearest-exact", "bilinear", "area")
    },
    "logcumsumexp of gaps": (lambda x: torch.logcumsumexp(x, -1), [GAPS]),
    "logcumsumexp of far numbers gradient": (lambda x: torch.logcumsumexp(400 * x, 0), [X]),
    "hypot of gaps": (lambda x: torch.hypot(x, x.flip(0, 1, 2)), [GAPS]),
    "imag of a conjugate": (lambda c: c.conj().imag, [C]),
    "adaptive averages of gaps": (lambda x: F.adaptive_avg_pool2d(x, [3, 2]), [GAPS]),
    "adaptive averages of unlike windows of gaps": (lambda x: F.adaptive_avg_pool2d(x, [4, 5]), [GAPS]),
    "rows of a transposed gradient": (lambda x, v: x.transpose(0, 1) @ v, [X, V]),
    "columns of a transposed gradient": (lambda x, v: v.T @ x.transpose(0, 1).reshape(12, 6).T, [X, V]),
    "as_strided_scatter": (
        lambda x, y: torch.as_strided_scatter(x.transpose(0, 1), y[0, :2, :3], [2, 3], [24, 2], 1),
        [X, X],
    ),
    "as_strided_scatter of all": (
        lambda x, y: torch.as_strided_scatter(x.transpose(0, 1), y.flatten(), [72], [1], 0),
        [X, X],
    ),
    "rfft": (lambda x: torch.fft.rfft(x, dim=1), [X]),
    "irfft": (lambda x: torch.fft.irfft(torch.fft.rfft2(x)[..., :3].sum(1), n=5), [X]),
    "fft2": (lambda c: torch.fft.fft2(c, norm="ortho"), [C]),
    "ifft": (lambda c: torch.fft.ifft(c, dim=0), [C]),
    "fft of reals": (torch.fft.fft, [X]),
    "rfft2 gradient": (lambda x: torch.fft.rfft2(x).abs(), [X]),
    "bag sum gradient": (lambda w: F.embedding_bag(ROWS, w, BAGS, mode="sum"), [W]),
    "bag mean gradient": (lambda w: F.embedding_bag(ROWS, w, BAGS, mode="mean", padding_idx=1), [W]),
    "bag weights gradient": (lambda w, s: F.embedding_bag(ROWS, w, BAGS, mode="sum", per_sample_weights=s), [W, EACH]),
    "masked_scatter": (lambda x, y: x.masked_scatter(x > 0, y), [X, X.flatten()]),
    "cdist": (lambda x: torch.cdist(x[:, :2], x[:, 1:], p=1.0), [X]),
    "replicate gradient": (lambda x: F.pad(x, [1, 2], mode="replicate"), [X]),
    "reflect gradient": (lambda x: F.pad(x, [1, 2], mode="reflect"), [X]),
    "softshrink gradient": (F.softshrink, [X]),
    "grid_sample": (lambda x, g: F.grid_sample(x[None], g, align_corners=False), [X, models.numbers(1, 3, 3, 2) / 3]),
    "bucketize": (lambda x: torch.bucketize(x, BOUNDS), [X]),
    "searchsorted": (lambda x: torch.searchsorted(BOUNDS, x, right=True), [X]),
    "bucketize of a number": (lambda x: torch.bucketize(x, BOUNDS, right=True), [torch.tensor(0.0)]),
    "searchsorted with a sorter": (lambda x: torch.searchsorted(X, x, sorter=X.argsort(-1)), [X.flip(2)]),
    "rows of a mask gradient": (lambda x: masked(x, torch.tensor([1.0, -1.0, 2.0, 0.0])), [X[0].T]),
    "cov gradient": (lambda x: torch.cov(x, correction=0, fweights=ROWS[1:], aweights=x[0].detach().abs()), [X[0]]),
    "cov of complex": (lambda c: (c[0].cov(), torch.cov(c[0, 0])), [C]),
    "corrcoef gradient": (lambda x: (torch.corrcoef(x[0]), x[0, 0].corrcoef()), [X]),
    "corrcoef of complex": (lambda c: torch.corrcoef(c[1]), [C]),
    "lstsq gradient": (lambda x, y: torch.linalg.lstsq(x.mT, y.mT).solution, [X, X[:, :2]]),
    "lstsq by gels gradient": (lambda x, y: torch.linalg.lstsq(x.mT, y.mT, driver="gels")[:2], [X, X[:, :2]]),
    "max_unpool gradient": (
        lambda x: F.max_unpool2d(*F.max_pool2d(x, (2, 3), return_indices=True), (2, 3)), [X[None]],
    ),
    "inv_ex of none": (lambda x: tuple(torch.linalg.inv_ex(x[:, :0, :0])), [X]),
    "pinv of a triangle gradient": (lambda x: torch.linalg.pinv(x, hermitian=True), [X[..., :4]]),
    "bias of halves gradient": (
        F.conv3d, [torch.ones(size).bfloat16() for size in ((2, 1, 16, 20, 28), (4, 1, 1, 1, 1), (4,))],
    ),
    "istft": (lambda x: torch.istft(torch.stft(x, 8, window=torch.hann_window(8), return_complex=True), 8,
                                    window=torch.hann_window(8)), [X.reshape(2, 36)]),
    "pinv of none": (torch.linalg.pinv, [X[:, :, :0]]),
    "histc": (lambda x: torch.histc(x, 5, -2, 2), [X]),
    "histc of all": (lambda x: torch.histc(x, 5), [X]),
    "histc of halves": (
        lambda x: (torch.histc(x, 7), torch.histc(x.half(), 9, -3, 3)), [models.numbers(200).bfloat16()],
    ),
    "take of one": (lambda x, at: (torch.take(x, at), torch.take(x[0, 0, 0], at - 4)), [X, torch.tensor(4)]),
    "digamma of zeros": (
        lambda x: (x.digamma(), torch.polygamma(0, x), (x > 0).digamma()), [torch.tensor([0.0, -0.0, -1.0, -0.5, 2.0])],
    ),
    "gcd of unlike types": (
        lambda n, m: (torch.gcd(n, m), torch.gcd(m, n), torch.lcm(n, m), torch.gcd(n, m[None])),
        [torch.tensor([4, -6, 9], dtype=torch.int16), torch.tensor(6, dtype=torch.int32)],
    ),
    "means of complex rows": (
        lambda c: c.scatter_reduce(1, ROWS[1:4].expand(3, 3) % 4, c[:, :3], "mean", include_self=False), [C],
    ),
    "polar": (lambda x: torch.polar(x.abs(), x), [X]),
    "adaptive_max gradient": (lambda x: F.adaptive_max_pool2d(x[None], [2, 3]), [X]),
    "quantile": (lambda x: torch.quantile(x, 0.3, dim=1), [X]),
    "cross": (lambda x: torch.linalg.cross(x[..., :3], x[..., 3:]), [X]),
    "glu gradient": (F.glu, [X]),
    "cummax": (lambda x: tuple(torch.cummax(x, 1)), [X]),
    "cummin": (lambda x: tuple(torch.cummin(x.round(), -1)), [X]),
    "median gradient": (lambda x: torch.median(x, 1).values, [X]),
    "median of NaNs": (lambda x: tuple(torch.median(torch.where(x > 1, float("nan"), x), 2)), [X]),
    "trapezoid": (torch.trapezoid, [X]),
    "renorm": (lambda x: torch.renorm(x, 2, 0, 1.0), [X]),
    "addbmm gradient": (lambda x, y: torch.addbmm(x[0].T[:, :3], x.mT, y, beta=0.5, alpha=2), [X, X[..., :3]]),
    "addbmm of integers": (lambda n: torch.addbmm(n[0], n, n, beta=0.6, alpha=2.5), [torch.arange(27).view(3, 3, 3)]),
    "nonzero_static": (lambda x: torch.cat([torch.nonzero_static(x > 0, size=n) for n in (9, 99)]), [X]),
    "combinations gradient": (lambda x: torch.combinations(x, 3), [X[0, 0]]),
    "frexp": (lambda x: tuple(torch.frexp(x * 1e9)), [torch.cat([X.flatten(), torch.tensor([0, math.inf, math.nan])])]),
    "views of bits": (lambda x: tuple(x.view(kind) for kind in (torch.int32, torch.bfloat16, torch.float64)), [X]),
    "views of bools": (lambda x: ((x > 0).view(torch.uint8), (x > 0).view(torch.int16)), [X]),
    "masked_scatter of a row": (lambda x, y: x.masked_scatter(y[0] > 0, y), [X[0, 0], X]),
    "cdist of none gradient": (torch.cdist, [X[:1], torch.empty(0, 5, 6)]),
    "take gradient": (lambda x: torch.take(x, ROWS), [X]), "put": (lambda x: torch.put(x, ROWS[1:3], x[0, 0, :2]), [X]),
    "sgn gradient": (torch.sgn, [X]),
    "multi_margin of a number gradient": (lambda x: F.multi_margin_loss(x, torch.tensor(0)), [torch.tensor(0.5)]),
}


def numbers(m):
    """Functions of numbers that are composed of others."""
    shape, dtype, integers = m.filled(0, 3), m.pick(torch.float32, torch.float64), m.pick(torch.int8, torch.int64)
    x, n, k = m.tensor(shape, dtype), m.pick(-1, 0, 1, 2, 4), m.draw.randint(1, 6)
    first, second = m.tensor(shape, integers), m.tensor(m.broadcast_partner(shape), integers)
    names = [name for name in dir(torch.special) if "_polynomial_" in name]
    low, high = sorted(m.tensor([2], dtype).tolist())
    return {
        "gcd": (torch.gcd, [first, second]),
        "lcm": (torch.lcm, [first, second]),
        "nextafter": (torch.nextafter, [x, x.flip(-1) if shape else -x]),
        "ndtri": (torch.special.ndtri, [torch.cat([x.sigmoid().flatten(), x.new_tensor([0, 1, -1, 1e-9])])]),
        "spherical_bessel_j0": (torch.special.spherical_bessel_j0, [x.round()]),
        "modified_bessel_i1": (torch.special.modified_bessel_i1, [x]),
        "histogram": (lambda x: tuple(torch.histogram(x, k, density=True)), [x]),
        "histogram of a range": (lambda x: tuple(torch.histogram(x, k, range=(low, high + 1), weight=x.abs())), [x]),
        "histogram by edges": (lambda x: tuple(torch.histogram(x, torch.arange(k + 1).to(x))), [x]),
        **{name: (lambda x, name=name: getattr(torch.special, name)(x, n), [x / 4]) for name in names},
    }


def linear_algebra(m):
    batch, n, columns = m.filled(0, 2), m.draw.randint(1, 5), m.draw.randint(1, 4)
    dtype, upper = m.pick(torch.float32, torch.float64), m.chance(0.5)
    root = m.tensor([*batch, n, n], dtype)
    a, y = root @ root.mT + 4 * torch.eye(n), m.tensor([*batch, n, columns], dtype)
    both = lambda a: (a + a.mT) / 2
    factor = lambda a: torch.linalg.cholesky(both(a), upper=upper)
    return {
        "cholesky gradient": (factor, [a]),
        "cholesky of complex": (lambda a: torch.linalg.cholesky(a + 0.1j * (a.tril(-1) - a.tril(-1).mT)), [both(a)]),
        "cholesky_ex": (lambda a: tuple(torch.linalg.cholesky_ex(both(a), upper=upper)), [a]),
        "cholesky_ex of none": (lambda a: torch.linalg.cholesky_ex(torch.stack([a, -a])).info > 0, [a]),
        "solve_triangular gradient": (lambda a, y: torch.linalg.solve_triangular(a, y, upper=upper), [a, y]),
        "solve_triangular from the right": (
            lambda a, y: torch.linalg.solve_triangular(a, y, upper=upper, left=False, unitriangular=True),
            [a[(0,) * len(batch)] / 9, y.mT],
        ),
        "triangular_solve": (lambda a, y: torch.triangular_solve(y, a, upper, True)[0], [a, y]),
        "cholesky_solve gradient": (lambda a, y: torch.cholesky_solve(y, factor(a), upper=upper), [a, y]),
        "matrix_exp gradient": (torch.linalg.matrix_exp, [root]),
        "matrix_exp of a rotation": (lambda a: torch.linalg.matrix_exp(50 * (a - a.mT)), [root.double()]),
        "matrix_exp of complex": (lambda a: torch.linalg.matrix_exp(a + 0.5j * a.mT), [root]),
        "cholesky_inverse": (lambda a: torch.cholesky_inverse(factor(a), upper=upper), [a]),
    }


def factors(m):
    """Solutions, determinants and factors of general matrices."""
    batch, n, columns = m.filled(0, 2), m.draw.randint(1, 5), m.draw.randint(1, 4)
    dtype = m.pick(torch.float32, torch.float64)
    a = m.tensor([*batch, n, n], dtype) + 3 * torch.eye(n, dtype=dtype)[torch.randperm(n, generator=m.generator)]
    y, tall = m.tensor([*batch, n, columns], dtype), m.tensor([*batch, n + 2, n], dtype)
    spread = torch.arange(1, n + 1, dtype=dtype).diag() * 5 + (a + a.mT) / 9
    solve = torch.linalg.solve
    return {
        "inv gradient": (torch.linalg.inv, [a]), "det gradient": (torch.linalg.det, [a]),
        "det of the transpose gradient": (lambda a: torch.linalg.det(a.mT), [a]),
        "slogdet gradient": (lambda a: tuple(torch.linalg.slogdet(a)), [a]),
        "solve gradient": (solve, [a, y]), "solve by the transpose gradient": (lambda a, y: solve(a.mT, y), [a, y]),
        "solve from the right gradient": (lambda a, y: solve(a, y.mT, left=False), [a, y]),
        "solve of vectors gradient": (lambda a, y: solve(a, y[..., 0]), [a, y]),
        "lu_factor": (lambda a: tuple(torch.linalg.lu_factor(a)), [a]),
        "lu_solve of the adjoint": (
            lambda a, y: torch.linalg.lu_solve(*torch.linalg.lu_factor(a), y, adjoint=True), [a, y],
        ),
        "qr gradient": (lambda a: tuple(torch.linalg.qr(a)), [tall]),
        "lu gradient": (lambda a: tuple(torch.linalg.lu(a)), [a]), "lu of tall": (lambda a: torch.linalg.lu(a), [tall]),
        "lu_unpack gradient": (lambda a: torch.lu_unpack(*torch.linalg.lu_factor(a))[1:], [a]),
        "complete qr": (lambda a: tuple(torch.linalg.qr(a, "complete")), [tall]),
        "ormqr": (lambda a, y: torch.ormqr(*torch.geqrf(a), a, transpose=True), [tall, y]),
        "qr of wide": (lambda a: torch.linalg.qr(a.mT).R.abs(), [tall]),
        "svdvals gradient": (torch.linalg.svdvals, [tall]),
        "svd": (lambda a: torch.linalg.svd(a, full_matrices=False).U.abs(), [tall]),
        "pinv gradient": (torch.linalg.pinv, [tall]),
        "eigvalsh gradient": (torch.linalg.eigvalsh, [spread]),
        "eigh gradient": (lambda a: torch.linalg.eigh((a + a.mT) / 2).eigenvectors ** 2, [spread]),
        "householder gradient": (
            lambda a: torch.linalg.householder_product(a.tril(-1) / 9, a[..., 0, :] * 0 + 1), [tall],
        ),
    }  # fmt: skip


def grouped(m):
    """Products by groups, some of which are empty."""
    rows, groups, k, n = m.draw.randint(1, 9), m.draw.randint(1, 4), 4 * m.draw.randint(1, 3), 4 * m.draw.randint(1, 3)
    ends = torch.sort(m.index([groups], rows + 1)).values.to(torch.int32)
    ends[-1] = rows
    fours = torch.arange(4, 4 * groups + 4, 4, dtype=torch.int32)
    product = lambda x, y: F.grouped_mm(x, y, offs=ends)
    half = [m.tensor([rows, 8], torch.bfloat16), m.tensor([groups, 8, 16], torch.bfloat16)]
    return {
        "by rows gradient": (product, [m.tensor([rows, k]), m.tensor([groups, k, n])]),
        "by rows of transposed matrices gradient": (
            lambda x, y: product(x, y.mT), [m.tensor([rows, k]), m.tensor([groups, n, k])],
        ),
        "halves by rows gradient": (product, half),
        "by columns gradient": (
            lambda x, y: F.grouped_mm(x, y, offs=fours), [m.tensor([groups, n, k]), m.tensor([k, 4 * groups])],
        ),
        "batches gradient": (lambda x, y: F.grouped_mm(x.mT, y), [m.tensor([groups, k, n]), m.tensor([groups, k, 4])]),
    }  # fmt: skip


def special(m):
    """In bfloat16 and the other types, at infinities and NaNs where eager PyTorch has them."""
    x, half = m.tensor([60], m.pick(torch.float32, torch.float64)) * 5 + 0.01, m.tensor([40], torch.bfloat16, True)
    ends = torch.tensor([math.inf, -math.inf, math.nan, 1e30, -1e30, 0.0, 8.0])
    positive = x.abs() + 0.1
    functions = [torch.special.i0e, torch.i0, torch.special.i1e, torch.special.i1]
    cases = {f"{f.__name__} gradient": (f, [x]) for f in functions}
    cases |= {f"{f.__name__} of a half": (f, [half]) for f in (torch.special.i0e, torch.angle)}
    cases |= {f"{f.__name__} at ends": (f, [ends]) for f in (torch.special.i0e, torch.special.erfcx, torch.angle)}
    cases |= {f"polygamma {n}": (lambda x, n=n: torch.polygamma(n, x), [positive]) for n in range(4)}
    return cases | {
        "erfcx gradient": (torch.special.erfcx, [x.clamp(-4)]), "log_ndtr gradient": (torch.special.log_ndtr, [x]),
        "zeta": (lambda x, q: torch.special.zeta(x + 1, q), [positive, positive.flip(0)]),
        "polygamma below 0": (
            lambda x, w: tuple(torch.polygamma(n, y) / 9**n for n in range(1, 5) for y in (x, w)),
            [x.double(), torch.tensor([-2.5, -8.25, -9.5, -30.75, 0.0])],
        ),
        "digamma gradient": (torch.digamma, [positive]), "angle gradient": (torch.angle, [x]),
        "angle of complex gradient": (lambda x, y: torch.angle(torch.complex(x, y)), [x, x.flip(0)]),
        "angle of integers": (torch.angle, [torch.arange(-3, 3)]),
    }  # fmt: skip


def distances(m):
    """Of rows some of which are equal."""
    count, width, batch = m.draw.randint(2, 6), m.draw.randint(1, 4), m.draw.randint(1, 3)
    x, y = m.tensor([count, width]), m.tensor([batch, m.draw.randint(1, 5), width])
    x = torch.cat([x, x[:1]])
    cases = {}
    for p in (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, math.inf):
        cases[f"pdist {p} gradient"] = (lambda x, p=p: torch.pdist(x, p), [x])
        cases[f"cdist {p} gradient"] = (lambda y, x, p=p: torch.cdist(y, x, p), [y, x])
    return cases


def margins(m):
    rows, classes = m.draw.randint(1, 5), m.draw.randint(2, 5)
    x, weight = m.tensor([rows, classes]), m.tensor([classes]).abs()
    target = m.index([rows], classes)
    labels = torch.argsort(torch.rand([rows, classes], generator=m.generator))
    labels = torch.where(m.tensor([rows, classes], torch.bool) & (torch.arange(classes) > 0), -1, labels)
    cases = {}
    for how in ("mean", "sum", "none"):
        for p in (1, 2):
            cases[f"multi_margin {p} {how} gradient"] = (
                lambda x, p=p, how=how: F.multi_margin_loss(x, target, p, 0.7, weight, reduction=how), [x],
            )  # fmt: skip
        cases[f"multilabel_margin {how} gradient"] = (
            lambda x, how=how: F.multilabel_margin_loss(x, labels, reduction=how), [x],
        )  # fmt: skip
    cases["multi_margin of one row gradient"] = (lambda x: F.multi_margin_loss(x, target[0]), [x[0]])
    cases["multilabel_margin of one row gradient"] = (lambda x: F.multilabel_margin_loss(x, labels[0]), [x[0]])
    return cases


def combining(m):
    """By places or segments: reductions, medians, modes, maxima of random windows."""
    shape = m.filled(3, 3)
    dim = m.dim(3)
    x, index = m.tensor(shape, m.pick(torch.float32, torch.float64)), m.index([m.draw.randint(1, 6)], shape[dim])
    source = m.tensor([len(index) if at == dim % 3 else extent for at, extent in enumerate(shape)], x.dtype)
    gaps = torch.where(m.tensor(shape, torch.bool), math.nan, x)
    lengths = m.index([4], 4)
    rows, more = m.tensor([int(lengths.sum()), 3]), m.tensor([int(lengths.sum()) + 2, 3])
    offsets = F.pad(lengths.cumsum(0), [1, 0])
    image = m.tensor([2, 3, m.draw.randint(4, 8), m.draw.randint(5, 9)])
    samples = torch.rand([2, 3, 2], generator=m.generator)
    cases = {}
    for how in ("prod", "mean", "amax", "amin"):
        for own in (True, False):
            cases[f"index_reduce {how} {own}"] = (
                lambda x, s, how=how, own=own: torch.index_reduce(x, dim, index, s, how, include_self=own), [x, source],
            )  # fmt: skip
    for how in ("sum", "mean", "max", "min"):
        cases[f"segment {how} gradient"] = (
            lambda x, how=how: torch.segment_reduce(x, how, lengths=lengths), [rows],
        )  # fmt: skip
        cases[f"segment {how} by offsets gradient"] = (
            lambda x, how=how: torch.segment_reduce(x, how, offsets=offsets, initial=0.3), [more],
        )  # fmt: skip
    return cases | {
        "segment prod": (lambda x: torch.segment_reduce(x, "prod", lengths=lengths), [rows]),
        "mode": (lambda x: torch.mode(x.round(), dim).values, [x]),
        "mode gradient": (lambda x: torch.mode(x, dim, True).values, [x]),
        "nanmedian": (lambda x: torch.nanmedian(x, dim).values, [gaps]),
        "nanmedian gradient": (lambda x: torch.nanmedian(x, dim, True).values, [x]),
        "nanmedian of all": (torch.nanmedian, [gaps.bfloat16()]),
        "masked_scatter gradient": (lambda x, y: x.masked_scatter(x > 0, y), [x, m.tensor([x.numel() + 2], x.dtype)]),
        "fractional maxima gradient": (
            lambda x: F.fractional_max_pool2d(x, 2, [3, 4], _random_samples=samples), [image],
        ),
        "places of adaptive maxima": (lambda x: F.adaptive_max_pool2d(x, [3, 2], True), [image.round()]),
        "adaptive maxima gradient": (lambda x: F.adaptive_max_pool2d(x[0], [2, 3]), [image]),
        "adaptive maxima in three dims gradient": (lambda x: F.adaptive_max_pool3d(x, [2, 3, 2]), [image]),
        "fractional maxima in three dims gradient": (
            lambda x: F.fractional_max_pool3d(x[None], (2, 1, 3), (1, 3, 2),
                                              _random_samples=torch.tensor([[[0.2, 0.7, 0.4]] * 2])), [image],
        ),
        "places of fractional maxima": (
            lambda x: F.fractional_max_pool2d(x, (2, 3), [1, 3], True, _random_samples=samples), [image],
        ),
    }  # fmt: skip


def resizes(m):
    """With antialiasing: to less and to more than there is."""
    x = m.tensor([2, 1, m.draw.randint(3, 9), m.draw.randint(3, 9)], m.pick(torch.float32, torch.float64))
    size = [m.draw.randint(1, 12), m.draw.randint(1, 12)]
    cases = {"nearest-exact gradient": (lambda x: F.interpolate(x, size, mode="nearest-exact"), [x])}
    for mode in ("bilinear", "bicubic"):
        for corners in (True, False):
            cases[f"{mode} {corners} gradient"] = (
                lambda x, mode=mode, corners=corners: F.interpolate(x, size, None, mode, corners, antialias=True), [x],
            )  # fmt: skip
        cases[f"{mode} by a factor gradient"] = (
            lambda x, mode=mode: F.interpolate(x, None, 0.6, mode, antialias=True), [x],
        )  # fmt: skip
    return cases


def alignments(m):
    """Of rows of several lengths, some of which can not be aligned."""
    times, rows, classes, most = m.draw.randint(3, 8), m.draw.randint(1, 4), m.draw.randint(2, 5), m.draw.randint(1, 4)
    x = m.tensor([times, rows, classes], m.pick(torch.float32, torch.float64))
    labels = m.index([rows, most], classes - 1) + 1
    given, lengths = m.index([rows], times) + 1, m.index([rows], most + 1)
    whole, one, behind = torch.full([rows], times), labels[0, : int(lengths[0])], labels.flatten()[: int(lengths.sum())]
    padded = torch.where(torch.arange(most) < lengths[:, None], labels, 0)
    loss = lambda *rest, **how: lambda x: F.ctc_loss(x.log_softmax(2), *rest, **how)
    of_selected = lambda select: lambda x, y: F.ctc_loss(
        x.log_softmax(2), select(y), whole, (y > 0).sum(1), zero_infinity=True
    )
    return {
        "zero infinity gradient": (loss(labels, given, lengths, zero_infinity=True), [x]),
        "of each gradient": (loss(labels, given, lengths, reduction="none", zero_infinity=True), [x]),
        "infinite": (loss(labels, given, lengths, reduction="none"), [x]),
        "of tuples gradient": (
            loss(labels.flatten()[:rows], (times,) * rows, (1,) * rows, reduction="sum"), [x],
        ),
        "one behind the other gradient": (
            loss(behind, whole, lengths, zero_infinity=True), [x],
        ),
        "another blank gradient": (
            loss(labels - 1, whole, lengths, blank=classes - 1, zero_infinity=True), [x],
        ),
        "of labels that a mask selects gradient": (of_selected(lambda y: y.masked_select(y > 0)), [x, padded]),
        "of labels at a mask gradient": (of_selected(lambda y: y[y > 0]), [x, padded]),
        "of no logits gradient": (lambda x: F.ctc_loss(x, labels, whole, lengths, zero_infinity=True), [x]),
        "of one row gradient": (
            lambda x: F.ctc_loss(x[:, 0].log_softmax(1), one, whole[0], lengths[0],
                                 zero_infinity=True), [x],
        ),
    }  # fmt: skip


def lists(m):
    """What is called of lists of tensors, in place too."""
    xs = [m.tensor(m.filled()) for _ in range(4)]
    pair = lambda function: lambda x, y, z, w: tuple(function([x, y], [z[:1].sum() + x, w[:1].sum() * y]))
    added = lambda x, y, z, w: (torch._foreach_add_(each := [x * 1, y * 1], 2.0), *each)[1:]
    return {
        "foreach mul gradient": (pair(torch._foreach_mul), xs), "foreach sub gradient": (pair(torch._foreach_sub), xs),
        "foreach div gradient": (lambda *xs: tuple(torch._foreach_div(xs, [2.0, 3.0, 4.0, 5.0])), xs),
        "foreach add of scaled": (pair(lambda x, y: torch._foreach_add(x, y, alpha=0.3)), xs),
        "foreach lerp": (pair(lambda x, y: torch._foreach_lerp(x, y, 0.3)), xs),
        "foreach addcmul": (pair(lambda x, y: torch._foreach_addcmul(x, y, y, value=0.5)), xs),
        "foreach clamp_min": (lambda *xs: tuple(torch._foreach_clamp_min(xs, 0.2)), xs),
        "foreach norm": (lambda *xs: tuple(torch._foreach_norm(xs, 1)), xs),
        "foreach exp gradient": (lambda *xs: tuple(torch._foreach_exp(xs)), xs),
        "foreach add in place gradient": (added, xs),
    }  # fmt: skip


def others(m):
    x, scale = m.tensor([m.draw.randint(1, 5), 4, 3]), m.tensor([4]).abs() + 0.1
    zero = torch.tensor([0, 2, -1, 3], dtype=torch.int32)
    rows, (left, right, outputs) = m.draw.randint(1, 5), m.filled(3, 3)
    dtype = m.pick(torch.float32, torch.float64)
    t = lambda *shape: m.tensor(shape, dtype)
    def looked_up(w, indices, p):
        w = w.clone()
        return F.embedding(indices, w, max_norm=0.7, norm_type=p), w

    indices = m.index([2, 3], rows)
    return {
        "rows of a norm": (lambda w: looked_up(w, indices, 2.0), [t(rows, 4)]),
        "rows of a sum": (lambda w: looked_up(w, indices, 1.0), [t(rows, 4)]),
        "bilinear gradient": (F.bilinear, [t(2, rows, left), t(2, rows, right), t(outputs, left, right), t(outputs)]),
        "bilinear": (F.bilinear, [t(rows, left).bfloat16(), t(rows, right).bfloat16(),
                                  t(outputs, left, right).bfloat16()]),
        "weight norm gradient": (lambda v, g: torch._weight_norm(v, g, 0), [x, x.norm(dim=(1, 2), keepdim=True) * 2]),
        "weight norm of last gradient": (lambda v, g: torch._weight_norm(v, g, 2), [x, t(1, 1, 3).to(x.dtype)]),
        "rrelu gradient": (F.rrelu, [x]),
        "quantized gradient": (lambda x: torch.fake_quantize_per_tensor_affine(x, 0.1, 3, -8, 7), [x]),
        "quantized halves": (lambda x: torch.fake_quantize_per_tensor_affine(x, 0.1, 3, -8, 7), [x.bfloat16()]),
        "quantized ties": (lambda x: torch.fake_quantize_per_tensor_affine(x, 0.5, 3, -128, 127),
                           [torch.arange(-40, 40) * 0.25]),
        "quantized by tensors gradient": (
            lambda x, s, z: torch.fake_quantize_per_tensor_affine(x, s.detach(), z, -8, 7), [x, scale[0], zero[1]],
        ),
        "quantized by channels gradient": (
            lambda x, s, z: torch.fake_quantize_per_channel_affine(x, s.detach(), z, 1, -8, 7), [x, scale, zero],
        ),
    }  # fmt: skip


def sized(m):
    """Bags, counts and packed sequences, whose sizes follow from numbers."""
    rows, extent, count = m.draw.randint(1, 6), m.draw.randint(1, 4), m.draw.randint(1, 9)
    ids, padding, last = m.index([count], rows), m.pick(None, 0, rows - 1), m.chance(0.3)
    ids = ids.int() if m.chance(0.3) else ids
    begins = torch.tensor(sorted([0, *(m.draw.randint(0, count) for _ in range(m.draw.randint(0, 3)))])).to(ids.dtype)
    begins = torch.cat([begins, torch.tensor([count], dtype=ids.dtype)]) if last else begins
    lengths = [m.draw.randint(1, 5) for _ in range(m.draw.randint(1, 4))]
    kind, first, both = m.pick("LSTM", "GRU", "RNN"), m.chance(0.5), m.chance(0.5)
    total = m.pick(None, 7)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(rows)
        layer = getattr(nn, kind)(extent, 3, m.draw.randint(1, 2), batch_first=first, bidirectional=both)
        layer.requires_grad_(False)
    steps = m.tensor([len(lengths), 5, extent] if first else [5, len(lengths), extent])

    def packed(x):
        given = nn.utils.rnn.pack_padded_sequence(x, lengths, first, enforce_sorted=False)
        found, states = layer(given)
        padded, sizes = nn.utils.rnn.pad_packed_sequence(found, first, -1.0, total)
        return [padded, sizes, *(states if kind == "LSTM" else [states])]

    def bags(mode):
        return lambda w: F.embedding_bag(ids, w, begins, mode=mode, padding_idx=padding, include_last_offset=last)

    w, each = m.tensor([rows, extent], m.pick(torch.float32, torch.float64)), m.tensor([count])
    return {
        "bags of maxima gradient": (bags("max"), [w]), "bags of means gradient": (bags("mean"), [w]),
        "bags of ties gradient": (bags("max"), [w.sign()]),
        "counts": (lambda x: torch.bincount(x, minlength=rows), [ids]),
        "weights of counts": (lambda x, w: x.bincount(w, minlength=rows + 2), [ids, each]),
        "packed gradient": (packed, [steps]),
    }  # fmt: skip


FAMILIES = [numbers, linear_algebra, factors, grouped, special, distances, margins, combining, resizes, alignments,
  lists, others, sized]  # fmt: skip
