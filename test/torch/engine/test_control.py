"""Loops and branches, indices, linear algebra, random bits, and ops of dynamic shapes, against PJRT."""

import numpy as np
import pytest
from shardonnay.torch.engine import EngineError
from single import Case, check, compute, numbers, tensor

I32, F32 = "tensor<i32>", "tensor<4xf32>"


def test_loops():
    """Counted, not run at all, nested with values from around, and with what the body hands on as it is."""
    counted = f"""$z = stablehlo.constant dense<0> : {I32}
      $k = stablehlo.constant dense<2.0> : {F32}
      $s:3 = stablehlo.while($i = $z, $x = $1, $w = $k) : {I32}, {F32}, {F32}
      cond {{
        $c = stablehlo.compare LT, $i, $0 : ({I32}, {I32}) -> tensor<i1>
        stablehlo.return $c : tensor<i1>
      }} do {{
        $one = stablehlo.constant dense<1> : {I32}
        $n = stablehlo.add $i, $one : {I32}
        $y = stablehlo.multiply $x, $w : {F32}
        $v = stablehlo.add $y, $1 : {F32}
        stablehlo.return $n, $v, $w : {I32}, {F32}, {F32}
      }}
      $r = stablehlo.add $s#1, $s#2 : {F32}"""
    swapped = f"""$z = stablehlo.constant dense<0> : {I32}
      $s:3 = stablehlo.while($i = $z, $x = $1, $y = $1) : {I32}, {F32}, {F32}
      cond {{
        $c = stablehlo.compare LT, $i, $0 : ({I32}, {I32}) -> tensor<i1>
        stablehlo.return $c : tensor<i1>
      }} do {{
        $one = stablehlo.constant dense<1> : {I32}
        $n = stablehlo.add $i, $one : {I32}
        $u = stablehlo.sine $x : {F32}
        stablehlo.return $n, $y, $u : {I32}, {F32}, {F32}
      }}
      $r = stablehlo.add $s#1, $s#2 : {F32}"""
    x = numbers((4,), "f32")
    cases = [Case(f"{name} {count}", [(np.int32(count), "i32"), (x, "f32")], [((4,), "f32")], body, 1e-5)
             for name, body in (("counted", counted), ("swapped", swapped)) for count in (0, 1, 5)]
    check(cases)


def branches(count, known=None):
    regions = ", ".join(
        f"{{\n$k{at} = stablehlo.constant dense<{at}.5> : {F32}\n$y{at} = stablehlo.multiply $1, $k{at} : {F32}\n"
        f"stablehlo.return $y{at} : {F32}\n}}"
        for at in range(count)
    )
    index, constant = ("$0", "") if known is None else ("$i", f"$i = stablehlo.constant dense<{known}> : {I32}\n")
    return f'{constant}$r = "stablehlo.case"({index}) ({regions}) : ({I32}) -> {F32}'


def test_branches():
    x = numbers((4,), "f32")
    cases = [Case(f"case {count} {at} {known}", [(np.int32(at), "i32"), (x, "f32")], [((4,), "f32")],
                  branches(count, at if known else None), 1e-6)
             for count in (1, 2, 3, 5) for at in (-1, 0, 1, 3, 7, -(2**31)) for known in (False, True)]
    if_ = f"""$r:2 = "stablehlo.if"($0) ({{ $y = stablehlo.sine $1 : {F32}
        stablehlo.return $y, $1 : {F32}, {F32} }}, {{ stablehlo.return $1, $1 : {F32}, {F32} }}) : (tensor<i1>) -> ({F32}, {F32})"""
    cases += [
        Case(f"if {flag}", [(np.bool_(flag), "i1"), (x, "f32")], [((4,), "f32"), ((4,), "f32")], if_, 1e-6)
        for flag in (False, True)
    ]
    check(cases)


def test_a_known_branch_leaves_no_trace():
    text = f"""func.func public @main(%0: {F32}) -> {F32} {{
      %i = stablehlo.partition_id : tensor<ui32>
      %j = stablehlo.convert %i : (tensor<ui32>) -> {I32}
      %r = "stablehlo.case"(%j) ({{ stablehlo.return %0 : {F32} }}, {{ %y = stablehlo.sine %0 : {F32}
        stablehlo.return %y : {F32} }}) : ({I32}) -> {F32}
      return %r : {F32}
    }}"""
    _, graph = compute(text, [numbers((4,), "f32")])
    assert [node.op for node in graph.graph.nodes] == ["placeholder", "output"]


GATHERS = [((7, 3), (5, 1), (5, 3), "offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], "
                                    "index_vector_dim = 1", [1, 3]),
           ((7, 6), (4, 2), (4, 2, 3), "offset_dims = [1, 2], start_index_map = [0, 1], index_vector_dim = 1", [2, 3]),
           ((7, 6), (2, 4), (3, 4), "offset_dims = [0], collapsed_slice_dims = [0], start_index_map = [1, 0], "
                                    "index_vector_dim = 0", [1, 3]),
           ((2, 5, 3), (2, 4, 1), (2, 4, 3), "offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = "
                                             "[0], start_indices_batching_dims = [0], start_index_map = [1], "
                                             "index_vector_dim = 2", [1, 1, 3]),
           ((6,), (3, 2), (3, 2), "collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2", [1]),
           ((3, 4), (2,), (2, 2), "offset_dims = [0, 1], start_index_map = [0, 1]", [2, 2])]  # fmt: skip


@pytest.mark.parametrize("index", ["i32", "ui32", "i64", "ui8", "i8"])
def test_gathers_and_scatters(index):
    """Indices out of bounds on both sides; updates that meet are added, multiplied, compared, or the last one stays."""
    cases = []
    for operand, indices, result, dims, sizes in GATHERS:
        low = 0 if index.startswith("u") else -3
        places = (
            np.random.default_rng(5)
            .integers(low, 9, indices)
            .astype(
                index.replace("ui", "uint").replace("i", "int", index[0] == "i")
                if index[0] == "i"
                else index.replace("ui", "uint")
            )
        )
        for element in ("f32", "i32", "bf16", "i1", "ui64", "complex<f32>"):
            body = f"""$r = "stablehlo.gather"($0, $1) <{{dimension_numbers = #stablehlo.gather<{dims}>, slice_sizes = array<i64: {', '.join(map(str, sizes))}>}}> :
                ({tensor(operand, element)}, {tensor(indices, index)}) -> {tensor(result, element)}"""
            cases.append(Case(f"gather {element} {dims}", [(numbers(operand, element), element), (places, index)],
                              [(result, element)], body, 0.0))
        dims = (dims.replace("offset_dims", "update_window_dims").replace("collapsed_slice_dims",
            "inserted_window_dims")
                .replace("start_indices_batching_dims",
                         "scatter_indices_batching_dims").replace("operand_batching_dims",
                                                                  "input_batching_dims").replace("start_index_map",
                                                                      "scatter_dims_to_operand_dims"))  # fmt: skip
        for element, kind in (
            ("f32", "add"),
            ("i32", "add"),
            ("ui32", "maximum"),
            ("i32", "multiply"),
            ("f32", "minimum"),
            ("i32", None),
            ("bf16", None),
            ("i1", "or"),
            ("i32", "and"),
        ):
            scalar = tensor((), element)
            inside = (
                f"$z = stablehlo.{kind} $p, $q : {scalar}\nstablehlo.return $z : {scalar}"
                if kind
                else f"stablehlo.return $q : {scalar}"
            )
            body = f"""$r = "stablehlo.scatter"($0, $1, $2) <{{scatter_dimension_numbers = #stablehlo.scatter<{dims}>}}> ({{\n^bb0($p: {scalar}, $q: {scalar}):\n{inside}\n}}) :
                ({tensor(operand, element)}, {tensor(indices, index)}, {tensor(result, element)}) -> {tensor(operand, element)}"""
            arguments = [(numbers(operand, element), element), (places, index), (numbers(result, element, 3), element)]
            cases.append(
                Case(f"scatter {kind} {element} {dims}", arguments, [(operand, element)], body, 1e-5, atol=1e-5)
            )
    check(cases)


@pytest.mark.parametrize("element", ["f32", "f64", "complex<f32>", "complex<f64>"])
def test_linear_algebra(element):
    part = element[8:-1] if "<" in element else element
    x = numbers((2, 3, 3), element)
    a = (x @ np.conj(np.swapaxes(x, 1, 2)) + 3 * np.eye(3)).astype(x.dtype)
    b, kind = numbers((2, 3, 3), element, 1), tensor((2, 3, 3), element)
    tolerance = 1e-4 if part == "f32" else 1e-10
    cases = []
    for flag in ("true", "false"):
        mask = f"""$i = stablehlo.iota dim = 1 : tensor<2x3x3xi32>\n$j = stablehlo.iota dim = 2 : tensor<2x3x3xi32>
          $m = stablehlo.compare {"GE" if flag == "true" else "LE"}, $i, $j : (tensor<2x3x3xi32>, tensor<2x3x3xi32>) -> tensor<2x3x3xi1>
          $o = stablehlo.constant dense<{"(0.0, 0.0)" if "<" in element else "0.0"}> : {kind}"""
        body = (
            f"$c = stablehlo.cholesky $0, lower = {flag} : {kind}\n{mask}\n$r = stablehlo.select $m, $c, $o : "
            f"tensor<2x3x3xi1>, {kind}"
        )
        cases.append(Case(f"cholesky {flag}", [(a, element)], [((2, 3, 3), element)], body, tolerance, atol=tolerance))
        for left in ("true", "false"):
            for unit in ("true", "false"):
                for form in ("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"):
                    body = f"""$r = "stablehlo.triangular_solve"($0, $1) <{{left_side = {left}, lower = {flag}, unit_diagonal = {unit},
                        transpose_a = #stablehlo<transpose {form}>}}> : ({kind}, {kind}) -> {kind}"""
                    cases.append(Case(f"solve {flag} {left} {unit} {form}", [(a, element), (b, element)],
                                      [((2, 3, 3), element)], body, tolerance * 10, atol=tolerance * 10))
    check(cases)


def test_fourier():
    cases = []
    for part in ("f32", "f64"):
        wide, tolerance = f"complex<{part}>", 1e-4 if part == "f32" else 1e-10
        for form, source, target, a, b, length in (
            ("FFT", wide, wide, (2, 6), (2, 6), [6]),
            ("IFFT", wide, wide, (2, 5), (2, 5), [5]),
            ("RFFT", part, wide, (2, 6), (2, 4), [6]),
            ("IRFFT", wide, part, (2, 4), (2, 6), [6]),
            ("IRFFT", wide, part, (2, 4), (2, 7), [7]),
            ("FFT", wide, wide, (3, 4, 5), (3, 4, 5), [4, 5]),
            ("RFFT", part, wide, (3, 4, 6), (3, 4, 4), [3, 4, 6]),
        ):
            body = (
                f"$r = stablehlo.fft $0, type = {form}, length = {length} : ({tensor(a, source)}) -> "
                f"{tensor(b, target)}"
            )
            cases.append(Case(f"{form} {a} {part}", [(numbers(a, source), source)], [(b, target)], body, tolerance,
                              atol=tolerance))
    check(cases)


@pytest.mark.parametrize("algorithm, words", [("THREE_FRY", 2), ("PHILOX", 2), ("PHILOX", 3), ("DEFAULT", 2)])
def test_random_bits(algorithm, words):
    """Bit by bit, and the state behind it; also where the counter runs over."""
    cases = []
    for element in ("ui32", "ui64", "ui8", "ui16"):
        for shape in ((8,), (5,), (2, 3), (4, 6), (3, 5), (5, 3), (3, 4, 5), (1,), ()):
            for seed in ([0x0123456789ABCDEF, 5, 7], [1, 2**64 - 2, 2**64 - 1]):
                if not shape and algorithm == "THREE_FRY":
                    continue  # XLA refuses it
                body = f"""$r:2 = stablehlo.rng_bit_generator $0, algorithm = {algorithm} :
                    (tensor<{words}xui64>) -> (tensor<{words}xui64>, {tensor(shape, element)})"""
                state = np.array(seed[:words], np.uint64)
                cases.append(
                    Case(f"{element}{shape} {seed[1]}", [(state, "ui64")], [((words,), "ui64"), (shape, element)], body)
                )
    check(cases)


def test_normalisation():
    x, s = numbers((2, 5, 3), "f32"), np.abs(numbers((3,), "f32", 1)) + 0.5
    attributes = "<{epsilon = 1.0e-3 : f32, feature_index = 2 : i64}>"
    kind, row = tensor((2, 5, 3), "f32"), tensor((3,), "f32")
    cases = [
        Case("inference", [(x, "f32"), (s, "f32")], [((2, 5, 3), "f32")],
             f'$r = "stablehlo.batch_norm_inference"($0, $1, $1, $1, $1) {attributes} : ({kind}, {row}, {row}, '
             f'{row}, {row}) -> {kind}', 1e-4, atol=1e-5),
        Case("training", [(x, "f32"), (s, "f32")], [((2, 5, 3), "f32"), ((3,), "f32"), ((3,), "f32")],
             f'$r:3 = "stablehlo.batch_norm_training"($0, $1, $1) {attributes} : ({kind}, {row}, {row}) -> ({kind}, '
             f'{row}, {row})', 1e-4, atol=1e-5),
        Case("gradient", [(x, "f32"), (s, "f32")], [((2, 5, 3), "f32"), ((3,), "f32"), ((3,), "f32")],
             f'$r:3 = "stablehlo.batch_norm_grad"($0, $1, $1, $1, $0) {attributes} : ({kind}, {row}, {row}, {row}, '
             f'{kind}) -> ({kind}, {row}, {row})', 1e-4, atol=1e-4),
    ]  # fmt: skip
    check(cases)


REFUSED = {
    "%r = stablehlo.custom_call @mine(%0) : (tensor<4xf32>) -> tensor<4xf32>": "calls 'mine', which has no form in "
                                                                               "torch",
    '%t = stablehlo.create_token : !stablehlo.token\n%r, %u = "stablehlo.infeed"(%t) <{infeed_config = ""}> : '
    '(!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)': "'stablehlo.infeed': has no form in torch",
    "%q = stablehlo.convert %0 : (tensor<4xf32>) -> tensor<4xf8E3M4>\n%r = stablehlo.convert %q : (tensor<4xf8E3M4>) "
    "-> tensor<4xf32>": "element type f8E3M4 has no tensor in torch",
}  # fmt: skip


@pytest.mark.parametrize("body", REFUSED)
def test_refused(body):
    """By name, at the line."""
    text = (
        f"func.func public @main(%0: tensor<4xf32>) -> tensor<4xf32> {{\n{body} loc(\"model.py\":7:3)\nreturn %r : "
        f"tensor<4xf32>\n}}"
    )
    with pytest.raises(EngineError) as refused:
        compute(text, [numbers((4,), "f32")])
    assert REFUSED[body] in str(refused.value)
    assert str(refused.value).startswith(("model.py:7:3", "<program>:2"))
