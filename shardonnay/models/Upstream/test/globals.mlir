// RUN: sdy-opt %s -sdy-partition-pipeline | FileCheck %s

// The seed that torch-mlir puts into every module goes where nothing reads it.

// CHECK-NOT: ml_program
// CHECK: linalg.add ins({{.*}} : tensor<2x4xf32>, tensor<2x4xf32>)
ml_program.global private mutable @global_seed(dense<0> : tensor<i64>) : tensor<i64>
sdy.mesh @mesh = <["x"=2]>

func.func @main(%x: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<4x4xf32> {
  %e = tensor.empty() : tensor<4x4xf32>
  %0 = linalg.add ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
