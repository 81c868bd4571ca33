"""Programs that we lowered, on devices that StableHLO's own interpreter runs side by side: it keys on channel handles.

The devices of PJRT's CPU take collectives by their order, so a handle that two of them share does not show there. The
interpreter never forgets what came through a channel: a handle serves one exchange of a run, so a loop with a
collective is run as copies of its body (unrolled.py).
"""

import os
import pickle
import re
import subprocess
import sys
from pathlib import Path

import jax_programs
import lowering
import numpy as np
import pytest
from unrolled import unrolled

PROGRAMS = ["adam 0", "slices 2", "reshapes 0", "branches 2", "cumulative 3", "statistics 0"]
LOOPS = {"loop 2": 4, "scan 0": 3}  # and how often each runs

pytestmark = pytest.mark.skipif(
    (os.cpu_count() or 1) < 2, reason="the interpreter has a thread for each core, and a device needs one"
)


def side_by_side(text, shards):
    """What interpreted.py finds. Its devices wait for each other for some seconds only, so it is tried three times."""
    for _ in range(3):
        command = [sys.executable, Path(__file__).with_name("interpreted.py")]
        done = subprocess.run(command, input=pickle.dumps((text, shards)), capture_output=True)
        if done.returncode == 0:
            return pickle.loads(done.stdout)
    raise AssertionError(done.stderr.decode(errors="replace")[:1000])


@pytest.fixture
def program(request, monkeypatch):
    """On two devices."""
    monkeypatch.setattr(jax_programs, "MESHES", ({"a": 2},))
    return jax_programs.programs(84)[request.param]


def check_numbers(plan, local, text):
    handles = re.findall(r"handle = (\d+)", local)
    assert handles and len(handles) == len(set(handles))
    assert all(
        agreement.ok for agreement in lowering.agreements(plan, text, lambda shards, _: side_by_side(local, shards))
    )


@pytest.mark.parametrize("program", PROGRAMS, indirect=True)
def test_numbers(program, jaxlib):
    plan = lowering.planned(jaxlib, program)
    check_numbers(plan, lowering.lowered(plan), program)


@pytest.mark.parametrize("program, trips", LOOPS.items(), indirect=["program"])
def test_loops(program, trips, jaxlib):
    plan = lowering.planned(jaxlib, program)
    local = lowering.lowered(plan)
    assert "stablehlo.while" in local
    check_numbers(plan, unrolled(local, trips), program)


@pytest.mark.parametrize("program", LOOPS, indirect=True)
def test_loops_on_devices(program, jaxlib):
    """As they are, on PJRT's."""
    assert lowering.verdict(jaxlib, program) == "agrees"


def sums(handles):
    """A program, not one of ours, that sums over two devices once for each handle."""
    lines = [
        f"""%v{i + 1} = "stablehlo.all_reduce"(%v{i}) <{{channel_handle = #stablehlo.channel_handle<handle = {handle}, type = 1>,
              replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}}> ({{
            ^bb0(%a: tensor<f32>, %b: tensor<f32>):
              %sum = stablehlo.add %a, %b : tensor<f32>
              stablehlo.return %sum : tensor<f32>
            }}) : (tensor<2xf32>) -> tensor<2xf32>"""
        for i, handle in enumerate(handles)
    ]
    body = "\n".join(lines)
    return (
        f"module {{\nfunc.func @main(%v0: tensor<2xf32>) -> tensor<2xf32> {{\n{body}\nreturn %v{len(handles)} : "
        f"tensor<2xf32>\n}}\n}}"
    )


GIVEN = [np.array([1, 2], np.float32), np.array([10, 20], np.float32)]


def test_a_program_by_hand():
    """Four sums one behind the other. With one handle for all the interpreter has numbers of before, or not, as its
    threads run.
    """
    (found,) = side_by_side(sums([1, 2, 3, 4]), [GIVEN])
    assert all(np.array_equal(one, 8 * sum(GIVEN)) for one in found)
