"""The `shardonnay` command: exit codes, diagnostics, the manifest."""

import io
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import jax
import numpy as np
import pytest
import shardonnay
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P
from shardonnay.__main__ import main

SDY_OPT = Path(__file__).resolve().parents[2] / "build/bin/sdy-opt"

MATMUL = """
module @jit_f attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=2, "model"=4]>
  func.func public @main(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>},
                         %arg1: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>})
      -> (tensor<8x16xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0]
        : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
    return %0 : tensor<8x16xf32>
  }
}
"""


@pytest.fixture
def matmul(tmp_path):
    path = tmp_path / "matmul.mlir"
    path.write_text(MATMUL)
    return path


def test_compile_writes_the_device_program(matmul, capsys):
    assert main(["compile", str(matmul)]) == 0
    out, err = capsys.readouterr()
    assert "tensor<4x4xf32>" in out and "stablehlo.all_reduce" in out and "sdy.sharding" not in out
    assert err == ""


def test_what_nobody_asked_for_is_neither_made_nor_loaded(matmul, monkeypatch, capsys):
    unasked = property(lambda program: pytest.fail("it is made"))
    monkeypatch.setattr(shardonnay.Program, "manifest", unasked)
    monkeypatch.setattr(shardonnay.Program, "report", unasked)
    assert main(["compile", str(matmul)]) == 0
    slow = {"importlib.metadata", "subprocess", "shardonnay.notebook", "jax", "numpy"}
    loaded = f"import shardonnay.cli, sys; print(sorted({slow} & set(sys.modules)))"
    assert subprocess.check_output([sys.executable, "-c", loaded], text=True) == "[]\n"


def test_strict_makes_warnings_errors(tmp_path, capsys):
    path = tmp_path / "size_one.mlir"
    path.write_text(
        'sdy.mesh @mesh = <["x"=2]>\n'
        'func.func @main(%arg0: tensor<1xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<1xf32> {\n'
        "  return %arg0 : tensor<1xf32>\n}\n"
    )
    assert main(["compile", "--to=import", str(path)]) == 0
    assert 'warning: dim 0 of size 1 is sharded by "x"' in capsys.readouterr().err
    assert main(["compile", "--to=import", "--strict", str(path)]) == 1
    assert 'error: dim 0 of size 1 is sharded by "x"' in capsys.readouterr().err


def test_whole_arguments_and_results(matmul, tmp_path, capsys):
    manifest = tmp_path / "manifest.json"
    assert main(["compile", str(matmul), "--arguments=whole", "--results=whole", "--manifest", str(manifest)]) == 0
    assert "@main(%arg0: tensor<8x16xf32>" in capsys.readouterr().out
    written = json.loads(manifest.read_text())
    assert (written["arguments"], written["results"]) == ("whole", "whole")


def test_an_exceeded_limit_names_the_pass(matmul, capsys):
    assert main(["compile", str(matmul), "--time-limit=1e-9"]) == 1
    assert "error: the time limit of 1e-09 s is exceeded after pass 'sdy-" in capsys.readouterr().err
    assert main(["compile", str(matmul), "--host-memory-limit=1"]) == 1
    assert "error: the memory limit of 1 MiB is exceeded after pass 'sdy-" in capsys.readouterr().err


LIMITS = ["--time-limit=nan", "--time-limit=-1", "--memory-limit=-5", "--host-memory-limit=-1",
          "--keep-functions-of=-3"]


@pytest.mark.parametrize("limit", LIMITS)
def test_limits_are_numbers_from_0(matmul, capsys, limit):
    with pytest.raises(SystemExit) as exit:
        main(["compile", str(matmul), limit])
    assert exit.value.code == 2
    assert f"expected 0 (none) or more, got {limit.split('=')[1]}" in capsys.readouterr().err


def test_a_file_that_is_no_device_model_is_named(matmul, capsys):
    assert main(["compile", str(matmul), "--device-model", str(matmul)]) == 1
    assert f"error: {matmul}: device model: [" in capsys.readouterr().err


def test_compile_reads_stdin(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(MATMUL.encode())))
    assert main(["compile", "-"]) == 0
    assert "stablehlo.all_reduce" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments, closed", [("compile -", "stdin"), ("compile {path}", "stdout"), ("report {path}", "stdout")]
)
def test_closed_streams(matmul, arguments, closed):
    """As of a daemon's child."""
    line = f"{sys.executable} -m shardonnay {arguments.format(path=matmul)} {'<' if closed == 'stdin' else '>'}&-"
    done = subprocess.run(["sh", "-c", line], stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (1, f"shardonnay: error: {closed} is closed, expected a file or a pipe\n")


def test_compile_reads_bytecode(matmul, tmp_path, capsys):
    assert main(["compile", str(matmul)]) == 0
    from_text = capsys.readouterr().out
    bytecode = tmp_path / "matmul.mlirbc"
    subprocess.run([SDY_OPT, matmul, "--emit-bytecode", "-o", bytecode], check=True)
    assert main(["compile", str(bytecode)]) == 0
    assert capsys.readouterr().out == from_text


def test_portable_artefacts_of_jax_are_read(tmp_path, capsys):
    mesh = Mesh(np.array(jax.devices("cpu")[:8]).reshape(4, 2), ("x", "y"))
    function = jax.jit(lambda a, b: a @ b, in_shardings=NamedSharding(mesh, P("x", "y")))
    operand = jax.ShapeDtypeStruct((8, 8), np.float32)
    artefact = jax.export.export(function)(operand, operand).mlir_module_serialized
    path = tmp_path / "exported.mlirbc"
    path.write_bytes(artefact)
    assert main(["compile", str(path)]) == 0
    text = capsys.readouterr().out
    assert text == shardonnay.compile(artefact).text
    assert "stablehlo.all_gather" in text
    assert main(["run", str(path), "--check"]) == 0
    path.write_bytes(artefact[:100])
    assert main(["compile", str(path)]) == 1
    assert f"{path}: error: jaxlib cannot read this artefact" in capsys.readouterr().err
    with pytest.raises(shardonnay.CompileError, match="jaxlib cannot read this artefact"):
        shardonnay.compile(artefact[:100])


def test_bytecode_of_another_producer_is_refused_with_what_to_do(tmp_path):
    exported = jax.export.export(jax.jit(lambda x: x + 1))(jax.ShapeDtypeStruct((4,), np.float32))
    path = tmp_path / "exported.mlirbc"
    path.write_bytes(exported.mlir_module_serialized)
    error = subprocess.run([SDY_OPT, path], capture_output=True, text=True, check=False).stderr
    assert "bytecode of another producer's 'vhlo' dialect" in error and "print the program as text" in error


@pytest.mark.parametrize("stage", shardonnay.STAGES)
def test_compile_stops_after_a_stage(matmul, tmp_path, stage):
    out = tmp_path / "out.mlir"
    assert main(["compile", str(matmul), "--to", stage, "-o", str(out)]) == 0
    assert "func.func" in out.read_text()


def test_manifest(matmul, tmp_path):
    path = tmp_path / "m.json"
    assert main(["compile", str(matmul), "-o", str(tmp_path / "out.mlir"), "--manifest", str(path)]) == 0
    manifest = json.loads(path.read_text())
    assert manifest["devices"] == 8
    assert '"data"=2, "model"=4' in manifest["mesh"]
    left, right = manifest["inputs"]
    (out,) = manifest["outputs"]
    assert set(left) == {
        "index", "name", "dtype", "global_shape", "local_shape", "sharding", "slices", "partial", "alias"
    }  # fmt: skip
    assert left["global_shape"] == [8, 16] and left["local_shape"] == [4, 4] and left["dtype"] == "f32"
    assert left["slices"][5] == [[4, 8], [4, 8]]
    assert "\n    [[4, 8], [4, 8]],\n" in path.read_text()  # a line a device
    assert right["slices"] == [[[4 * (d % 4), 4 * (d % 4) + 4], [0, 16]] for d in range(8)]
    assert left["partial"] is None and right["alias"] is None
    assert '[{"data"}, {"model"}]' in left["sharding"]
    assert out["index"] == 0 and out["local_shape"] == [4, 16] and out["slices"][4] == [[4, 8], [0, 16]]


def test_no_file_is_written_over_by_another(matmul, tmp_path, capsys):
    path = tmp_path / "same"
    assert main(["compile", str(matmul), "-o", str(path), "--manifest", str(tmp_path / "." / "same")]) == 1
    assert "--manifest: expected another file than that of -o, got " in capsys.readouterr().err
    assert not path.exists()


def test_a_full_disk_is_told_with_the_file(matmul, capsys):
    assert main(["compile", str(matmul), "-o", "/dev/full"]) == 1
    assert capsys.readouterr().err == "shardonnay: error: /dev/full: No space left on device\n"


def test_no_manifest_before_it_is_known(matmul, tmp_path, capsys):
    arguments = ["compile", str(matmul), "--to", "import", "--manifest", str(tmp_path / "m.json")]
    assert main(arguments) == 1
    assert "use a later stage" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text, message",
    [
        ("func.func @main(", "expected"),
        (MATMUL.replace("contracting_dims = [1] x [0]", "contracting_dims = [1] x [1, 0]"), ""),
        (MATMUL.replace('{"model"}, {}', '{"nonsense"}, {}'), "nonsense"),
        ("", ""),
    ],
    ids=["parser", "verifier", "axis", "empty"],
)
def test_errors_are_located(tmp_path, capsys, text, message):
    path = tmp_path / "bad.mlir"
    path.write_text(text)
    status = main(["compile", str(path), "-o", str(tmp_path / "out")])
    err = capsys.readouterr().err
    if text:
        assert status == 1
        assert f"{path}:" in err and "error: " in err and message in err and "Traceback" not in err


def test_a_missing_file_is_an_error(capsys):
    assert main(["compile", "nowhere.mlir"]) == 1
    assert "nowhere.mlir" in capsys.readouterr().err


def test_an_unknown_stage_is_a_usage_error(matmul):
    with pytest.raises(SystemExit) as exit:
        main(["compile", str(matmul), "--to", "nonsense"])
    assert exit.value.code == 2


def text_of(function, **options):
    """A function of an 8x16 array, sharded over both axes, as JAX prints it."""
    mesh = Mesh(np.array(jax.devices("cpu")[:8]).reshape(2, 4), ("data", "model"))
    sharding = NamedSharding(mesh, P("data", "model"))
    jitted = jax.jit(function, in_shardings=sharding, out_shardings=sharding, **options)
    return jitted.lower(jax.ShapeDtypeStruct((8, 16), np.float32)).as_text(debug_info=True)


def test_donation_is_an_alias():
    manifest = shardonnay.compile(text_of(lambda x: x + 1, donate_argnums=0)).manifest
    assert manifest["inputs"][0]["alias"] == 0


def test_implicit_replication_is_a_warning_or_an_error(tmp_path, capsys):
    def picks_a_window(x):
        start = x[0, 0].astype(int)
        return x + jax.lax.dynamic_slice(x, (start, start), (5, 9)).sum()

    path = tmp_path / "window.mlir"
    path.write_text(text_of(picks_a_window))
    assert main(["compile", str(path), "-o", str(tmp_path / "out.mlir")]) == 0
    err = capsys.readouterr().err
    assert "test_command.py:" in err and "warning: " in err
    assert main(["compile", str(path), "-o", str(tmp_path / "out.mlir"), "--no-implicit-replication"]) == 1
    assert "error: " in capsys.readouterr().err


def test_run_and_check_in_a_process_of_its_own(matmul):
    command = [sys.executable, "-m", "shardonnay", "run", str(matmul), "--devices", "8", "--check"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "result" in done.stdout and done.stdout.rstrip().endswith("ok")


def test_names_of_any_bytes(matmul):
    """Neither a name that is no UTF-8 nor a terminal without its letters stops a report."""
    path = matmul.with_name("gr\udcfc\xdfe.mlir")
    path.write_text(matmul.read_text())
    command = [sys.executable, "-m", "shardonnay", "report", str(path)]
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "") and r"gr\ufffd\xdfe.mlir:" in done.stdout


def test_a_lone_function_of_another_name_runs(matmul, capsys):
    matmul.write_text(matmul.read_text().replace("@main", "@step"))
    assert main(["run", str(matmul), "--check"]) == 0
    assert capsys.readouterr().out.endswith(": ok\n")


def test_run_with_inputs(matmul, tmp_path, capsys):
    np.savez(tmp_path / "x.npz", np.ones((8, 16), np.float32), np.ones((16, 16), np.float32))
    assert main(["run", str(matmul), "--inputs", str(tmp_path / "x.npz"), "--check"]) == 0
    assert main(["run", str(matmul), "--inputs", str(tmp_path / "x.npz")]) == 0
    assert "float32[8, 16]" in capsys.readouterr().out


def test_run_names_inputs_that_do_not_fit(matmul, tmp_path, capsys):
    np.savez(tmp_path / "x.npz", np.ones((8, 16)), np.ones((16, 16), np.float32))
    assert main(["run", str(matmul), "--inputs", str(tmp_path / "x.npz")]) == 1
    assert "expected float32[8, 16], got float64[8, 16]" in capsys.readouterr().err


def test_run_names_a_file_that_holds_no_arrays(matmul, capsys):
    assert main(["run", str(matmul), "--inputs", str(matmul)]) == 1
    assert f"{matmul}: expected an .npz file, as numpy.savez writes it" in capsys.readouterr().err


def test_run_wants_the_devices_of_the_mesh(matmul, capsys):
    assert main(["run", str(matmul), "--devices", "4"]) == 1
    assert "expected a program for 4 devices (option 'devices'), got one for 8" in capsys.readouterr().err


def test_compile_from_python():
    compiled = shardonnay.compile(MATMUL)
    assert compiled.report["devices"] == 8
    (collective,) = compiled.report["collectives"]
    copy = pickle.loads(pickle.dumps(shardonnay.compile(MATMUL)))
    assert (copy.text, copy.manifest, copy.report) == (compiled.text, compiled.manifest, compiled.report)
    assert collective["kind"] == "all_reduce" and collective["axes"] == ["model"]
    with pytest.raises(shardonnay.CompileError) as caught:
        shardonnay.compile("nonsense", name="mine.mlir")
    (diagnostic, *_) = caught.value.diagnostics
    assert diagnostic.severity == "error" and diagnostic.location.startswith("mine.mlir:1")


def test_report_says_why_a_collective_is_there(matmul, tmp_path, capsys):
    out = str(tmp_path / "out.mlir")
    assert main(["compile", str(matmul), "-o", out, "--report", "-"]) == 0
    text = capsys.readouterr().out.splitlines()
    (place,) = [number for number, line in enumerate(text) if line.startswith("  all_reduce")]
    assert text[place].split()[:5] == ["all_reduce", "model", "1", "384", "B"]
    assert "reduces the sum along {model} that 'stablehlo.dot_general' computes in parts" in text[place + 1]
    assert "matmul FLOPs: 512 on a device x 8 / 4,096 = 1.000" in text


def test_report_as_json(matmul, tmp_path):
    path = tmp_path / "report.json"
    assert main(["compile", str(matmul), "-o", str(tmp_path / "out.mlir"), "--report", str(path)]) == 0
    assert json.loads(path.read_text())["collective_bytes"] == 384


def test_report_needs_a_program_of_a_device(matmul, tmp_path, capsys):
    assert main(["compile", str(matmul), "--to=export", "--report", str(tmp_path / "r")]) == 1
    assert "--report: there is none after stage export; use a later stage" in capsys.readouterr().err


def test_build_says_in_json_what_it_wrote(tmp_path, monkeypatch, capsys):
    from shardonnay import mpi

    path = tmp_path / "same.mlir"
    path.write_text(
        'sdy.mesh @mesh = <["x"=8]>\n'
        'func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {\n'
        "  return %x : tensor<8xf32>\n}\n"
    )

    monkeypatch.setattr(mpi, "find", lambda name: name)
    monkeypatch.setattr(mpi, "build", lambda program, output, found, shared, flags: None)
    assert main(["build", str(path), "-o", "prog", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["ok"], told["output"], told["manifest"]["devices"]) == (True, "prog", 8)
