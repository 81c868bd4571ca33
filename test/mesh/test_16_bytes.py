"""Acceptance test 16: the bytes that the report predicts are those that MPI is given, by its profiling interface."""

import pytest
import shardonnay
from programs import PROGRAMS
from running import counted
from shardonnay import mpi as package

# The rank that sends most sends as much as a device is said to, and as many calls are made of each collective.
PREDICTED = ["reduce_sum_f32", "reduce_or_i1", "matmul_f64", "matmul_i32", "linalg-mlp-0", "tosa-mlp-0"]



def both(name):
    """({kind: bytes} that MPI is given, the same as the report predicts it)."""
    text = PROGRAMS[name](4)
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
    found, predicted = both(name)
    assert found == predicted


@needs_mpi
@pytest.mark.parametrize("name", ["stencil", "rotation"])
def test_bytes_of_windows(name):
    """Each device is sent what its window has of the sender's shard."""
    found, predicted = both(name)
    assert found == predicted and found.keys() == {"messages"} and found["messages"] > 0
