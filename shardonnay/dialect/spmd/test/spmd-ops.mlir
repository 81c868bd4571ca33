// RUN: sdy-opt %s | sdy-opt | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=4]>

// CHECK-LABEL: func @device_index
func.func @device_index() -> tensor<i32> {
  // CHECK: spmd.device_index @mesh {"x", "y":(1)2} : tensor<i32>
  %0 = spmd.device_index @mesh {"x", "y":(1)2} : tensor<i32>
  return %0 : tensor<i32>
}

// CHECK-LABEL: func @all_slice
func.func @all_slice(%arg0: tensor<8x4xf32>) -> tensor<8x1xf32> {
  // CHECK: spmd.all_slice %arg0 dim=1 @mesh {"y"} : (tensor<8x4xf32>) -> tensor<8x1xf32>
  %0 = spmd.all_slice %arg0 dim=1 @mesh {"y"} : (tensor<8x4xf32>) -> tensor<8x1xf32>
  return %0 : tensor<8x1xf32>
}

// CHECK-LABEL: func @all_gather
func.func @all_gather(%arg0: tensor<8x4xf32>) -> tensor<64x4xf32> {
  // CHECK: spmd.all_gather %arg0 dim=0 @mesh {"y", "x"} : (tensor<8x4xf32>) -> tensor<64x4xf32>
  %0 = spmd.all_gather %arg0 dim=0 @mesh {"y", "x"} : (tensor<8x4xf32>) -> tensor<64x4xf32>
  return %0 : tensor<64x4xf32>
}

// CHECK-LABEL: func @collective_permute
func.func @collective_permute(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // CHECK: spmd.collective_permute %arg0 [{"x"}, {"y":(1)2}] -> [{"y":(1)2}, {"x"}] @mesh : tensor<8x4xf32>
  %0 = spmd.collective_permute %arg0 [{"x"}, {"y":(1)2}] -> [{"y":(1)2}, {"x"}] @mesh : tensor<8x4xf32>
  // CHECK: spmd.collective_permute %{{.*}} [{"x"}, {}, {"y":(1)2}] -> [{"y":(2)2}, {}, {"y":(1)2}] @mesh : tensor<8x4xf32>
  %1 = spmd.collective_permute %0 [{"x"}, {}, {"y":(1)2}] -> [{"y":(2)2}, {}, {"y":(1)2}] @mesh : tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}

// CHECK-LABEL: func @all_to_all
func.func @all_to_all(%arg0: tensor<8x4xf32>) -> tensor<4x8xf32> {
  // CHECK: spmd.all_to_all %arg0 split_dim=0 concat_dim=1 @mesh {"x"} : (tensor<8x4xf32>) -> tensor<4x8xf32>
  %0 = spmd.all_to_all %arg0 split_dim=0 concat_dim=1 @mesh {"x"} : (tensor<8x4xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func @all_reduce
func.func @all_reduce(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // CHECK: %[[SUM:.*]] = spmd.all_reduce %arg0 @mesh {"x"} : tensor<8x4xf32>
  %0 = spmd.all_reduce sum %arg0 @mesh {"x"} : tensor<8x4xf32>
  // CHECK: spmd.all_reduce max %[[SUM]] @mesh {"y"} : tensor<8x4xf32>
  %1 = spmd.all_reduce max %0 @mesh {"y"} : tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}

// CHECK-LABEL: func @reduce_scatter
func.func @reduce_scatter(%arg0: tensor<8x4xf32>) -> tensor<1x4xf32> {
  // CHECK: %[[SUM:.*]] = spmd.reduce_scatter %arg0 dim=0 @mesh {"x"} : (tensor<8x4xf32>) -> tensor<4x4xf32>
  %0 = spmd.reduce_scatter %arg0 dim=0 @mesh {"x"} : (tensor<8x4xf32>) -> tensor<4x4xf32>
  // CHECK: spmd.reduce_scatter min %[[SUM]] dim=0 @mesh {"y"} : (tensor<4x4xf32>) -> tensor<1x4xf32>
  %1 = spmd.reduce_scatter min %0 dim=0 @mesh {"y"} : (tensor<4x4xf32>) -> tensor<1x4xf32>
  return %1 : tensor<1x4xf32>
}

// CHECK-LABEL: func.func @fetch_window(
func.func @fetch_window(%a: tensor<3x4xf32>, %b: tensor<f32>) -> (tensor<5x4xf32>, tensor<2x4xf32>, tensor<9x4xf32>) {
  // CHECK-NEXT: spmd.fetch_window %arg0 dim=0 global_size=10 start=-1 step=3 size=5 @mesh {"y"} fill %arg1 : (tensor<3x4xf32>, tensor<f32>) -> tensor<5x4xf32>
  %0 = spmd.fetch_window %a dim=0 global_size=10 start=-1 step=3 size=5 @mesh {"y"} fill %b : (tensor<3x4xf32>, tensor<f32>) -> tensor<5x4xf32>
  // CHECK-NEXT: spmd.fetch_window %arg0 dim=0 global_size=3 start=0 step=2 size=2 @mesh {} to {"x"} : (tensor<3x4xf32>) -> tensor<2x4xf32>
  %1 = spmd.fetch_window %a dim=0 global_size=3 start=0 step=2 size=2 @mesh {} to {"x"} : (tensor<3x4xf32>) -> tensor<2x4xf32>
  // CHECK-NEXT: spmd.fetch_window %arg0 dim=0 global_size=3 start=-3 step=0 size=9 fill %arg1 : (tensor<3x4xf32>, tensor<f32>) -> tensor<9x4xf32>
  %2 = spmd.fetch_window %a dim=0 global_size=3 start=-3 step=0 size=9 fill %b : (tensor<3x4xf32>, tensor<f32>) -> tensor<9x4xf32>
  return %0, %1, %2 : tensor<5x4xf32>, tensor<2x4xf32>, tensor<9x4xf32>
}

// CHECK-LABEL: func @pack
func.func @pack(%arg0: tensor<4x4xf32>, %arg1: tensor<f32>) -> (tensor<4x4xf32>, tensor<f32>) {
  // CHECK: spmd.pack %arg0, %arg1 : (tensor<4x4xf32>, tensor<f32>) -> tensor<17xf32>
  %0 = spmd.pack %arg0, %arg1 : (tensor<4x4xf32>, tensor<f32>) -> tensor<17xf32>
  // CHECK: spmd.unpack %{{.*}} : (tensor<17xf32>) -> (tensor<4x4xf32>, tensor<f32>)
  %1:2 = spmd.unpack %0 : (tensor<17xf32>) -> (tensor<4x4xf32>, tensor<f32>)
  return %1#0, %1#1 : tensor<4x4xf32>, tensor<f32>
}

// CHECK-LABEL: func @pack_pieces
func.func @pack_pieces(%arg0: tensor<3x4xf32>, %arg1: tensor<2xf32>) -> (tensor<3x4xf32>, tensor<2xf32>) {
  // CHECK: spmd.pack %arg0, %arg1 pieces=2 dims=[1, 0] : (tensor<3x4xf32>, tensor<2xf32>) -> tensor<14xf32>
  %0 = spmd.pack %arg0, %arg1 pieces=2 dims=[1, 0] : (tensor<3x4xf32>, tensor<2xf32>) -> tensor<14xf32>
  // CHECK: spmd.unpack %{{.*}} pieces=2 dims=[1, 0] : (tensor<14xf32>) -> (tensor<3x4xf32>, tensor<2xf32>)
  %1:2 = spmd.unpack %0 pieces=2 dims=[1, 0] : (tensor<14xf32>) -> (tensor<3x4xf32>, tensor<2xf32>)
  return %1#0, %1#1 : tensor<3x4xf32>, tensor<2xf32>
}

// CHECK-LABEL: func.func @on_device(
func.func @on_device(%a: tensor<4xf32>, %z: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = spmd.on_device 3 @mesh(%arg0) else(%arg1) {
  // CHECK-NEXT: ^bb0(%[[B:.*]]: tensor<4xf32>):
  // CHECK-NEXT:   spmd.return %[[B]] : tensor<4xf32>
  // CHECK-NEXT: } : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %0 = spmd.on_device 3 @mesh(%a) else(%z) {
  ^bb0(%b: tensor<4xf32>):
    spmd.return %b : tensor<4xf32>
  } : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @periodic(
func.func @periodic(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<6xf32>) {
  // CHECK-NEXT: spmd.fetch_window %arg0 dim=0 global_size=16 start=-1 step=4 size=4 @mesh {"x", "y"} periodic : (tensor<4xf32>) -> tensor<4xf32>
  %0 = spmd.fetch_window %a dim=0 global_size=16 start=-1 step=4 size=4 @mesh {"x", "y"} periodic : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: spmd.periodic_window %arg0 dim=0 start=-1 size=6 : (tensor<4xf32>) -> tensor<6xf32>
  %1 = spmd.periodic_window %a dim=0 start=-1 size=6 : (tensor<4xf32>) -> tensor<6xf32>
  return %0, %1 : tensor<4xf32>, tensor<6xf32>
}

// CHECK-LABEL: func.func @barrier(
func.func @barrier(%a: tensor<4xf32>, %b: tensor<i32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: spmd.barrier %arg0 : (tensor<4xf32>) -> tensor<4xf32>
  %0 = spmd.barrier %a : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: spmd.barrier %arg0 after %arg1 : (tensor<4xf32>, tensor<i32>) -> tensor<4xf32>
  %1 = spmd.barrier %a after %b : (tensor<4xf32>, tensor<i32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
