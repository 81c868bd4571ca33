"""`shardonnay report`: what it prints, as JSON too, and its gates."""

import json

import pytest
from shardonnay.cli import main
from shardonnay.gate import Gate, GateError

PROGRAM = """sdy.mesh @mesh = <["data"=2, "model"=4]>
func.func public @main(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>},
                       %w: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>})
    -> (tensor<8x16xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
"""
GOLDEN = """shardings: 3 tensors given, 4 decided, of 4 in the program

collectives, bytes as each device sends them in a step:
  kind             axes               count  bytes      source
  all_reduce       model              1      384 B      PATH:5:8
      reduces the sum along {model} that 'stablehlo.dot_general' computes in parts (it reduces over factor k); \
'stablehlo.dot_general' with i by {data}, k by {model} costs 10.1 us, the next best, i by {data}, 12.3 us
  total                               1      384 B

memory per device: arguments 1,536 B -> 320 B, peak 2,048 B -> 832 B (element-wise chains fused)
matmul FLOPs: 512 on a device x 8 / 4,096 = 1.000
"""


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "p.mlir"
    path.write_text(PROGRAM)
    return path


def test_the_report(path, capsys):
    assert main(["report", str(path)]) == 0
    assert capsys.readouterr() == (GOLDEN.replace("PATH", str(path)), "")


def test_without_causes(path, capsys):
    assert main(["report", str(path), "--no-causes"]) == 0
    lines = GOLDEN.replace("PATH", str(path)).splitlines(keepends=True)
    assert capsys.readouterr().out == "".join(line for line in lines if not line.startswith("      "))


def test_as_json_with_gates(path, capsys):
    assert main(["report", str(path), "--json", "--fail-on", "all_reduce>=384B", "--fail-on", "peak>1KiB"]) == 3
    out, err = capsys.readouterr()
    told = json.loads(out)
    assert (told["ok"], told["failing"], told["report"]["collective_bytes"]) == (False, ["all_reduce>=384B"], 384)
    assert err == "shardonnay: --fail-on all_reduce>=384B: all_reduce: 384 B\n"


@pytest.mark.parametrize(
    "condition, status",
    [
        ("all_reduce>383B", 3),
        ("all_reduce>384B", 0),
        ("all-reduce>=1", 3),
        ("all_reduce>1", 0),
        ("all_reduce@model>0", 3),
        ("all_reduce@data>0", 0),
        ("all_gather>0", 0),
        ("total>0.3KiB", 3),
        ("peak > 800B", 3),
        ("arguments>1MB", 0),
    ],
)
def test_gates(path, capsys, condition, status):
    assert main(["report", str(path), "--fail-on", condition]) == status
    assert bool(capsys.readouterr().err) == (status == 3)


def test_a_gate_over_no_axis_of_the_mesh_guards_nothing(path, capsys):
    assert main(["report", str(path), "--fail-on", "all_reduce@modle>0"]) == 1
    assert "'all_reduce@modle>0': axis 'modle' is not in the mesh, expected one of " in capsys.readouterr().err


def test_a_gate_counts_what_a_loop_runs():
    entry = {"kind": "all_gather", "axes": ["x"], "bytes": 100, "count": 1, "trips": 10}
    assert Gate.parse("all_gather>=1000B").value({"collectives": [entry]}) == 1000


@pytest.mark.parametrize(
    "condition, message",
    [
        ("all_gather", "'all_gather': expected a condition such as 'all_gather>1MiB', 'all_to_all>0' or 'peak>=8GiB'"),
        ("gather>1", "'gather>1': expected one of all_gather, all_reduce, all_to_all, collective_permute, "
                     "reduce_scatter, collective_broadcast, total, peak, arguments, got 'gather'"),
        ("total>1Mb", "'total>1Mb': expected a unit of B, KB, MB, GB, KiB, MiB, GiB, got 'Mb'"),
        ("peak>8", "'peak>8': memory that a device holds at once: expected bytes with a unit, such as peak>8GiB"),
    ],
)  # fmt: skip
def test_a_wrong_gate_is_a_usage_error(path, capsys, condition, message):
    with pytest.raises(GateError) as caught:
        Gate.parse(condition)
    assert str(caught.value) == message
    with pytest.raises(SystemExit) as exit:
        main(["report", str(path), "--fail-on", condition])
    assert exit.value.code == 2
    told = f"shardonnay report: error: argument --fail-on: {message}; see shardonnay report --help\n"
    assert capsys.readouterr().err == told
