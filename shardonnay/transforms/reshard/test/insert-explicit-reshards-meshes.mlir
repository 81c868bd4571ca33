// RUN: sdy-opt %s --pass-pipeline='builtin.module(func.func(sdy-insert-explicit-reshards{enable-full-version=true}))' | FileCheck %s
// RUN: sdy-opt %s --pass-pipeline='builtin.module(func.func(sdy-insert-explicit-reshards))' | FileCheck %s --check-prefix=PARTIAL

sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @reversed = <["x"=2, "y"=4], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>
sdy.mesh @other = <["z"=4, "w"=2]>
sdy.mesh @maximal_3 = <[], device_ids=[3]>

// The mesh of most tensors; another partitioner is left to it.
// CHECK-LABEL: func @other_order
// CHECK: %[[B:.*]] = sdy.reshard %arg1 <@mesh, [{"x"}, {}]>
// CHECK: stablehlo.add %arg0, %[[B]] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
// PARTIAL-LABEL: func @other_order
// PARTIAL-NOT: sdy.reshard
// PARTIAL: return
func.func @other_order(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@reversed, [{"x"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.add %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// Of equals the first; its result is brought to where it is wanted.
// CHECK-LABEL: func @result_on_another
// CHECK: %[[NEG:.*]] = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
// CHECK: %[[R:.*]] = sdy.reshard %[[NEG]] <@reversed, [{"x"}, {}]>
// CHECK: return %[[R]]
func.func @result_on_another(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@reversed, [{"x"}, {}]>}) {
  %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@reversed, [{"x"}, {}]>]>} : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// CHECK-LABEL: func @other_axes
// CHECK: %[[B:.*]] = sdy.reshard %arg1 <@mesh, [{"x"}, {}]>
// CHECK: %[[SUM:.*]] = stablehlo.add %arg0, %[[B]]
// CHECK: sdy.reshard %[[SUM]] <@other, [{"z"}, {}]>
func.func @other_axes(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@other, [{"z"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@other, [{"z"}, {}]>}) {
  %0 = stablehlo.add %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// CHECK-LABEL: func @call
// CHECK: %[[A:.*]] = sdy.reshard %arg0 <@reversed, [{"x"}, {}]>
// CHECK: call @callee(%[[A]])
// PARTIAL-LABEL: func @call
// PARTIAL: %[[A:.*]] = sdy.reshard %arg0 <@reversed, [{"x"}, {}]>
// PARTIAL: call @callee(%[[A]])
func.func @call(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@reversed, [{"x"}, {}]>}) {
  %0 = call @callee(%a) {sdy.sharding = #sdy.sharding_per_value<[<@reversed, [{"x"}, {}]>]>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
func.func private @callee(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@reversed, [{"x"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@reversed, [{"x"}, {}]>}) {
  return %a : tensor<8x8xf32>
}

// PARTIAL-LABEL: func @to_one_device
// PARTIAL-NOT: sdy.reshard
// PARTIAL: return
func.func @to_one_device(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@maximal_3, []>}) -> tensor<8x8xf32> {
  %0 = call @callee(%a) {sdy.sharding = #sdy.sharding_per_value<[<@reversed, [{"x"}, {}]>]>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
