"""Updates that replace what is there, sharded: a maximum or a minimum where all are one known value, else gathered."""

import numpy as np
import pytest
from uneven import Case, kinds_of, run_cases, tensor, values

# Element type, what is there (None: an argument), what is written. -0.0 is not less than 0.0.
KNOWN = [("i1", None, "true"), ("i1", None, "false"), ("f32", "0.0", "1.0"), ("f32", "0.0", "0xFF800000"),
         ("bf16", "-2.0", "3.0"), ("i32", "7", "-3"), ("i8", "-1", "5"), ("ui8", "100", "200"),
         ("i64", "0", "1")]  # fmt: skip
UNKNOWN = [("f32", None, "1.0"), ("f32", "0.0", "-0.0"), ("f32", "0.0", "0x7FC00000"),
           ("complex<f32>", "(0.0, 0.0)", "(1.0, 0.0)"), ("f32", "0.0", None), ("i1", "false", None),
           ("i32", "4", "4")]  # fmt: skip


def filled(name, value, shape, element, argument):
    """A constant, or the argument of this number."""
    if value is None:
        return f"${name} = stablehlo.reshape ${argument} : ({tensor(shape, element)}) -> {tensor(shape, element)}\n"
    return f"""$k{name} = stablehlo.constant dense<{value}> : tensor<{element}>
      ${name} = stablehlo.broadcast_in_dim $k{name}, dims = [] : (tensor<{element}>) -> {tensor(shape, element)}\n"""


def write(element, before, written, rows, count, width=3, axes="xy", result_axes=("", "")):
    shape, updates = (rows, width), (count, width)
    places = np.random.default_rng(count).integers(-2, rows + 2, count).astype(np.int32)
    if written is None:  # at different places: no order decides
        places = np.random.default_rng(count).permutation(2 * count).astype(np.int32)[:count] - count // 2
    arguments = [(places, "i32", [axes])]
    for value, size, dims in ((before, shape, ["", ""]), (written, updates, [axes, ""])):
        if value is None:
            arguments.append((values(size, element), element, dims))
    text = filled("a", before, shape, element, 1) + filled("u", written, updates, element, len(arguments) - 1)
    text += f"""$r = "stablehlo.scatter"($a, $0, $u) <{{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
        inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}}> ({{
      ^bb0($p: tensor<{element}>, $q: tensor<{element}>):
        stablehlo.return $q : tensor<{element}>
      }}) : ({tensor(shape, element)}, tensor<{count}xi32>, {tensor(updates, element)}) -> {tensor(shape, element)}"""
    name = f"{written} into {before} {element} {rows} from {count} on {axes} to {result_axes}"
    return Case(name, arguments, (shape, element, list(result_axes)), text)


@pytest.mark.parametrize("case", KNOWN + UNKNOWN, ids=str)
def test_written(case):
    """Even, uneven and few updates into few and many rows, some of them out of bounds; the result whole and sharded."""
    cases = [
        write(*case, *sizes)
        for sizes in (
            (6, 400),
            (5, 203),
            (40, 9, 1),
            (3, 7, 2),
            (8, 1001, 1, "y", ("x", "")),
            (10, 65, 4, "x", ("y", "x")),
        )
    ]
    wrong = [f"{name}: {verdict}" for name, verdict in run_cases(cases).items() if verdict]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("case", KNOWN, ids=str)
def test_known_values_are_reduced(case):
    assert kinds_of(write(*case, 6, 1003)) == {"all_reduce"}


@pytest.mark.parametrize("case", UNKNOWN, ids=str)
def test_others_are_gathered(case):
    assert kinds_of(write(*case, 6, 1003)) == {"all_gather"}


def test_each_is_asked_for_itself():
    """The rule of a known value is not that of the same op with another one."""
    cases = [
        write(*case, 6, 1003)
        for case in (("f32", "0.0", "1.0"), ("f32", "0.0", None), ("f32", "0.0", "-0.0"), ("f32", "0.0", "2.0"))
    ]
    wrong = [f"{name}: {verdict}" for name, verdict in run_cases(cases).items() if verdict]
    assert not wrong, "\n".join(wrong)
