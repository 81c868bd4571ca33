// RUN: sdy-opt %s -allow-unregistered-dialect | sdy-opt -allow-unregistered-dialect | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=8]>
sdy.mesh @maximal_mesh_0 = <[], device_ids=[0]>

// CHECK-LABEL: func @dims
// CHECK-SAME: <@mesh, [{"x", ?}, {"y":(1)2, "z":(2)4}p1, {?}p0, {}]>
func.func @dims(%arg0: tensor<8x8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {"y":(1)2, "z":(2)4}p1, {?}p0, {}]>}) {
  return
}

// CHECK-LABEL: func @lists
// CHECK-SAME: <@mesh, [{"x"}], replicated={"z":(1)2}, unreduced={"y", "z":(2)2}>
// CHECK-SAME: <@mesh, [{}], unreduced=max{"y"}>
// CHECK-SAME: <@mesh, [{}], unreduced={"y"}>
func.func @lists(
    %arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}], unreduced={"y", "z":(2)2}, replicated={"z":(1)2}>},
    %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced=max{"y"}>},
    %arg2: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced=sum{"y"}>}) {
  return
}

// CHECK-LABEL: func @inlined_mesh
// CHECK-SAME: <mesh<["a"=2]>, [{"a"}]>
// CHECK-SAME: -> (tensor<f32> {sdy.sharding = #sdy.sharding<mesh<[], device_ids=[1]>, []>})
func.func @inlined_mesh(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["a"=2]>, [{"a"}]>},
                        %arg1: tensor<f32>) -> (tensor<f32> {sdy.sharding = #sdy.sharding<mesh<[], device_ids=[1]>, []>}) {
  return %arg1 : tensor<f32>
}

// Uneven shards and dynamic dims are legal.
// CHECK-LABEL: func @per_value
func.func @per_value(%arg0: tensor<7x?xf32>) {
  // CHECK: sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {"x"}]>, <@mesh, []>]>
  "test.two"(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {"x"}]>, <@mesh, []>]>} : (tensor<7x?xf32>) -> (tensor<7x?xf32>, !test.token)
  // CHECK: sdy.sharding = #sdy.sharding_per_value<[<@maximal_mesh_0, []>]>
  "test.none"() {sdy.sharding = #sdy.sharding_per_value<[<@maximal_mesh_0, []>]>} : () -> ()
  return
}
