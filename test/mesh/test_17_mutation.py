"""Acceptance tests 16 and 17: costs as formulas in the sizes of axes, and a script that changes how a program is
sharded.
"""

import json
from fractions import Fraction

import numpy as np
import pytest
import shardonnay
from rfc_programs import argument, einsum, experts, function, mesh, mlp, mlp_2d, option
from running import compiled, integers, whole
from shardonnay import mpi as package
from upstream import opt

SCHEDULE = {"schedule": "backward-forward"}


def formulas(text, **options):
    """Of the plan, as sdy-print-formulas says them."""
    return json.loads(opt(shardonnay.compile(text, to="collectives", **options).text, "-sdy-print-formulas",
                          "-o", "/dev/null"))


def value_of(formula, sizes):
    """Of a formula, with axes of these sizes; a quotient is rounded up."""

    def ceil(number):
        return -(-number.numerator // number.denominator)

    names = {name: Fraction(size) for name, size in sizes.items()}
    return int(eval(formula, {"ceil": ceil, "max": max, "__builtins__": {}}, names))


PLANS = {
    "mlp": (lambda n: mlp({"x": n}, "annotations"), SCHEDULE, {"x": 2}, [{"x": 4}, {"x": 8}]),
    "mlp in two dims": (lambda x, y: mlp_2d({"x": x, "y": y}), {}, {"x": 2, "y": 2},
                        [{"x": 2, "y": 4}, {"x": 4, "y": 2}]),
    "experts": (lambda n: experts({"x": n}), {}, {"x": 2}, []),
}


@pytest.mark.parametrize("name", PLANS)
def test_formulas(name):
    """At the mesh's sizes they are the report's numbers; at other sizes those of the program on such a mesh."""
    program, options, sizes, others = PLANS[name]
    text = program(*sizes.values())
    found = formulas(text, **options)
    assert found["mesh"] == sizes
    report = shardonnay.compile(text, target="mpi", report=True, **options).report
    predicted = {}
    for entry in report["collectives"]:
        if entry["bytes"]:
            predicted[entry["kind"]] = predicted.get(entry["kind"], 0) + entry["bytes"]
    summed = {}
    for entry in found["collectives"]:
        assert value_of(entry["formula"], sizes) == entry["bytes"]
        summed[entry["kind"]] = summed.get(entry["kind"], 0) + entry["bytes"]
    assert summed == predicted
    for other in others:
        elsewhere = formulas(program(*other.values()), **options)
        for mine, theirs in zip(found["collectives"], elsewhere["collectives"], strict=True):
            assert value_of(mine["formula"], other) == theirs["bytes"]
        # The peak is where this mesh has it; on another one it may be at another op, and higher.
        assert value_of(found["peak_bytes"]["formula"], other) <= elsewhere["peak_bytes"]["bytes"]


def test_redundant_flops():
    """A product that each device computes whole is computed once too often on each but one."""
    a, result = einsum("0", "ik,kj->ij", ("x", "8x16"), ("w", "16x4"), option("", "", ""))
    text = mesh({"x": 4}) + function([argument("x", "8x16"), argument("w", "16x4")], a, result)
    found = formulas(text)
    assert found["redundant_flops"]["flops"] == 3 * 2 * 8 * 16 * 4
    assert value_of(found["redundant_flops"]["formula"], {"x": 8}) == 7 * 2 * 8 * 16 * 4


def unsharded_mlp(axes):
    """As the one in two dims, with 1-D weight stationary ops: x alone."""
    return mlp_2d(axes, ("", "", "x", ""), ("", "", "x"), ("", "", "", "x"))


SCRIPT = """
module attributes {transform.with_named_sequence} {
  transform.named_sequence @product(%op: !transform.any_op {transform.readonly}) -> !transform.any_op {
    transform.match.operation_name %op ["linalg.generic"] : !transform.any_op
    transform.yield %op : !transform.any_op
  }
  transform.named_sequence @maximum(%op: !transform.any_op {transform.readonly}) -> !transform.any_op {
    transform.match.operation_name %op ["arith.maximumf"] : !transform.any_op
    transform.yield %op : !transform.any_op
  }
  transform.named_sequence @__transform_main(%module: !transform.any_op) {
    %products = transform.collect_matching @product in %module : (!transform.any_op) -> !transform.any_op
    %maximum = transform.collect_matching @maximum in %module : (!transform.any_op) -> !transform.any_op
    %first, %second = transform.split_handle %products : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.sdy.set_op_sharding %first <@mesh, [{}, {}, {"y"}, {"x"}]> : !transform.any_op
    transform.sdy.set_op_sharding %maximum <@mesh, [{}, {}, {"y", "x"}]> : !transform.any_op
    transform.sdy.set_op_sharding %second <@mesh, [{}, {}, {"x"}, {"y"}]> : !transform.any_op
    transform.yield
  }
"""


def mutated(text):
    """The program after the script."""
    done = opt(SCRIPT + text + "}\n", "-transform-interpreter")
    lines = done.splitlines(keepends=True)
    # The aliases of attributes, and the program's own ops, without the script.
    start = next(at for at, line in enumerate(lines) if "sdy.mesh" in line)
    aliases = [line for line in lines if line.startswith("#")]
    return "".join([*aliases, *lines[start:]]).rsplit("}", 1)[0]


def bytes_of(text):
    report = shardonnay.compile(text, target="mpi", report=True).report
    return sum(entry["bytes"] for entry in report["collectives"])


@pytest.mark.skipif(not package.installed(), reason="NO MPI IS INSTALLED: run scripts/setup --mpi")
def test_from_one_dim_to_two():
    """A script makes the weights stationary in two dims: less is sent, as the formulas say, and the numbers stay."""
    axes = {"x": 2, "y": 2}
    before = unsharded_mlp(axes)
    after = mutated(before)
    assert [entry["local_shape"] for entry in compiled(after).manifest["inputs"]] == [[2, 4, 4], [8, 16], [16, 8]]
    costs = {name: formulas(text) for name, text in (("before", before), ("after", after))}
    said = {name: sum(entry["bytes"] for entry in cost["collectives"]) for name, cost in costs.items()}
    assert said == {"before": bytes_of(before), "after": bytes_of(after)}
    mpi = package.find()
    program = package.LoadedProgram(compiled(after), mpi, timeout=240)
    inputs = integers(program.manifest["inputs"])
    outputs, spreads = program(inputs)
    for output, spread, wanted in zip(outputs, spreads, whole(before, mpi)(inputs)[0], strict=True):
        np.testing.assert_array_equal(output, wanted)
        assert spread == 0
