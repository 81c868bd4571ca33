"""Acceptance test 13: scf and calls across edges of data flow, 5,000 steps, and no communicator is lost."""

import pytest
from programs import X, on_mesh, sharded
from running import check, counted
from shardonnay import mpi as package

LOOP = f"""
func.func private @step(%v: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {{
  %z = arith.constant dense<0.0> : tensor<4x4xf32>
  %0 = linalg.matmul ins(%v, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%z : tensor<4x4xf32>) -> tensor<4x4xf32>
  %one = arith.constant dense<1.0> : tensor<4x4xf32>
  %1 = arith.minimumf %0, %one : tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}}
func.func @main(%x: tensor<4x4xf32> {sharded("", X)}, %w: tensor<4x4xf32> {sharded(X, "")}) -> tensor<4x4xf32> {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 5000 : index
  %half = arith.constant 2500 : index
  %z = arith.constant dense<0.0> : tensor<4x4xf32>
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> (tensor<4x4xf32>) {{
    %1 = func.call @step(%v, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %late = arith.cmpi sge, %i, %half : index
    %2 = scf.if %late -> (tensor<4x4xf32>) {{
      scf.yield %1 : tensor<4x4xf32>
    }} else {{
      %3 = arith.addf %1, %x : tensor<4x4xf32>
      scf.yield %3 : tensor<4x4xf32>
    }}
    scf.yield %2 : tensor<4x4xf32>
  }}
  return %0 : tensor<4x4xf32>
}}"""

WHILE = f"""
func.func @main(%x: tensor<4x4xf32> {sharded(X, "")}) -> (tensor<4x4xf32> {sharded(X, "")}, tensor<f32>) {{
  %limit = arith.constant 100.0 : f32
  %none = arith.constant dense<0.0> : tensor<f32>
  %one = arith.constant dense<1.0> : tensor<4x4xf32>
  %0:2 = scf.while (%v = %x, %s = %none) : (tensor<4x4xf32>, tensor<f32>) -> (tensor<4x4xf32>, tensor<f32>) {{
    %t = tensor.extract %s[] : tensor<f32>
    %more = arith.cmpf olt, %t, %limit : f32
    scf.condition(%more) %v, %s : tensor<4x4xf32>, tensor<f32>
  }} do {{
  ^bb0(%v: tensor<4x4xf32>, %s: tensor<f32>):
    %1 = arith.addf %v, %one : tensor<4x4xf32>
    %2 = linalg.reduce {{ arith.addf }} ins(%1 : tensor<4x4xf32>) outs(%none : tensor<f32>) dimensions = [0, 1]
    scf.yield %1, %2 : tensor<4x4xf32>, tensor<f32>
  }}
  return %0#0, %0#1 : tensor<4x4xf32>, tensor<f32>
}}"""

HEAD = "sdy.mesh @mesh = <[]>\n"


def test_5000_steps_leak_nothing(mpi):
    found = counted(on_mesh(HEAD + LOOP, 2), mpi)
    made, lost = found["communicators"]
    assert sum(calls for kind, (calls, _) in found.items() if kind != "communicators") >= 5000
    assert 1 <= made <= 3 and lost == 0


def test_while(mpi):
    check(on_mesh(HEAD + WHILE, 4), mpi)


def test_a_rank_that_dies_ends_the_run(mpi, tmp_path):
    """One of two is killed in the loop: an error, and no hang."""
    text = on_mesh(HEAD + LOOP, 2).replace("5000 : index", "500000000 : index")  # not done when it is killed
    script = tmp_path / "dying"
    script.write_text(
        '#!/bin/sh\nrank=${PMI_RANK:-$OMPI_COMM_WORLD_RANK}\n[ "$rank" = 1 ] && exec timeout -s KILL 3 "$@"\nexec '
        '"$@"\n'
    )
    script.chmod(0o755)
    with pytest.raises(package.MpiError, match="ended with"):
        check(text, mpi, wrapper=[str(script)])
