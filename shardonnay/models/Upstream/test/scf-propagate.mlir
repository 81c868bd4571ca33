// RUN: sdy-opt %s -sdy-add-data-flow-edges -sdy-user-priority-propagate | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>

// CHECK-LABEL: func @for
// CHECK-SAME: -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {?}]>})
// CHECK: scf.for
// CHECK: math.tanh {{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {?}]>]>}
// CHECK: sdy.data_flow_edge %{{.*}} sharding=<@mesh, [{"x", ?}, {?}]>
func.func @for(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %n: index) -> tensor<8x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%value = %arg0) -> (tensor<8x8xf32>) {
    %1 = math.tanh %value : tensor<8x8xf32>
    scf.yield %1 : tensor<8x8xf32>
  }
  return %0 : tensor<8x8xf32>
}

// Back from the result, through both branches.
// CHECK-LABEL: func @if
// CHECK-SAME: %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {?}]>}
// CHECK-SAME: %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {?}]>}
func.func @if(%arg0: tensor<8x8xf32>, %arg1: tensor<8x8xf32>, %condition: i1) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = scf.if %condition -> (tensor<8x8xf32>) {
    scf.yield %arg0 : tensor<8x8xf32>
  } else {
    %1 = math.tanh %arg1 : tensor<8x8xf32>
    scf.yield %1 : tensor<8x8xf32>
  }
  return %0 : tensor<8x8xf32>
}

// What goes round may change its place: %a and %b are swapped, so both are of
// one class.
// CHECK-LABEL: func @while
// CHECK-SAME: %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}]>}
// CHECK-SAME: -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}]>}, tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}]>})
func.func @while(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %arg1: tensor<8xf32>, %n: index) -> (tensor<8xf32>, tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0:3 = scf.while (%i = %c0, %a = %arg0, %b = %arg1) : (index, tensor<8xf32>, tensor<8xf32>) -> (index, tensor<8xf32>, tensor<8xf32>) {
    %1 = arith.cmpi slt, %i, %n : index
    scf.condition(%1) %i, %a, %b : index, tensor<8xf32>, tensor<8xf32>
  } do {
  ^bb0(%i: index, %a: tensor<8xf32>, %b: tensor<8xf32>):
    %1 = arith.addi %i, %c1 : index
    scf.yield %1, %b, %a : index, tensor<8xf32>, tensor<8xf32>
  }
  return %0#1, %0#2 : tensor<8xf32>, tensor<8xf32>
}
