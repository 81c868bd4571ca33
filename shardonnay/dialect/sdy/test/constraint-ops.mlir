// RUN: sdy-opt %s | sdy-opt | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=4]>

// CHECK-LABEL: func @constraints
func.func @constraints(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK: sdy.sharding_constraint %arg0 <@mesh, [{"x"}, {?}p3]> {test.tag} : tensor<8x8xf32>
  %0 = sdy.sharding_constraint %arg0 <@mesh, [{"x"}, {?}p3]> {test.tag} : tensor<8x8xf32>
  // CHECK: sdy.reshard %0 <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  %1 = sdy.reshard %0 <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  // CHECK: sdy.sharding_group %1 group_id=3 : tensor<8x8xf32>
  sdy.sharding_group %1 group_id=3 : tensor<8x8xf32>
  // CHECK: sdy.propagation_barrier %1 allowed_direction=FORWARD : tensor<8x8xf32>
  %2 = sdy.propagation_barrier %1 allowed_direction=FORWARD : tensor<8x8xf32>
  // CHECK: sdy.propagation_barrier %2 allowed_direction=BACKWARD : tensor<8x8xf32>
  %3 = sdy.propagation_barrier %2 allowed_direction=BACKWARD : tensor<8x8xf32>
  // CHECK: sdy.propagation_barrier %3 allowed_direction=NONE : tensor<8x8xf32>
  %4 = sdy.propagation_barrier %3 allowed_direction=NONE : tensor<8x8xf32>
  return %4 : tensor<8x8xf32>
}

func.func private @two(tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)

// CHECK-LABEL: func @import_ops
func.func @import_ops() -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK: sdy.constant dense<1.000000e+00> : tensor<8xf32>
  %0 = sdy.constant dense<1.0> : tensor<8xf32>
  // CHECK: sdy.constant {test.tag} dense<[1, 2]> : tensor<2xi32>
  %1 = sdy.constant {test.tag} dense<[1, 2]> : tensor<2xi32>
  %2:2 = call @two(%0) : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  // CHECK: sdy.data_flow_edge %2#0 sharding=<@mesh, [{?}]> : tensor<8xf32>
  %3 = sdy.data_flow_edge %2#0 sharding=<@mesh, [{?}]> : tensor<8xf32>
  // CHECK: sdy.data_flow_edge %2#1 : tensor<8xf32>
  %4 = sdy.data_flow_edge %2#1 : tensor<8xf32>
  return %3, %4 : tensor<8xf32>, tensor<8xf32>
}

sdy.mesh @one = <[], device_ids=[1]>

// What has no shape is the same on every device.
// CHECK-LABEL: func @tokens
func.func @tokens(%arg0: !stablehlo.token) -> !stablehlo.token {
  // CHECK: sdy.sharding_constraint %arg0 <@mesh, []> : !stablehlo.token
  %0 = sdy.sharding_constraint %arg0 <@mesh, []> : !stablehlo.token
  // CHECK: sdy.sharding_constraint %0 <@one, []> : !stablehlo.token
  %1 = sdy.sharding_constraint %0 <@one, []> : !stablehlo.token
  // CHECK: sdy.reshard %1 <@one, []> : !stablehlo.token
  %2 = sdy.reshard %1 <@one, []> : !stablehlo.token
  // CHECK: sdy.reshard %2 <@mesh, []> : !stablehlo.token
  %3 = sdy.reshard %2 <@mesh, []> : !stablehlo.token
  return %3 : !stablehlo.token
}
