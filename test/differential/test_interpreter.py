"""Programs that we lowered, on devices that StableHLO's own interpreter runs side by side: it keys on channel handles.

The devices of PJRT's CPU take collectives by their order, so a handle that two of them share does not show there.
"""

import os
import pickle
import re
import subprocess
import sys
from pathlib import Path

import jax_programs
import lowering
import pytest
import shardonnay
from shardonnay import boundary, compare
from workers import Jaxlib

PROGRAMS = ["adam 0", "slices 2", "reshapes 0", "branches 2", "cumulative 3", "statistics 0"]
# Right on PJRT's devices, and not here; why is not known.
OPEN = [pytest.param(name, marks=pytest.mark.xfail(strict=True)) for name in ("loop 2", "scan 0")]

pytestmark = pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="the interpreter has a thread for each core, and a device needs one")


def side_by_side(text, shards):
    """What interpreted.py finds. Its devices wait for each other for some seconds only, so it is tried three times."""
    for _ in range(3):
        command = [sys.executable, Path(__file__).with_name("interpreted.py")]
        done = subprocess.run(command, input=pickle.dumps((text, shards)), capture_output=True)
        if done.returncode == 0:
            return pickle.loads(done.stdout)
    raise AssertionError(done.stderr.decode(errors="replace")[:1000])


def agreements(plan, local, text):
    manifest = shardonnay.compile(plan, to="collectives").manifest
    inputs = compare.random_inputs(manifest["inputs"])
    shards = [boundary.shard(entry, value, manifest["mesh"]) for entry, value in zip(manifest["inputs"], inputs, strict=True)]
    pieces = side_by_side(local, shards)
    found = [boundary.assemble(entry, one, manifest["mesh"]) for entry, one in zip(manifest["outputs"], pieces, strict=True)]
    expected = compare.reference(text, inputs)
    return compare.agreements(manifest["outputs"], [output for output, _ in found], [spread for _, spread in found], expected)


@pytest.fixture(scope="module")
def jaxlib():
    worker = Jaxlib()
    yield worker
    worker.close()


@pytest.mark.parametrize("name", PROGRAMS + OPEN)
def test_numbers(name, jaxlib, monkeypatch):
    monkeypatch.setattr(jax_programs, "MESHES", ({"a": 2},))
    text = jax_programs.programs(84)[name]
    plan = lowering.planned(jaxlib, text)
    local = lowering.lowered(plan)
    handles = re.findall(r"handle = (\d+)", local)
    assert handles and len(handles) == len(set(handles))
    assert all(agreement.ok for agreement in agreements(plan, local, text))
