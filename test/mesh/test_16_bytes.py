"""Acceptance test 16: the bytes that the report predicts are those that MPI is given, by its profiling interface."""

import pytest
import shardonnay
from programs import PROGRAMS
from rfc_programs import matmul, rows_of_stencil
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


@needs_mpi
@pytest.mark.parametrize("axes", [{"x": 2, "y": 2}, {"x": 2, "y": 4}], ids=["2x2", "2x4"])
@pytest.mark.parametrize(
    ("shape", "is_less"), [((64, 64, 64), False), ((128, 32, 16), False), ((8, 512, 512), True)],
    ids=["square", "tall", "small result"],
)
def test_matmul_against_summa(axes, shape, is_less):
    """SUMMA: each process gets the other blocks of its rows of A and of its columns of B. Where the second matrix is
    large, the result moves instead."""
    m, k, n = shape
    x, y = axes["x"], axes["y"]
    summa = 4 * (m // x * k * (y - 1) // y + k * n // y * (x - 1) // x)
    found, predicted = both(matmul(axes, m, k, n))
    assert found == predicted
    assert sum(found.values()) < summa if is_less else sum(found.values()) == summa
