// RUN: sdy-opt %s -sdy-partition-pipeline | FileCheck %s

// The same MLP as in linalg-mlp.mlir: hidden features by "y", batch by "x". TOSA
// has a batch of products, so the matrices get a dim of size 1.

sdy.mesh @mesh = <["x"=2, "y"=4]>

// CHECK: func.func @main(%arg0: tensor<8x8xf32>, %arg1: tensor<1x8x8xf32>, %arg2: tensor<1x1x8xf32>, %arg3: tensor<1x8x8xf32>, %arg4: tensor<1x1x8xf32>) -> tensor<8x8xf32>
// CHECK: %[[SHAPE:.*]] = tosa.const_shape {values = dense<[1, 8, 8]> : tensor<3xindex>}
// CHECK: %[[X:.*]] = tosa.reshape %arg0, %[[SHAPE]] : (tensor<8x8xf32>, !tosa.shape<3>) -> tensor<1x8x8xf32>
// CHECK: %[[PRODUCT:.*]] = tosa.matmul %[[X]], %arg1, {{.*}} -> tensor<1x8x8xf32>
// CHECK: %[[SUM:.*]] = tosa.add %[[PRODUCT]], %arg2 : (tensor<1x8x8xf32>, tensor<1x1x8xf32>) -> tensor<1x8x8xf32>
// CHECK: %[[HIDDEN:.*]] = tosa.clamp %[[SUM]]
// CHECK: %[[PART:.*]] = tosa.matmul %[[HIDDEN]], %arg3
// CHECK: %[[WHOLE:.*]] = "stablehlo.all_reduce"(%[[PART]]){{.*}}replica_groups = dense<{{\[\[}}0, 1, 2, 3], [4, 5, 6, 7]]>
// CHECK: tosa.add %[[WHOLE]], %arg4
func.func @main(%x: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                %w1: tensor<1x8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"y"}]>},
                %b1: tensor<1x1x32xf32>,
                %w2: tensor<1x32x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}, {}]>},
                %b2: tensor<1x1x8xf32>) -> (tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %zp = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %up = tosa.const_shape {values = dense<[1, 16, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %down = tosa.const_shape {values = dense<[16, 8]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %0 = tosa.reshape %x, %up : (tensor<16x8xf32>, !tosa.shape<3>) -> tensor<1x16x8xf32>
  %1 = tosa.matmul %0, %w1, %zp, %zp : (tensor<1x16x8xf32>, tensor<1x8x32xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x16x32xf32>
  %2 = tosa.add %1, %b1 : (tensor<1x16x32xf32>, tensor<1x1x32xf32>) -> tensor<1x16x32xf32>
  %3 = tosa.clamp %2 {min_val = 0.0 : f32, max_val = 3.4e+38 : f32} : (tensor<1x16x32xf32>) -> tensor<1x16x32xf32>
  %4 = tosa.matmul %3, %w2, %zp, %zp : (tensor<1x16x32xf32>, tensor<1x32x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x16x8xf32>
  %5 = tosa.add %4, %b2 : (tensor<1x16x8xf32>, tensor<1x1x8xf32>) -> tensor<1x16x8xf32>
  %6 = tosa.reshape %5, %down : (tensor<1x16x8xf32>, !tosa.shape<2>) -> tensor<16x8xf32>
  return %6 : tensor<16x8xf32>
}
