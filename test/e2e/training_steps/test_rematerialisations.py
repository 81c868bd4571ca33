"""No operand is gathered whole that nothing needs, in any program of the corpus (a few in every run, all with --long).

Under `bytes`: where steps are priced too, a small table is gathered to save some.
"""

import corpus
import pytest
import rematerialisations
import schedules
import shardonnay

QUICK = {
    "attention-uneven-2-D",
    "scanned-blocks-fsdp",
    "experts-2-D",
    "wavenet-fsdp",
    "mixer-2-D",
    "stencil-fsdp",
    "k-means-fsdp",
}

WASTEFUL = """
sdy.mesh @mesh = <["x"=2]>
func.func public @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8xf32> {
  %0 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %1 = stablehlo.tanh %0 : tensor<8x8xf32>
  %2 = stablehlo.dot_general %1, %1, batching_dims = [1] x [1], contracting_dims = [0] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}
"""


def check(text, name, row):
    whole, found = rematerialisations.undemanded(shardonnay.compile(text, to="collectives", device_model="bytes").text)
    row(f"{name}: {whole} gathers of a whole operand, {len(found)} not demanded")
    assert not found, "\n".join(found)


@pytest.mark.parametrize("name, strategy", corpus.parameters(QUICK))
def test_corpus(name, strategy, row):
    check(corpus.lower(name, strategy)[0], f"{name}-{strategy}", row)


@pytest.mark.parametrize("tactics", [("BP", "Z3"), ("BP", "MP", "Z3"), ("BP", "MP", "Z3", "EMB")], ids="+".join)
def test_schedules(tactics, row):
    check(schedules.lower(1, tactics)[0], "+".join(tactics), row)


def test_a_wasteful_gather_is_found():
    whole, found = rematerialisations.undemanded(WASTEFUL)
    assert (whole, len(found)) == (1, 1)


def test_a_gather_instead_of_a_larger_sum_is_not():
    text = WASTEFUL.replace("batching_dims = [1] x [1], contracting", "contracting").replace(
        "-> tensor<8xf32>", "-> tensor<8x8xf32>"
    )
    assert rematerialisations.undemanded(text.replace("%2 : tensor<8xf32>", "%2 : tensor<8x8xf32>")) == (1, [])


def test_a_gather_that_the_result_requires_is_not():
    text = WASTEFUL.replace("-> tensor<8xf32> {", "-> tensor<8x8xf32> {", 1).replace(
        "return %2 : tensor<8xf32>", "return %1 : tensor<8x8xf32>"
    )
    assert rematerialisations.undemanded(text) == (1, [])
