"""`shardonnay explain`: what it says of a small program, by name, by place, and of what was refused."""

import pytest
from shardonnay import __main__ as command
from shardonnay import explain

PROGRAM = """sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func public @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>},
    %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"a"}]>},
    %arg2: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {}]>})
    -> (tensor<16x8xf32>, tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"b"}]>}) {
  %0 = stablehlo.tanh %arg0 : tensor<16x8xf32>
  %1 = stablehlo.dot_general %0, %arg1, contracting_dims = [1] x [0]
      : (tensor<16x8xf32>, tensor<8x8xf32>) -> tensor<16x8xf32>
  %2 = stablehlo.exponential %arg2 : tensor<8x8xf32>
  return %1, %2 : tensor<16x8xf32>, tensor<8x8xf32>
}
"""


@pytest.fixture(scope="module")
def values():
    return explain.explain(PROGRAM, name="p.mlir")


def text(values, query):
    return "\n".join(line for value in explain.select(values, query) for line in explain.lines(value))


def test_from_which_constraint_along_which_ops(values):
    told = text(values, "%1")
    assert '#sdy.sharding<@mesh, [{"a", ?}, {?}]>' in told
    assert 'dim 0 "a" <- input: 0 (%arg0)' in told
    assert "from %0 dim 0 by stablehlo.dot_general  p.mlir:7:8" in told
    assert "from %arg0 dim 0 by stablehlo.tanh  p.mlir:6:8" in told
    assert told.index("dot_general  p.mlir") < told.index("tanh  p.mlir")


def test_what_was_refused_and_why(values):
    assert (
        'not dim 1 "a", offered by %arg1 dim 1: the axis is used by %1 dim 0, whose source is larger; '
        "at stablehlo.dot_general  p.mlir:7:8" in text(values, "%1")
    )
    assert 'not dim 1 "b", offered by %2 dim 1: the dim is closed' in text(values, "arg2")


def test_backwards_and_at_results(values):
    assert 'dim 1 "b" <- output: 1 (result 1)' in text(values, "2")
    assert 'dim 0 "a" <- input: 0 (%arg0)' in text(values, "result 0")


def test_by_place(values):
    assert {value["name"] for value in explain.select(values, "p.mlir:8")} == set()
    assert {value["name"] for value in explain.select(values, "p.mlir:6:")} == {"%0"}


def test_paths_are_seen_from_the_current_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told = text(explain.explain(PROGRAM, name=str(tmp_path / "sub" / "p.mlir")), "%1")
    assert "by stablehlo.dot_general  sub/p.mlir:7:8" in told
    assert f"{tmp_path}/" not in told


def test_the_command(tmp_path, capsys):
    path = tmp_path / "p.mlir"
    path.write_text(PROGRAM)
    assert command.main(["explain", str(path), "--value", "%0"]) == 0
    assert "result 0 of stablehlo.tanh" in capsys.readouterr().out
    assert command.main(["explain", str(path), "--value", "%nothing"]) == 1
    assert "no value of this name" in capsys.readouterr().err
    path.write_text("func.func @f() { oops }")
    assert command.main(["explain", str(path)]) == 1
    assert "error" in capsys.readouterr().err
