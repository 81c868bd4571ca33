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

// The bodies are inlined, sharded further by the axes that are not manual.
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

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>

// What devices that differ in manual axes decide for themselves is marked, a loop that all run as often is not.
// CHECK-LABEL: func @divergent
// CHECK: stablehlo.while
// CHECK-NOT: spmd.divergent
// CHECK: "stablehlo.if"
// CHECK: {spmd.divergent} : (tensor<i1>) -> tensor<4xf32>
func.func @divergent(%arg0: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}]>}) -> (tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}]>}) {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x", "y"}]>] out_shardings=[<@mesh, [{"x", "y"}]>] manual_axes={"x", "y"} (%arg1: tensor<2xf32>) {
    %start = sdy.constant dense<0> : tensor<i32>
    %1:2 = stablehlo.while(%i = %start, %x = %arg1) : tensor<i32>, tensor<2xf32>
    cond {
      %end = sdy.constant dense<3> : tensor<i32>
      %2 = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    } do {
      %one = sdy.constant dense<1> : tensor<i32>
      %2 = stablehlo.add %i, %one : tensor<i32>
      %3 = stablehlo.sine %x : tensor<2xf32>
      stablehlo.return %2, %3 : tensor<i32>, tensor<2xf32>
    }
    %4 = stablehlo.concatenate %1#1, %1#1, dim = 0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
    %5 = stablehlo.slice %4 [0:1] : (tensor<4xf32>) -> tensor<1xf32>
    %6 = stablehlo.reshape %5 : (tensor<1xf32>) -> tensor<f32>
    %7 = stablehlo.compare LT, %6, %6 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %8 = "stablehlo.if"(%7) ({
      stablehlo.return %4 : tensor<4xf32>
    }, {
      stablehlo.return %4 : tensor<4xf32>
    }) : (tensor<i1>) -> tensor<4xf32>
    %9 = stablehlo.slice %8 [0:2] : (tensor<4xf32>) -> tensor<2xf32>
    sdy.return %9 : tensor<2xf32>
  } : (tensor<16xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// -----

sdy.mesh @mesh2 = <["m"=2, "a"=2, "b"=2]>

// Devices that differ along a manual axis have values of their own: who sends
// to whom names that axis too.
// CHECK-LABEL: func @permuted_in_a_manual_computation
func.func @permuted_in_a_manual_computation(%arg0: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh2, [{"a"}, {"m"}]>}) -> (tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh2, [{"b"}, {"m"}]>}) {
  // CHECK: spmd.collective_permute %{{.*}} [{"a"}, {}, {"m"}] -> [{"b"}, {}, {"m"}]
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh2, [{"a"}, {"m"}]>] out_shardings=[<@mesh2, [{"b"}, {"m"}]>] manual_axes={"m"} (%arg1: tensor<4x4xf32>) {
    %1 = sdy.collective_permute %arg1 out_sharding=<@mesh2, [{"b"}, {}]> : tensor<4x4xf32>
    sdy.return %1 : tensor<4x4xf32>
  } : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
