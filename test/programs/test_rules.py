"""The rule of every op of every program here is jaxlib's, or the op stands in the table of docs/design/propagation.md.
"""

import os
import re
import subprocess
from collections import Counter
from pathlib import Path

os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=8"

import programs
from jax._src.interpreters import mlir as jax_mlir
from jaxlib.mlir import ir
from jaxlib.mlir.passmanager import PassManager

ROOT = Path(__file__).resolve().parents[2]
SDY_OPT = ROOT / "build/bin/sdy-opt"
PASS = "builtin.module(func.func(sdy-populate-op-sharding-rules))"


def documented():
    """The names in the table's first column; a name that ends in * stands for all that begin so."""
    table = (ROOT / "docs/design/propagation.md").read_text()
    table = table.split("## Rules that differ from jaxlib's")[1].split("\n## ")[0]
    names = set()
    for row in table.splitlines():
        if row.startswith("| `"):
            names.update(re.findall(r"`([\w.*]+)`", row.split("|")[1]))
    return names


def has_row(op, names):
    short = op.removeprefix("stablehlo.")
    return any(short == name or (name.endswith("*") and short.startswith(name[:-1])) for name in names)


def rules(module):
    """(op, rule or None) in the order of the text."""
    found = []

    def visit(operation):
        if operation.name.startswith(("stablehlo.", "chlo.")):
            rule = operation.attributes["sdy.sharding_rule"] if "sdy.sharding_rule" in operation.attributes else None
            found.append((operation.name, rule and str(rule)))
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    return found


def differences(text):
    """(ops, [(op, jaxlib's rule, ours)])"""
    ours = subprocess.run(
        [SDY_OPT, f"--pass-pipeline={PASS}"], input=text, capture_output=True, text=True, check=True
    ).stdout
    with jax_mlir.make_ir_context():
        mine = rules(ir.Module.parse(ours))
        module = ir.Module.parse(text)
        try:
            PassManager.parse(PASS).run(module.operation)
        except ir.MLIRError:
            return None  # of unknown sizes: theirs fails
        theirs = rules(module)
    assert [op for op, _ in mine] == [op for op, _ in theirs]
    return len(mine), [(op, b, a) for (op, a), (_, b) in zip(mine, theirs, strict=True) if a != b]


def test_every_rule_is_jaxlibs_or_in_the_table(record_property):
    names, count, found = documented(), 0, Counter()
    missing, refused = [], []
    for name in programs.NAMES:
        compared = differences(programs.text(name))
        if compared is None:
            refused.append(name)
            continue
        ops, different = compared
        count += ops
        for op, theirs, ours in different:
            found[op] += 1
            if not has_row(op, names):
                missing.append((name, op, theirs, ours))
    print(f"{count} ops in {len(programs.NAMES)} programs; rules that differ: {dict(found)}")
    record_property("ops", count)
    assert not missing, f"{len(missing)} ops: {missing[:5]}"
    assert count > 10_000
    assert all(name.split()[0] == "sizes" for name in refused), refused


def test_a_row_covers_only_its_op():
    assert has_row("chlo.broadcast_add", documented()) and not has_row("stablehlo.dot_general", documented())
