// RUN: sdy-opt %s -sdy-partition-to-local | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=4]>

// Two sums of a feature over the devices; what pads 10 rows on y is 0 in both.
// CHECK-LABEL: func.func @training
func.func @training(%a: tensor<10x8xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}, %s: tensor<8xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %o: tensor<8xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> (tensor<10x8xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}) {
  // CHECK: %[[X:.*]] = stablehlo.convert %arg0 : (tensor<3x4xbf16>) -> tensor<3x4xf32>
  // CHECK: %[[FILLED:.*]] = spmd.fetch_window %[[X]] dim=0 global_size=10 start=0 step=3 size=3 @mesh {"y"} fill
  // CHECK: %[[PART:.*]] = stablehlo.reduce(%[[FILLED]] init: {{.*}} across dimensions = [0]
  // CHECK: %[[SUM:.*]] = spmd.all_reduce %[[PART]] @mesh {"y"} {sdy.cause = "what 'stablehlo.batch_norm_training' adds up over devices; {{.*}}"} : tensor<4xf32>
  // CHECK: stablehlo.constant dense<1.000000e+01> : tensor<4xf32>
  // CHECK: %[[CENTERED:.*]] = spmd.fetch_window
  // CHECK: %[[SQUARES:.*]] = stablehlo.multiply %[[CENTERED]], %[[CENTERED]]
  // CHECK: stablehlo.reduce(%[[SQUARES]]
  // CHECK: spmd.all_reduce
  // CHECK-NOT: spmd.all_reduce
  // CHECK: return %{{.*}} : tensor<3x4xbf16>
  %0, %1, %2 = "stablehlo.batch_norm_training"(%a, %s, %o) <{epsilon = 0.5 : f32, feature_index = 1 : i64}> {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {"x"}]>, <@mesh, [{"x"}]>, <@mesh, [{"x"}]>]>} : (tensor<10x8xbf16>, tensor<8xbf16>, tensor<8xbf16>) -> (tensor<10x8xbf16>, tensor<8xbf16>, tensor<8xbf16>)
  return %0 : tensor<10x8xbf16>
}

// The whole batch on each device: the op itself.
// CHECK-LABEL: func.func @features
// CHECK: "stablehlo.batch_norm_training"(%arg0, %arg1, %arg2) <{{.*}} : (tensor<10x4xf32>
func.func @features(%a: tensor<10x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %s: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %o: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> (tensor<10x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  %0, %1, %2 = "stablehlo.batch_norm_training"(%a, %s, %o) <{epsilon = 0.5 : f32, feature_index = 1 : i64}> {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>, <@mesh, [{"x"}]>, <@mesh, [{"x"}]>]>} : (tensor<10x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<10x8xf32>, tensor<8xf32>, tensor<8xf32>)
  return %0 : tensor<10x8xf32>
}

// CHECK-LABEL: func.func @gradient
func.func @gradient(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}, %s: tensor<8xf32>, %g: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>})
    -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}, tensor<8xf32>) {
  // CHECK-NOT: fetch_window
  // CHECK: %[[SUM:.*]] = spmd.all_reduce {{.*}} @mesh {"y"} {{.*}} : tensor<8xf32>
  // CHECK: spmd.all_reduce {{.*}} @mesh {"y"} {{.*}} : tensor<8xf32>
  // CHECK-NOT: spmd.all_reduce
  // CHECK: return %{{.*}}, %[[SUM]]
  %0, %1, %2 = "stablehlo.batch_norm_grad"(%a, %s, %s, %s, %g) <{epsilon = 0.5 : f32, feature_index = 1 : i64}> {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>, <@mesh, [{}]>, <@mesh, [{}]>]>} : (tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>)
  return %0, %2 : tensor<8x8xf32>, tensor<8xf32>
}
