"""Several meshes over the same devices, other orders of the devices, and values on one device alone."""

import re

import jax
import numpy as np
import pytest
import shardonnay
from agrees import assert_agrees
from jax import lax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P
from shardonnay import run

REVERSED = "device_ids=[7, 6, 5, 4, 3, 2, 1, 0]"
SHUFFLED = "device_ids=[3, 0, 6, 5, 1, 7, 2, 4]"


def program(meshes, a, b, middle, result):
    """tanh(a) times b, its sum sharded as `middle`, transposed and returned as `result`: each "@mesh, [..]"."""
    declared = "\n".join(f"sdy.mesh @{name} = <{text}>" for name, text in meshes.items())
    return f"""
{declared}
func.func public @main(
    %a: tensor<12x8xf32> {{sdy.sharding = #sdy.sharding<{a}>}},
    %b: tensor<8x6xf32> {{sdy.sharding = #sdy.sharding<{b}>}})
    -> (tensor<6x12xf32> {{sdy.sharding = #sdy.sharding<{result}>}}) {{
  %0 = stablehlo.tanh %a : tensor<12x8xf32>
  %1 = stablehlo.dot_general %0, %b, contracting_dims = [1] x [0] : (tensor<12x8xf32>, tensor<8x6xf32>) -> tensor<12x6xf32>
  %2 = sdy.sharding_constraint %1 <{middle}> : tensor<12x6xf32>
  %3 = stablehlo.transpose %2, dims = [1, 0] : (tensor<12x6xf32>) -> tensor<6x12xf32>
  return %3 : tensor<6x12xf32>
}}
"""


def inputs():
    random = np.random.default_rng(0)
    return [random.uniform(-1, 1, shape).astype(np.float32) for shape in ((12, 8), (8, 6))]


def check(text, arguments=None):
    compiled = shardonnay.compile(text)
    given = inputs() if arguments is None else arguments
    assert_agrees(compiled, text, given)
    return compiled


def kinds(compiled):
    return [entry["kind"] for entry in compiled.report["collectives"]]


M = '["x"=2, "y"=4]'
ZW = '["z"=4, "w"=2]'
CASES = {
    "the same axes under another name": (
        {"m": M, "n": M},
        '@m, [{"x"}, {"y"}]',
        '@n, [{"y"}, {}]',
        '@n, [{"x"}, {"y"}]',
        '@m, [{"y"}, {"x"}]',
    ),
    "axes that nest": (
        {"m": M, "n": ZW},
        '@m, [{"x"}, {"y"}]',
        '@n, [{"w"}, {"z"}]',
        '@n, [{"z"}, {"w"}]',
        '@m, [{}, {"y"}]',
    ),
    "digits exchanged": (
        {"m": M, "n": f"{ZW[:-1]}], device_ids=[0, 4, 1, 5, 2, 6, 3, 7]"},
        '@m, [{"x"}, {"y"}]',
        '@n, [{"w"}, {"z"}]',
        '@n, [{"z"}, {"w"}]',
        '@m, [{}, {"y"}]',
    ),
    "reversed argument": (
        {"m": M, "n": f"{M}, {REVERSED}"},
        '@n, [{"x"}, {"y"}]',
        '@m, [{"y"}, {}]',
        '@m, [{"x"}, {}]',
        '@m, [{}, {"x"}]',
    ),
    "shuffled result": (
        {"m": M, "n": f"{M}, {SHUFFLED}"},
        '@m, [{"x"}, {"y"}]',
        '@m, [{"y"}, {}]',
        '@m, [{"x"}, {}]',
        '@n, [{"x"}, {"y"}]',
    ),
    "shuffled, other axes": (
        {"m": M, "n": f"{ZW}, {SHUFFLED}"},
        '@n, [{"z"}, {"w"}]',
        '@m, [{"y"}, {}]',
        '@n, [{"z"}, {"w"}]',
        '@n, [{"w"}, {"z"}]',
    ),
    "all shuffled": (
        {"m": f"{M}, {SHUFFLED}"},
        '@m, [{"x"}, {"y"}]',
        '@m, [{"y"}, {}]',
        '@m, [{"x"}, {}]',
        '@m, [{}, {"x"}]',
    ),
    "axes that do not nest": (
        {"m": '["x"=2, "y"=3]', "n": '["z"=3, "w"=2]'},
        '@m, [{"x"}, {"y"}]',
        "@m, [{}, {}]",
        '@m, [{"x"}, {}]',
        '@n, [{"z"}, {"w"}]',
    ),
    "most of them on the second": (
        {"m": '["x"=2, "y"=3]', "n": '["z"=3, "w"=2]'},
        '@m, [{"x"}, {"y"}]',
        '@n, [{"z"}, {"w"}]',
        '@n, [{"z"}, {}]',
        '@n, [{"w"}, {}]',
    ),
    "sub-axes that do not nest": (
        {"m": '["a"=6]', "n": '["z"=3, "w"=2]'},
        '@m, [{"a":(2)3}, {"a":(1)2}]',
        '@n, [{}, {"w"}]',
        '@n, [{}, {"z"}]',
        '@n, [{"w", "z"}, {}]',
    ),
    "partial where they do not nest": (
        {"m": '["x"=2, "y"=3]', "n": '["z"=3, "w"=2]'},
        '@m, [{"x"}, {}], unreduced={"y"}',
        '@m, [{}, {"x"}]',
        '@m, [{"x"}, {"y"}]',
        '@n, [{"w"}, {}], unreduced={"z"}',
    ),
    "partial in another order": (
        {"m": M, "n": f"{M}, {SHUFFLED}"},
        '@n, [{"x"}, {}], unreduced={"y"}',
        '@m, [{"y"}, {}]',
        '@m, [{"x"}, {}]',
        '@n, [{"x"}, {}], unreduced={"y"}',
    ),
    "three meshes": (
        {"m": M, "n": ZW, "o": f"{M}, {REVERSED}"},
        '@m, [{"x"}, {"y"}]',
        '@n, [{"w"}, {"z"}]',
        '@o, [{"x"}, {"y"}]',
        '@n, [{"z"}, {}]',
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_agrees_with_the_unpartitioned_program(case):
    check(program(*CASES[case]))


@pytest.mark.parametrize("mesh", [f'<["x"=2, "a"=2, "b"=2], {SHUFFLED}>', '<["a"=2, "x"=2, "b"=2]>'])
@pytest.mark.parametrize("before, after", [('"a"', '"b"'), ('"b"', '"a"')])
def test_a_permute_in_a_manual_computation_stays_on_its_devices(mesh, before, after):
    """Each device along "x" has a value of its own."""
    check(f"""
sdy.mesh @m = {mesh}
func.func @main(%a: tensor<4x6xf32> {{sdy.sharding = #sdy.sharding<@m, [{{{before}}}, {{"x"}}]>}})
    -> (tensor<4x6xf32> {{sdy.sharding = #sdy.sharding<@m, [{{{after}}}, {{"x"}}]>}}) {{
  %0 = sdy.manual_computation(%a) in_shardings=[<@m, [{{{before}}}, {{"x"}}]>]
      out_shardings=[<@m, [{{{after}}}, {{"x"}}]>] manual_axes={{"x"}} (%b: tensor<4x3xf32>) {{
    %1 = stablehlo.negate %b : tensor<4x3xf32>
    sdy.return %1 : tensor<4x3xf32>
  }} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}}
""", [np.arange(24, dtype=np.float32).reshape(4, 6)])


def test_parts_go_to_another_order_of_the_devices():
    text = f"""
sdy.mesh @m = <{M}, device_ids=[4, 0, 1, 7, 5, 3, 2, 6]>
sdy.mesh @n = <{M}, device_ids=[6, 5, 7, 4, 3, 2, 0, 1]>
func.func @main(%a: tensor<6x4xf32> {{sdy.sharding = #sdy.sharding<@n, [{{}}, {{}}], unreduced={{"y"}}>}})
    -> (tensor<6x4xf32> {{sdy.sharding = #sdy.sharding<@m, [{{"x"}}, {{}}]>}}) {{
  %0 = sdy.sharding_constraint %a <@m, [{{}}, {{}}], unreduced={{"y"}}> : tensor<6x4xf32>
  %1 = stablehlo.negate %0 {{sdy.sharding = #sdy.sharding_per_value<[<@m, [{{"x"}}, {{}}]>]>}} : tensor<6x4xf32>
  return %1 : tensor<6x4xf32>
}}
"""
    random = np.random.default_rng(0)
    check(text, [random.uniform(-1, 1, (6, 4)).astype(np.float32)])


def test_axes_that_nest_cost_no_more_than_on_one_mesh():
    meshes, *_ = CASES["axes that nest"]
    text = program(meshes, '@m, [{"x"}, {}]', "@m, [{}, {}]", '@n, [{"z"}, {}]', '@n, [{}, {"z"}]')
    # z is x and the major half of y: the constraint and the result shard finer what is sharded by x.
    assert kinds(check(text)) == []


def test_another_order_is_one_permute():
    text = program(
        {"m": M, "n": f"{M}, {SHUFFLED}"},
        '@n, [{"x", "y"}, {}]',
        "@m, [{}, {}]",
        '@m, [{"x", "y"}, {}]',
        '@m, [{}, {"x", "y"}]',
    )
    compiled = check(text)
    assert kinds(compiled) == ["collective_permute"]
    assert not compiled.diagnostics
    assert compiled.manifest["inputs"][0]["mesh"].endswith("device_ids=[3, 0, 6, 5, 1, 7, 2, 4]>")
    # Device 3 stands first.
    assert compiled.manifest["inputs"][0]["slices"][3] == [[0, 2], [0, 8]]


def test_axes_that_do_not_nest_are_gathered_and_said():
    text = """
sdy.mesh @m = <["x"=2, "y"=3]>
sdy.mesh @n = <["z"=3, "w"=2]>
func.func public @main(%a: tensor<12xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>},
                       %b: tensor<12xf32> {sdy.sharding = #sdy.sharding<@n, [{"z"}]>})
    -> (tensor<12xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>}, tensor<12xf32> {sdy.sharding = #sdy.sharding<@n, [{"z"}]>}) {
  %0 = stablehlo.add %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}]>]>} : tensor<12xf32>
  %1 = stablehlo.negate %0 {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}]>]>} : tensor<12xf32>
  return %0, %1 : tensor<12xf32>, tensor<12xf32>
}
"""
    arguments = [np.arange(12, dtype=np.float32), np.ones(12, np.float32)]
    compiled = check(text, arguments)
    assert kinds(compiled) == ["all_gather", "all_gather"]
    said = [str(d) for d in compiled.diagnostics if d.severity == "warning"]
    assert len(said) == 2 and all("has no form in the axes of mesh @m" in text for text in said)


ON_DEVICE = """
sdy.mesh @m = <["x"=2, "y"=4]>
sdy.mesh @maximal_5 = <[], device_ids=[5]>
func.func public @main(
    %a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y"}]>},
    %b: tensor<4xi32> {sdy.sharding = #sdy.sharding<@maximal_5, []>})
    -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y"}]>}, tensor<4xi32> {sdy.sharding = #sdy.sharding<@maximal_5, []>}, tensor<8x4xi1>) {
  %0 = stablehlo.sine %a {sdy.sharding = #sdy.sharding_per_value<[<@maximal_5, []>]>} : tensor<8x4xf32>
  %1 = stablehlo.add %0, %a : tensor<8x4xf32>
  %2 = stablehlo.add %b, %b : tensor<4xi32>
  %3 = stablehlo.compare LT, %0, %a {sdy.sharding = #sdy.sharding_per_value<[<@maximal_5, []>]>} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xi1>
  return %1, %2, %3 : tensor<8x4xf32>, tensor<4xi32>, tensor<8x4xi1>
}
"""


def test_ops_arguments_and_results_on_one_device():
    arguments = [np.random.default_rng(0).uniform(-1, 1, (8, 4)).astype(np.float32), np.arange(4, dtype=np.int32)]
    compiled = check(ON_DEVICE, arguments)
    assert "stablehlo.if" in compiled.text
    entry = compiled.manifest["inputs"][1]
    assert [slices != [[0, 0]] for slices in entry["slices"]] == [device == 5 for device in range(8)]
    assert not [d for d in compiled.diagnostics if d.severity == "warning"]


BITS_ON_DEVICE = """
sdy.mesh @m = <["x"=8]>
sdy.mesh @maximal_5 = <[], device_ids=[5]>
func.func public @main(%a: tensor<8xi32>) -> tensor<8xf32> {
  %0 = stablehlo.bitcast_convert %a {sdy.sharding = #sdy.sharding_per_value<[<@maximal_5, []>]>} : (tensor<8xi32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
"""


def test_bits_of_one_device():
    """A sum with zeros would make subnormal numbers zero, as processors add."""
    bits = np.array(
        [0, 1, -1 << 31, (-1 << 31) + 1, 2**23 - 1, 127 << 23, 255 << 23, (-1 << 31) + (255 << 23)], np.int32
    )
    (found,), spreads = run.LoadedProgram(shardonnay.compile(BITS_ON_DEVICE))([bits])
    np.testing.assert_array_equal(found.view(np.int32), bits)
    assert max(spreads) == 0


ORDER = [0, 2, 4, 6, 1, 3, 5, 7]
SUMS = """
sdy.mesh @mesh = <["x"=2, "y"=4]{order}>
func.func public @main(%arg0: tensor<8xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"y"}}]>}})
    -> (tensor<8xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"y"}}]>}}) {{
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{{"y"}}]>] out_shardings=[<@mesh, [{{"y"}}]>] manual_axes={{"y"}} (%arg1: tensor<2xf32>) {{
    %1 = "stablehlo.all_reduce"(%arg1) <{{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids,
        replica_groups = #stablehlo.replica_group_mesh_axes<mesh = {mesh}, axes = [#stablehlo.axis_ref<name = "y"{part}>]>}}> ({{
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %2 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }}) : (tensor<2xf32>) -> tensor<2xf32>
    sdy.return %1 : tensor<2xf32>
  }} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}}
"""
SPELLED_OUT = '#stablehlo.mesh<axes = [<name = "x", size = 2>, <name = "y", size = 4>]{}>'


@pytest.mark.parametrize("part", ["", ", sub_axis_info = (2)2"])
@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("named", [True, False])
def test_collectives_of_the_user_along_axes(named, ordered, part):
    """XLA does not read the order of devices of a mesh that is spelled out."""
    order = f", device_ids={ORDER}" if ordered else ""
    mesh = "@mesh" if named else SPELLED_OUT.format(f", device_ids = dense<{ORDER}> : tensor<8xi64>" if ordered else "")
    text = SUMS.format(order=order, mesh=mesh, part=part)
    value = np.arange(8, dtype=np.float32)
    rows = value.reshape(4, 2)
    sums = rows.sum(0, keepdims=True) if not part else np.repeat(rows.reshape(2, 2, 2).sum(1), 2, axis=0)
    expected = np.broadcast_to(sums, rows.shape).reshape(8)
    (found,), _ = run.LoadedProgram(shardonnay.compile(text))([value])
    np.testing.assert_array_equal(found, expected)
    check(text, [value])


@pytest.mark.parametrize("axes", [{"model"}, {"data", "model"}], ids=sorted)
def test_collectives_of_the_user_along_an_axis_of_one_device(axes):
    """Where all manual axes have one device, JAX writes the collectives without a manual computation (and XLA refuses
    it).
    """
    mesh = Mesh(np.array(jax.devices("cpu")[:8]).reshape(8, 1), ("data", "model"))

    def body(x):
        shifted = lax.ppermute(x, "model", []) + lax.ppermute(x, "model", [(0, 0)])
        moved = lax.all_to_all(x, "model", 0, 1, tiled=True) + lax.axis_index("model")
        return lax.psum(x, "model"), lax.all_gather(x, "model"), lax.psum_scatter(x, "model",
            tiled=True), shifted, moved

    rows = P("data", "model")
    spec = P(*(axis if axis in axes else None for axis in rows))
    function = jax.shard_map(body, mesh=mesh, in_specs=spec, out_specs=(spec, P(None, *spec), spec, spec, spec),
                             axis_names=axes, check_vma=False)
    value = np.arange(64, dtype=np.float32).reshape(16, 4)
    compiled = shardonnay.compile(jax.jit(function, in_shardings=NamedSharding(mesh, rows)).lower(value).as_text())
    assert not set(re.findall(r"stablehlo\.(all_\w+|collective_\w+|reduce_scatter)", compiled.text))
    outputs, _ = run.LoadedProgram(compiled)([value])
    for output, wanted in zip(outputs, (value, value[None], value, value, value), strict=True):
        np.testing.assert_array_equal(output, wanted)
