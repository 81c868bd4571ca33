"""Acceptance test 16: the bytes that the report predicts are those that MPI is given, by its profiling interface."""

import pytest
import shardonnay
from programs import PROGRAMS
from running import counted
from shardonnay import mpi as package

# The rank that sends most sends as much as a device is said to, and as many calls are made of each collective.
PREDICTED = ["reduce_sum_f32", "reduce_or_i1", "matmul_f64", "matmul_i32", "stencil", "linalg-mlp-0", "tosa-mlp-0"]
MESSAGES = {"permute", "fetch_window", "collective_permute"}


@pytest.mark.parametrize("name", PREDICTED)
def test_bytes(name):
    text = PROGRAMS[name](4)
    found = counted(text, package.find("openmpi") if len(package.installed()) > 1 else package.find())
    predicted = {}
    for entry in shardonnay.compile(text, target="mpi", report=True).report["collectives"]:
        kind = entry["kind"] if entry["kind"] in found else "messages"
        predicted[kind] = predicted.get(kind, 0) + entry["bytes"] * entry["trips"]
    assert {kind: sent for kind, (_, sent) in found.items() if sent and kind != "communicators"} == predicted
