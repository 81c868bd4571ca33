"""Acceptance tests 4 to 6: the design's MLP in both forms, weights in one and in two dims, experts, attention."""

import pytest
import shardonnay
from programs import PROGRAMS
from rfc_programs import experts, mesh, mlp, mlp_2d
from running import collectives, compiled, counted
from shardonnay import mpi as package

SCHEDULE = {"schedule": "backward-forward"}
needs_mpi = pytest.mark.skipif(not package.installed(), reason="NO MPI IS INSTALLED: run scripts/setup --mpi")


def shardings(text, **options):
    """Of the arguments: the axes of each dim."""
    return [entry["sharding"] for entry in compiled(text, **options).manifest["inputs"]]


@pytest.mark.parametrize("ranks", [2, 8])
@pytest.mark.parametrize("form", ["annotations", "op sharding"])
def test_mlp(form, ranks):
    """The weights are sharded as in the design: columns of the first, rows of the second; one collective each."""
    text = mlp({"x": ranks}, form)
    assert collectives(text, **SCHEDULE) == {"all_gather": 1, "reduce_scatter": 1}
    manifest = compiled(text, **SCHEDULE).manifest
    assert [entry["local_shape"] for entry in manifest["inputs"]] == [
        [2, 4, 8 // ranks], [8, 32 // ranks], [32 // ranks, 8]]
    assert [entry["local_shape"] for entry in manifest["outputs"]] == [[2, 4, 8 // ranks]]


def test_both_forms_are_one_program():
    texts = [compiled(mlp({"x": 2}, form), **SCHEDULE).text for form in ("annotations", "op sharding")]
    assert texts[0] == texts[1]


@pytest.mark.parametrize("axes", [{"x": 2, "y": 2}, {"x": 2, "y": 4}], ids=["2x2", "2x4"])
def test_two_dims(axes):
    text = mlp_2d(axes)
    assert collectives(text) == {"all_gather": 2, "reduce_scatter": 2}
    x, y = axes["x"], axes["y"]
    assert [entry["local_shape"] for entry in compiled(text).manifest["inputs"]] == [
        [2, 4, 16 // (x * y)], [16 // x, 32 // y], [32 // y, 16 // x]]


@pytest.mark.parametrize("ranks", [2, 4])
def test_experts(ranks):
    """Dispatch and combine are one all_to_all each, along the axis that the experts are on, or the part of it."""
    text = experts({"x": ranks})
    assert collectives(text) == {"all_to_all": 2}
    report = shardonnay.compile(text, target="mpi", report=True).report
    axes = {axis for entry in report["collectives"] if entry["kind"] == "all_to_all" for axis in entry["axes"]}
    assert axes == {"x" if ranks == 2 else "x:(2)2"}


PROGRAMS_OF_THE_DESIGN = {
    "mlp, annotations": (mlp({"x": 4}, "annotations"), SCHEDULE),
    "mlp, op sharding": (mlp({"x": 4}, "op sharding"), SCHEDULE),
    "mlp in two dims": (mlp_2d({"x": 2, "y": 2}), {}),
    "mlp in two dims on 8": (mlp_2d({"x": 2, "y": 4}), {}),
    "experts": (experts({"x": 4}), {}),
}


@needs_mpi
@pytest.mark.parametrize("name", PROGRAMS_OF_THE_DESIGN)
def test_bytes_are_predicted(name, mpi):
    """It runs, its numbers are right, and MPI is given as many bytes as the report says."""
    text, options = PROGRAMS_OF_THE_DESIGN[name]
    found = counted(text, mpi, **options)
    predicted = {}
    for entry in shardonnay.compile(text, target="mpi", report=True, **options).report["collectives"]:
        kind = entry["kind"] if entry["kind"] in found else "messages"
        predicted[kind] = predicted.get(kind, 0) + entry["bytes"] * entry["trips"]
    sent = {kind: size for kind, (_, size) in found.items() if size and kind != "communicators"}
    assert sent == {kind: size for kind, size in predicted.items() if size}


@needs_mpi
def test_attention(mpi):
    """By heads and positions of queries nothing is sent."""
    text = PROGRAMS["attention"](4)
    assert collectives(text) == {}
    assert mesh({"x": 2, "y": 2}) in text
