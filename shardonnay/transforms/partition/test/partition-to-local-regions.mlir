// RUN: sdy-opt %s -split-input-file -sdy-partition-to-local | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=4]>

// CHECK-LABEL: func @loop
// CHECK-SAME: %arg0: tensor<4xf32>, %arg1: tensor<4xf32>, %arg2: tensor<i1>
// CHECK: stablehlo.while(%[[ITER:.*]] = %arg0) : tensor<4xf32>
// CHECK-NOT: sdy.sharding
// CHECK: stablehlo.return %arg2 : tensor<i1>
// CHECK: %[[SUM:.*]] = stablehlo.add %[[ITER]], %arg1 : tensor<4xf32>
// CHECK: stablehlo.return %[[SUM]] : tensor<4xf32>
func.func @loop(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %arg2: tensor<i1>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.while(%iter = %arg0) : tensor<8xf32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
  cond {
    stablehlo.return %arg2 : tensor<i1>
  } do {
    %1 = stablehlo.add %iter, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
    stablehlo.return %1 : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>

// CHECK-LABEL: func @branches
// CHECK: "stablehlo.if"(%arg1)
// CHECK: %[[SIN:.*]] = stablehlo.sine %arg0 : tensor<4xf32>
// CHECK: stablehlo.return %[[SIN]] : tensor<4xf32>
// CHECK: stablehlo.return %arg0 : tensor<4xf32>
// CHECK: (tensor<i1>) -> tensor<4xf32>
func.func @branches(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %arg1: tensor<i1>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = "stablehlo.if"(%arg1) ({
    %1 = stablehlo.sine %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
    stablehlo.return %1 : tensor<8xf32>
  }, {
    stablehlo.return %arg0 : tensor<8xf32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<i1>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>

// The bodies are inlined, cut further by the axes that are not manual.
// CHECK-LABEL: func @computations(%arg0: tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT: %[[SIN:.*]] = stablehlo.sine %arg0 : tensor<2xf32>
// CHECK-NEXT: %[[COS:.*]] = stablehlo.cosine %[[SIN]] : tensor<2xf32>
// CHECK-NEXT: return %[[COS]]
func.func @computations(%arg0: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}]>}) -> (tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}]>}) {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x", "y"}]>] out_shardings=[<@mesh, [{"x", "y"}]>] manual_axes={"x"} (%arg1: tensor<8xf32>) {
    %2 = stablehlo.sine %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : tensor<8xf32>
    sdy.return %2 : tensor<8xf32>
  } : (tensor<16xf32>) -> tensor<16xf32>
  %1 = sdy.named_computation<"f">(%0) in_shardings=[<@mesh, [{"x", "y"}]>] out_shardings=[<@mesh, [{"x", "y"}]>] (%arg1: tensor<16xf32>) {
    %2 = stablehlo.cosine %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", "y"}]>]>} : tensor<16xf32>
    sdy.return %2 : tensor<16xf32>
  } : (tensor<16xf32>) -> tensor<16xf32>
  return %1 : tensor<16xf32>
}
