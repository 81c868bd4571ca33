// RUN: sdy-opt %s -split-input-file --sdy-import-frontend-attributes | FileCheck %s

// HLO shardings say less than the frontend attributes beside them.
// CHECK: module @m attributes {mhlo.frontend_attributes = {other = "1"}} {
// CHECK-NEXT: sdy.mesh @maximal_mesh_3 = <[], device_ids=[3]>
// CHECK-NEXT: sdy.mesh @mesh = <["x"=4, "y"=2]>
// CHECK-NEXT: func.func @main
// CHECK-SAME: %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}p1, {?}], replicated={"y"}>})
// CHECK-SAME: -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
module @m attributes {mhlo.frontend_attributes = {other = "1", xla.sdy.meshes = "{maximal_mesh_3 = #sdy.mesh<[], device_ids=[3]>, mesh = #sdy.mesh<[\22x\22=4, \22y\22=2]>}"}} {
  func.func @main(%arg0: tensor<8x8xf32> {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding<@mesh, [{\22x\22, ?}p1, {?}], replicated={\22y\22}>"}, mhlo.sharding = "{devices=[4,1,2]<=[8] last_tile_dim_replicate}"})
      -> (tensor<8x8xf32> {mhlo.sharding = "{replicated}"}) {
    // CHECK-NEXT: [[B:%.*]] = sdy.propagation_barrier %arg0 allowed_direction=FORWARD
    %0 = stablehlo.custom_call @xla.sdy.PropagationBarrier(%arg0) {backend_config = "", has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.allowed_direction = "1 : i32"}} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    // CHECK-NEXT: stablehlo.custom_call @foo([[B]]) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=8}, custom>}
    %1 = stablehlo.custom_call @foo(%0) {mhlo.frontend_attributes = {xla.sdy.sharding_rule = "#sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=8}, custom>"}} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    // CHECK-NEXT: stablehlo.add {{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x":(1)2}, {"y"}]>]>}
    %2 = stablehlo.add %1, %1 {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding_per_value<[<@mesh, [{\22x\22:(1)2}, {\22y\22}]>]>"}, mhlo.sharding = "{devices=[2,2,2]<=[2,2,2]T(0,2,1) last_tile_dim_replicate}"} : tensor<8x8xf32>
    // CHECK-NEXT: [[C:%.*]] = sdy.sharding_constraint {{.*}} <@mesh, [{}, {"y"}], unreduced={"x"}>
    %3 = stablehlo.custom_call @Sharding(%2) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding_per_value<[<@mesh, [{}, {\22y\22}], unreduced={\22x\22}>]>"}, mhlo.sharding = "{replicated}"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    // CHECK-NEXT: sdy.sharding_group [[C]] group_id=0
    %4 = stablehlo.custom_call @xla.sdy.ShardingGroup(%3) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.sharding_group_id = "0 : i64"}} : (tensor<8x8xf32>) -> tuple<>
    // CHECK-NEXT: stablehlo.custom_call @callback({{.*}}sdy.sharding = #sdy.sharding_per_value<[<@maximal_mesh_3, []>]>
    stablehlo.custom_call @callback(%3) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding_per_value<[<@maximal_mesh_3, []>]>"}, mhlo.sharding = "{{maximal device=3}}"} : (tensor<8x8xf32>) -> ()
    // CHECK-NEXT: return [[C]]
    %5 = stablehlo.custom_call @xla.sdy.FuncResultSharding(%3) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding_per_value<[<@mesh, [{\22x\22}, {}]>]>"}} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    return %5 : tensor<8x8xf32>
  }
}

// -----

// Newer: shardings at the boundaries, values in tuples.
module attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = #sdy.mesh<[\22x\22=4]>}"}} {
  // CHECK: func.func @tuples
  func.func @tuples(%arg0: tensor<16xf32>, %arg1: tensor<8xf32>) -> (tensor<16xf32>, tensor<8xf32>) {
    // CHECK-NEXT: [[M:%.*]]:2 = sdy.manual_computation(%arg0, %arg1)
    // CHECK-SAME:   in_shardings=[<@mesh, [{"x", ?}]>, <@mesh, [{?}]>] out_shardings=[<@mesh, [{"x", ?}]>, <@mesh, [{?}]>]
    // CHECK-SAME:   manual_axes={"x"} (%arg2: tensor<4xf32>, %arg3: tensor<8xf32>) {
    // CHECK-NEXT:   [[C:%.*]]:2 = func.call @xla.sdy.manual_computation_body(%arg2, %arg3)
    // CHECK-NEXT:   sdy.return [[C]]#0, [[C]]#1
    // CHECK: return [[M]]#0, [[M]]#1
    %0 = stablehlo.custom_call @xla.sdy.GlobalToLocalShape(%arg0, %arg1) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.in_shardings = "#sdy.sharding_per_value<[<@mesh, [{\22x\22, ?}]>, <@mesh, [{?}]>]>", xla.sdy.manual_axes = "#sdy<manual_axes{\22x\22}>"}} : (tensor<16xf32>, tensor<8xf32>) -> tuple<tensor<4xf32>, tensor<8xf32>>
    %1 = stablehlo.get_tuple_element %0[0] : (tuple<tensor<4xf32>, tensor<8xf32>>) -> tensor<4xf32>
    %2 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<4xf32>, tensor<8xf32>>) -> tensor<8xf32>
    %3:2 = call @xla.sdy.manual_computation_body(%1, %2) {mhlo.frontend_attributes = {inlineable = "false"}} : (tensor<4xf32>, tensor<8xf32>) -> (tensor<4xf32>, tensor<8xf32>)
    %4 = stablehlo.custom_call @xla.sdy.LocalToGlobalShape(%3#0, %3#1) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.manual_axes = "#sdy<manual_axes{\22x\22}>", xla.sdy.out_shardings = "#sdy.sharding_per_value<[<@mesh, [{\22x\22, ?}]>, <@mesh, [{?}]>]>"}} : (tensor<4xf32>, tensor<8xf32>) -> tuple<tensor<16xf32>, tensor<8xf32>>
    %5 = stablehlo.get_tuple_element %4[0] : (tuple<tensor<16xf32>, tensor<8xf32>>) -> tensor<16xf32>
    %6 = stablehlo.get_tuple_element %4[1] : (tuple<tensor<16xf32>, tensor<8xf32>>) -> tensor<8xf32>
    return %5, %6 : tensor<16xf32>, tensor<8xf32>
  }
  func.func private @xla.sdy.manual_computation_body(tensor<4xf32>, tensor<8xf32>) -> (tensor<4xf32>, tensor<8xf32>)
}

// -----

// Older: shardings at the call, several results, escaped quotes, meshes as text in text.
// CHECK: sdy.mesh @mesh = <["x"=4]>
module attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = \22#sdy.mesh<[\\\22x\\\22=4]>\22}"}} {
  // CHECK: func.func @calls
  func.func @calls(%arg0: tensor<16xf32>, %arg1: tensor<8xf32>) -> (tensor<16xf32>, tensor<8xf32>) {
    // CHECK-NEXT: sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{"x"}]>, <@mesh, [{}]>] out_shardings=[<@mesh, [{"x"}]>, <@mesh, [{}]>] manual_axes={"x"}
    // CHECK-NEXT:   func.call @xla.sdy.manual_computation_body(%arg2, %arg3) :
    %0:2 = stablehlo.custom_call @xla.sdy.GlobalToLocalShape(%arg0, %arg1) : (tensor<16xf32>, tensor<8xf32>) -> (tensor<4xf32>, tensor<8xf32>)
    %1:2 = call @xla.sdy.manual_computation_body(%0#0, %0#1) {mhlo.frontend_attributes = {xla.sdy.in_shardings = "#sdy.sharding_per_value<[<@mesh, [{\\\22x\\\22}]>, <@mesh, [{}]>]>", xla.sdy.manual_axes = "#sdy<manual_axes{\\\22x\\\22}>", xla.sdy.out_shardings = "#sdy.sharding_per_value<[<@mesh, [{\\\22x\\\22}]>, <@mesh, [{}]>]>"}} : (tensor<4xf32>, tensor<8xf32>) -> (tensor<4xf32>, tensor<8xf32>)
    %2:2 = stablehlo.custom_call @xla.sdy.LocalToGlobalShape(%1#0, %1#1) : (tensor<4xf32>, tensor<8xf32>) -> (tensor<16xf32>, tensor<8xf32>)
    return %2#0, %2#1 : tensor<16xf32>, tensor<8xf32>
  }
  func.func private @xla.sdy.manual_computation_body(tensor<4xf32>, tensor<8xf32>) -> (tensor<4xf32>, tensor<8xf32>)
}

// -----

// Without a list of meshes, HLO shardings stay for the next pass.
// CHECK: func.func @gspmd(%arg0: tensor<16xf32> {mhlo.sharding = "{replicated}"})
func.func @gspmd(%arg0: tensor<16xf32> {mhlo.sharding = "{replicated}"}) {
  return
}
