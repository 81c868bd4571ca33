// RUN: sdy-opt %s --sdy-share-equal-ops | FileCheck %s
// RUN: sdy-opt %s --sdy-share-equal-ops=keep-loops | FileCheck %s --check-prefix=LOOPS

// The second negation goes, and then the second sine: its operand has no other
// use when it is first met.
// CHECK-LABEL: @chains
// CHECK: %[[N:.*]] = stablehlo.negate %arg0
// CHECK-NEXT: %[[S:.*]] = stablehlo.sine %[[N]]
// CHECK-NEXT: stablehlo.add %[[S]], %[[S]]
func.func @chains(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.negate %arg0 : tensor<8xf32>
  %1 = stablehlo.sine %0 : tensor<8xf32>
  %2 = stablehlo.negate %arg0 : tensor<8xf32>
  %3 = stablehlo.sine %2 : tensor<8xf32>
  %4 = stablehlo.add %1, %3 : tensor<8xf32>
  return %4 : tensor<8xf32>
}

// CHECK-LABEL: @differences
// CHECK-COUNT-3: stablehlo.constant
// CHECK-COUNT-2: stablehlo.add
// CHECK: return
func.func @differences(%arg0: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xi32>) {
  %0 = stablehlo.constant dense<1.0> : tensor<8xf32>
  %1 = stablehlo.constant dense<2.0> : tensor<8xf32>
  %2 = stablehlo.constant dense<1> : tensor<8xi32>
  %3 = stablehlo.add %arg0, %0 : tensor<8xf32>
  %4 = stablehlo.add %arg0, %1 : tensor<8xf32>
  return %3, %4, %2 : tensor<8xf32>, tensor<8xf32>, tensor<8xi32>
}

// CHECK-LABEL: @unused
// CHECK-NEXT: stablehlo.custom_call @print
// CHECK-NEXT: stablehlo.custom_call @print
// CHECK-NEXT: return
func.func @unused(%arg0: tensor<8xf32>) {
  %0 = stablehlo.negate %arg0 : tensor<8xf32>
  %1 = stablehlo.custom_call @print(%arg0) {has_side_effect = true} : (tensor<8xf32>) -> tensor<f32>
  %2 = stablehlo.custom_call @print(%arg0) {has_side_effect = true} : (tensor<8xf32>) -> tensor<f32>
  return
}

// What stands around a region serves in it; what stands in it serves there only.
// CHECK-LABEL: @regions
// CHECK: %[[C:.*]] = stablehlo.negate %arg1
// CHECK: stablehlo.case
// CHECK-NEXT: %[[A:.*]] = stablehlo.add %[[C]], %[[C]]
// CHECK-NEXT: %[[M:.*]] = stablehlo.multiply %[[A]], %[[A]]
// CHECK-NEXT: stablehlo.return %[[M]]
// CHECK-NEXT: }, {
// CHECK-NEXT: %[[B:.*]] = stablehlo.add %[[C]], %[[C]]
// CHECK-NEXT: stablehlo.return %[[B]]
// CHECK: stablehlo.add %[[C]], %[[C]]
func.func @regions(%arg0: tensor<i32>, %arg1: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = stablehlo.negate %arg1 : tensor<8xf32>
  %1 = "stablehlo.case"(%arg0) ({
    %3 = stablehlo.negate %arg1 : tensor<8xf32>
    %4 = stablehlo.add %0, %0 : tensor<8xf32>
    %5 = stablehlo.add %0, %3 : tensor<8xf32>
    %6 = stablehlo.multiply %4, %5 : tensor<8xf32>
    stablehlo.return %6 : tensor<8xf32>
  }, {
    %3 = stablehlo.add %0, %0 : tensor<8xf32>
    stablehlo.return %3 : tensor<8xf32>
  }) : (tensor<i32>) -> tensor<8xf32>
  %2 = stablehlo.add %0, %0 : tensor<8xf32>
  return %1, %2 : tensor<8xf32>, tensor<8xf32>
}

// The sine is first met in a region, and serves in the next.
// CHECK-LABEL: @outside
// CHECK: stablehlo.sine
// CHECK-NOT: stablehlo.sine
// CHECK: return
func.func @outside(%arg0: tensor<i32>, %arg1: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = stablehlo.negate %arg1 : tensor<8xf32>
  %1 = stablehlo.sine %0 : tensor<8xf32>
  %2 = "stablehlo.case"(%arg0) ({
    %3 = stablehlo.negate %arg1 : tensor<8xf32>
    %4 = stablehlo.sine %3 : tensor<8xf32>
    stablehlo.return %4 : tensor<8xf32>
  }, {
    %3 = stablehlo.negate %arg1 : tensor<8xf32>
    %4 = stablehlo.sine %3 : tensor<8xf32>
    stablehlo.return %4 : tensor<8xf32>
  }) : (tensor<i32>) -> tensor<8xf32>
  return %1, %2 : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: @isolated
// CHECK: stablehlo.constant
// CHECK: sdy.manual_computation
// CHECK: stablehlo.constant
sdy.mesh @mesh = <["x"=2]>
func.func @isolated(%arg0: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = stablehlo.constant dense<1.0> : tensor<8xf32>
  %1 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{}]>] out_shardings=[<@mesh, [{}]>] manual_axes={"x"} (%arg1: tensor<8xf32>) {
    %2 = stablehlo.constant dense<1.0> : tensor<8xf32>
    %3 = stablehlo.add %arg1, %2 : tensor<8xf32>
    sdy.return %3 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// The first sine is used by nothing: no other one stands for it.
// CHECK-LABEL: @dead
// CHECK: %[[N:.*]] = stablehlo.negate %arg0
// CHECK-NEXT: %[[S:.*]] = stablehlo.sine %[[N]]
// CHECK-NEXT: stablehlo.add %[[S]], %[[N]]
func.func @dead(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.negate %arg0 : tensor<8xf32>
  %1 = stablehlo.sine %0 : tensor<8xf32>
  %2 = stablehlo.negate %arg0 : tensor<8xf32>
  %3 = stablehlo.sine %2 : tensor<8xf32>
  %4 = stablehlo.add %3, %2 : tensor<8xf32>
  return %4 : tensor<8xf32>
}

// How else convolutions could be sharded does not tell their windows apart; for
// what a window is there does, as a plan counts it for each.
// CHECK-LABEL: @causes
// CHECK-COUNT-1: spmd.fetch_window {{.*}}"what 'a' sees; no other plan"
// CHECK-COUNT-1: spmd.fetch_window {{.*}}"what 'b' sees"
// CHECK-NOT: spmd.fetch_window
func.func @causes(%arg0: tensor<8xf32>) -> (tensor<10xf32>, tensor<10xf32>, tensor<10xf32>) {
  %f = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = spmd.fetch_window %arg0 dim=0 global_size=16 start=-1 step=8 size=10 @mesh {"x"} fill %f {sdy.cause = "what 'a' sees; no other plan"} : (tensor<8xf32>, tensor<f32>) -> tensor<10xf32>
  %1 = spmd.fetch_window %arg0 dim=0 global_size=16 start=-1 step=8 size=10 @mesh {"x"} fill %f {sdy.cause = "what 'a' sees; another plan"} : (tensor<8xf32>, tensor<f32>) -> tensor<10xf32>
  %2 = spmd.fetch_window %arg0 dim=0 global_size=16 start=-1 step=8 size=10 @mesh {"x"} fill %f {sdy.cause = "what 'b' sees"} : (tensor<8xf32>, tensor<f32>) -> tensor<10xf32>
  return %0, %1, %2 : tensor<10xf32>, tensor<10xf32>, tensor<10xf32>
}

// In a loop each carried sum keeps what it adds; outside equal ops are one.
// LOOPS-LABEL: @loop
// LOOPS: %[[N:.*]] = stablehlo.negate %arg0
// LOOPS-NOT: stablehlo.negate
// LOOPS: stablehlo.while
// LOOPS-COUNT-2: stablehlo.sine
// LOOPS: return
func.func @loop(%arg0: tensor<8xf32>, %arg1: tensor<i1>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = stablehlo.negate %arg0 : tensor<8xf32>
  %1 = stablehlo.negate %arg0 : tensor<8xf32>
  %2:2 = stablehlo.while(%a = %0, %b = %1) : tensor<8xf32>, tensor<8xf32>
  cond {
    stablehlo.return %arg1 : tensor<i1>
  } do {
    %3 = stablehlo.sine %arg0 : tensor<8xf32>
    %4 = stablehlo.sine %arg0 : tensor<8xf32>
    %5 = stablehlo.add %a, %3 : tensor<8xf32>
    %6 = stablehlo.add %b, %4 : tensor<8xf32>
    stablehlo.return %5, %6 : tensor<8xf32>, tensor<8xf32>
  }
  return %2#0, %2#1 : tensor<8xf32>, tensor<8xf32>
}
