"""Our propagation passes, level by level, against those inside jaxlib: what both read is the same module."""

import re
import subprocess

import pytest
from comparison import SDY_OPT, theirs
from jaxlib.mlir import ir
from random_graphs import Program
from shardonnay import engine

PASSES = [f"sdy-{name}-propagate" for name in ("basic", "aggressive", "op-priority", "user-priority")]
SEPARATOR = "\n// -----\n"


def shardings(text):
    """What each value has, in the order of the program; nothing for a value that has no axes and no closed dim."""
    with engine.context():
        lines = str(ir.Module.parse(text)).splitlines()
    found = []
    for line in lines:
        line = re.sub(r"sdy.given_sharding = #sdy.sharding<.*?>, ", "", line)
        written = re.findall(r"<@mesh, \[.*?\](?:, (?:replicated|unreduced)=\{.*?\})*>|tensor<\w+>(?=[,)])", line)
        found.append([item for item in written if "@mesh" in item and not re.fullmatch(r"<@mesh, [\[{?}, \]]*>", item)])
    return found


@pytest.mark.parametrize("name", PASSES)
@pytest.mark.parametrize("even", [True, False])
def test_random_programs(name, even):
    texts = [
        theirs(Program(f"{name}{even}{seed}", even, name == PASSES[-1]).text(), "builtin.module(sdy-import-pipeline)")
        for seed in range(15)
    ]
    done = subprocess.run(
        [SDY_OPT, "-split-input-file", f"--{name}"], input=SEPARATOR.join(texts), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    outputs = done.stdout.split(SEPARATOR)
    for text, ours in zip(texts, outputs, strict=True):
        assert shardings(ours) == shardings(theirs(text, f"builtin.module({name})")), text
