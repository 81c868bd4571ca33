"""No generated case gathers an operand because an op can't be computed sharded, and says nothing; the option forbids
it.
"""

import functools
from pathlib import Path

import campaign
import families
import pytest
import runner
import shardonnay
import silent_gathers

MESH = 'sdy.mesh @mesh = <["x"=4]>\n'
ROWS = '{sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}'
SORT = MESH + """func.func @main(%a: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<16xf32> {
  %0 = "stablehlo.sort"(%a) <{dimension = 0 : i64}> ({
  ^bb0(%b: tensor<f32>, %c: tensor<f32>):
    %1 = stablehlo.compare LT, %b, %c : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<16xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}"""
SUMS = MESH + f"""func.func @main(%a: tensor<16x8xf32> {ROWS}) -> (tensor<16x8xf32> {ROWS}) {{
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%a, %z) <{{window_dimensions = array<i64: 16, 1>, padding = dense<[[15, 0], [0, 0]]> : tensor<2x2xi64>}}> ({{
  ^bb0(%b: tensor<f32>, %c: tensor<f32>):
    %1 = stablehlo.add %b, %c : tensor<f32>
    %2 = stablehlo.tanh %1 : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }}) : (tensor<16x8xf32>, tensor<f32>) -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}}"""


# Nothing is gathered because that is cheaper than another strategy. Causes need a report.
LINKS = str(Path(__file__).parents[2] / "e2e" / "links.json")
compile = functools.partial(shardonnay.compile, device_model=LINKS, no_gather_by_price=True, report=True)


def muted(text, **options):
    """As if nothing had been said."""
    compiled = compile(text, **options)
    return shardonnay.Program(compiled.text, compiled.manifest, None, ())


def check(seed, each):
    cases = [(name, case) for name in families.FAMILIES for case, _ in campaign.collect(name, seed, each)]
    found = []
    for name, case in cases:
        text = runner.module([case])
        try:
            found += [(name, what, text) for what in silent_gathers.silent(text, compile)]
        except shardonnay.CompileError:
            pass  # a refusal, which test_partition.py looks at
    assert not found, f"{len(found)} of {len(cases)}: {[each[:2] for each in found]}\n{found[0][2]}"


def test_fixed_seed():
    check(0, 4)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, 6))
def test_more_seeds(seed):
    check(seed, 20)


@pytest.mark.parametrize(("text", "what"), [(SORT, "stablehlo.sort"), (SUMS, "a window")], ids=["sort", "sums"])
def test_it_notices(text, what):
    assert silent_gathers.silent(text, muted) == [what]
    assert silent_gathers.silent(text, compile) == []


@pytest.mark.parametrize("text", [SORT, SUMS], ids=["sort", "sums"])
def test_the_option_forbids_it(text):
    with pytest.raises(shardonnay.CompileError, match="cannot be computed sharded"):
        shardonnay.compile(text, no_implicit_replication=True)
