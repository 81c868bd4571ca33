// RUN: sdy-opt %s -split-input-file -pass-pipeline="builtin.module(func.func(sdy-compose-windows))" | FileCheck %s

// A slice of all but the first position, padded behind.
// CHECK-LABEL: func @slice_then_pad
sdy.mesh @mesh = <["x"=2]>
func.func @slice_then_pad(%a: tensor<4x2xf32>, %fill: tensor<f32>) -> tensor<4x2xf32> {
  // CHECK-NEXT: %[[ONE:.*]] = spmd.fetch_window %arg0 dim=0 global_size=8 start=1 step=4 size=4 @mesh {"x"} fill %arg1
  // CHECK-NEXT: return %[[ONE]]
  %0 = spmd.fetch_window %a dim=0 global_size=8 start=1 step=4 size=4 @mesh {"x"} : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %1 = tensor.extract_slice %0[0, 0] [4, 2] [1, 1] : tensor<4x2xf32> to tensor<4x2xf32>
  %2 = spmd.fetch_window %1 dim=0 global_size=7 start=0 step=4 size=4 @mesh {"x"} fill %fill : (tensor<4x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  return %2 : tensor<4x2xf32>
}

// -----

// What has another use stays.
// CHECK-LABEL: func @used
sdy.mesh @mesh = <["x"=2]>
func.func @used(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<3xf32>) {
  // CHECK-NEXT: %[[INNER:.*]] = spmd.fetch_window %arg0 dim=0 global_size=8 start=1
  // CHECK-NEXT: %[[OUTER:.*]] = spmd.fetch_window %arg0 dim=0 global_size=6 start=2 step=3 size=3
  // CHECK-NEXT: return %[[INNER]], %[[OUTER]]
  %0 = spmd.fetch_window %a dim=0 global_size=8 start=1 step=4 size=4 @mesh {"x"} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = spmd.fetch_window %0 dim=0 global_size=5 start=1 step=3 size=3 @mesh {"x"} : (tensor<4xf32>) -> tensor<3xf32>
  return %0, %1 : tensor<4xf32>, tensor<3xf32>
}

// -----

// Left: the outer window begins before the first position, which is there in
// what the inner one is of; the inner one is filled where the outer one reads;
// another dim; a step that leaves gaps; a dim that goes on.
// CHECK-LABEL: func @left
sdy.mesh @mesh = <["x"=2]>
func.func @left(%a: tensor<4x4xf32>, %fill: tensor<f32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<2x4xf32>, tensor<4x4xf32>) {
  // CHECK-COUNT-10: spmd.fetch_window
  %0 = spmd.fetch_window %a dim=0 global_size=8 start=1 step=4 size=4 @mesh {"x"} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %before = spmd.fetch_window %0 dim=0 global_size=7 start=-1 step=4 size=4 @mesh {"x"} fill %fill : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %1 = spmd.fetch_window %a dim=0 global_size=8 start=2 step=4 size=4 @mesh {"x"} fill %fill : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %filled = spmd.fetch_window %1 dim=0 global_size=8 start=0 step=4 size=4 @mesh {"x"} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = spmd.fetch_window %a dim=1 global_size=8 start=1 step=4 size=4 @mesh {"x"} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %dim = spmd.fetch_window %2 dim=0 global_size=7 start=0 step=4 size=4 @mesh {"x"} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = spmd.fetch_window %a dim=0 global_size=8 start=0 step=4 size=2 @mesh {"x"} : (tensor<4x4xf32>) -> tensor<2x4xf32>
  %gaps = spmd.fetch_window %3 dim=0 global_size=4 start=0 step=2 size=2 @mesh {"x"} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %4 = spmd.fetch_window %a dim=0 global_size=8 start=1 step=4 size=4 @mesh {"x"} periodic : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %on = spmd.fetch_window %4 dim=0 global_size=7 start=0 step=4 size=4 @mesh {"x"} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %before, %filled, %dim, %gaps, %on : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<2x4xf32>, tensor<4x4xf32>
}
