"""What the plan costs is what the program costs: the collectives that were planned, and those of the device's own
program.
"""

import corpus
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import shardonnay
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

QUICK = {
    "resnet-fsdp",
    "attention-2-D",
    "attention-uneven-fsdp",
    "lstm-2-D",
    "graph-data",
    "experts-2-D",
    "mixer-fsdp",
    "stencil-2-D",
    "greedy-decoding-2-D",
    "wavenet-sequence",
}


MESH = 'sdy.mesh @mesh = <["x"=2, "y"=4]>'
POOL = """%r = "stablehlo.select_and_scatter"(%a, %b, %z) <{window_dimensions = array<i64: 3>, window_strides = array<i64: STRIDE>,
    padding = dense<[[1, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.compare GE, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %s : tensor<i1>
  }, {
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<48xf32>, tensor<COUNTxf32>, tensor<f32>) -> tensor<48xf32>"""
LINALG = """%e = tensor.empty() : tensor<16xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0 * 2 + d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>],
    iterator_types = ["parallel", "reduction"]} ins(%a, %b : tensor<34xf32>, tensor<4xf32>) outs(%e : tensor<16xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %m = arith.mulf %p, %q : f32
    %s = arith.maximumf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<16xf32>"""
PAD = """%r = tensor.pad %a low[3] high[6] {
  ^bb0(%i: index):
    %c = arith.constant 0.0 : f32
    tensor.yield %c : f32
  } : tensor<20xf32> to tensor<29xf32>"""
TOSA = """%s = tosa.const_shape {values = dense<3> : tensor<1xindex>} : () -> !tosa.shape<1>
  %n = tosa.const_shape {values = dense<15> : tensor<1xindex>} : () -> !tosa.shape<1>
  %r = tosa.slice %a, %s, %n : (tensor<20xf32>, !tosa.shape<1>, !tosa.shape<1>) -> tensor<15xf32>"""
TOSA_RESHAPE = """%s = tosa.const_shape {values = dense<[6, 8]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r = tosa.reshape %a, %s : (tensor<48xf32>, !tosa.shape<2>) -> tensor<6x8xf32>"""
# What devices fetch for their windows: the sharded arguments, the others, the result, and the op.
WINDOWS = {
    "select_and_scatter": (["48"], ["24", ""], "48", POOL.replace("STRIDE", "2").replace("COUNT", "24")),
    "select_and_scatter, unaligned": (["48"], ["16", ""], "48", POOL.replace("STRIDE", "3").replace("COUNT", "16")),
    "select_and_scatter, uneven": (["48"], ["10", ""], "48", POOL.replace("STRIDE", "5").replace("COUNT", "10")),
    "reshape to rows": (["48"], [], "6x8", "%r = stablehlo.reshape %a : (tensor<48xf32>) -> tensor<6x8xf32>"),
    "reshape of rows": (["6x8"], [], "48", "%r = stablehlo.reshape %a : (tensor<6x8xf32>) -> tensor<48xf32>"),
    "reshape of both": (["6x8"], [], "12x4", "%r = stablehlo.reshape %a : (tensor<6x8xf32>) -> tensor<12x4xf32>"),
    "linalg": (["34"], ["4"], "16", LINALG),
    "tensor.extract_slice": (["40"], [], "14", "%r = tensor.extract_slice %a[5] [14] [2] : tensor<40xf32> to "
                                               "tensor<14xf32>"),
    "tensor.pad": (["20"], [], "29", PAD),
    "tensor.expand_shape": (
        ["48"], [], "6x8", "%r = tensor.expand_shape %a [[0, 1]] output_shape [6, 8] : tensor<48xf32> into "
                           "tensor<6x8xf32>"
    ),
    "tensor.collapse_shape": (["6x8"], [], "48", "%r = tensor.collapse_shape %a [[0, 1]] : tensor<6x8xf32> into "
                                                 "tensor<48xf32>"),
    "tosa.slice": (["20"], [], "15", TOSA),
    "tosa.reshape": (["48"], [], "6x8", TOSA_RESHAPE),
}


def window_program(name, axis):
    shards, whole, result, body = WINDOWS[name]

    def typed(shape):
        return f"tensor<{shape}xf32>" if shape else "tensor<f32>"

    def sharded(shape):
        dims = ", ".join(["{}"] * shape.count("x"))
        return f'{typed(shape)} {{sdy.sharding = #sdy.sharding<@mesh, [{{"{axis}"}}{", " if dims else ""}{dims}]>}}'

    names = iter("abz")
    arguments = [f"%{next(names)}: {sharded(shape)}" for shape in shards] + [
        f"%{'z' if not shape else next(names)}: {typed(shape)}" for shape in whole
    ]
    return (
        f"{MESH}\nfunc.func @main({', '.join(arguments)}) -> ({sharded(result)}) {{\n  {body}\n  return %r : "
        f"{typed(result)}\n}}"
    )


@pytest.mark.parametrize("mode", ["greedy", "graph"])
@pytest.mark.parametrize("model", ["bytes", "gpu-cluster"])
@pytest.mark.parametrize("name, strategy", corpus.parameters(QUICK))
def test_plan_and_program_have_one_price(name, strategy, model, mode):
    text, _ = corpus.lower(name, strategy)
    report = shardonnay.compile(text, device_model=model, search_mode=mode, no_bucketing=True, report=True).report
    price = report["price"]
    assert price["emitted"] == pytest.approx(price["planned"], rel=1e-9)
    plan = report["plan"]
    assert plan["bound"] <= plan["cost"] * (1 + 1e-9) and plan["cost"] <= plan["greedy"] * (1 + 1e-9)


@pytest.mark.parametrize("name, strategy", corpus.parameters(QUICK))
def test_buckets_send_no_more(name, strategy):
    """The bytes of the collectives that were packed together, for a lower price, where all else is the same: which
    sharding propagates first depends on what is packed."""
    text, _ = corpus.lower(name, strategy)
    apart, together = (
        shardonnay.compile(text, no_bucketing=no_bucketing, keep_propagated=True, report=True).report
        for no_bucketing in (True, False)
    )
    counts = [sum(entry["count"] for entry in report["collectives"]) for report in (apart, together)]
    assert together["executed_bytes"] <= apart["executed_bytes"]
    assert (together["price"]["emitted"] < apart["price"]["emitted"]) == (counts[1] < counts[0])


NORM = """sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<16x6xELEMENT> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %s: tensor<6xELEMENT>, %g: tensor<16x6xELEMENT>) -> (
    tensor<16x6xELEMENT> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, tensor<16x6xELEMENT> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %o, %m, %v = "stablehlo.batch_norm_training"(%a, %s, %s) <{epsilon = 0.5 : f32, feature_index = 1 : i64}>
    : (tensor<16x6xELEMENT>, tensor<6xELEMENT>, tensor<6xELEMENT>) -> (tensor<16x6xELEMENT>, tensor<6xELEMENT>, tensor<6xELEMENT>)
  %d, %e, %f = "stablehlo.batch_norm_grad"(%a, %s, %m, %v, %g) <{epsilon = 0.5 : f32, feature_index = 1 : i64}>
    : (tensor<16x6xELEMENT>, tensor<6xELEMENT>, tensor<6xELEMENT>, tensor<6xELEMENT>, tensor<16x6xELEMENT>)
    -> (tensor<16x6xELEMENT>, tensor<6xELEMENT>, tensor<6xELEMENT>)
  return %o, %d : tensor<16x6xELEMENT>, tensor<16x6xELEMENT>
}"""
SAMPLE = """sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<16x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<16x6xf32> RESULT) {
  %l = stablehlo.constant dense<0.0> : tensor<f32>
  %h = stablehlo.constant dense<1.0> : tensor<f32>
  %n = stablehlo.constant dense<[16, 6]> : tensor<2xi64>
  %r = "stablehlo.rng"(%l, %h, %n) <{rng_distribution = #stablehlo<rng_distribution UNIFORM>}> : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<16x6xf32>
  return %r : tensor<16x6xf32>
}"""
SUMS = {
    "batch norm": NORM.replace("ELEMENT", "f32"),
    "batch norm of narrow floats": NORM.replace("ELEMENT", "bf16"),
    "samples": SAMPLE.replace("RESULT", '{sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}'),
    "samples, whole": SAMPLE.replace("RESULT", "{sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}"),
}


OTHERS = {
    "another order of the devices": """sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @turned = <["x"=2, "y"=4], device_ids=[3, 0, 6, 5, 1, 7, 2, 4]>
func.func @main(%a: tensor<12xf32> {sdy.sharding = #sdy.sharding<@turned, [{"x"}]>}) -> (tensor<12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.tanh %a : tensor<12xf32>
  return %0 : tensor<12xf32>
}""",
    "uneven pieces as parts of a sum": """sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<10x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}) -> (tensor<10x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = sdy.reshard %a <@mesh, [{"x"}, {}], unreduced={"y"}> : tensor<10x16xf32>
  %1 = sdy.all_reduce {"y"} %0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<10x16xf32>
  return %1 : tensor<10x16xf32>
}""",
}


@pytest.mark.parametrize("name", [*SUMS, *OTHERS])
def test_what_the_program_adds_is_planned(name):
    price = shardonnay.compile({**SUMS, **OTHERS}[name], device_model="cpu", no_bucketing=True, report=True).report[
        "price"
    ]
    assert price["emitted"] == pytest.approx(price["planned"], rel=1e-9) and price["planned"] > 0


@pytest.mark.parametrize("axis", ["x", "y"])
@pytest.mark.parametrize("model", ["bytes", "cpu"])
@pytest.mark.parametrize("name", WINDOWS)
def test_windows_are_planned(name, model, axis):
    price = shardonnay.compile(window_program(name, axis), device_model=model, no_bucketing=True).report["price"]
    assert price["emitted"] == pytest.approx(price["planned"], rel=1e-9)
    uneven = axis == "y" or "6x8" not in (WINDOWS[name][0] + [WINDOWS[name][2]])
    assert (price["emitted"] > 0) == uneven


@pytest.mark.parametrize("sizes", [(2, 2, 2), (2, 2, 1)])
def test_what_follows_logits_is_computed_where_they_are(sizes):
    """Of tensors too large for the corpus, and with three axes: no op of the chain behind the logits has them
    gathered.
    """
    mesh = Mesh(np.array(jax.devices("cpu")[: np.prod(sizes)]).reshape(sizes), ("data", "tensor", "fsdp"))

    def loss(x, words, labels):
        return -jnp.take_along_axis(jax.nn.log_softmax(x @ words.T), labels[..., None], -1).mean()

    shapes = [
        ((2880, 64, 2880), np.float32, P("data")),
        ((2880, 2880), np.float32, P("tensor", "fsdp")),
        ((2880, 64), np.int32, P("data")),
    ]
    arguments = [jax.ShapeDtypeStruct(shape, kind, sharding=NamedSharding(mesh, spec)) for shape, kind, spec in shapes]
    report = shardonnay.compile(jax.jit(loss).lower(*arguments).as_text(), report=True).report
    logits = 2880 * 64 * 2880 * 4 // np.prod(sizes)
    assert report["executed_bytes"] < logits / 20, report["collectives"]
