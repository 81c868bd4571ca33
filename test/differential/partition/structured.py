"""Linear algebra, transforms, norms, random bits and custom calls."""

import math

from elements import COMPLEX, array_text


def _batched(graph, tail, high=2):
    return (*graph.shape(0, high), *tail)


def cholesky(graph):
    n = graph.choose((2, 4, 3, 1))
    element = graph.choose(("f32", "f64", "complex<f32>"))
    a = graph.argument(_batched(graph, (n, n)), element, ("definite",))
    lower = graph.chance(50)
    (factor,) = graph.op(
        "stablehlo.cholesky", [a], [(a.shape, element)], f"lower = {str(lower).lower()}", exact=False, terms=n
    )
    # The other triangle is anything.
    dims = len(a.shape)
    rows, columns = (graph.op("stablehlo.iota", [], [(a.shape, "i32")], f"iota_dimension = {dims - at} : i64",
                              exact=True, bound=4, attributes=False)[0] for at in (2, 1))
    (keep,) = graph.op("stablehlo.compare", [rows, columns], [(a.shape, "i1")], "comparison_direction = "
                       f"#stablehlo<comparison_direction {'GE' if lower else 'LE'}>", exact=True, bound=1,
                       attributes=False)
    zero = graph.constant([], element, ())
    graph.lines[-1] = graph.lines[-1].replace("dense<>", "dense<(0.0, 0.0)>" if element in COMPLEX else "dense<0.0>")
    (zeros,) = graph.op("stablehlo.broadcast_in_dim", [zero], [(a.shape, element)], "broadcast_dimensions = array<i64>",
                        exact=True,
                        attributes=False)
    graph.op("stablehlo.select", [keep, factor, zeros], [(a.shape, element)])
    graph._used.add(factor.name)


def triangular_solve(graph):
    n, m = graph.choose((2, 4, 3, 1)), graph.choose((2, 4, 3, 8))
    element = graph.choose(("f32", "f64"))
    batch = graph.shape(0, 2)
    left = graph.chance(50)
    a = graph.argument((*batch, n, n), element, ("triangle",))
    b = graph.argument((*batch, n, m) if left else (*batch, m, n), element)
    side, lower, unit = (str(flag).lower() for flag in (left, graph.chance(50), graph.chance(20)))
    transpose = graph.choose(("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"))
    graph.op(
        "stablehlo.triangular_solve",
        [a, b],
        [(b.shape, element)],
        f"left_side = {side}, lower = {lower}, unit_diagonal = {unit}, transpose_a = #stablehlo<transpose {transpose}>",
        exact=False,
        terms=n,
    )


def fft(graph):
    count = graph.int(1, 2)
    lengths = [graph.choose((4, 8, 3, 6)) for _ in range(count)]
    kind = graph.choose(("FFT", "IFFT", "RFFT", "IRFFT"))
    wide = graph.chance(30)
    real, complex_ = ("f64", "complex<f64>") if wide else ("f32", "complex<f32>")
    half = [*lengths[:-1], lengths[-1] // 2 + 1]
    source, target = {"FFT": ((lengths, complex_),) * 2, "IFFT": ((lengths, complex_),) * 2,
                      "RFFT": ((lengths, real), (half, complex_)), "IRFFT": ((half, complex_), (lengths, real))}[kind]
    batch = graph.shape(0, 2)
    a = graph.argument((*batch, *source[0]), source[1])
    graph.op("stablehlo.fft", [a], [((*batch, *target[0]), target[1])],
             f"fft_type = #stablehlo<fft_type {kind}>, fft_length = {array_text(lengths)}", exact=False,
             terms=math.prod(lengths))
    graph.ops[-1] += f" {kind}"


def batch_norm(name):
    def family(graph):
        element = graph.choose(("f32", "f64"))
        shape = graph.shape(2, 4, least=1)
        feature = graph.int(0, len(shape) - 1)
        vector = (shape[feature],)
        a = graph.argument(shape, element)
        vectors = [graph.argument(vector, element) for _ in range({"inference": 3, "training": 2, "grad": 2}[name])]
        if name != "training":
            vectors.append(graph.argument(vector, element, ("real", 1.0, 4.0)))
        operands = [a, *vectors] + ([graph.argument(shape, element)] if name == "grad" else [])
        results = [(shape, element)] + ([] if name == "inference" else [(vector, element)] * 2)
        graph.op(
            f"stablehlo.batch_norm_{name}",
            operands,
            results,
            f"epsilon = 0.5 : f32, feature_index = {feature} : i64",
            exact=False,
            terms=math.prod(shape),
        )

    return family


def rng_bit_generator(graph):
    algorithm = graph.choose(("DEFAULT", "THREE_FRY", "PHILOX"))
    state = graph.argument((graph.choose((2, 3)) if algorithm == "PHILOX" else 2,), "ui64", sharded=False)
    shape, element = graph.shape(0, 3), graph.choose(("ui32", "ui64", "ui8", "ui16"))
    graph.op("stablehlo.rng_bit_generator", [state], [(state.shape, "ui64"), (shape, element)],
             f"rng_algorithm = #stablehlo<rng_algorithm {algorithm}>", exact=True)


#
# Custom calls
#


def _layouts(ranks, matrix):
    """Matrices by columns, the rest by rows, as LAPACK reads them; those of rank `matrix` are matrices."""
    found = []
    for rank in ranks:
        order = [*range(rank)][::-1]
        if rank == matrix:
            order[0], order[1] = order[1], order[0]
        found.append(f"dense<{order}> : tensor<{rank}xindex>" if rank else "dense<> : tensor<0xindex>")
    return f"[{', '.join(found)}]"


def custom_top_k(graph):
    a = graph.pick(("f32", "bf16"), low=1, high=2, least=1, exact=True)
    k = graph.int(1, a.shape[-1])
    shape = (*a.shape[:-1], k)
    graph.op("stablehlo.custom_call", [a], [(shape, a.element), (shape, "i32")], 'call_target_name = "mhlo.topk", '
             'called_computations = []', exact=True)
    graph.attach(f"mhlo.attributes = {{k = {k} : i64, largest = true}}, mhlo.version = 1 : i64")


def eigen(graph):
    n = graph.choose((2, 4, 3))
    batch = graph.shape(0, 2, least=1)
    a = graph.argument((*batch, n, n), "f32", ("definite",))
    ranks = [len(batch) + 2, len(batch) + 1, len(batch)]
    # Vectors have either sign; values have one order.
    vectors, values, info = graph.op(
        "stablehlo.custom_call", [a], [(a.shape, "f32"), ((*batch, n), "f32"), (batch, "i32")],
        'call_target_name = "lapack_ssyevd_ffi", api_version = 4 : i32, backend_config = {mode = 86 : ui8, uplo = 76 '
        ': ui8}, '
        f"operand_layouts = {_layouts([a.rank], a.rank)}, result_layouts = {_layouts(ranks, a.rank)}", exact=False,
        terms=n * n)
    graph._used.add(vectors.name)
    rule = _rule(graph, batch, [n, n], [[n, n], [n], []])
    graph.attach(rule)
    graph.ops[-1] += " syevd"


def _rule(graph, batch, operand, results):
    """The rule that JAX writes: the batch passes through, each matrix dim is its own."""
    letters, sizes = iter("ijklmnopqrstuvwxyz"), []

    def take(count, of):
        found = [next(letters) for _ in range(count)]
        sizes.extend(f"{letter}={size}" for letter, size in zip(found, of, strict=True))
        return found

    shared = take(len(batch), batch)
    left = shared + take(len(operand), operand)
    right = [shared + take(len(result), result) for result in results]
    texts = ", ".join(f"[{', '.join(dims)}]" for dims in right)
    return f"sdy.sharding_rule = #sdy.op_sharding_rule<([{', '.join(left)}])->({texts}) {{{', '.join(sizes)}}}, custom>"


def triangular_qr(graph):
    """QR by LAPACK: the matrix with its reflectors, and their factors."""
    m, n = graph.choose(((4, 3), (3, 3), (5, 2)))
    batch = graph.shape(0, 2, least=1)
    a = graph.argument((*batch, m, n), "f32", ("real", 0.5, 2.0))
    ranks = [len(batch) + 2, len(batch) + 1]
    graph.op("stablehlo.custom_call", [a], [(a.shape, "f32"), ((*batch, min(m, n)), "f32")],
             'call_target_name = "lapack_sgeqrf_ffi", api_version = 4 : i32, backend_config = {}, '
             f"operand_layouts = {_layouts([a.rank], a.rank)}, result_layouts = {_layouts(ranks, a.rank)}", exact=False,
             terms=m * n)
    rule = _rule(graph, batch, [m, n], [[m, n], [min(m, n)]])
    graph.attach(rule)
    graph.ops[-1] += " geqrf"


FAMILIES = {
    "stablehlo.cholesky": cholesky, "stablehlo.triangular_solve": triangular_solve, "stablehlo.fft": fft,
    **{f"stablehlo.batch_norm_{name}": batch_norm(name) for name in ("inference", "training", "grad")},
    "stablehlo.rng_bit_generator": rng_bit_generator, "mhlo.topk": custom_top_k, "syevd": eigen, "geqrf": triangular_qr,
}
