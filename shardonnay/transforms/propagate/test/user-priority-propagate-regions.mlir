// RUN: sdy-opt %s --sdy-add-data-flow-edges --sdy-user-priority-propagate | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>

// CHECK-LABEL: func @into_and_out_of_a_manual_computation
// CHECK-SAME: -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y", ?}, {?}]>})
// CHECK: sdy.data_flow_edge %{{.*}} sharding=<@mesh, [{"y", ?}, {?}]> : tensor<4x8xf32>
// CHECK: stablehlo.tanh %{{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y", ?}, {?}]>]>}
// CHECK: sdy.data_flow_edge %{{.*}} sharding=<@mesh, [{"x", "y", ?}, {?}]> : tensor<8x8xf32>
func.func @into_and_out_of_a_manual_computation(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x", ?}, {?}]>] out_shardings=[<@mesh, [{"x", ?}, {?}]>] manual_axes={"x"} (%arg1: tensor<4x8xf32>) {
    %1 = stablehlo.tanh %arg1 : tensor<4x8xf32>
    sdy.return %1 : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// A manual axis that shards nothing is not free for others.
// CHECK-LABEL: func @manual_axes_stay_outside
// CHECK-SAME: %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {?}]>})
// CHECK: sdy.data_flow_edge %{{.*}} sharding=<@mesh, [{?}, {?}]> : tensor<8x8xf32>
func.func @manual_axes_stay_outside(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {?}]>}) -> tensor<8x8xf32> {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{?}, {?}]>] out_shardings=[<@mesh, [{?}, {?}]>] manual_axes={"x"} (%arg1: tensor<8x8xf32>) {
    sdy.return %arg1 : tensor<8x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// CHECK-LABEL: func @nested_manual_computations
// CHECK-SAME: %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "z", "y", ?}, {?}]>})
func.func @nested_manual_computations(%arg0: tensor<8x8xf32>) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "z", "y"}, {}]>}) {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x", ?}, {?}]>] out_shardings=[<@mesh, [{"x", ?}, {?}]>] manual_axes={"x"} (%arg1: tensor<4x8xf32>) {
    %1 = sdy.manual_computation(%arg1) in_shardings=[<@mesh, [{"z", ?}, {?}]>] out_shardings=[<@mesh, [{"z", ?}, {?}]>] manual_axes={"z"} (%arg2: tensor<2x8xf32>) {
      sdy.return %arg2 : tensor<2x8xf32>
    } : (tensor<4x8xf32>) -> tensor<4x8xf32>
    sdy.return %1 : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// CHECK-LABEL: func @through_a_named_computation
// CHECK-SAME: -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", ?}]>})
func.func @through_a_named_computation(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> tensor<8xf32> {
  %0 = sdy.named_computation<"f">(%arg0) (%arg1: tensor<8xf32>) {
    %1 = stablehlo.tanh %arg1 : tensor<8xf32>
    sdy.return %1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func @loop
// CHECK-SAME: %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", ?}, {"z", ?}]>})
// CHECK: stablehlo.add %{{.*}}, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y", ?}, {"z", ?}]>]>}
// CHECK: sdy.data_flow_edge %{{.*}} sharding=<@mesh, [{"y", ?}, {"z", ?}]>
func.func @loop(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {?}]>}, %arg1: tensor<8x8xf32>) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"z"}]>}) {
  %c = sdy.constant dense<true> : tensor<i1>
  %0 = stablehlo.while(%iter = %arg0) : tensor<8x8xf32>
  cond {
    stablehlo.return %c : tensor<i1>
  } do {
    %1 = stablehlo.add %iter, %arg1 : tensor<8x8xf32>
    stablehlo.return %1 : tensor<8x8xf32>
  }
  return %0 : tensor<8x8xf32>
}

// CHECK-LABEL: func @branches
// CHECK-SAME: %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", ?}]>}
// CHECK: stablehlo.tanh %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y", ?}]>]>}
// CHECK: sdy.data_flow_edge %{{.*}} sharding=<@mesh, [{"y", ?}]>
func.func @branches(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}, %arg1: tensor<8xf32>, %arg2: tensor<i1>) -> tensor<8xf32> {
  %0 = "stablehlo.if"(%arg2) ({
    %1 = stablehlo.tanh %arg0 : tensor<8xf32>
    stablehlo.return %1 : tensor<8xf32>
  }, {
    stablehlo.return %arg1 : tensor<8xf32>
  }) : (tensor<i1>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
