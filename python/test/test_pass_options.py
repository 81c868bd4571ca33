"""Passes and options of the known names against jaxlib's: the same text."""

import subprocess
from pathlib import Path

import pytest
from jax._src.interpreters import mlir as jax_mlir
from jaxlib.mlir import ir
from jaxlib.mlir.passmanager import PassManager

SDY_OPT = Path(__file__).resolve().parents[2] / "build/bin/sdy-opt"
MESH = 'sdy.mesh @mesh = <["a"=4, "b"=2]>\n'
SHARDED, OTHER, WHOLE = '[{"a"}, {}]', '[{}, {"a"}]', "[{}, {}]"


def argument(sharding):
    return f"{{sdy.sharding = #sdy.sharding<@mesh, {sharding}>}}"


def result(sharding, more=""):
    return f"{{sdy.sharding = #sdy.sharding_per_value<[<@mesh, {sharding}{more}>]>}}"


def contraction(operand, sharding=None, name="%1", more=""):
    return (
        f"{name} = stablehlo.dot_general {operand}, %w, contracting_dims = [1] x [0] "
        f"{result(sharding, more) if sharding else ''} : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>\n"
    )


GATHER = f'%0 = sdy.all_gather [{{"a"}}, {{}}] %x out_sharding=<@mesh, {WHOLE}> : tensor<8x16xf32>\n'
SCATTER = f'%2 = sdy.reduce_scatter [{{"a"}}, {{}}] %1 out_sharding=<@mesh, {SHARDED}> : tensor<8x16xf32>\n'
ADD = "%9 = stablehlo.add {}, {} : tensor<8x16xf32>\nreturn %9 : tensor<8x16xf32>"
RETURN = "return {} : tensor<8x16xf32>"
CMV1 = {
    "gather": GATHER + contraction("%0") + RETURN.format("%1"),
    "gather_with_two_uses": GATHER + contraction("%0") + ADD.format("%0", "%1"),
    "gather_for_two_contractions": GATHER + contraction("%0") + contraction("%0", name="%2") + ADD.format("%1", "%2"),
    "scatter": contraction("%x", WHOLE) + SCATTER + RETURN.format("%2"),
    "scatter_of_a_partial_sum": contraction("%x", WHOLE, more=', unreduced={"a"}') + SCATTER + RETURN.format("%2"),
    "scatter_of_what_others_use": contraction("%x", WHOLE) + SCATTER + ADD.format("%1", "%2"),
}
CONSTRAINED = f"""
  %0 = stablehlo.add %x, %x : tensor<8x16xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{{"a"}}, {{"b"}}]> : tensor<8x16xf32>
  %2 = stablehlo.tanh %1 : tensor<8x16xf32>
  %3 = stablehlo.optimization_barrier %2 : tensor<8x16xf32>
  return %3 : tensor<8x16xf32>"""
DEBUG = "debug-sharding-origins=true debug-propagation-edge-sharding=true"


def program(body):
    return (
        f"{MESH}func.func @main(%x: tensor<8x16xf32> {argument(SHARDED)}, %w: tensor<16x16xf32>) -> tensor<8x16xf32> "
        f"{{\n{body}\n}}"
    )


def both(text, passes):
    pipeline = f"builtin.module({passes})"
    done = subprocess.run(
        [SDY_OPT, f"--pass-pipeline={pipeline}"], input=text, capture_output=True, text=True, check=True
    )
    with jax_mlir.make_ir_context():
        ours = str(ir.Module.parse(done.stdout))
        module = ir.Module.parse(text)
        PassManager.parse(pipeline).run(module.operation)
        return ours, str(module)


@pytest.mark.parametrize("name", CMV1)
def test_remove_all_gather_reduce_scatter_for_cmv1(name):
    ours, theirs = both(program(CMV1[name]), "func.func(sdy-remove-all-gather-reduce-scatter-for-cmv1)")
    assert ours == theirs


@pytest.mark.parametrize(
    "options", ["", "sink-debug-sharding-origins=true", "sink-debug-propagation-edge-sharding=true"]
)
def test_sink_data_flow_edges(options):
    text = program(CONSTRAINED).replace("sdy.sharding_constraint %0", "sdy.sharding_constraint %0", 1)
    passes = (
        f"sdy-add-data-flow-edges,sdy-user-priority-propagate{{{DEBUG}}},"
        f"func.func(sdy-sink-data-flow-edges{{{options}}})"
    )
    # Theirs names constraints in another pass.
    text = text.replace(
        " : tensor<8x16xf32>\n  %2", ' {sdy.sharding_origin_name = "constraint_0"} : tensor<8x16xf32>\n  %2'
    )
    ours, theirs = both(text, passes)
    kept = [line for line in theirs.splitlines() if "optimization_barrier" in line]
    assert [line for line in ours.splitlines() if "optimization_barrier" in line] == kept
    assert ("result_" in kept[0]) == bool(options)


def test_apply_sharding_constraints():
    text = program(CONSTRAINED)
    ours, theirs = both(text, f"sdy-apply-sharding-constraints{{{DEBUG}}}")
    for op in ("stablehlo.add", "func.func @main"):
        (mine,), (other,) = ([line for line in side.splitlines() if op in line] for side in (ours, theirs))
        assert mine == other
    (mine,), (other,) = (
        [line for line in side.splitlines() if "sdy.sharding_constraint" in line] for side in (ours, theirs)
    )
    # Theirs leaves the constraint's rule there.
    assert mine == other.split(", sdy.sharding_rule")[0] + "} : tensor<8x16xf32>"
