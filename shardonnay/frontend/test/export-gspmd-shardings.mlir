// RUN: sdy-opt %s -split-input-file --sdy-export-gspmd-shardings | FileCheck %s

// CHECK-NOT: sdy.
// CHECK: func.func @main
// CHECK-SAME: %arg0: tensor<8x8xf32> {mhlo.sharding = "{devices=[4,1,2]<=[8] last_tile_dim_replicate}"}
// CHECK-SAME: %arg1: tensor<8x8xf32> {mhlo.sharding = "{devices=[2,2,2]<=[2,4]T(1,0) last_tile_dim_replicate}"}
// CHECK-SAME: -> (tensor<8x8xf32> {mhlo.sharding = "{devices=[1,1,4,2]<=[8] last_tile_dims={unreduced, replicated}}"})
sdy.mesh @mesh = <["x"=4, "y"=2]>
sdy.mesh @other = <["x"=4, "y"=2], device_ids=[0, 2, 1, 3, 4, 5, 6, 7]>
sdy.mesh @one = <[], device_ids=[3]>
func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {?}p2]>},
                %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(2)2}, {"y"}]>})
    -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"x"}>}) {
  // CHECK-NEXT: stablehlo.constant dense<1.0
  %0 = sdy.constant dense<1.0> : tensor<8x8xf32>
  // CHECK-NEXT: [[C:%.*]] = stablehlo.custom_call @Sharding(%arg0) {backend_config = "unspecified_dims=[0,1]", mhlo.sharding = "{devices=[4,1,2]<=[8] last_tile_dim_replicate}"}
  %1 = sdy.sharding_constraint %arg0 <@mesh, [{"x", ?}, {?}]> : tensor<8x8xf32>
  // CHECK-NEXT: stablehlo.custom_call @Sharding([[C]]) {backend_config = "", has_side_effect = true, mhlo.sharding = "{unknown shard_as 3}"}
  sdy.sharding_group %1 group_id=3 : tensor<8x8xf32>
  // CHECK-NEXT: [[G:%.*]] = stablehlo.custom_call @Sharding([[C]]) {backend_config = "", mhlo.sharding = "{replicated}"}
  %2 = sdy.propagation_barrier %1 allowed_direction=NONE : tensor<8x8xf32>
  %3 = sdy.all_gather [{"x"}, {}] %1 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  // CHECK-NEXT: [[T:%.*]] = stablehlo.tanh [[G]] {mhlo.sharding = "{devices=[4,2]0,2,1,3,4,5,6,7}"}
  %4 = stablehlo.tanh %3 {sdy.sharding = #sdy.sharding_per_value<[<@other, [{"x"}, {"y"}]>]>} : tensor<8x8xf32>
  // CHECK-NEXT: [[E:%.*]] = stablehlo.exponential [[T]]
  %5 = sdy.named_computation<"f">(%4) (%arg2: tensor<8x8xf32>) {
    %8 = stablehlo.exponential %arg2 : tensor<8x8xf32>
    sdy.return %8 : tensor<8x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  // CHECK-NEXT: stablehlo.custom_call @callback([[E]]) {has_side_effect = true, mhlo.sharding = "{maximal device=3}"}
  stablehlo.custom_call @callback(%5) {has_side_effect = true, sdy.sharding = #sdy.sharding_per_value<[<@one, []>]>} : (tensor<8x8xf32>) -> ()
  // CHECK-NEXT: stablehlo.optimization_barrier {mhlo.sharding = "{{[{][{]}}replicated}, {devices=[4,1,2]<=[8] last_tile_dim_replicate}}"}
  %6:2 = "stablehlo.optimization_barrier"(%5, %5) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>, <@mesh, [{"x"}, {}]>]>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>)
  return %6#0 : tensor<8x8xf32>
}

// -----

// Inside, and in what is called there, the manual axes are a subgroup.
sdy.mesh @mesh = <["x"=4, "y"=2]>
// CHECK: func.func @manual
func.func @manual(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK-NEXT: [[A:%.*]] = stablehlo.custom_call @Sharding(%arg0) {backend_config = "unspecified_dims=[1]", mhlo.sharding = "{devices=[8,1]<=[8]}"}
  // CHECK-NEXT: [[B:%.*]] = stablehlo.custom_call @SPMDFullToShardShape([[A]]) {backend_config = "unspecified_dims=[1]", mhlo.sharding = "{devices=[2,1,4]<=[4,2]T(1,0) last_tile_dims={manual}}"} : (tensor<8x8xf32>) -> tensor<2x8xf32>
  // CHECK-NEXT: [[C:%.*]] = call @body([[B]])
  // CHECK-NEXT: [[D:%.*]] = stablehlo.custom_call @Sharding([[C]]) {backend_config = "", mhlo.sharding = "{devices=[1,1,4,2]<=[8] last_tile_dims={manual, replicated}}"}
  // CHECK-NEXT: stablehlo.custom_call @SPMDShardToFullShape([[D]]) {backend_config = "", mhlo.sharding = "{devices=[4,1,2]<=[8] last_tile_dim_replicate}"} : (tensor<2x8xf32>) -> tensor<8x8xf32>
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x", "y"}, {?}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%arg1: tensor<2x8xf32>) {
    %1 = func.call @body(%arg1) : (tensor<2x8xf32>) -> tensor<2x8xf32>
    sdy.return %1 : tensor<2x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
// CHECK: func.func private @body
func.func private @body(%arg0: tensor<2x8xf32>) -> tensor<2x8xf32> {
  // CHECK-NEXT: stablehlo.custom_call @Sharding(%arg0) {backend_config = "", mhlo.sharding = "{devices=[1,2,4]<=[4,2]T(1,0) last_tile_dims={manual}}"}
  %0 = sdy.sharding_constraint %arg0 <@mesh, [{}, {"y"}]> : tensor<2x8xf32>
  // CHECK: SPMDFullToShardShape({{.*}}mhlo.sharding = "{manual}"
  %1 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{}, {"y"}]>] out_shardings=[<@mesh, [{}, {"y"}]>] manual_axes={"y"} (%arg1: tensor<2x4xf32>) {
    sdy.return %arg1 : tensor<2x4xf32>
  } : (tensor<2x8xf32>) -> tensor<2x8xf32>
  return %1 : tensor<2x8xf32>
}

// -----

// XLA changes what a loop carries, so a tuple for its results would not fit.
sdy.mesh @mesh = <["x"=4, "y"=2]>
// CHECK: func.func @loop
func.func @loop(%arg0: tensor<8xf32>, %arg1: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: stablehlo.while
  // CHECK-NOT: attributes
  %0 = stablehlo.while(%arg2 = %arg0) : tensor<8xf32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
  cond {
    %1 = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    // CHECK: stablehlo.add {{.*}} {mhlo.sharding = "{devices=[4,2]<=[8] last_tile_dim_replicate}"}
    %1 = stablehlo.add %arg2, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
    stablehlo.return %1 : tensor<8xf32>
  }
  // CHECK: return
  return %0 : tensor<8xf32>
}
