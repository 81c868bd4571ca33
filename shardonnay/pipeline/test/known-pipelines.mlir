// RUN: sdy-opt %s --sdy-propagation-pipeline | FileCheck %s
// RUN: sdy-opt %s --sdy-propagation-pipeline=dedup-functions-fully=true | FileCheck %s --check-prefix=FULLY
// RUN: sdy-opt %s --sdy-import-pipeline | FileCheck %s --check-prefix=IMPORT

sdy.mesh @mesh = <["x"=2, "y"=4]>

// Both ends of a value that is given in parts are said, here by the default
// pipelines, which move no dims.
// CHECK-LABEL: func public @parts
// CHECK: %[[SUM:.*]] = sdy.all_reduce {"y"} %arg0 out_sharding=<@mesh, [{}]>
// CHECK: return %[[SUM]]

// The calls that are sharded alike share a function.
// CHECK-LABEL: func public @main
// CHECK: call @f(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
// CHECK: call @f(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
// CHECK: call @[[OTHER:.*]](%arg1) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>}
// CHECK: func private @f(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
// CHECK: func private @[[OTHER]](%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>})
// CHECK-NOT: func.func

// One function for all calls: what they agree on.
// FULLY-LABEL: func public @main
// FULLY: %[[A:.*]] = sdy.reshard %arg0 <@mesh, [{"x"}, {"y"}]>
// FULLY: call @f(%{{.*}}) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>}
// FULLY: call @f(%
// FULLY: call @f(%
// FULLY: func private @f(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>})
// FULLY-NOT: sdy.func_data_flow_edge
// FULLY-NOT: func.func private

// IMPORT-LABEL: func public @main
// IMPORT: call @f(%arg0)
// IMPORT: func private @f
func.func public @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = call @f(%arg0) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = call @f(%arg0) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = call @f(%arg1) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0, %1, %2 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}
func.func private @f(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = stablehlo.tanh %arg0 : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

func.func public @parts(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"y"}>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  return %arg0 : tensor<8xf32>
}
