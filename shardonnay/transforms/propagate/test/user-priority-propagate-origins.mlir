// RUN: sdy-opt %s --split-input-file --sdy-add-data-flow-edges --sdy-user-priority-propagate="debug-sharding-origins=true debug-propagation-edge-sharding=true" | FileCheck %s

// As jaxlib 0.10.2 prints it.

sdy.mesh @mesh = <["a"=2, "b"=2, "c"=2]>

// CHECK-LABEL: func @main
// CHECK-SAME: %arg0: tensor<8x8xf32> {{.*}}sdy.sharding_origins = {a = "self"}
// CHECK-SAME: %arg1: tensor<8x16xf32> {{.*}}sdy.sharding_origins = {b = "self"}
// CHECK-SAME: sdy.propagation_edges = #sdy.propagation_edges<[{step-0 = [{"b" = result-0 -> [operand-0]}, {"c" = result-0 -> [operand-0]}]}, {step-7 = [{"a" = operand-0 -> [result-0]}]}]>
// CHECK-SAME: sdy.sharding_origins = {a = "input: 0", b = "self", c = "self"}
func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {?}]>}, %arg1: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"b"}]>}) -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"b", "c", ?}]>}) {
  // CHECK: stablehlo.add {{.*}}#sdy.propagation_edges<[{step-3 = [{"a" = operand-0 -> [result-0]}]}]>{{.*}}sdy.sharding_origins = [{a = "input: 0"}]
  %0 = stablehlo.add %arg0, %arg0 : tensor<8x8xf32>
  // CHECK: stablehlo.dot_general {{.*}}{step-4 = {{.*}}sdy.sharding_origins = [{a = "input: 0", b = "output: 0", c = "output: 0"}]
  %1 = stablehlo.dot_general %0, %arg1, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  // CHECK: sdy.sharding_constraint {{.*}}{step-2 = {{.*}}{step-5 = {{.*}}sdy.sharding_origin_name = "constraint_0", sdy.sharding_origins = {a = "input: 0", b = "output: 0", c = "output: 0"}
  %2 = sdy.sharding_constraint %1 <@mesh, [{?}, {?}]> : tensor<8x16xf32>
  // CHECK: stablehlo.tanh {{.*}}{step-1 = {{.*}}{step-6 = 
  %3 = stablehlo.tanh %2 : tensor<8x16xf32>
  return %3 : tensor<8x16xf32>
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=2]>

// Parts of an axis, a source that has all of the axes, an op's own sharding.
// CHECK-LABEL: func @main
// CHECK-SAME: %arg2: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", "c", ?}, {?}]>, sdy.sharding_origins = {a = "input: 1", c = "input: 1"}}
// CHECK-SAME: -> (tensor<2x4x8xf32> {{.*}}sdy.sharding_origins = {"b:(1)2" = "input: 0", "b:(2)2" = "input: 0", c = "op_0: 0"}
func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}, {?}]>}, %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", "c"}, {?}]>}, %arg2: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {?}]>}) -> (tensor<2x4x8xf32>, tensor<8x8xf32>) {
  // CHECK: stablehlo.reshape {{.*}}{step-{{[0-9]+}} = [{"b":(1)2 = operand-0 -> [result-0]}, {"b":(2)2 = operand-0 -> [result-0]}
  // CHECK-SAME: sdy.sharding_origin_name = "op_0"
  %0 = stablehlo.reshape %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {?}, {"c", ?}]>]>} : (tensor<8x8xf32>) -> tensor<2x4x8xf32>
  // CHECK: stablehlo.add %arg1, %arg2 {{.*}}{"a" = operand-0 -> [operand-1, result-0]}, {"c" = operand-0 -> [operand-1, result-0]}
  %1 = stablehlo.add %arg1, %arg2 : tensor<8x8xf32>
  return %0, %1 : tensor<2x4x8xf32>, tensor<8x8xf32>
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=2, "c"=2]>

// CHECK-LABEL: func @main
// CHECK-SAME: sdy.sharding_origins = {a = "input: 0", c = "mc_0_output: 0"}
func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"a"}]>}) -> tensor<8x8xf32> {
  // CHECK: sdy.manual_computation
  // CHECK: sdy.data_flow_edge {{.*}}{"a" = operand-0 -> [result-0]}
  // CHECK: sdy.sharding_origin_name = "mc_0"
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"c", ?}, {?}]>] out_shardings=[<@mesh, [{"c", ?}, {?}]>] manual_axes={"c"} (%arg1: tensor<4x8xf32>) {
    %1 = stablehlo.tanh %arg1 : tensor<4x8xf32>
    sdy.return %1 : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

// Members of a group get axes together, in the step of one of them.
sdy.mesh @mesh = <["a"=2]>
// CHECK-LABEL: func @main
// CHECK-SAME: %arg1: tensor<8xf32> {{.*}}sdy.sharding_origins = {a = "input: 0"}
func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}, %arg1: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.tanh %arg0 : tensor<8xf32>
  sdy.sharding_group %0 group_id=0 : tensor<8xf32>
  sdy.sharding_group %arg1 group_id=0 : tensor<8xf32>
  return %arg1 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4]>

// Members of a group have the sharding of the one that the user gave it.
// CHECK-LABEL: func @given_group
// CHECK-SAME: %arg0: {{.*}}sdy.sharding_origins = {a = "self"}
// CHECK-SAME: %arg1: {{.*}}sdy.sharding_origins = {a = "input: 0"}
func.func @given_group(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}, %arg1: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: stablehlo.tanh {{.*}}sdy.sharding_origins = [{a = "input: 0"}]
  %0 = stablehlo.tanh %arg1 : tensor<8xf32>
  sdy.sharding_group %arg0 group_id=0 : tensor<8xf32>
  sdy.sharding_group %0 group_id=0 : tensor<8xf32>
  return %0 : tensor<8xf32>
}
