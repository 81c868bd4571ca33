// RUN: sdy-opt %s -sdy-constant-or-scalar-splitter -sdy-add-data-flow-edges -sdy-user-priority-propagate | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>

// The dim of size 1 is repeated: it gets no axis.
// CHECK-LABEL: func @add
// CHECK-SAME: %arg1: tensor<1x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"y", ?}]>}
// CHECK: tosa.add {{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {"y", ?}]>]>}
// CHECK: tosa.tanh {{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {"y", ?}]>]>}
func.func @add(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %arg1: tensor<1x8xf32>) -> tensor<8x8xf32> {
  %0 = tosa.add %arg0, %arg1 : (tensor<8x8xf32>, tensor<1x8xf32>) -> tensor<8x8xf32>
  %1 = tosa.tanh %0 : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// Through the reshape the batch stays with its axis; the weights' columns are
// the result's.
// CHECK-LABEL: func @matmul
// CHECK: tosa.reshape {{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {"x", ?}, {?}]>]>}
// CHECK: tosa.matmul {{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {"x", ?}, {"y", ?}]>]>}
func.func @matmul(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<1x4x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"y"}]>}) -> tensor<1x8x16xf32> {
  %s = tosa.const_shape {values = dense<[1, 8, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %zp = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %0 = tosa.reshape %arg0, %s : (tensor<8x4xf32>, !tosa.shape<3>) -> tensor<1x8x4xf32>
  %1 = tosa.matmul %0, %arg1, %zp, %zp : (tensor<1x8x4xf32>, tensor<1x4x16xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x16xf32>
  return %1 : tensor<1x8x16xf32>
}

// CHECK-LABEL: func @constants
// CHECK: sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}]>]>} dense<1.0
// CHECK: sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y", ?}]>]>} dense<1.0
func.func @constants(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> (tensor<8xf32>, tensor<8xf32>) {
  %c = "tosa.const"() {values = dense<1.0> : tensor<8xf32>} : () -> tensor<8xf32>
  %0 = tosa.add %arg0, %c : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %1 = tosa.add %arg1, %c : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// The loop's value is one class: operand, arguments, what is yielded, result.
// CHECK-LABEL: func @while
// CHECK-SAME: -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}]>})
// CHECK: tosa.while_loop
// CHECK: tosa.add {{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}]>]>}
// CHECK: sdy.data_flow_edge %{{.*}} sharding=<@mesh, [{"x", ?}]>
func.func @while(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  %0 = tosa.while_loop (%a = %arg0) : (tensor<8xf32>) -> tensor<8xf32> {
    %1 = tosa.reduce_max %a {axis = 0 : i32} : (tensor<8xf32>) -> tensor<1xf32>
    %s = tosa.const_shape {values = dense<> : tensor<0xindex>} : () -> !tosa.shape<0>
    %2 = tosa.reshape %1, %s : (tensor<1xf32>, !tosa.shape<0>) -> tensor<f32>
    %3 = "tosa.const"() {values = dense<9.0> : tensor<f32>} : () -> tensor<f32>
    %4 = tosa.greater %3, %2 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    tosa.yield %4 : tensor<i1>
  } do {
  ^bb0(%a: tensor<8xf32>):
    %1 = tosa.add %a, %a : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    tosa.yield %1 : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func @if
// CHECK: tosa.cond_if
// CHECK: tosa.tanh {{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}]>]>}
func.func @if(%p: tensor<i1>, %arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  %0 = tosa.cond_if %p (%a = %arg0) : tensor<i1> (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: tensor<8xf32>):
    %1 = tosa.tanh %a : (tensor<8xf32>) -> tensor<8xf32>
    tosa.yield %1 : tensor<8xf32>
  } else {
  ^bb0(%a: tensor<8xf32>):
    tosa.yield %a : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}
