// RUN: sdy-opt %s -split-input-file -sdy-expand-collectives -canonicalize | FileCheck %s
// RUN: sdy-opt %s -split-input-file -sdy-expand-collectives=keep-named -canonicalize | FileCheck %s --check-prefix=NAMED
// RUN: sdy-opt %s -split-input-file -sdy-expand-collectives -sdy-export-local-shard | mlir-opt -split-input-file -o /dev/null

// Bits among zeros, summed.
// CHECK-LABEL: func @gather
// NAMED-LABEL: func @gather
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @gather(%a: tensor<4x2xf32>) -> tensor<4x8xf32> {
  // CHECK-DAG: %[[ZEROS:.*]] = arith.constant dense<0> : tensor<4x8xi32>
  // CHECK-DAG: %[[INDEX:.*]] = spmd.device_index @mesh {"y"} : tensor<i32>
  // CHECK-DAG: %[[BITS:.*]] = arith.bitcast %arg0 : tensor<4x2xf32> to tensor<4x2xi32>
  // CHECK: %[[START:.*]] = arith.muli
  // CHECK: %[[OWN:.*]] = tensor.insert_slice %[[BITS]] into %[[ZEROS]][0, %[[START]]] [4, 2] [1, 1]
  // CHECK: %[[ALL:.*]] = spmd.all_reduce %[[OWN]] @mesh {"y"} : tensor<4x8xi32>
  // CHECK: arith.bitcast %[[ALL]] : tensor<4x8xi32> to tensor<4x8xf32>
  // NAMED: spmd.all_gather
  %0 = spmd.all_gather %a dim=1 @mesh {"y"} : (tensor<4x2xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func @slices
// NAMED-LABEL: func @slices
sdy.mesh @mesh = <["x"=2]>
func.func @slices(%a: tensor<4xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  // CHECK: tensor.extract_slice %arg0[%{{.*}}] [2] [1]
  // CHECK: %[[MAX:.*]] = spmd.all_reduce max %arg0
  // CHECK: tensor.extract_slice %[[MAX]][%{{.*}}] [2] [1]
  // NAMED: spmd.all_slice
  // NAMED: spmd.reduce_scatter
  %0 = spmd.all_slice %a dim=0 @mesh {"x"} : (tensor<4xf32>) -> tensor<2xf32>
  %1 = spmd.reduce_scatter max %a dim=0 @mesh {"x"} : (tensor<4xf32>) -> tensor<2xf32>
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}

// -----

// A bool takes a byte.
// CHECK-LABEL: func @exchange
// NAMED-LABEL: func @exchange
sdy.mesh @mesh = <["x"=2]>
func.func @exchange(%a: tensor<4x2xi1>) -> (tensor<2x4xi1>, tensor<4x2xi1>) {
  // CHECK: arith.extui %arg0 : tensor<4x2xi1> to tensor<4x2xi8>
  // CHECK: spmd.all_reduce %{{.*}} : tensor<4x4xi8>
  // CHECK: tensor.extract_slice %{{.*}}[%{{.*}}, 0] [2, 4] [1, 1]
  // CHECK: spmd.all_reduce %{{.*}} : tensor<8x2xi8>
  // CHECK: tensor.extract_slice %{{.*}}[%{{.*}}, 0] [2, 2] [1, 1]
  // CHECK: tensor.extract_slice %{{.*}}[%{{.*}}, 0] [2, 2] [1, 1]
  // NAMED-COUNT-2: spmd.all_to_all
  %0 = spmd.all_to_all %a split_dim=0 concat_dim=1 @mesh {"x"} : (tensor<4x2xi1>) -> tensor<2x4xi1>
  %1 = spmd.all_to_all %a split_dim=0 concat_dim=0 @mesh {"x"} : (tensor<4x2xi1>) -> tensor<4x2xi1>
  return %0, %1 : tensor<2x4xi1>, tensor<4x2xi1>
}

// -----

// Among the devices that differ along x and y; where only the first of those
// that have the same says so.
// CHECK-LABEL: func @permute
// NAMED-LABEL: func @permute
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @permute(%a: tensor<4x2xf32>) -> tensor<4x2xf32> {
  // CHECK-DAG: spmd.device_index @mesh {"x"} : tensor<i32>
  // CHECK-DAG: spmd.device_index @mesh {"y"} : tensor<i32>
  // CHECK: arith.select
  // CHECK: spmd.all_reduce %{{.*}} @mesh {"x", "y"} : tensor<8x2xi32>
  // NAMED-NOT: spmd.collective_permute
  %0 = spmd.collective_permute %a [{"x"}, {}] -> [{"y"}, {}] @mesh : tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// -----

// A halo with what is outside; a rotation.
// CHECK-LABEL: func @windows
// NAMED-LABEL: func @windows
sdy.mesh @mesh = <["x"=4]>
func.func @windows(%a: tensor<3x4xf32>, %zero: tensor<f32>) -> (tensor<5x4xf32>, tensor<3x4xf32>) {
  // CHECK: spmd.all_reduce %{{.*}} : tensor<12x4xi32>
  // CHECK: tensor.splat %{{.*}} : tensor<14x4xf32>
  // CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[1, 0] [10, 4] [1, 1]
  // CHECK: tensor.extract_slice %{{.*}}[%{{.*}}, 0] [5, 4] [1, 1]
  // CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[0, 0] [1, 4] [1, 1]
  // CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[1, 0] [11, 4] [1, 1]
  // NAMED-NOT: spmd.fetch_window
  %0 = spmd.fetch_window %a dim=0 global_size=10 start=-1 step=3 size=5 @mesh {"x"} fill %zero : (tensor<3x4xf32>, tensor<f32>) -> tensor<5x4xf32>
  %1 = spmd.fetch_window %a dim=0 global_size=12 start=-1 step=3 size=3 @mesh {"x"} periodic : (tensor<3x4xf32>) -> tensor<3x4xf32>
  return %0, %1 : tensor<5x4xf32>, tensor<3x4xf32>
}
