// RUN: sdy-opt %s --sdy-share-computations | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>

// CHECK-LABEL: func @alike
func.func @alike(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  // CHECK: %[[FIRST:.*]] = call @f(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
  %0 = sdy.named_computation<"f">(%a) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] (%b: tensor<8x8xf32>) {
    %1 = stablehlo.tanh %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x8xf32>
    sdy.return %1 : tensor<8x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  // CHECK: %[[SECOND:.*]] = call @f(%[[FIRST]])
  %2 = sdy.named_computation<"f">(%0) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] (%b: tensor<8x8xf32>) {
    %1 = stablehlo.tanh %b : tensor<8x8xf32>
    sdy.return %1 : tensor<8x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  // Sharded in another way, so it has no like: its body, between its boundaries.
  // CHECK: %[[IN:.*]] = sdy.reshard %[[SECOND]] <@mesh, [{"y"}, {}]>
  // CHECK: %[[BODY:.*]] = stablehlo.tanh %[[IN]]
  // CHECK: return %[[BODY]]
  %3 = sdy.named_computation<"f">(%2) in_shardings=[<@mesh, [{"y"}, {}]>] out_shardings=[<@mesh, [{"y"}, {}]>] (%b: tensor<8x8xf32>) {
    %1 = stablehlo.tanh %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>} : tensor<8x8xf32>
    sdy.return %1 : tensor<8x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %3 : tensor<8x8xf32>
}

// CHECK-LABEL: func @nested
func.func @nested(%a: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: call @outer
  // CHECK: call @outer
  %0 = sdy.named_computation<"outer">(%a) (%b: tensor<8xf32>) {
    %1 = sdy.named_computation<"inner">(%b) (%c: tensor<8xf32>) {
      %2 = stablehlo.tanh %c : tensor<8xf32>
      sdy.return %2 : tensor<8xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    sdy.return %1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  %3 = sdy.named_computation<"outer">(%0) (%b: tensor<8xf32>) {
    %1 = sdy.named_computation<"inner">(%b) (%c: tensor<8xf32>) {
      %2 = stablehlo.tanh %c : tensor<8xf32>
      sdy.return %2 : tensor<8xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    sdy.return %1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %3 : tensor<8xf32>
}

// Two bodies of one name.
// CHECK-LABEL: func @not_alike
// CHECK-NOT: call
// CHECK: return
func.func @not_alike(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.named_computation<"g">(%a) (%b: tensor<8xf32>) {
    %1 = stablehlo.tanh %b : tensor<8xf32>
    sdy.return %1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  %2 = sdy.named_computation<"g">(%0) (%b: tensor<8xf32>) {
    %1 = stablehlo.sine %b : tensor<8xf32>
    sdy.return %1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}

// CHECK: func private @inner
// CHECK-NOT: call
// CHECK: func private @f(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
// CHECK: func private @outer
// CHECK-NEXT: call @inner
