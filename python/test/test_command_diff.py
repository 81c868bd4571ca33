"""`shardonnay diff`: what changed between two programs, and between two sets of options."""

import json

import pytest
from shardonnay.cli import main

PROGRAM = """sdy.mesh @mesh = <["data"=2, "model"=4]>
func.func public @main(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>},
                       %w: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>})
    -> (tensor<8x16xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
"""
PROGRAMS = """  input 0 (arg0)
-     #sdy.sharding<@mesh, [{"data"}, {"model"}]>, [4, 4] on a device
+     #sdy.sharding<@mesh, [{"data"}, {}]>, [4, 16] on a device
  input 1 (arg1)
-     #sdy.sharding<@mesh, [{"model"}, {}]>, [4, 16] on a device
+     #sdy.sharding<@mesh, [{}, {"model"}]>, [16, 4] on a device
  result 0 of stablehlo.dot_general at %0
-     #sdy.sharding<@mesh, [{"data", ?}, {?}]>
+     #sdy.sharding<@mesh, [{"data", ?}, {"model", ?}]>
  collectives, bytes as each device sends them in a step:
- all_reduce         model               1      384 B  tensor<4x16xf32> -> tensor<4x16xf32>
+ all_gather         model               1      192 B  tensor<4x4xf32> -> tensor<4x16xf32>
  in all:
    devices: 8 -> 8 (same)
    collectives: 1 -> 1 (same)
    matmul FLOPs on a device: 512 -> 512 (same)
    bytes sent: 384 B -> 192 B (-50.0%)
    bytes sent, loops as often as they run: 384 B -> 192 B (-50.0%)
    arguments per device: 320 B -> 512 B (+60.0%)
    peak memory per device: 832 B -> 832 B (same)
"""
OPTIONS = """  output 0 (result)
-     #sdy.sharding<@mesh, [{"data"}, {}]>, [4, 16] on a device
+     replicated, [8, 16] on a device
  collectives, bytes as each device sends them in a step:
+ all_gather         data                1      256 B  tensor<4x16xf32> -> tensor<8x16xf32>
  in all:
    devices: 8 -> 8 (same)
    collectives: 1 -> 2 (+100.0%)
    matmul FLOPs on a device: 512 -> 512 (same)
    bytes sent: 384 B -> 640 B (+66.7%)
    bytes sent, loops as often as they run: 384 B -> 640 B (+66.7%)
    arguments per device: 320 B -> 320 B (same)
    peak memory per device: 832 B -> 1,344 B (+61.5%)
"""


@pytest.fixture
def paths(tmp_path):
    before, after = tmp_path / "a.mlir", tmp_path / "b.mlir"
    before.write_text(PROGRAM)
    moved = PROGRAM.replace('[{"data"}, {"model"}]', '[{"data"}, {}]').replace('[{"model"}, {}]', '[{}, {"model"}]')
    after.write_text("// Other lines.\n" + moved)
    return str(before), str(after)


def test_two_programs(paths, capsys):
    assert main(["diff", *paths]) == 0
    assert capsys.readouterr() == (PROGRAMS, "")
    assert main(["diff", *paths, "--exit-code"]) == 3


def test_two_sets_of_options(paths, capsys):
    assert main(["diff", paths[0], "--b", "results=whole"]) == 0
    assert capsys.readouterr() == (OPTIONS, "")
    assert main(["diff", paths[0], "--results=whole", "--a", "results=split"]) == 0
    assert capsys.readouterr() == (OPTIONS, "")


def test_no_difference(paths, tmp_path, capsys):
    assert main(["diff", paths[0], "--exit-code", "--b=no-bucketing", "--b", "strict=false"]) == 0
    moved = tmp_path / "moved.mlir"
    moved.write_text("\n\n" + PROGRAM)
    assert main(["diff", paths[0], str(moved), "--exit-code"]) == 0
    assert capsys.readouterr() == ("no difference in shardings, collectives, bytes and memory\n" * 2, "")


def test_as_json(paths, capsys):
    assert main(["diff", *paths, "--json", "--exit-code"]) == 3
    found = json.loads(capsys.readouterr().out)
    assert found["differs"]
    assert found["totals"]["bytes sent"] == {"before": 384, "after": 192}
    gone, new = found["collectives"]
    assert (gone["kind"], gone["before"], gone["after"]) == ("all_reduce", {"count": 1, "bytes": 384}, None)
    assert (new["kind"], new["before"], new["after"]) == ("all_gather", None, {"count": 1, "bytes": 192})


@pytest.mark.parametrize(
    "setting, message",
    [
        ("search-mode=fast", "expected one of graph, greedy, got 'fast'"),
        ("memory-limit=much", "expected bytes, such as 1GiB, 0 (none) or more, got much"),
        ("strict=perhaps", "strict: expected true or false, got 'perhaps'"),
        ("to=emit", "there is no option 'to'; expected one of devices, device-model, "),
    ],
)
def test_a_wrong_setting_is_a_usage_error(paths, capsys, setting, message):
    with pytest.raises(SystemExit) as exit:
        main(["diff", paths[0], "--b", setting])
    assert exit.value.code == 2
    assert f"shardonnay diff: error: argument --b: {message}" in capsys.readouterr().err
