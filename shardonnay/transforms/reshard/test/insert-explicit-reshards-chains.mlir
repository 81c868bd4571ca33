// RUN: sdy-opt %s --sdy-propagation-pipeline --sdy-insert-explicit-reshards='enable-full-version=true device-model=cpu' | FileCheck %s
// RUN: sdy-opt %s --sdy-propagation-pipeline --sdy-insert-explicit-reshards='enable-full-version=true device-model=cpu keep-propagated' | FileCheck %s --check-prefix=KEPT

// Attention between values that are sharded along the sequence. Each weight is smaller than x, so ops alone gather the
// weights, and then keys and values. One gather of x puts all in between along the heads.
// CHECK-LABEL: func @attention
// CHECK: %[[WHOLE:.*]] = sdy.reshard %arg0 <@mesh, [{}, {}, {}]>
// CHECK: stablehlo.dot_general %[[WHOLE]], %arg1
// CHECK: stablehlo.dot_general %[[WHOLE]], %arg2
// CHECK: stablehlo.dot_general %[[WHOLE]], %arg3
// CHECK-NOT: sdy.reshard
// CHECK: %[[PARTS:.*]] = stablehlo.dot_general %{{.*}}, %arg4, {{.*}}unreduced={"model"}
// CHECK-NEXT: sdy.reshard %[[PARTS]] <@mesh, [{}, {"model"}, {}]>
// CHECK-NOT: sdy.reshard
// KEPT-LABEL: func @attention
// KEPT-COUNT-6: sdy.reshard
sdy.mesh @mesh = <["model"=8]>

func.func @attention(
    %x: tensor<4x32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>},
    %wq: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>},
    %wk: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>},
    %wv: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>},
    %wo: tensor<8x8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}, {}]>})
    -> (tensor<4x32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}) {
  %q = stablehlo.dot_general %x, %wq, contracting_dims = [2] x [0] : (tensor<4x32x64xf32>, tensor<64x8x8xf32>) -> tensor<4x32x8x8xf32>
  %k = stablehlo.dot_general %x, %wk, contracting_dims = [2] x [0] : (tensor<4x32x64xf32>, tensor<64x8x8xf32>) -> tensor<4x32x8x8xf32>
  %v = stablehlo.dot_general %x, %wv, contracting_dims = [2] x [0] : (tensor<4x32x64xf32>, tensor<64x8x8xf32>) -> tensor<4x32x8x8xf32>
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<4x32x8x8xf32>, tensor<4x32x8x8xf32>) -> tensor<4x8x32x32xf32>
  %p = stablehlo.exponential %s : tensor<4x8x32x32xf32>
  %o = stablehlo.dot_general %v, %p, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<4x32x8x8xf32>, tensor<4x8x32x32xf32>) -> tensor<4x8x8x32xf32>
  %t = stablehlo.transpose %o, dims = [0, 3, 1, 2] : (tensor<4x8x8x32xf32>) -> tensor<4x32x8x8xf32>
  %y = stablehlo.dot_general %t, %wo, contracting_dims = [2, 3] x [0, 1] : (tensor<4x32x8x8xf32>, tensor<8x8x64xf32>) -> tensor<4x32x64xf32>
  return %y : tensor<4x32x64xf32>
}
