"""Acceptance test 14: a mesh with axes of size `?`; one executable runs in 2, 4 and 8 processes."""

import functools
import subprocess
import sys

import numpy as np
import pytest
import shardonnay
from programs import EXACT, PROGRAMS, X, Y, on_mesh, sharded
from running import TIMEOUT, integers, whole
from shardonnay import mpi as package

COUNTS = (2, 4, 8)
needs_mpi = pytest.mark.skipif(not package.installed(), reason="NO MPI IS INSTALLED: run scripts/setup --mpi")

# No dim is divided by all numbers. In turn: partial sums, all summed and summed to shards; a gather; dims that change
# places; windows of neighbours; a loop that knows where it stands.
UNEVEN = f"""sdy.mesh @mesh = <[]>
#id = affine_map<(i, j) -> (i, j)>
func.func @main(%a: tensor<7x13xf32> {sharded(X, Y)}, %b: tensor<13x9xf32> {sharded(Y, "")}, %c: tensor<11xf32> {sharded(Y)},
                %d: tensor<5x9xi32> {sharded(Y, X)})
    -> (tensor<7x9xf32> {sharded(X, "")}, tensor<7x9xf32> {sharded("", Y)}, tensor<7x13xf32> {sharded("", "")},
        tensor<5x9xi32> {sharded(X, Y)}, tensor<9xf32> {sharded(Y)}, tensor<5x9xi32> {sharded(Y, X)}, tensor<f32>) {{
  %zero = arith.constant 0.0 : f32
  %s = arith.constant dense<1.0> : tensor<7x9xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<7x13xf32>, tensor<13x9xf32>) outs(%s : tensor<7x9xf32>) -> tensor<7x9xf32>
  %1 = linalg.matmul ins(%a, %b : tensor<7x13xf32>, tensor<13x9xf32>) outs(%s : tensor<7x9xf32>) -> tensor<7x9xf32>
  %l = tensor.extract_slice %c[0] [9] [1] : tensor<11xf32> to tensor<9xf32>
  %m = tensor.extract_slice %c[1] [9] [1] : tensor<11xf32> to tensor<9xf32>
  %r = tensor.extract_slice %c[2] [9] [1] : tensor<11xf32> to tensor<9xf32>
  %lm = arith.addf %l, %m : tensor<9xf32>
  %lmr = arith.addf %lm, %r : tensor<9xf32>
  %e = tensor.empty() : tensor<5x9xi32>
  %i = linalg.generic {{indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}}
      ins(%d : tensor<5x9xi32>) outs(%e : tensor<5x9xi32>) {{
  ^bb0(%p: i32, %q: i32):
    %row = linalg.index 0 : index
    %column = linalg.index 1 : index
    %twice = arith.addi %row, %column : index
    %number = arith.index_cast %twice : index to i32
    %sum = arith.muli %p, %number : i32
    linalg.yield %sum : i32
  }} -> tensor<5x9xi32>
  %n = tensor.empty() : tensor<f32>
  %z = linalg.fill ins(%zero : f32) outs(%n : tensor<f32>) -> tensor<f32>
  %t = linalg.reduce {{ arith.addf }} ins(%a : tensor<7x13xf32>) outs(%z : tensor<f32>) dimensions = [0, 1]
  return %0, %1, %a, %d, %lmr, %i, %t
      : tensor<7x9xf32>, tensor<7x9xf32>, tensor<7x13xf32>, tensor<5x9xi32>, tensor<9xf32>, tensor<5x9xi32>, tensor<f32>
}}"""


def plans(text):
    return [shardonnay.compile(text, target="mpi", devices=devices) for devices in COUNTS]


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_is_the_program_of_the_sizes(name):
    """What is compiled for a number of devices is what is compiled for a mesh of these sizes."""
    for devices, program in zip(COUNTS, plans(PROGRAMS[name]("?"))):
        wanted = shardonnay.compile(PROGRAMS[name](devices), target="mpi")
        assert program.manifest == wanted.manifest and program.text == wanted.text


@functools.cache
def executable(text, mpi):
    return package.LoadedProgram(plans(text), mpi, timeout=TIMEOUT)


@pytest.mark.parametrize("axes", ["?", "??"])
@pytest.mark.parametrize("devices", COUNTS)
def test_uneven(axes, devices, mpi):
    text = on_mesh(UNEVEN, axes)
    program = executable(text, mpi).on(devices)
    inputs = integers(program.manifest["inputs"])
    outputs, spreads = program(inputs)
    for entry, output, spread, wanted in zip(
        program.manifest["outputs"], outputs, spreads, whole(text, package.find())(inputs)[0], strict=True
    ):
        np.testing.assert_array_equal(output, wanted, err_msg=entry["name"])
        assert spread == 0


@pytest.mark.parametrize("name", ["stencil", "rotation", "loop", "linalg-mlp-0"])
@pytest.mark.parametrize("devices", COUNTS)
def test_programs(name, devices, mpi):
    assert name in EXACT or name.endswith("mlp-0")
    text = PROGRAMS[name]("?")
    program = executable(text, mpi).on(devices)
    inputs = integers(program.manifest["inputs"])
    for output, wanted in zip(program(inputs)[0], whole(text, package.find())(inputs)[0], strict=True):
        np.testing.assert_allclose(output, wanted, rtol=1e-5)


def test_collectives_are_of_several_kinds():
    report = shardonnay.compile(on_mesh(UNEVEN, "?"), target="mpi", devices=8, report=True).report
    kinds = {entry["kind"] for entry in report["collectives"]}
    assert {"all_reduce", "reduce_scatter", "all_gather", "all_to_all", "collective_permute"} <= kinds


def test_another_number_is_refused(mpi):
    """It says what it was compiled for."""
    with pytest.raises(package.MpiError, match="expected 2, 4, 8 processes, got 3"):
        program = executable(on_mesh(UNEVEN, "?"), mpi)
        other = program.on(2)
        other.manifest = {**other.manifest, "devices": 3}
        other(integers(program.manifest["inputs"]))
    done = subprocess.run(
        mpi.launch(3, [str(program.executable)]), capture_output=True, text=True, env=mpi.environment()
    )
    assert done.returncode and "with N of 2, 4, 8." in done.stderr


def test_usage(mpi):
    program = executable(on_mesh(UNEVEN, "?"), mpi)

    def run(processes, *arguments):
        command = mpi.launch(processes, [str(program.executable), *arguments])
        return subprocess.run(command, capture_output=True, text=True, env=mpi.environment())

    asked = run(2, "--help")
    assert asked.returncode == 0 and asked.stdout.count("usage: mpirun -n N ") == 1
    count = len(program.manifest["inputs"])
    for inputs, said in (
        (["x.npy"] * (count + 1), f"expected {count} input files, got {count + 1}"),
        (["x.npy"] * count + ["-o"] + ["y.npy"] * 9, "output files or none, got 9"),
    ):
        refused = run(2, *inputs)
        assert refused.returncode and said in refused.stderr
    alone = run(1)
    assert alone.returncode and "expected 2, 4, 8 processes, got 1; if mpirun started more" in alone.stderr


@needs_mpi
def test_built_by_the_command(tmp_path):
    """One file of text, one command, one file that runs."""
    source, output = tmp_path / "program.mlir", tmp_path / "program"
    source.write_text(PROGRAMS["reduce_sum_f32"]("?"))
    command = [sys.executable, "-m", "shardonnay"]
    subprocess.run([*command, "build", source, "--ranks", "2,4", "-o", output], check=True)
    mpi, array = package.find(), np.arange(96, dtype=np.float32).reshape(8, 12)
    np.save(tmp_path / "a.npy", array)
    for ranks in (2, 4):
        names = [tmp_path / f"{ranks}.{number}.npy" for number in range(2)]
        subprocess.run(
            mpi.launch(ranks, [str(output), str(tmp_path / "a.npy"), "-o", *map(str, names)]), check=True,
            env=mpi.environment(),
        )
        np.testing.assert_array_equal(np.load(names[0]), array.sum(axis=1) + 1)
        np.testing.assert_array_equal(np.load(names[1]), array.sum(axis=0) + 1)
    subprocess.run([*command, "run", source, "--engine", "mpi", "--ranks", "2", "--check"], check=True)
    refused = subprocess.run([*command, "run", source, "--engine", "mpi"], capture_output=True, text=True)
    assert refused.returncode == 1 and "has an axis without a size" in refused.stderr
