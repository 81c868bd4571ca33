// RUN: sdy-opt %s -split-input-file -sdy-emit-mpi | FileCheck %s
// RUN: sdy-opt %s -split-input-file -sdy-emit-mpi | mlir-opt -split-input-file -o /dev/null

// The table: 21 words; the group along y, which communicates, and the same for
// its index only. A call names the one by the address of its ninth word.
sdy.mesh @mesh = <["x"=2, "y"=4]>
// CHECK: memref.global constant @shardonnay_table : memref<21xi64> = dense<[21, 9, 0, 2, 2, 4, 0, 1, 1, 1, 4, 9, 1, 2, 2, 4, 0, 1, 1, 1, 4]>
// CHECK: func.func @shardonnay_program(%arg0: memref<4xf32>, %arg1: memref<4xf32>, %arg2: memref<i32>) attributes {llvm.emit_c_interface}
func.func @main(%x: tensor<4xf32> {jax.buffer_donor = true}) -> (tensor<4xf32> {jax.result_info = "y"}, tensor<i32>) {
  // CHECK: %[[X:.*]] = bufferization.to_tensor %arg0 restrict : memref<4xf32> to tensor<4xf32>
  // CHECK: %[[F32:.*]] = arith.constant 21 : index
  // CHECK: %[[TABLE:.*]] = memref.get_global @shardonnay_table
  // CHECK: %[[BASE:.*]] = memref.extract_aligned_pointer_as_index %[[TABLE]]
  // CHECK: %[[OFFSET:.*]] = arith.constant 24 : index
  // CHECK: %[[GROUP:.*]] = arith.addi %[[BASE]], %[[OFFSET]]
  // CHECK: %[[MAX:.*]] = arith.constant 1 : index
  // CHECK: %[[FROM:.*]] = bufferization.to_buffer %[[X]] read_only
  // CHECK: %[[TO:.*]] = memref.alloc() : memref<4xf32>
  // CHECK: call @shardonnay_all_reduce(%[[GROUP]], %[[MAX]], %[[F32]], 
  // CHECK: bufferization.to_tensor %[[TO]] restrict writable
  %0 = spmd.all_reduce max %x @mesh {"y"} : tensor<4xf32>
  // CHECK: call @shardonnay_index
  %1 = spmd.device_index @mesh {"y"} : tensor<i32>
  // CHECK: bufferization.materialize_in_destination %{{.*}} in restrict writable %arg1
  // CHECK: bufferization.materialize_in_destination %{{.*}} in restrict writable %arg2
  // CHECK-NEXT: return
  return %0, %1 : tensor<4xf32>, tensor<i32>
}

// -----

// What is sent around a dim: [outer][inner] of what a device has, or gets.
sdy.mesh @mesh = <["x"=2, "y"=4]>
// CHECK: func.func @shardonnay_program
func.func @main(%x: tensor<3x8x5xf64>) -> (tensor<3x32x5xf64>, tensor<3x2x5xf64>, tensor<12x2x5xf64>, tensor<3x2x5xf64>) {
  // CHECK-DAG: %[[OUTER:.*]] = arith.constant 3 : index
  // CHECK-DAG: %[[INNER:.*]] = arith.constant 40 : index
  // CHECK: call @shardonnay_all_gather(%{{.*}}, %{{.*}}, %[[OUTER]], %[[INNER]],
  %0 = spmd.all_gather %x dim=1 @mesh {"y"} : (tensor<3x8x5xf64>) -> tensor<3x32x5xf64>
  // CHECK: %[[INNER1:.*]] = arith.constant 10 : index
  // CHECK: call @shardonnay_reduce_scatter(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[INNER1]],
  %1 = spmd.reduce_scatter %x dim=1 @mesh {"y"} : (tensor<3x8x5xf64>) -> tensor<3x2x5xf64>
  // CHECK: %[[INNER2:.*]] = arith.constant 10 : index
  // CHECK: %[[CONCAT:.*]] = arith.constant 30 : index
  // CHECK: call @shardonnay_all_to_all(%{{.*}}, %{{.*}}, %{{.*}}, %[[INNER2]], %{{.*}}, %[[CONCAT]],
  %2 = spmd.all_to_all %x split_dim=1 concat_dim=0 @mesh {"y"} : (tensor<3x8x5xf64>) -> tensor<12x2x5xf64>
  // CHECK: %[[INDEX:.*]] = call @shardonnay_index
  // CHECK: %[[START:.*]] = arith.muli %[[INDEX]]
  // CHECK: tensor.extract_slice %{{.*}}[0, %[[START]], 0] [3, 2, 5] [1, 1, 1] : tensor<3x8x5xf64> to tensor<3x2x5xf64>
  %3 = spmd.all_slice %x dim=1 @mesh {"y"} : (tensor<3x8x5xf64>) -> tensor<3x2x5xf64>
  return %0, %1, %2, %3 : tensor<3x32x5xf64>, tensor<3x2x5xf64>, tensor<12x2x5xf64>, tensor<3x2x5xf64>
}

// -----

// Each device sends to one other: whom, is a record of the table.
sdy.mesh @mesh = <["x"=2, "y"=2]>
// CHECK: @shardonnay_table : memref<{{.*}}dense<[8, 6, 2, 4, 0, 2, 1, 3]>
// CHECK: call @shardonnay_permute
func.func @main(%x: tensor<4x4xi4>) -> tensor<4x4xi4> {
  %0 = spmd.collective_permute %x [{"x"}, {"y"} ] -> [{"y"}, {"x"} ] @mesh : tensor<4x4xi4>
  return %0 : tensor<4x4xi4>
}

// -----

// A window with what fills it, and one without devices, on their way together;
// one of the first waits for it.
sdy.mesh @mesh = <["x"=4]>
// CHECK: func.func @shardonnay_program
func.func @main(%x: tensor<3x4xf32>, %zero: tensor<f32>) -> (tensor<5x4xf32>, tensor<2x4xf32>, tensor<1x4xf32>) {
  // CHECK: %[[FILL:.*]] = bufferization.to_buffer %{{.*}} read_only {read = {{.*}}} : tensor<f32> to memref<f32>
  // CHECK: %[[ADDRESS:.*]] = memref.extract_aligned_pointer_as_index %[[FILL]]
  // CHECK: call @shardonnay_fetch_window({{.*}}, %[[ADDRESS]], %{{.*}}, %{{.*}})
  %0 = spmd.fetch_window %x dim=0 global_size=10 start=-1 step=3 size=5 @mesh {"x"} fill %zero : (tensor<3x4xf32>, tensor<f32>) -> tensor<5x4xf32>
  // CHECK-NOT: bufferization.to_tensor
  // CHECK: call @shardonnay_fetch_window
  // CHECK-NEXT: call @shardonnay_await_windows()
  // CHECK-NEXT: bufferization.to_tensor
  // CHECK-NEXT: bufferization.to_tensor
  %1 = spmd.fetch_window %x dim=0 global_size=3 start=1 step=0 size=2 : (tensor<3x4xf32>) -> tensor<2x4xf32>
  // CHECK: call @shardonnay_fetch_window
  // CHECK-NEXT: call @shardonnay_await_windows()
  // CHECK-NEXT: bufferization.to_tensor
  %2 = spmd.fetch_window %0 dim=0 global_size=5 start=1 step=0 size=1 : (tensor<5x4xf32>) -> tensor<1x4xf32>
  return %0, %1, %2 : tensor<5x4xf32>, tensor<2x4xf32>, tensor<1x4xf32>
}

// -----

// Tensors of as many bits are packed as they are, by shards of their own dims.
sdy.mesh @mesh = <["x"=2]>
// CHECK: func.func @shardonnay_program
func.func @main(%x: tensor<3x4xf32>, %y: tensor<2xi32>, %z: tensor<i32>) -> (tensor<14xf32>, tensor<3x4xf32>, tensor<2xi32>, tensor<13xf32>) {
  // CHECK: %[[SPLIT:.*]] = linalg.transpose {{.*}} permutation = [1, 0, 2]
  // CHECK: tensor.insert_slice %{{.*}}[0, 0] [2, 6] [1, 1] : tensor<2x6xf32> into tensor<2x7xf32>
  // CHECK: arith.bitcast %{{.*}} : tensor<2xi32> to tensor<2xf32>
  // CHECK: tensor.insert_slice %{{.*}}[0, 6] [2, 1] [1, 1] : tensor<2x1xf32> into tensor<2x7xf32>
  %0 = spmd.pack %x, %y pieces=2 dims=[1, 0] : (tensor<3x4xf32>, tensor<2xi32>) -> tensor<14xf32>
  // CHECK: tensor.extract_slice %{{.*}}[0, 0] [2, 6] [1, 1]
  // CHECK: linalg.transpose {{.*}} permutation = [1, 0, 2]
  // CHECK: arith.bitcast %{{.*}} : tensor<2xf32> to tensor<2xi32>
  %1:2 = spmd.unpack %0 pieces=2 dims=[1, 0] : (tensor<14xf32>) -> (tensor<3x4xf32>, tensor<2xi32>)
  // CHECK: tensor.insert_slice %{{.*}}[0, 12] [1, 1] [1, 1] : tensor<1x1xf32> into tensor<1x13xf32>
  %2 = spmd.pack %x, %z : (tensor<3x4xf32>, tensor<i32>) -> tensor<13xf32>
  return %0, %1#0, %1#1, %2 : tensor<14xf32>, tensor<3x4xf32>, tensor<2xi32>, tensor<13xf32>
}

// -----

// One device's part is a branch; of no elements nothing is sent; a barrier is
// nothing, and attributes of the compiler's own go.
sdy.mesh @mesh = <["x"=2]>
// CHECK: func.func @shardonnay_program
func.func @main(%x: tensor<4xf32>, %e: tensor<0x4xf32>) -> (tensor<4xf32>, tensor<0x8xf32>) {
  %zero = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} dense<0.0> : tensor<4xf32>
  // CHECK: %[[RANK:.*]] = call @shardonnay_rank() : () -> index
  // CHECK: %[[HERE:.*]] = arith.cmpi eq, %[[RANK]]
  // CHECK: scf.if %[[HERE]] -> (tensor<4xf32>)
  // CHECK: math.sin
  // CHECK: else
  %0 = spmd.on_device 1 @mesh(%x) else(%zero) {
  ^bb0(%a: tensor<4xf32>):
    %2 = math.sin %a : tensor<4xf32>
    spmd.return %2 : tensor<4xf32>
  } : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: tensor.empty() : tensor<0x8xf32>
  // CHECK-NOT: shardonnay_all_gather
  %1 = spmd.all_gather %e dim=1 @mesh {"x"} : (tensor<0x4xf32>) -> tensor<0x8xf32>
  %3 = spmd.barrier %0 : (tensor<4xf32>) -> tensor<4xf32>
  return %3, %1 : tensor<4xf32>, tensor<0x8xf32>
}

// -----

// CSE makes no one read of two: what is between them may overwrite a tensor
// that seems to be read no more.
sdy.mesh @mesh = <["x"=2, "y"=2]>
// CHECK: func.func @shardonnay_program
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: bufferization.to_buffer %[[X:.*]] read_only {read = 0 : i64}
  // CHECK: bufferization.to_buffer %[[X]] read_only {read = 1 : i64}
  %0 = spmd.all_reduce max %x @mesh {"x"} : tensor<4xf32>
  %1 = spmd.all_reduce max %x @mesh {"y"} : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
