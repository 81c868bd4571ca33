"""The partitioner by the names of the existing passes, as their users chain them; on replicas and partitions too."""

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
import shardonnay
from jaxlib.mlir import ir
from jaxlib.mlir.passmanager import PassManager
from shardonnay import boundary, compare, engine, run

SDY_OPT = Path(__file__).resolve().parents[3] / "build/bin/sdy-opt"

# Semantics 3: full reshards, permutation factors, collectives, padding, single device, local, clean-up.
CHAIN = (
    "builtin.module(sdy-propagation-pipeline,func.func(sdy-insert-explicit-reshards{enable-full-version=true}),"
    "sdy-resolve-permutation-factors{enable-halo-exchange=%s},"
    "func.func(sdy-reshard-to-collectives,sdy-pad-for-divisibility,sdy-resolve-single-device-sharding),"
    "sdy-convert-global-to-local{%s},sdy-drop-sharding-and-mesh)"
)

PROGRAM = """
sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @maximal_5 = <[], device_ids=[5]>
func.func public @main(
    %a: tensor<16x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
    %b: tensor<12x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>})
    -> (tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>},
        tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}]>},
        tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "x"}, {}]>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<16x12xf32>, tensor<12x16xf32>) -> tensor<16x16xf32>
  %1 = stablehlo.reverse %0, dims = [0] : tensor<16x16xf32>
  %2 = stablehlo.sine %1 {sdy.sharding = #sdy.sharding_per_value<[<@maximal_5, []>]>} : tensor<16x16xf32>
  %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<16x16xf32>, tensor<f32>) -> tensor<16xf32>
  %4 = sdy.sharding_constraint %1 <@mesh, [{"x", "y"}, {}]> : tensor<16x16xf32>
  %5 = stablehlo.negate %4 : tensor<16x16xf32>
  return %2, %3, %5 : tensor<16x16xf32>, tensor<16xf32>, tensor<16x16xf32>
}
"""


def inputs():
    random = np.random.default_rng(0)
    return [random.uniform(-1, 1, shape).astype(np.float32) for shape in ((16, 12), (12, 16))]


def chain(halo="true", options="", program=PROGRAM, pipeline=CHAIN):
    pipeline = pipeline % (halo, options) if pipeline is CHAIN else pipeline
    ran = subprocess.run(
        [SDY_OPT, "-", f"--pass-pipeline={pipeline}"], input=program, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def run_and_compare(text, replicas=1, program=PROGRAM):
    """The boundary is the user's in both, so what compile() says of it holds here too."""
    manifest = shardonnay.compile(program, to="collectives").manifest
    given = inputs()
    shards = [
        boundary.shard(entry, value, manifest["mesh"]) for entry, value in zip(manifest["inputs"], given, strict=True)
    ]
    found = engine.Executable(text, 8, replicas=replicas)(shards)
    wanted = engine.Executable(compare.unpartitioned(program), 1)([[value] for value in given])
    for entry, pieces, (whole,) in zip(manifest["outputs"], found, wanted, strict=True):
        output, spread = boundary.assemble(entry, pieces, manifest["mesh"])
        assert spread == 0
        np.testing.assert_allclose(output, whole, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("halo", ["true", "false"])
def test_the_chain_of_passes_runs(halo):
    run_and_compare(chain(halo))


ON_DEVICE = """
sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @maximal_5 = <[], device_ids=[5]>
func.func public @main(
    %a: tensor<16x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
    %b: tensor<12x16xf32> {sdy.sharding = #sdy.sharding<@maximal_5, []>})
    -> (tensor<16x12xf32> {sdy.sharding = #sdy.sharding<@maximal_5, []>},
        tensor<12x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) {
  %0 = stablehlo.sine %a : tensor<16x12xf32>
  %1 = stablehlo.cosine %b {sdy.sharding = #sdy.sharding_per_value<[<@maximal_5, []>]>} : tensor<12x16xf32>
  return %0, %1 : tensor<16x12xf32>, tensor<12x16xf32>
}
"""


def test_a_boundary_on_one_device_is_refused_unless_kept():
    chained = (
        "builtin.module(func.func(sdy-resolve-single-device-sharding%s),sdy-propagation-pipeline,"
        "func.func(sdy-insert-explicit-reshards{enable-full-version=true},sdy-reshard-to-collectives),"
        "sdy-convert-global-to-local,sdy-drop-sharding-and-mesh)"
    )
    command = [SDY_OPT, "-", f"--pass-pipeline={chained % ''}"]
    ran = subprocess.run(command, input=ON_DEVICE, capture_output=True, text=True, check=False)
    assert ran.returncode == 1 and "argument 1 is on device 5 alone" in ran.stderr
    run_and_compare(chain(program=ON_DEVICE, pipeline=chained % "{keep-given=true}"), program=ON_DEVICE)


def with_token_constraints(program):
    """Constraints on tokens, on the mesh and on one device, and what waits for them."""
    return program.replace(
        "  return %2",
        """  %t = stablehlo.create_token : !stablehlo.token
  %t0 = sdy.sharding_constraint %t <@mesh, []> : !stablehlo.token
  %t1 = sdy.sharding_constraint %t <@maximal_5, []> : !stablehlo.token
  %t2 = sdy.reshard %t1 <@mesh, []> : !stablehlo.token
  %t3 = stablehlo.after_all %t0, %t2 : !stablehlo.token
  %6:2 = stablehlo.optimization_barrier %5, %t3 : tensor<16x16xf32>, !stablehlo.token
  return %2""",
    ).replace("%3, %5 :", "%3, %6#0 :")


def test_constraints_on_tokens_send_nothing():
    program = with_token_constraints(PROGRAM)
    text = chain(program=program)
    assert "sdy." not in text and text.count("stablehlo.create_token") == 1
    assert text.count('"stablehlo.') == chain().count('"stablehlo.')
    run_and_compare(text, program=program)
    run_and_compare(shardonnay.compile(program).text, program=program)


@pytest.mark.parametrize("replicas", [2, 4, 8])
def test_replicas_times_partitions(replicas):
    text = chain(options=f"replica-count={replicas} partition-count={8 // replicas}")
    assert f"mhlo.num_replicas = {replicas} : i32" in text
    run_and_compare(text, replicas)


CHANNEL = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>"
ALONG_X, ALONG_Y = (
    "dense<[[0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64>",
    "dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>",
)
# A manual computation says of devices what is right on one replica of 8 partitions.
BY_HAND = f"""
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func public @main(%a: tensor<8x16xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{"y"}}]>}})
    -> (tensor<8x16xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{"y"}}]>}}) {{
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{{"x"}}, {{"y"}}]>] out_shardings=[<@mesh, [{{"x"}}, {{"y"}}]>] manual_axes={{"x", "y"}} (%b: tensor<4x4xf32>) {{
    %1 = "stablehlo.all_reduce"(%b) <{{{CHANNEL}, replica_groups = {ALONG_Y}, use_global_device_ids}}> ({{
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %10 = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %10 : tensor<f32>
    }}) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %2 = "stablehlo.all_to_all"(%b) <{{{CHANNEL}, replica_groups = {ALONG_X}, split_dimension = 0 : i64, concat_dimension = 1 : i64, split_count = 2 : i64}}> : (tensor<4x4xf32>) -> tensor<2x8xf32>
    %3 = stablehlo.reshape %2 : (tensor<2x8xf32>) -> tensor<4x4xf32>
    %4 = "stablehlo.collective_permute"(%3) <{{{CHANNEL}, source_target_pairs = dense<[[0, 3], [4, 7], [1, 2], [5, 6]]> : tensor<4x2xi64>}}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %5 = "stablehlo.collective_permute"(%1) <{{{CHANNEL}, source_target_pairs = dense<[[0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64>}}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %6 = stablehlo.add %4, %5 : tensor<4x4xf32>
    %7 = stablehlo.partition_id : tensor<ui32>
    %8 = stablehlo.convert %7 : (tensor<ui32>) -> tensor<f32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<f32>) -> tensor<4x4xf32>
    %11 = stablehlo.subtract %6, %9 : tensor<4x4xf32>
    sdy.return %11 : tensor<4x4xf32>
  }} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}}
"""


@pytest.mark.parametrize("replicas", [2, 8])
def test_what_is_said_of_devices_is_right_among_replicas(replicas):
    compiled = shardonnay.compile(BY_HAND)
    value = np.random.default_rng(0).uniform(-1, 1, (8, 16)).astype(np.float32)
    shards = boundary.shard(compiled.manifest["inputs"][0], value, compiled.manifest["mesh"])
    wanted = engine.Executable(compiled.text, 8)([shards])
    text = chain(options=f"replica-count={replicas} partition-count={8 // replicas}", program=BY_HAND)
    np.testing.assert_array_equal(engine.Executable(text, 8, replicas=replicas)([shards]), wanted)


def test_every_replica_runs_a_mesh_of_partitions():
    """On 2 replicas of 4 partitions a mesh of 4 is each replica's own."""
    program = """
sdy.mesh @mesh = <["x"=4]>
func.func public @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  %0 = stablehlo.reverse %a, dims = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
"""
    passes = (
        "builtin.module(func.func(sdy-insert-explicit-reshards{enable-full-version=true},sdy-reshard-to-collectives),"
        "sdy-convert-global-to-local{replica-count=2 partition-count=4},sdy-drop-sharding-and-mesh)"
    )
    ran = subprocess.run(
        [SDY_OPT, "-", f"--pass-pipeline={passes}"], input=program, capture_output=True, text=True, check=True
    )
    manifest = shardonnay.compile(program, to="collectives").manifest
    values = [np.arange(32, dtype=np.float32).reshape(8, 4) + 100 * replica for replica in range(2)]
    shards = [piece for value in values for piece in boundary.shard(manifest["inputs"][0], value, manifest["mesh"])]
    (pieces,) = engine.Executable(ran.stdout, 8, replicas=2)([shards])
    for replica, value in enumerate(values):
        output, _ = boundary.assemble(manifest["outputs"][0], pieces[4 * replica : 4 * replica + 4], manifest["mesh"])
        np.testing.assert_array_equal(output, value[::-1])


@pytest.mark.parametrize(
    "options",
    ["", "enable-rgv3=true", "replica-count=2 partition-count=4", "enable-rgv3=true replica-count=2 partition-count=4"],
)
def test_what_is_emitted_parses_and_verifies_in_jaxlib(options):
    text = chain(options=options)
    with engine.context():
        module = ir.Module.parse(text)
        assert module.operation.verify()
    assert ("replica_group_mesh_axes" in text) == ("rgv3" in options)


def test_compile_refuses_more_than_one_replica():
    text = "module attributes {mhlo.num_replicas = 2 : i32} {" + PROGRAM + "}"
    with pytest.raises(shardonnay.CompileError, match="expected one replica, got 2: make the replicas a mesh axis"):
        shardonnay.compile(text)


PARTS = """
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func public @main(
    %a: tensor<16x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %b: tensor<12x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>})
    -> (tensor<16x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
        tensor<16x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
        tensor<12x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %0 = sdy.sharding_constraint %a <@mesh, [{"x"}, {}], unreduced={"y"}> : tensor<16x12xf32>
  %1 = stablehlo.sine %0 : tensor<16x12xf32>
  return %0, %1, %b : tensor<16x12xf32>, tensor<16x12xf32>, tensor<12x16xf32>
}
"""


def test_partial_mode_reduces_parts():
    pipeline = (
        "builtin.module(sdy-propagation-pipeline,func.func(sdy-reshard-to-collectives),sdy-convert-global-to-local,"
        "sdy-drop-sharding-and-mesh)"
    )
    text = chain(program=PARTS, pipeline=pipeline)
    assert "stablehlo.all_reduce" in text
    run_and_compare(text, program=PARTS)


BARRIER = """
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func public @main(
    %a: tensor<16x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %b: tensor<12x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>})
    -> (tensor<16x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>},
        tensor<12x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %0 = sdy.propagation_barrier %a allowed_direction=NONE : tensor<16x12xf32>
  %1 = stablehlo.sine %0 : tensor<16x12xf32>
  %2 = sdy.propagation_barrier %b allowed_direction=BACKWARD : tensor<12x16xf32>
  return %1, %2 : tensor<16x12xf32>, tensor<12x16xf32>
}
"""


def test_what_passes_a_barrier_is_gathered():
    run_and_compare(chain(program=BARRIER), program=BARRIER)


def test_each_collective_has_a_channel():
    handles = re.findall(r"channel_handle<handle = (\d+)", chain())
    assert len(handles) > 2
    assert handles == [str(number + 1) for number in range(len(handles))]


KEPT = """
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func public @main(
    %a: tensor<16x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
    %b: tensor<12x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>})
    -> (tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}], unreduced={"y"}>]>}
      : (tensor<16x12xf32>, tensor<12x16xf32>) -> tensor<16x16xf32>
  %1 = stablehlo.slice %a [0:16, 0:1] : (tensor<16x12xf32>) -> tensor<16x1xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<16x1xf32>) -> tensor<16x16xf32>
  %3 = stablehlo.multiply %0, %2 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}], unreduced={"y"}>]>} : tensor<16x16xf32>
  %4 = stablehlo.add %3, %2 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}], unreduced={"y"}>]>} : tensor<16x16xf32>
  %5 = stablehlo.reduce(%4 init: %zero) applies stablehlo.add across dimensions = [0]
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"x", "y"}>]>} : (tensor<16x16xf32>, tensor<f32>) -> tensor<16xf32>
  return %5 : tensor<16xf32>
}
"""


def test_parts_that_the_user_wants_stay_parts():
    pipeline = (
        "builtin.module(func.func(sdy-insert-explicit-reshards{enable-full-version=true},sdy-reshard-to-collectives),"
        "sdy-convert-global-to-local,sdy-drop-sharding-and-mesh)"
    )
    text = chain(program=KEPT, pipeline=pipeline)
    assert text.count('"stablehlo.all_reduce"') == 1
    run_and_compare(text, program=KEPT)


OTHER_TOOL = """
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func public @main(
    %a: tensor<16x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
    %b: tensor<12x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>})
    -> (tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
        tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
        tensor<12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<16x12xf32>, tensor<12x16xf32>) -> tensor<16x16xf32>
  %1 = stablehlo.reduce(%a init: %least) applies stablehlo.maximum across dimensions = [1] : (tensor<16x12xf32>, tensor<f32>) -> tensor<16xf32>
  %2 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<16x12xf32>, tensor<f32>) -> tensor<12xf32>
  return %0, %1, %2 : tensor<16x16xf32>, tensor<16xf32>, tensor<12xf32>
}
"""


def test_collectives_of_another_tool():
    """jaxlib's passes leave it to the collective behind an op to say that its result is partial, and of what kind to
    nobody.
    """
    pipeline = (
        "builtin.module(sdy-propagation-pipeline,"
        "func.func(sdy-insert-explicit-reshards{enable-full-version=true},sdy-reshard-to-collectives))"
    )
    with engine.context():
        module = ir.Module.parse(OTHER_TOOL)
        PassManager.parse(pipeline).run(module.operation)
        collectives = str(module)
    assert "sdy.all_reduce" in collectives and "unreduced" not in collectives
    text = chain(program=collectives, pipeline="builtin.module(sdy-convert-global-to-local,sdy-drop-sharding-and-mesh)")
    run_and_compare(text, program=OTHER_TOOL)


MESHES = """
sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @reversed = <["x"=2, "y"=4], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>
sdy.mesh @other = <["z"=4, "w"=2]>
func.func public @main(
    %a: tensor<16x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
    %b: tensor<12x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>})
    -> (tensor<16x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
        tensor<12x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) {
  %0 = stablehlo.sine %a {sdy.sharding = #sdy.sharding_per_value<[<@reversed, [{"y"}, {"x"}]>]>} : tensor<16x12xf32>
  %1 = stablehlo.add %a, %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<16x12xf32>
  %2 = stablehlo.sine %b {sdy.sharding = #sdy.sharding_per_value<[<@other, [{"z"}, {"w"}]>]>} : tensor<12x16xf32>
  %3 = stablehlo.add %2, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>} : tensor<12x16xf32>
  return %1, %3 : tensor<16x12xf32>, tensor<12x16xf32>
}
"""


def test_ops_between_meshes():
    run_and_compare(chain(program=MESHES), program=MESHES)


def test_shardings_in_types_are_the_values():
    def program(argument):
        encoding = ", #sdy.sharding<@mesh, [{\"x\"}, {}]>"
        written = " {sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}, {}]>}"
        typed, given = ("", written) if argument == "written" else (encoding, "")
        return f"""
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func public @main(%a: tensor<16x12xf32{typed}>{given}) -> tensor<16x12xf32> {{
  %0 = stablehlo.sine %a : (tensor<16x12xf32{typed}>) -> tensor<16x12xf32>
  return %0 : tensor<16x12xf32>
}}"""

    assert "tensor<8x12xf32>" in shardonnay.compile(program("written")).text
    assert shardonnay.compile(program("typed")).text == shardonnay.compile(program("written")).text


ALONE = """
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func public @main(%a: tensor<10x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
                       %b: tensor<12x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> tensor<10x6xf32> {
  %0 = stablehlo.reverse %a, dims = [0, 1] : tensor<10x12xf32>
  %1 = stablehlo.dot_general %0, %b, contracting_dims = [1] x [0] : (tensor<10x12xf32>, tensor<12x6xf32>) -> tensor<10x6xf32>
  %2 = stablehlo.iota dim = 1 : tensor<10x6xf32>
  %3 = stablehlo.constant dense<[[1.0], [2.0], [3.0], [4.0], [5.0], [6.0], [7.0], [8.0], [9.0], [10.0]]> : tensor<10x1xf32>
  %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<10x1xf32>) -> tensor<10x6xf32>
  %5 = stablehlo.multiply %1, %2 : tensor<10x6xf32>
  %6 = stablehlo.add %5, %4 : tensor<10x6xf32>
  return %6 : tensor<10x6xf32>
}
"""
PLANNED = "sdy-propagation-pipeline,func.func(sdy-insert-explicit-reshards{enable-full-version=true})"


@pytest.mark.parametrize("chosen", ["", "filter=dot_general,stablehlo.reverse", "filter=0-2", "filter=3-9"])
def test_operations_partitioned_alone_compute_the_same(chosen):
    """Uneven dims, constants and reshards among them; the rest is partitioned afterwards."""
    text = chain(program=ALONE, pipeline=f"builtin.module({PLANNED},sdy-per-instruction-partitioning{{{chosen}}})")
    assert "sdy.manual_computation" in text
    random = np.random.default_rng(1)
    given = [random.uniform(-1, 1, shape).astype(np.float32) for shape in ((10, 12), (12, 6))]
    (found,), (spread,) = run.LoadedProgram(shardonnay.compile(text))(given)
    (wanted,) = compare.reference(ALONE, given).outputs
    assert spread == 0
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)


UNEVEN = """
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func public @main(
    %a: tensor<16x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
    %b: tensor<12x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>})
    -> (tensor<12x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>},
        tensor<12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>},
        tensor<12x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.slice %a [0:10, 0:12] : (tensor<16x12xf32>) -> tensor<10x12xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"y"}, {}]> : tensor<10x12xf32>
  %2 = stablehlo.cosine %1 : tensor<10x12xf32>
  %3 = stablehlo.dot_general %2, %2, contracting_dims = [0] x [0] : (tensor<10x12xf32>, tensor<10x12xf32>) -> tensor<12x12xf32>
  %4 = stablehlo.reverse %2, dims = [0] : tensor<10x12xf32>
  %5 = stablehlo.multiply %4, %2 : tensor<10x12xf32>
  %6 = stablehlo.reduce(%5 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<10x12xf32>, tensor<f32>) -> tensor<12xf32>
  return %3, %6, %b : tensor<12x12xf32>, tensor<12xf32>, tensor<12x16xf32>
}
"""


def test_padded_programs_are_lowered_by_a_tool_that_does_not_pad():
    """jaxlib's sdy-convert-global-to-local wants axes to divide all tensors. (Its partial sums have no kinds, so no
    maximum.)
    """
    padded = chain(
        program=UNEVEN,
        pipeline=(
            "builtin.module(sdy-propagation-pipeline,func.func(sdy-insert-explicit-reshards{enable-full-version=true}),"
            "sdy-resolve-permutation-factors{enable-halo-exchange=false},"
            "func.func(sdy-reshard-to-collectives,sdy-pad-for-divisibility{pad=true}))"
        ),
    )
    assert "tensor<12x12xf32>" in padded and "sdy.manual_computation" in padded
    with engine.context():
        module = ir.Module.parse(padded)
        PassManager.parse("builtin.module(sdy-convert-global-to-local,sdy-drop-sharding-and-mesh)").run(
            module.operation
        )
        text = str(module)
    run_and_compare(text, program=UNEVEN)


def test_shardings_say_of_which_tensor_a_local_one_is_a_shard():
    text = chain(program=ON_DEVICE, pipeline="builtin.module(sdy-propagation-pipeline,sdy-convert-global-to-local)")
    assert '%arg0: tensor<8x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}' in text
    assert "sdy.mesh @mesh" in text and "sdy.mesh @maximal_5" in text
    run_and_compare(chain(program=text, pipeline="builtin.module(sdy-drop-sharding-and-mesh)"), program=ON_DEVICE)


DOT = """
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func public @main(
    %a: tensor<16x12xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{"y"}}]>}},
    %b: tensor<12x16xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"y"}}, {{}}]>}})
    -> (tensor<16x16xf32> {{sdy.sharding = #sdy.sharding<@mesh, {result}>}}) {{
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] {{sdy.sharding = #sdy.sharding_per_value<[<@mesh, {result}>]>}}
      : (tensor<16x12xf32>, tensor<12x16xf32>) -> tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}}
"""


@pytest.mark.parametrize("result", ['[{"y"}, {}]', '[{}, {"y"}]', '[{"x", "y"}, {}]'])
def test_partial_mode_lowers_a_dot_wanted_along_what_it_contracts(result):
    """The partial mode leaves such a dot to what lowers it, as jaxlib's does."""
    program = DOT.format(result=result)
    passes = (
        "builtin.module(func.func(sdy-insert-explicit-reshards,sdy-reshard-to-collectives),"
        "sdy-convert-global-to-local,sdy-drop-sharding-and-mesh)"
    )
    text = chain(program=program, pipeline=passes)
    assert "stablehlo.dot_general" in text
    run_and_compare(text, program=program)
