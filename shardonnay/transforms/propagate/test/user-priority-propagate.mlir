// RUN: sdy-opt %s -split-input-file -verify-diagnostics -sdy-user-priority-propagate | FileCheck %s

// The round of priority 0 comes first, wherever it is in the program.
sdy.mesh @mesh = <["x"=2, "y"=2]>
// CHECK-LABEL: func @rounds
// CHECK-SAME: %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}
func.func @rounds(
    %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}p1, {}]>},
    %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> tensor<8x8xf32> {
  // CHECK: add {{.*}}<@mesh, [{?}, {"x", ?}]>
  %0 = stablehlo.add %arg0, %arg1 : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

// Nothing takes the axes of a dim that waits.
sdy.mesh @mesh = <["x"=2]>
// CHECK-LABEL: func @waiting
// CHECK-SAME: %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {?}]>}
func.func @waiting(
    %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}p1, {?}]>},
    %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"x"}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.add %arg0, %arg1 : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

// Members of a group have one sharding.
sdy.mesh @mesh = <["x"=2, "y"=2]>
// CHECK-LABEL: func @group
// CHECK-SAME: %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y", ?}]>}
func.func @group(
    %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {?}]>},
    %arg1: tensor<8x8xf32>,
    %arg2: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"y"}]>}) -> tensor<8x8xf32> {
  sdy.sharding_group %arg0 group_id=0 : tensor<8x8xf32>
  sdy.sharding_group %arg1 group_id=0 : tensor<8x8xf32>
  %0 = stablehlo.add %arg0, %arg2 : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

// Where they were given different ones, open constraints stand in for them.
sdy.mesh @mesh = <["x"=2, "y"=2]>
// CHECK-LABEL: func @group_conflict
// CHECK-SAME: %arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}
// CHECK-SAME: %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}
func.func @group_conflict(
    %arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
    %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> tensor<8xf32> {
  // CHECK-DAG: %[[A:.*]] = sdy.sharding_constraint %arg0 <@mesh, [{"[[AXIS:.]]", ?}]>
  // CHECK-DAG: %[[B:.*]] = sdy.sharding_constraint %arg1 <@mesh, [{"[[AXIS]]", ?}]>
  // CHECK-DAG: sdy.sharding_group %[[A]]
  // CHECK-DAG: sdy.sharding_group %[[B]]
  // expected-warning @below {{the values of sharding group 0 have different shardings}}
  // expected-note @below {{this one has}}
  sdy.sharding_group %arg0 group_id=0 : tensor<8xf32>
  // expected-note @below {{this one has}}
  sdy.sharding_group %arg1 group_id=0 : tensor<8xf32>
  // CHECK: add %[[A]], %[[B]]
  %0 = stablehlo.add %arg0, %arg1 : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Dot, bias and activation of a data-parallel, column-parallel layer.
sdy.mesh @mesh = <["data"=2, "model"=4]>
// CHECK-LABEL: func @layer
// CHECK-SAME: %arg2: tensor<32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model", ?}]>}
func.func @layer(
    %arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
    %arg1: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>},
    %arg2: tensor<32xf32>) -> tensor<8x32xf32> {
  // CHECK: dot_general {{.*}}<@mesh, [{"data", ?}, {"model", ?}]>
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0]
      : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  // CHECK: broadcast_in_dim {{.*}}<@mesh, [{"data", ?}, {"model", ?}]>
  %1 = stablehlo.broadcast_in_dim %arg2, dims = [1] : (tensor<32xf32>) -> tensor<8x32xf32>
  // CHECK: add {{.*}}<@mesh, [{"data", ?}, {"model", ?}]>
  %2 = stablehlo.add %0, %1 : tensor<8x32xf32>
  return %2 : tensor<8x32xf32>
}

// -----

// In the last round the dot is due from the start, though nothing new is known
// of its tensors: the sine, which makes the other operand's rows known, is
// visited before it. Else the columns of the result would be sharded.
sdy.mesh @mesh = <["a"=2]>
// CHECK-LABEL: func @what_is_settled_keeps_its_place
func.func @what_is_settled_keeps_its_place(
    %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}p2, {?}]>},
    %arg1: tensor<8x8xf32>, %i: tensor<i32>) -> (tensor<8x8xf32>, tensor<8x4xf32>) {
  %0 = stablehlo.dynamic_slice %arg0, %i, %i, sizes = [8, 4] : (tensor<8x8xf32>, tensor<i32>, tensor<i32>) -> tensor<8x4xf32>
  %1 = stablehlo.sine %arg1 : tensor<8x8xf32>
  %2 = stablehlo.multiply %1, %arg0 : tensor<8x8xf32>
  // CHECK: dot_general {{.*}}<@mesh, [{"a", ?}, {?}]>
  %3 = stablehlo.dot_general %arg1, %2, contracting_dims = [1] x [1]
      : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %4 = sdy.sharding_constraint %0 <@mesh, [{"a", ?}, {?}]> : tensor<8x4xf32>
  return %3, %4 : tensor<8x8xf32>, tensor<8x4xf32>
}

// -----

// Priorities go, where nothing changed too.
sdy.mesh @mesh = <["x"=2, "y"=2]>
// CHECK-LABEL: func @unchanged
// CHECK-SAME: (%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>})
// CHECK-SAME: -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>})
func.func @unchanged(
    %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}p0, {"y"}p0]>})
    -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}p0, {"y"}]>}) {
  // CHECK: stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>}
  %0 = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}p0, {"y"}p0]>]>} : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
