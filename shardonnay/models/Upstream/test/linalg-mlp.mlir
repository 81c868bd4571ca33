// RUN: sdy-opt %s -sdy-lift-inlined-meshes -sdy-check-supported -sdy-constant-or-scalar-splitter -sdy-user-priority-propagate -sdy-close-shardings -sdy-insert-explicit-reshards='enable-full-version=true' -sdy-reshard-to-collectives | FileCheck %s --check-prefix=GLOBAL
// RUN: sdy-opt %s -sdy-partition-pipeline | FileCheck %s

// An MLP, its batch sharded by "x" and its hidden features by "y": columns of the
// first weight, rows of the second. So the hidden values are sharded both ways
// without communication, and the second product is a sum over "y".

// GLOBAL-LABEL: func @main
// GLOBAL-SAME: %arg2: tensor<32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}
// GLOBAL: linalg.matmul {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>}
// GLOBAL: linalg.generic {{.*}} attrs = {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>}
// GLOBAL: %[[SUM:.*]] = linalg.matmul {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}], unreduced={"y"}>]>}
// GLOBAL-NOT: sdy.all_gather
// GLOBAL: sdy.all_reduce {"y"} %[[SUM]] out_sharding=<@mesh, [{"x"}, {}]>

// On a device: a quarter of the hidden features, half of the batch; only the
// first device of each four starts the sum from the bias.
// CHECK: func.func @main(%arg0: tensor<8x8xf32>, %arg1: tensor<8x8xf32>, %arg2: tensor<8xf32>, %arg3: tensor<8x8xf32>, %arg4: tensor<8xf32>) -> tensor<8x8xf32>
// CHECK: %[[HIDDEN:.*]] = linalg.generic
// CHECK: %[[BIAS:.*]] = linalg.broadcast
// CHECK: %[[INDEX:.*]] = arith.index_cast
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[INDEX]], %{{.*}} : index
// CHECK: %[[NONE:.*]] = arith.constant dense<-0.000000e+00> : tensor<8x8xf32>
// CHECK: %[[START:.*]] = arith.select %[[FIRST]], %[[BIAS]], %[[NONE]] : tensor<8x8xf32>
// CHECK: %[[PART:.*]] = linalg.matmul ins(%[[HIDDEN]], %arg3 : tensor<8x8xf32>, tensor<8x8xf32>) outs(%[[START]] : tensor<8x8xf32>)
// CHECK: "stablehlo.all_reduce"(%[[PART]]){{.*}}replica_groups = dense<{{\[\[}}0, 1, 2, 3], [4, 5, 6, 7]]>

sdy.mesh @mesh = <["x"=2, "y"=4]>

func.func @main(%x: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                %w1: tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>},
                %b1: tensor<32xf32>,
                %w2: tensor<32x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>},
                %b2: tensor<8xf32>) -> (tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<16x32xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<16x32xf32>) -> tensor<16x32xf32>
  %0 = linalg.matmul ins(%x, %w1 : tensor<16x8xf32>, tensor<8x32xf32>) outs(%z1 : tensor<16x32xf32>) -> tensor<16x32xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%0, %b1 : tensor<16x32xf32>, tensor<32xf32>) outs(%e1 : tensor<16x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %5 = arith.addf %a, %b : f32
    %6 = arith.maximumf %5, %zero : f32
    linalg.yield %6 : f32
  } -> tensor<16x32xf32>
  %e2 = tensor.empty() : tensor<16x8xf32>
  %bias = linalg.broadcast ins(%b2 : tensor<8xf32>) outs(%e2 : tensor<16x8xf32>) dimensions = [0]
  %2 = linalg.matmul ins(%1, %w2 : tensor<16x32xf32>, tensor<32x8xf32>) outs(%bias : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %2 : tensor<16x8xf32>
}
