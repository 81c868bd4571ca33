// RUN: sdy-opt %s -split-input-file -sdy-export-local-shard | FileCheck %s
// RUN: sdy-opt %s -split-input-file -sdy-export-local-shard | mlir-opt -split-input-file -o /dev/null
// What it wrote, read and written again, is the same.
// RUN: sdy-opt %s -split-input-file -sdy-export-local-shard -o %t.once
// RUN: sdy-opt %t.once -split-input-file -sdy-import-shard -sdy-export-local-shard | diff %t.once -

// CHECK: shard.grid @mesh(shape = 2x4)
// CHECK-LABEL: func.func @collectives(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32>
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @collectives(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  // CHECK-NEXT: %[[GATHER:.*]] = shard.all_gather %arg0 on @mesh grid_axes = [1] gather_axis = 1 : tensor<8x8xf32> -> tensor<8x32xf32>
  // CHECK-NEXT: %[[SLICE:.*]] = shard.all_slice %[[GATHER]] on @mesh grid_axes = [0] slice_axis = 0 : tensor<8x32xf32> -> tensor<4x32xf32>
  // CHECK-NEXT: %[[MOVED:.*]] = shard.all_to_all %[[SLICE]] on @mesh grid_axes = [0] split_axis = 1 concat_axis = 0 : tensor<4x32xf32> -> tensor<8x16xf32>
  // CHECK-NEXT: %[[MAX:.*]] = shard.all_reduce %[[MOVED]] on @mesh grid_axes = [1, 0] reduction = max : tensor<8x16xf32> -> tensor<8x16xf32>
  // CHECK-NEXT: %[[SUM:.*]] = shard.reduce_scatter %[[MAX]] on @mesh grid_axes = [0] scatter_axis = 1 : tensor<8x16xf32> -> tensor<8x8xf32>
  // CHECK-NEXT: return %[[SUM]]
  %0 = spmd.all_gather %a dim=1 @mesh {"y"} : (tensor<8x8xf32>) -> tensor<8x32xf32>
  %1 = spmd.all_slice %0 dim=0 @mesh {"x"} : (tensor<8x32xf32>) -> tensor<4x32xf32>
  %2 = spmd.all_to_all %1 split_dim=1 concat_dim=0 @mesh {"x"} : (tensor<4x32xf32>) -> tensor<8x16xf32>
  %3 = spmd.all_reduce max %2 @mesh {"y", "x"} : tensor<8x16xf32>
  %4 = spmd.reduce_scatter %3 dim=1 @mesh {"x"} : (tensor<8x16xf32>) -> tensor<8x8xf32>
  return %4 : tensor<8x8xf32>
}

// -----

// Parts of an axis, and indices: along one axis, along several, of the device.
// CHECK: shard.grid @mesh(shape = 2x2x2)
// CHECK-LABEL: func.func @indices
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @indices(%a: tensor<8xf32>) -> (tensor<i32>, index, index, tensor<8xf32>) {
  // CHECK: shard.all_reduce %arg0 on @mesh grid_axes = [2]
  %0 = spmd.all_reduce %a @mesh {"y":(2)2} : tensor<8xf32>
  // CHECK: %[[X:.*]] = shard.process_multi_index on @mesh axes = [0] : index
  // CHECK: %[[X32:.*]] = arith.index_cast %[[X]] : index to i32
  // CHECK: tensor.from_elements %[[X32]] : tensor<i32>
  %1 = spmd.device_index @mesh {"x"} : tensor<i32>
  // CHECK: %[[Y:.*]] = shard.process_multi_index on @mesh axes = [2] : index
  // CHECK: %[[MINOR:.*]] = shard.process_multi_index on @mesh axes = [0] : index
  // CHECK: %[[TWO:.*]] = arith.constant 2 : index
  // CHECK: %[[MAJOR:.*]] = arith.muli %[[Y]], %[[TWO]]
  // CHECK: %[[INDEX:.*]] = arith.addi %[[MAJOR]], %[[MINOR]]
  %2 = spmd.device_index @mesh {"y":(2)2, "x"} : tensor<i32>
  %3 = tensor.extract %2[] : tensor<i32>
  %4 = arith.index_cast %3 : i32 to index
  // CHECK: %[[DEVICE:.*]] = shard.process_linear_index on @mesh : index
  %5 = spmd.device_index @mesh {"x", "y"} : tensor<i32>
  %6 = tensor.extract %5[] : tensor<i32>
  %7 = arith.index_cast %6 : i32 to index
  // CHECK: return %{{.*}}, %[[INDEX]], %[[DEVICE]]
  return %1, %4, %7, %0 : tensor<i32>, index, index, tensor<8xf32>
}

// -----

// CHECK-LABEL: func.func @others
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @others(%a: tensor<2x2xf32>, %b: tensor<f32>) -> (tensor<2x2xf32>, tensor<f32>, tensor<2x2xf32>) {
  // CHECK: tensor.insert_slice
  // CHECK: shard.all_reduce %{{.*}} : tensor<5xf32> -> tensor<5xf32>
  // CHECK: tensor.extract_slice
  %0 = spmd.pack %a, %b : (tensor<2x2xf32>, tensor<f32>) -> tensor<5xf32>
  %1 = spmd.all_reduce %0 @mesh {"x"} : tensor<5xf32>
  %2:2 = spmd.unpack %1 : (tensor<5xf32>) -> (tensor<2x2xf32>, tensor<f32>)
  // CHECK: %[[DEVICE:.*]] = shard.process_linear_index on @mesh : index
  // CHECK: %[[THREE:.*]] = arith.constant 3 : index
  // CHECK: %[[HERE:.*]] = arith.cmpi eq, %[[DEVICE]], %[[THREE]]
  // CHECK: scf.if %[[HERE]] -> (tensor<2x2xf32>)
  %3 = spmd.on_device 3 @mesh(%a) else(%2#0) {
  ^bb0(%c: tensor<2x2xf32>):
    %4 = math.exp %c : tensor<2x2xf32>
    spmd.return %4 : tensor<2x2xf32>
  } : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %2#0, %2#1, %3 : tensor<2x2xf32>, tensor<f32>, tensor<2x2xf32>
}
