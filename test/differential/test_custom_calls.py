"""Propagation through the custom calls that compilers agree on, by jaxlib's pass and by ours, on random shardings."""

import random
import re

import pytest
from comparison import ours, theirs

SAME = "(tensor<4x8x4xf32>) -> (tensor<4x8x4xf32>)"
SELECTS = "(tensor<8x4xf32>, tensor<8x4xf32>, tensor<f32>, tensor<f32>) -> (tensor<8x2xf32>, tensor<8x2xf32>)"
SELECTS_FIRST = "(tensor<8x4xf32>, tensor<8x4xf32>, tensor<f32>, tensor<f32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)"
CALLS = [
    *(
        (name, SAME)
        for name in ("MoveToHost", "MoveToDevice", "annotate_device_placement", "InspectSharding", "LayoutConstraint")
    ),
    ("mhlo.erf", SAME),
    ("xla.megascale.provide_metadata", SAME),
    ("xla.megascale.provide_metadata", "(tensor<4x8x4xf32>, tensor<f32>) -> (tensor<4x8x4xf32>)"),
    ("X64Combine", "(tensor<4x8x4xui32>, tensor<4x8x4xui32>) -> (tensor<4x8x4xui64>)"),
    ("X64SplitHigh", "(tensor<4x8x4xui64>) -> (tensor<4x8x4xui32>)"),
    ("CompactWyHelper", "(tensor<4x8x8xf32>) -> (tensor<4x8x8xf32>)"),
    ("Cholesky", "(tensor<4x8x8xf32>) -> (tensor<4x8x8xf32>)"),
    ("Qr", "(tensor<4x8x4xf32>) -> (tensor<4x8x4xf32>, tensor<4x4xf32>)"),
    ("QrDecompositionBlock", "(tensor<4x8x4xf32>) -> (tensor<4x8x4xf32>, tensor<4x4xf32>)"),
    ("ProductOfElementaryHouseholderReflectors", "(tensor<4x8x4xf32>, tensor<4x4xf32>) -> (tensor<4x8x4xf32>)"),
    ("mhlo.topk", "(tensor<8x4xf32>) -> (tensor<8x2xf32>, tensor<8x2xi32>)"),
    *((name, form) for name in ("ApproxTopK", "PartialReduce") for form in (SELECTS, SELECTS_FIRST)),
]
# What theirs does with a tensor, and why ours does not: (target, form) -> the reason.
OTHERWISE = {
    (
        "CompactWyHelper",
        "(tensor<4x8x4xf32>, tensor<4x4xf32>) -> (tensor<4x4x4xf32>)",
    ): "theirs takes rows of the one for rows of the other, "
    "a matrix of 8 for one of 4; the call needs its matrices whole, ours passes the batch on",
    (
        "Eigh",
        "(tensor<4x8x8xf32>) -> (tensor<4x8x8xf32>, tensor<4x8xf32>)",
    ): "theirs has columns and eigenvalues in common, but no device has one without the whole matrix",
    (
        "LuDecomposition",
        "(tensor<4x8x4xf32>) -> (tensor<4x8x4xf32>, tensor<4x4xi32>, tensor<4x8xi32>)",
    ): "theirs has no rule",
}


def sharding(chooser, kind):
    """Random axes on the dims of a tensor type, all open; nothing for most."""
    rank = kind.count("x")
    dims = [[] for _ in range(rank)]
    for axis in ("x", "y"):
        if rank and chooser.random() < 0.5:
            dims[chooser.randrange(rank)].append(f'"{axis}"')
    return f"<@mesh, [{', '.join('{' + ', '.join([*axes, '?']) + '}' for axes in dims)}]>"


def program(target, form, seed):
    """A function of the call alone."""
    chooser = random.Random(f"{target} {form} {seed}")
    takes, gives = (re.findall(r"tensor<[^>]*>", side) for side in form.split("->"))
    arguments = []
    for i, kind in enumerate(takes):
        given = f" {{sdy.sharding = #sdy.sharding{sharding(chooser, kind)}}}" if chooser.random() < 0.6 else ""
        arguments.append(f"%a{i}: {kind}{given}")
    per_value = f"[{', '.join(sharding(chooser, kind) for kind in gives)}]"
    given = f" {{sdy.sharding = #sdy.sharding_per_value<{per_value}>}}" if chooser.random() < 0.6 else ""
    results = f"%r{f':{len(gives)}' if len(gives) > 1 else ''}"
    operands = ", ".join(f"%a{i}" for i in range(len(takes)))
    return f"""sdy.mesh @mesh = <["x"=2, "y"=2]>
    func.func @main({", ".join(arguments)}) -> ({", ".join(gives)}) {{
      {results} = stablehlo.custom_call @{target}({operands}){given} : {form}
      return {", ".join(f"%r#{i}" if len(gives) > 1 else "%r" for i in range(len(gives)))} : {", ".join(gives)}
    }}"""


def found(text):
    """The shardings of the arguments, the function's results and the call's, none and one without axes being the same.
    """
    texts = re.findall(
        r"tensor<[^>]*>(?: \{sdy.sharding = #sdy.sharding(<@\w+, \[.*?\]>))?", text.split("custom_call")[0]
    )
    per_value = re.search(r"custom_call.*sharding_per_value<\[(.*)\]>", text)
    texts += re.findall(r"<@\w+, \[.*?\]>", per_value[1]) if per_value else []
    return [one if '"' in one else None for one in texts]


def outcomes(target, form):
    pipeline = "builtin.module(sdy-op-priority-propagate)"
    texts = [program(target, form, seed) for seed in range(12)]
    return [(found(ours(text, pipeline)), found(theirs(text, pipeline))) for text in texts]


@pytest.mark.parametrize("target, form", CALLS)
def test_the_same_goes_through(target, form):
    pairs = outcomes(target, form)
    assert [mine for mine, _ in pairs] == [other for _, other in pairs]
    assert any(one for mine, _ in pairs for one in mine)


@pytest.mark.parametrize("target, form", OTHERWISE)
def test_what_goes_through_otherwise_is_known(target, form):
    assert any(mine != other for mine, other in outcomes(target, form))


@pytest.mark.parametrize(
    "target", ["MoveToHost", "MoveToDevice", "mhlo.erf", "LayoutConstraint", "annotate_device_placement"]
)
def test_moves_between_hosts_and_devices_come_first(target):
    """Beside an element-wise op, which is visited in the first level, as those moves are."""
    text = f"""sdy.mesh @mesh = <["x"=2]>
    func.func @main(%a: tensor<8x8xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{}}]>}},
                    %b: tensor<8x8xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{"x"}}]>}}) -> tensor<8x8xf32> {{
      %0 = stablehlo.negate %b : tensor<8x8xf32>
      %1 = stablehlo.custom_call @{target}(%a) : (tensor<8x8xf32>) -> tensor<8x8xf32>
      %2 = stablehlo.add %1, %0 : tensor<8x8xf32>
      return %2 : tensor<8x8xf32>
    }}"""
    sums = [
        re.search(r"stablehlo.add.*(<@mesh.*?\]>)", run(text, "builtin.module(sdy-op-priority-propagate)"))[1]
        for run in (ours, theirs)
    ]
    assert sums[0] == sums[1]
    assert ('[{"x", ?}' in sums[0]) == target.startswith("Move")
