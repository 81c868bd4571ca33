"""Typical mistakes in a program or on the command line: one message each that names the user's own line."""

import json
import pickle

import numpy as np
import pytest
from shardonnay.cli import main

# The lines are what the messages name.
PROGRAM = """sdy.mesh @mesh = <["data"=2, "model"=4]>
func.func public @main(
    %x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>},
    %w: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}) -> tensor<8x32xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"data"}, {}]> : tensor<8x32xf32>
  return %1 : tensor<8x32xf32>
}
"""
LINALG = """sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<4xf32> {
  %0 = linalg.add ins(%x, %x : tensor<4xf32>, tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
# What is wrong -> (what was there, what is there now, what is said; @ stands for the file).
IN_A_PROGRAM = {
    "an axis that is not there": ('[{"model"}, {}]', '[{"modle"}, {}]',
                                  '@:4:5: error: \'func.func\' op argument 1: unknown axis "modle", expected one of '
                                  'the mesh #sdy.mesh<["data"=2, "model"=4]>\n@:1:1: note: the mesh is declared '
                                  'here\n'),
    "a mesh that is not there": ('<@mesh, [{"model"}', '<@grid, [{"model"}',
                                 "@:4:5: error: 'func.func' op argument 1: unknown mesh @grid, expected the name of "
                                 "an 'sdy.mesh' of the module\n"),
    "no mesh at all": ('sdy.mesh @mesh = <["data"=2, "model"=4]>\n', "\n",
                       "@:3:5: error: 'func.func' op argument 0: unknown mesh @mesh, expected the name of an "
                       "'sdy.mesh' of the module\n"),
    "an axis twice": ('[{"data"}, {"model"}]', '[{"data"}, {"data"}]',
                      '@:3:5: error: \'func.func\' op argument 0: axis "data" occurs twice, in dim 0 and in dim '
                      '1\n@:1:1: note: the mesh is declared here\n'),
    "more dims than the tensor": ('[{"data"}, {"model"}]', '[{"data"}, {"model"}, {}]',
                                  "@:3:5: error: 'func.func' op argument 0: sharding has 3 dims, expected 2 as in "
                                  "'tensor<8x16xf32>'\n"),
    "fewer dims than the tensor": ('{sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]',
                                   '{sdy.sharding = #sdy.sharding<@mesh, [{"model"}]',
                                   "@:4:5: error: 'func.func' op argument 1: sharding has 1 dims, expected 2 as in "
                                   "'tensor<16x32xf32>'\n"),
    "a constraint of another rank": ('%0 <@mesh, [{"data"}, {}]', '%0 <@mesh, [{"data"}]',
                                     "@:7:8: error: 'sdy.sharding_constraint' op sharding has 1 dims, expected 2 as "
                                     "in 'tensor<8x32xf32>'\n"),
    "a sharding that is no sharding": ('#sdy.sharding<@mesh, [{"model"}, {}]>', '"model"',
                                       '@:4:5: error: \'func.func\' op argument 1: expected \'sdy.sharding\' to be '
                                       'an \'#sdy.sharding\', got "model"\n'),
    "a missing spec": ('#sdy.sharding<@mesh, [{"model"}, {}]>', "#sdy.sharding<@mesh>",
                       "@:4:62: error: expected ','\n"),
    "an axis of size 0": ('"model"=4', '"model"=0', '@:1:30: error: custom op \'sdy.mesh\' expected a size of at '
                                                    'least 1 for axis "model", got 0\n'),
    "a mesh with an axis twice": ('"model"=4', '"data"=4', '@:1:18: error: custom op \'sdy.mesh\' axis "data" occurs '
                                                           'twice\n'),
    "a sub-axis that does not fit": ('[{"model"}, {}]', '[{"model":(1)3}, {}]',
                                     '@:4:5: error: \'func.func\' op argument 1: sub-axis "model":(1)3: expected its '
                                     'pre-size times its size to divide the size 4 of the axis\n@:1:1: note: the '
                                     'mesh is declared here\n'),
    "a negative priority": ('{"data"}, {"model"}]', '{"data"}p-1, {"model"}]',
                            "@:3:5: error: 'func.func' op argument 0: dim 0 has the negative priority -1\n"),
    "meshes of different sizes": ('%0 <@mesh, [{"data"}, {}]', '%0 <mesh<["a"=3]>, [{"a"}, {}]',
                                  '@:7:8: error: expected all meshes of 8 devices, as #sdy.mesh<["data"=2, '
                                  '"model"=4]> has, got #sdy.mesh<["a"=3]>\n@:2:1: note: the first mesh in use\n'),
    "dims that do not contract": ("tensor<16x32xf32>", "tensor<24x32xf32>",
                                  "@:5:8: error: 'stablehlo.dot_general' op pairs contracting dim 1 of lhs, of size "
                                  "16, with dim 0 of rhs, of size 24\n@:3:5: note: lhs is made here\n@:4:5: note: "
                                  "rhs is made here\n"),
    "a dynamic shape": ("tensor<8x", "tensor<?x", "@:3:5: error: expected static shapes, got 'tensor<?x16xf32>'; "
                                                  "lower the program for arguments of known shapes\n"),
    "an op of another dialect": ("stablehlo.dot_general", "tf.dot_general",
                                 "@:5:8: error: found an op, attribute or type of a dialect that is not known, "
                                 "expected one of affine, arith, builtin, cf, chlo, complex, func, linalg, math, mhlo, "
                                 "ml_program, quant, scf, sdy, shard, spmd, stablehlo, tensor, tosa, vhlo: lower it to "
                                 "one of these first\n"),
    "an op of MHLO": ("stablehlo.dot_general", "mhlo.dot_general",
                      "@:5:8: error: custom op 'mhlo.dot_general' is unknown; expected 'stablehlo.dot_general': "
                      "lower MHLO to StableHLO first\n"),
    "an op that does not exist": ("stablehlo.dot_general", "stablehlo.dot_genral",
                                  "@:5:8: error: custom op 'stablehlo.dot_genral' is unknown; did you mean "
                                  "'stablehlo.dot_general'?\n"),
    "a value that does not exist": ("dot_general %x", "dot_general %y",
                                    '@:5:30: error: use of undeclared SSA value name\n'),
    "a truncated file": ("  return %1 : tensor<8x32xf32>\n}\n", "",
                         '@:7:77: error: expected operation name in quotes\n'),
}  # fmt: skip


@pytest.mark.parametrize("mistake", IN_A_PROGRAM)
def test_a_mistake_in_a_program(mistake, tmp_path, capsys):
    was, now, told = IN_A_PROGRAM[mistake]
    assert was in PROGRAM
    path = tmp_path / "step.mlir"
    path.write_text(PROGRAM.replace(was, now))
    assert main(["compile", str(path)]) == 1
    out, err = capsys.readouterr()
    assert (out, err.replace(str(path), "@")) == ("", told)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder to stand in, with what the commands below name."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "step.mlir").write_text(PROGRAM)
    (tmp_path / "unsharded.mlir").write_text(
        "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }"
    )
    (tmp_path / "linalg.mlir").write_text(LINALG)
    (tmp_path / "model.json").write_text(json.dumps({"name": "mine"}))
    (tmp_path / "weights.pkl").write_bytes(pickle.dumps([1]))
    np.savez(tmp_path / "short.npz", np.ones((8, 16), np.float32))
    np.savez(tmp_path / "wide.npz", np.ones((8, 16)), np.ones((16, 32), np.float32))


HOW = "expected StableHLO with shardings: jax.jit(f, in_shardings=...).lower(...).as_text(debug_info=True)"
# The command -> (exit code, what is said).
ON_THE_COMMAND_LINE = {
    "compile nowhere.mlir": (1, 'shardonnay: error: nowhere.mlir: No such file or directory\n'),
    "compile .": (1, '.: error: this is a directory, expected a file with a program\n'),
    "compile weights.pkl": (1, f'weights.pkl: error: this is a pickle, which is never loaded; {HOW}\n'),
    "compile step.mlir --device-model=h100": (1, "error: device model 'h100': expected one of bytes, cpu, gpu-node, "
                                                 "gpu-cluster, tpu-torus, or the path of a JSON file (No such file "
                                                 "or directory)\n"),
    "compile step.mlir --device-model=model.json": (1, 'error: model.json: device model has no "bandwidth"\n'),
    "compile step.mlir --search-mode=fast": (2, "shardonnay compile: error: argument --search-mode: expected one of "
                                                "graph, greedy, got 'fast'; see shardonnay compile --help\n"),
    "compile step.mlir --memory-limit=1Gi": (2, 'shardonnay compile: error: argument --memory-limit: expected bytes, '
                                                'such as 1GiB, 0 (none) or more, got 1Gi; see shardonnay compile '
                                                '--help\n'),
    "compile step.mlir --to=shard": (2, "shardonnay compile: error: argument --to: expected one of parse, import, "
                                        "propagate, export, reshard, collectives, partition, emit, got 'shard'; see "
                                        "shardonnay compile --help\n"),
    "compile step.mlir --to=import --manifest=m.json": (1, 'shardonnay: error: --manifest: there is none after stage '
                                                           'import; use a later stage\n'),
    "compile step.mlir -o nowhere/out.mlir": (1, 'shardonnay: error: nowhere/out.mlir: No such file or directory\n'),
    "compile unsharded.mlir -o out.mlir": (0, "unsharded.mlir: note: the program has no shardings, so every device "
                                              "computes all of it; give some on a Mesh, as in jax.jit(f, "
                                              "in_shardings=NamedSharding(mesh, PartitionSpec('data')))\n"),
    "run step.mlir --devices=4": (1, "step.mlir:1:1: error: expected a program for 4 devices (option 'devices'), got "
                                     "one for 8\n"),
    "run step.mlir --inputs=nowhere.npz": (1, 'shardonnay: error: nowhere.npz: No such file or directory\n'),
    "run step.mlir --inputs=weights.pkl": (1, 'shardonnay: error: weights.pkl: expected an .npz file, as numpy.savez '
                                              'writes it\n'),
    "run step.mlir --inputs=short.npz": (1, "shardonnay: error: short.npz: expected an array arg1 or arr_1, got "
                                            "['arr_0']\n"),
    "run step.mlir --inputs=wide.npz": (1, 'shardonnay: error: wide.npz: input 0 (arg0): expected float32[8, 16], '
                                           'got float64[8, 16]\n'),
    "run linalg.mlir": (1, "shardonnay: error: --engine pjrt runs StableHLO, got 'linalg.add'; add --engine mpi\n"),
    "report step.mlir --memory-limt=1": (2, "shardonnay report: error: unexpected argument '--memory-limt=1' (did you "
                                            "mean '--memory-limit'?); see shardonnay report --help\n"),
    "report step.mlir other.mlir": (2, "shardonnay report: error: unexpected argument 'other.mlir'; see shardonnay "
                                       "report --help\n"),
    "compile step.mlir --manifest=-": (1, "shardonnay: error: --manifest: expected another file than that of -o, got "
                                          "-\n"),
    "compile step.mlir --manifest=- --report=- -o=out.mlir": (1, "shardonnay: error: --report: expected another file "
                                                                 "than that of --manifest, got -\n"),
    "explain step.mlir --value=%7": (1, "shardonnay: error: --value %7: no value of this name or place has a "
                                        "sharding, or was offered one; expected a name such as %5, arg0 or 'result "
                                        "0', or a part of a source location\n"),
    "report step.mlir --fail-on=all_gather": (2, "shardonnay report: error: argument --fail-on: 'all_gather': "
                                                 "expected a condition such as 'all_gather>1MiB', 'all_to_all>0' or "
                                                 "'peak>=8GiB'; see shardonnay report --help\n"),
    "diff step.mlir --b=speed=high": (2, "shardonnay diff: error: argument --b: there is no option 'speed'; expected "
                                         "one of devices, device-model, memory-limit, search-mode, schedule, "
                                         "keep-propagated, no-bucketing, keep-functions-of, arguments, results, "
                                         "no-implicit-replication, no-gather-by-price, strict, time-limit, "
                                         "host-memory-limit; see shardonnay diff --help\n"),
    "partition step.mlir": (2, "shardonnay: error: argument COMMAND: invalid choice: 'partition' (choose from "
                               "'compile', 'build', 'run', 'explain', 'report', 'diff', 'doctor'); see shardonnay "
                               "--help\n"),
}  # fmt: skip


@pytest.mark.parametrize("command", ON_THE_COMMAND_LINE)
def test_a_mistake_on_the_command_line(command, folder, capsys):
    expected = ON_THE_COMMAND_LINE[command]
    try:
        status = main(command.split())
    except SystemExit as exit:
        status = exit.code
    out, err = capsys.readouterr()
    assert out == ""
    assert (status, err) == expected
