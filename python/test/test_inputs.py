"""What may be compiled, and what is said of what may not."""

import gzip
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
from shardonnay.cli import main

HOW = "expected StableHLO with shardings: jax.jit(f, in_shardings=...).lower(...).as_text(debug_info=True)"
OPERAND = jax.ShapeDtypeStruct((8, 8), np.float32)


@pytest.fixture(scope="module")
def jitted():
    mesh = Mesh(np.array(jax.devices("cpu")[:8]).reshape(4, 2), ("x", "y"))
    return jax.jit(lambda a, b: a @ b, in_shardings=NamedSharding(mesh, P("x", "y")))


@pytest.fixture(scope="module")
def lowered(jitted):
    return jitted.lower(OPERAND, OPERAND)


@pytest.fixture(scope="module")
def exported(jitted):
    return jax.export.export(jitted)(OPERAND, OPERAND)


def test_every_kind_gives_the_same_program(lowered, exported, tmp_path):
    text = lowered.as_text(debug_info=True)
    path = tmp_path / "step.mlir"
    path.write_text(text)
    serialised = tmp_path / "step.jax"
    serialised.write_bytes(exported.serialize())
    expected = shardonnay.compile(text).text
    assert "stablehlo.all_gather" in expected
    for module in (text.encode(), path, str(path), lowered):
        assert shardonnay.compile(module).text == expected
    of_export = shardonnay.compile(exported).text
    for module in (exported.mlir_module_serialized, serialised, exported.serialize(), bytes(exported.serialize())):
        assert shardonnay.compile(module).text == of_export
    assert of_export.count("all_gather") == expected.count("all_gather")


def test_the_command_reads_a_serialised_export(exported, tmp_path, capsys):
    path = tmp_path / "step.jax"
    path.write_bytes(exported.serialize())
    assert main(["compile", str(path)]) == 0
    assert "stablehlo.all_gather" in capsys.readouterr().out


WRONG_FILES = {
    "hlo text": (lambda f: f.compile().as_text(), f"this is HLO text, which XLA makes of a program; {HOW}, not "
                                                  ".compile().as_text() or as_text('hlo')"),
    "hlo module proto": (lambda f: f.compile().runtime_executable().hlo_modules()[0].as_serialized_hlo_module_proto(),
                         f"this is a protobuf, as XLA's HLO is stored; {HOW}"),
    "pickle": (lambda f: pickle.dumps({"text": 1}), f"this is a pickle, which is never loaded; {HOW}"),
    "html": (lambda f: "<!DOCTYPE html>\n<html></html>",
             f"this is an HTML page; {HOW}; from a web site, fetch the raw file"),
    "jaxpr": (lambda f: str(jax.make_jaxpr(lambda x: x + 1)(1.0)), f"this is a jaxpr, which has no shardings; {HOW}"),
    "python": (lambda f: Path(__file__).read_text(),
               "this is a Python program; run it, and let it write what jax.jit(f, "
               "in_shardings=...).lower(...).as_text(debug_info=True) returns"),
    "python with a comment": (lambda f: "# A model.\n\nimport jax\n",
                              "this is a Python program; run it, and let it write what jax.jit(f, "
                              "in_shardings=...).lower(...).as_text(debug_info=True) returns"),
    "json": (lambda f: '{"devices": 8}', f"this is JSON; {HOW}"),
    "gzip": (lambda f: gzip.compress(b"module {}"), "this is compressed by gzip; decompress it first"),
    "zip": (lambda f: b"PK\x03\x04rest", "this is a zip archive, as .npz files, wheels and PyTorch's checkpoints "
                                         f"are; {HOW}"),
    "llvm": (lambda f: "; ModuleID = 'x'\n", f"this is LLVM IR; {HOW}"),
    "traceback": (lambda f: "Traceback (most recent call last):\n",
                  f"this is the output of a Python program that failed; {HOW}"),
    "utf-16": (lambda f: "module {}".encode("utf-16"), "this is UTF-16, as PowerShell's > writes it, expected UTF-8; "
                                                       "write it with Set-Content -Encoding utf8"),
    "binary": (lambda f: b"\x7f\x00\x01", f"this is neither text nor MLIR's bytecode; {HOW}"),
    "empty": (lambda f: "\n // nothing\n", f"this is empty; {HOW}"),
}  # fmt: skip


@pytest.mark.parametrize("kind", WRONG_FILES)
def test_what_is_no_program_is_recognised(kind, lowered, tmp_path, capsys):
    make, message = WRONG_FILES[kind]
    content = make(lowered)
    path = tmp_path / "given"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert main(["compile", str(path)]) == 1
    out, err = capsys.readouterr()
    assert (out, err) == ("", f"{path}: error: {message}\n")
    with pytest.raises(shardonnay.InputError) as caught:
        shardonnay.compile(content)
    assert str(caught.value) == f"<input>: error: {message}"


NO_TEXT = "expected MLIR text, bytecode, a path, a jax.export.Exported or a jax.stages.Lowered"
WRONG_OBJECTS = {
    "number": (lambda f: 42, f"module: got int, {NO_TEXT}"),
    "function": (lambda f: (lambda x: x), "module: got function, a function; expected what jax.jit(f, "
                                          "in_shardings=...).lower(*arguments) returns"),
    "jitted": (lambda f: f, "module: got PjitFunction, a function without arguments to trace it with; expected what "
                            "its .lower(*arguments) returns"),
    "traced": (lambda f: f.trace(OPERAND, OPERAND), "module: got Traced, expected what its .lower() returns"),
    "compiled": (lambda f: f.lower(OPERAND, OPERAND).compile(),
                 "module: got Compiled, which XLA has compiled already; expected what .lower(...) returned before"),
    "jaxpr": (lambda f: jax.make_jaxpr(f)(np.ones((8, 8), np.float32), np.ones((8, 8), np.float32)),
              f"module: got {type(jax.make_jaxpr(abs)(1)).__name__}, a jaxpr, which has no shardings; expected what "
              "jax.jit(f, in_shardings=...).lower(*arguments) returns"),
    "module": (lambda f: f.lower(OPERAND, OPERAND).compiler_ir(),
               "module: got Module, a module of another MLIR; expected its text: "
               "module.operation.get_asm(enable_debug_info=True)"),
}  # fmt: skip


@pytest.mark.parametrize("kind", WRONG_OBJECTS)
def test_an_object_that_is_no_program_is_told_what_to_do(kind, jitted):
    make, message = WRONG_OBJECTS[kind]
    with pytest.raises(TypeError) as caught:
        shardonnay.compile(make(jitted))
    assert str(caught.value) == message


def test_a_byte_order_mark_is_no_part_of_the_program(lowered):
    text = lowered.as_text()
    assert shardonnay.compile(b"\xef\xbb\xbf" + text.encode()).text == shardonnay.compile(text).text


def test_a_name_is_a_text():
    with pytest.raises(TypeError, match="name: expected a str, got 3"):
        shardonnay.compile("module {}", name=3)


def test_a_path_that_is_not_there_is_no_program():
    with pytest.raises(FileNotFoundError):
        shardonnay.compile("nowhere.mlir")
    with pytest.raises(FileNotFoundError):
        shardonnay.compile("/nowhere/step")
    with pytest.raises(shardonnay.InputError, match="this is a directory"):
        shardonnay.compile(Path("/tmp"))


def test_an_artefact_without_jaxlib_says_what_to_install(exported, monkeypatch):
    monkeypatch.setitem(sys.modules, "jaxlib.mlir", None)
    with pytest.raises(shardonnay.InputError, match=r"is read by jaxlib \(.*\); install shardonnay\[jax\]"):
        shardonnay.compile(exported)


def test_import_needs_no_jax_and_little_time():
    code = """
import sys, time
start = time.process_time()
import shardonnay
assert time.process_time() - start < 0.1
shardonnay.compile('sdy.mesh @mesh = <["x"=2]>\\nfunc.func @main() { return }')
assert not {"jax", "jaxlib", "numpy", "rich"} & set(sys.modules), sys.modules.keys()
"""
    subprocess.run([sys.executable, "-c", code], check=True)
