"""Programs that JAX prints: we parse them, and print what jaxlib prints; it parses what we print.

The ops that no program has are in `never_printed.txt`; together they are all ops that jaxlib's dialects know.
"""

import functools
import inspect
import os
import re
import subprocess
from pathlib import Path

os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=8"

import programs
import pytest
from jax._src.interpreters import mlir as jax_mlir
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import _chlo_ops_gen, _stablehlo_ops_gen

HERE = Path(__file__).resolve().parent
SDY_OPT = HERE.parents[1] / "build/bin/sdy-opt"
BY_HAND = [part for part in (HERE / "never_printed.txt").read_text().split("// -----\n")]


def ours(text, *options):
    text = text if isinstance(text, bytes) else text.encode()
    done = subprocess.run([SDY_OPT, *options], input=text, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()[:2000]
    return done.stdout if "--emit-bytecode" in options else done.stdout.decode()


def theirs(text, generic=False, locations=False):
    with jax_mlir.make_ir_context():
        module = ir.Module.parse(text)
        assert module.operation.verify()
        return module.operation.get_asm(print_generic_op_form=generic, enable_debug_info=locations) + "\n"


def ops(text):
    return set(re.findall(r"\b((?:stablehlo|chlo)\.[a-z_0-9-]+)(?=[\"' (\n]|$)", text))


def check(text):
    printed, generic = ours(text), ours(text, "--mlir-print-op-generic")
    assert printed == theirs(text)
    assert generic == theirs(text, generic=True)
    assert theirs(printed) == printed
    assert ours(printed) == printed
    assert ours(generic) == printed
    assert ours(ours(text, "--emit-bytecode")) == printed


@functools.cache
def text_of(name):
    return programs.text(name)


@pytest.mark.parametrize("name", programs.NAMES)
def test_program(name):
    check(text_of(name))


@pytest.mark.parametrize("name", programs.NAMES[::4])
def test_locations(name):
    located = programs.text(name, locations=True)
    assert ours(located) == ours(text_of(name))
    assert ours(located, "--mlir-print-debuginfo") == theirs(located, locations=True)


@pytest.mark.parametrize("text", BY_HAND, ids=lambda text: re.search(r"@(\w+)", text).group(1))
def test_by_hand(text):
    if "!quant" not in text:
        check(text)
    else:  # jaxlib has that dialect, but does not register it
        printed = ours(text)
        assert ours(printed) == ours(ours(text, "--mlir-print-op-generic")) == ours(ours(text,
            "--emit-bytecode")) == printed


def dialect_ops():
    """All ops that jaxlib has classes for."""
    classes = [*vars(_stablehlo_ops_gen).values(), *vars(_chlo_ops_gen).values()]
    return {kind.OPERATION_NAME for kind in classes if inspect.isclass(kind) and hasattr(kind, "OPERATION_NAME")}


def test_every_op_is_covered():
    seen = set().union(*map(ops, map(text_of, programs.NAMES)))
    by_hand = set().union(*map(ops, BY_HAND))
    missing = dialect_ops() - seen - by_hand
    assert not missing, sorted(missing)
    assert len(programs.NAMES) >= 150
