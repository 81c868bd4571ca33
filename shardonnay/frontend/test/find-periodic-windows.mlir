// RUN: sdy-opt %s --sdy-find-periodic-windows | FileCheck %s

sdy.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func @rotation
func.func @rotation(%a: tensor<8x2xf32>) -> tensor<8x2xf32> {
  // CHECK-NEXT: %[[R:.*]] = spmd.periodic_window %arg0 dim=0 start=7 size=8 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<8x2xf32>) -> tensor<8x2xf32>
  // CHECK-NEXT: return %[[R]]
  %0 = stablehlo.slice %a [7:8, 0:2] : (tensor<8x2xf32>) -> tensor<1x2xf32>
  %1 = stablehlo.slice %a [0:7, 0:2] : (tensor<8x2xf32>) -> tensor<7x2xf32>
  %2 = stablehlo.concatenate %0, %1, dim = 0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<1x2xf32>, tensor<7x2xf32>) -> tensor<8x2xf32>
  return %2 : tensor<8x2xf32>
}

// The end in front, the beginning behind; what something else uses stays.
// CHECK-LABEL: func @boundary
func.func @boundary(%a: tensor<8xf32>) -> (tensor<11xf32>, tensor<1xf32>) {
  // CHECK-NEXT: %[[B:.*]] = stablehlo.slice %arg0 [0:1]
  // CHECK-NEXT: %[[R:.*]] = spmd.periodic_window %arg0 dim=0 start=6 size=11
  // CHECK-NEXT: return %[[R]], %[[B]]
  %0 = stablehlo.slice %a [6:8] : (tensor<8xf32>) -> tensor<2xf32>
  %1 = stablehlo.slice %a [0:1] : (tensor<8xf32>) -> tensor<1xf32>
  %2 = stablehlo.concatenate %0, %a, %1, dim = 0 : (tensor<2xf32>, tensor<8xf32>, tensor<1xf32>) -> tensor<11xf32>
  return %2, %1 : tensor<11xf32>, tensor<1xf32>
}

// One slice at two places.
// CHECK-LABEL: func @twice
func.func @twice(%a: tensor<8xf32>) -> tensor<16xf32> {
  // CHECK-NEXT: %[[R:.*]] = spmd.periodic_window %arg0 dim=0 start=0 size=16
  // CHECK-NEXT: return %[[R]]
  %0 = stablehlo.slice %a [0:4] : (tensor<8xf32>) -> tensor<4xf32>
  %1 = stablehlo.slice %a [4:8] : (tensor<8xf32>) -> tensor<4xf32>
  %2 = stablehlo.concatenate %0, %1, %0, %1, dim = 0 : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<16xf32>
  return %2 : tensor<16xf32>
}

// CHECK-LABEL: func @nothing
func.func @nothing(%a: tensor<0xf32>) -> tensor<0xf32> {
  // CHECK-NOT: spmd
  %0 = stablehlo.slice %a [0:0] : (tensor<0xf32>) -> tensor<0xf32>
  %1 = stablehlo.concatenate %0, %a, dim = 0 : (tensor<0xf32>, tensor<0xf32>) -> tensor<0xf32>
  return %1 : tensor<0xf32>
}

// A gap, another value, a stride, two dims, no end that is reached, no slice.
// CHECK-LABEL: func @others
func.func @others(%a: tensor<8x2xf32>, %b: tensor<8x2xf32>) -> (tensor<3x2xf32>, tensor<8x2xf32>, tensor<8x2xf32>, tensor<8x1xf32>, tensor<3x2xf32>, tensor<16x2xf32>) {
  // CHECK-NOT: spmd
  %end = stablehlo.slice %a [7:8, 0:2] : (tensor<8x2xf32>) -> tensor<1x2xf32>
  %later = stablehlo.slice %a [1:3, 0:2] : (tensor<8x2xf32>) -> tensor<2x2xf32>
  %gap = stablehlo.concatenate %end, %later, dim = 0 : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  %rest = stablehlo.slice %b [0:7, 0:2] : (tensor<8x2xf32>) -> tensor<7x2xf32>
  %other = stablehlo.concatenate %end, %rest, dim = 0 : (tensor<1x2xf32>, tensor<7x2xf32>) -> tensor<8x2xf32>
  %odd = stablehlo.slice %a [0:8:2, 0:2] : (tensor<8x2xf32>) -> tensor<4x2xf32>
  %strided = stablehlo.concatenate %odd, %odd, dim = 0 : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
  %corner = stablehlo.slice %a [7:8, 0:1] : (tensor<8x2xf32>) -> tensor<1x1xf32>
  %corners = stablehlo.slice %a [0:7, 0:1] : (tensor<8x2xf32>) -> tensor<7x1xf32>
  %two = stablehlo.concatenate %corner, %corners, dim = 0 : (tensor<1x1xf32>, tensor<7x1xf32>) -> tensor<8x1xf32>
  %first = stablehlo.slice %a [0:1, 0:2] : (tensor<8x2xf32>) -> tensor<1x2xf32>
  %inner = stablehlo.concatenate %first, %later, dim = 0 : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  %twice = stablehlo.concatenate %a, %a, dim = 0 : (tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<16x2xf32>
  return %gap, %other, %strided, %two, %inner, %twice : tensor<3x2xf32>, tensor<8x2xf32>, tensor<8x2xf32>, tensor<8x1xf32>, tensor<3x2xf32>, tensor<16x2xf32>
}

// What one device computes stays as it is.
// CHECK-LABEL: func @on_one_device
// CHECK: spmd.on_device
// CHECK: stablehlo.concatenate
func.func @on_one_device(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = spmd.on_device 1 @mesh(%arg0) else(%arg0) {
  ^bb0(%in: tensor<8xf32>):
    %1 = stablehlo.slice %in [0:1] : (tensor<8xf32>) -> tensor<1xf32>
    %2 = stablehlo.slice %in [1:8] : (tensor<8xf32>) -> tensor<7xf32>
    %3 = stablehlo.concatenate %2, %1, dim = 0 : (tensor<7xf32>, tensor<1xf32>) -> tensor<8xf32>
    spmd.return %3 : tensor<8xf32>
  } : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
