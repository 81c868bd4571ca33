"""Acceptance test 16: the bytes that the report predicts are those that MPI is given, by its profiling interface."""

import pytest
import shardonnay
from programs import PROGRAMS
from rfc_programs import rows_of_stencil
from running import counted
from shardonnay import mpi as package

# The rank that sends most sends as much as a device is said to, and as many calls are made of each collective.
PREDICTED = ["reduce_sum_f32", "reduce_or_i1", "matmul_f64", "matmul_i32", "linalg-mlp-0", "tosa-mlp-0"]


def both(text):
    """({kind: bytes} that MPI is given, the same as the report predicts it)."""
    found = counted(text, package.find("openmpi") if len(package.installed()) > 1 else package.find())
    predicted = {}
    for entry in shardonnay.compile(text, target="mpi", report=True).report["collectives"]:
        kind = entry["kind"] if entry["kind"] in found else "messages"
        predicted[kind] = predicted.get(kind, 0) + entry["bytes"] * entry["trips"]
    return {kind: sent for kind, (_, sent) in found.items() if sent and kind != "communicators"}, predicted


needs_mpi = pytest.mark.skipif(not package.installed(), reason="NO MPI IS INSTALLED: run scripts/setup --mpi")


@needs_mpi
@pytest.mark.parametrize("name", PREDICTED)
def test_bytes(name):
    found, predicted = both(PROGRAMS[name](4))
    assert found == predicted


STENCILS = {"rows": rows_of_stencil({"x": 4, "y": 1}), "both": rows_of_stencil({"x": 2, "y": 2})}


@needs_mpi
@pytest.mark.parametrize("name", STENCILS)
def test_windows_send_no_more_than_predicted(name):
    """A window is counted by what its receivers need, of each window that of the device that sends most."""
    found, predicted = both(STENCILS[name])
    assert found.keys() == predicted.keys() == {"messages"} and 0 < found["messages"] <= predicted["messages"]


@needs_mpi
@pytest.mark.parametrize("name", STENCILS)
def test_bytes_of_windows(name):
    """What the rank that sends most sends in all of them is said too; no rank sends most in each."""
    found, _ = both(STENCILS[name])
    report = shardonnay.compile(STENCILS[name], target="mpi", report=True).report
    assert found == {"messages": report["window_bytes"]}
