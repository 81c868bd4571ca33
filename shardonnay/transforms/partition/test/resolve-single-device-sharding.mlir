// RUN: sdy-opt %s -allow-unregistered-dialect -split-input-file -pass-pipeline="builtin.module(func.func(sdy-resolve-single-device-sharding{keep-given=true}))" | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @maximal_3 = <[], device_ids=[3]>
sdy.mesh @maximal_2 = <[], device_ids=[2]>

// CHECK-LABEL: func @op
func.func @op(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  // CHECK-NEXT: %[[ZERO:.*]] = sdy.constant dense<0xFF800000> : tensor<8xf32>
  // CHECK-NEXT: %[[THERE:.*]] = spmd.on_device 3 @mesh(%arg0) else(%[[ZERO]]) {
  // CHECK-NEXT: ^bb0(%[[IN:.*]]: tensor<8xf32>):
  // CHECK-NEXT:   %[[SINE:.*]] = stablehlo.sine %[[IN]] : tensor<8xf32>
  // CHECK-NEXT:   spmd.return %[[SINE]] : tensor<8xf32>
  // CHECK-NEXT: } : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  // CHECK-NEXT: %[[ALL:.*]] = spmd.all_reduce max %[[THERE]] @mesh {"x", "y"} {sdy.cause = "what one device has, sent to all; no other plan: the device is given"} : tensor<8xf32>
  // CHECK-NEXT: return %[[ALL]]
  %0 = stablehlo.sine %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@maximal_3, []>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// What a device has computed before it takes as it is, and nothing is sent that
// no other device uses.
// CHECK-LABEL: func @chain
func.func @chain(%arg0: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK:      %[[FIRST:.*]] = spmd.on_device 3 @mesh(%arg0)
  // CHECK:      %[[SECOND:.*]] = spmd.on_device 3 @mesh(%[[FIRST]])
  // CHECK:      %[[SENT:.*]] = spmd.all_reduce max %[[SECOND]]
  // CHECK:      spmd.on_device 2 @mesh(%[[SENT]])
  // CHECK:      %[[THIRD:.*]] = spmd.all_reduce max
  // CHECK-NOT:  all_reduce
  // CHECK:      return %[[SENT]], %[[THIRD]]
  %0 = stablehlo.sine %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@maximal_3, []>]>} : tensor<8xf32>
  %1 = stablehlo.cosine %0 {sdy.sharding = #sdy.sharding_per_value<[<@maximal_3, []>]>} : tensor<8xf32>
  %2 = stablehlo.sine %1 {sdy.sharding = #sdy.sharding_per_value<[<@maximal_2, []>]>} : tensor<8xf32>
  return %1, %2 : tensor<8xf32>, tensor<8xf32>
}

// An effect, without results and with a token.
// CHECK-LABEL: func @effects
func.func @effects(%arg0: tensor<8xf32>, %arg1: !stablehlo.token) -> !stablehlo.token {
  // CHECK:      spmd.on_device 3 @mesh(%arg0) else() {
  // CHECK:        stablehlo.custom_call @print
  // CHECK:      %[[TOKEN:.*]] = spmd.on_device 3 @mesh(%arg0, %arg1) else(%arg1) {
  // CHECK:        stablehlo.custom_call @log
  // CHECK-NOT:  all_reduce
  // CHECK:      return %[[TOKEN]]
  stablehlo.custom_call @print(%arg0) {has_side_effect = true, sdy.sharding = #sdy.sharding_per_value<[<@maximal_3, []>]>} : (tensor<8xf32>) -> ()
  %0 = stablehlo.custom_call @log(%arg0, %arg1) {has_side_effect = true, sdy.sharding = #sdy.sharding_per_value<[<@maximal_3, []>]>} : (tensor<8xf32>, !stablehlo.token) -> !stablehlo.token
  return %0 : !stablehlo.token
}

// The other devices have a token of their own.
// CHECK-LABEL: func @new_token
func.func @new_token(%arg0: tensor<8xf32>) -> !stablehlo.token {
  // CHECK-NEXT: %[[OTHER:.*]] = stablehlo.create_token : !stablehlo.token
  // CHECK-NEXT: %[[TOKEN:.*]] = spmd.on_device 3 @mesh(%arg0) else(%[[OTHER]]) {
  // CHECK:        stablehlo.custom_call @log
  // CHECK-NOT:  all_reduce
  // CHECK:      return %[[TOKEN]]
  %0 = stablehlo.custom_call @log(%arg0) {has_side_effect = true, sdy.sharding = #sdy.sharding_per_value<[<@maximal_3, []>]>} : (tensor<8xf32>) -> !stablehlo.token
  return %0 : !stablehlo.token
}

// Values that a region uses become operands.
// CHECK-LABEL: func @region
func.func @region(%arg0: tensor<i1>, %arg1: tensor<8xi32>) -> tensor<8xi32> {
  // CHECK:      spmd.on_device 3 @mesh(%arg0, %arg1) else(%{{.*}}) {
  // CHECK-NEXT: ^bb0(%[[PRED:.*]]: tensor<i1>, %[[X:.*]]: tensor<8xi32>):
  // CHECK-NEXT:   "stablehlo.if"(%[[PRED]]) ({
  // CHECK-NEXT:     stablehlo.return %[[X]]
  %0 = "stablehlo.if"(%arg0) ({
    stablehlo.return %arg1 : tensor<8xi32>
  }, {
    %1 = stablehlo.negate %arg1 : tensor<8xi32>
    stablehlo.return %1 : tensor<8xi32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@maximal_3, []>]>} : (tensor<i1>) -> tensor<8xi32>
  return %0 : tensor<8xi32>
}

// The boundary says where the caller puts and finds a value.
// CHECK-LABEL: func @boundary(
// CHECK-SAME: %arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@maximal_3, []>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@maximal_3, []>})
func.func @boundary(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@maximal_3, []>})
    -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@maximal_3, []>}) {
  // CHECK:      %[[GIVEN:.*]] = spmd.on_device 3 @mesh(%arg0)
  // CHECK:      %[[ALL:.*]] = spmd.all_reduce max %[[GIVEN]] @mesh {"x", "y"}
  // CHECK-NEXT: %[[NEG:.*]] = stablehlo.negate %[[ALL]]
  // CHECK-NEXT: return %[[NEG]]
  %0 = stablehlo.negate %arg0 : tensor<8xf32>
  %1 = sdy.sharding_constraint %0 <@maximal_3, []> : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

// Where there is but one device everything is on it.
sdy.mesh @mesh = <["x"=1]>
sdy.mesh @maximal_0 = <[], device_ids=[0]>
// CHECK-LABEL: func @one_device
func.func @one_device(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: %[[SINE:.*]] = stablehlo.sine %arg0 : tensor<8xf32>
  // CHECK-NEXT: return %[[SINE]]
  %0 = sdy.sharding_constraint %arg0 <@maximal_0, []> : tensor<8xf32>
  %1 = stablehlo.sine %0 {sdy.sharding = #sdy.sharding_per_value<[<@maximal_0, []>]>} : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

// Where one result is on a device and another on the mesh, the op is computed
// there and sent to all.
sdy.mesh @mesh = <["x"=4]>
sdy.mesh @maximal_1 = <[], device_ids=[1]>
// CHECK-LABEL: func @a_device_and_the_mesh
func.func @a_device_and_the_mesh(%arg0: tensor<8xf32>) {
  // CHECK: spmd.on_device 1
  %0:2 = "test.op"(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@maximal_1, []>, <@mesh, [{"x"}]>]>} : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

// What a kept function asks for, or leaves, on one device, all devices have.
sdy.mesh @mesh = <["x"=2, "y"=2]>
sdy.mesh @maximal_3 = <[], device_ids=[3]>
// CHECK-LABEL: func @kept_function
func.func @kept_function(%arg0: tensor<8xf32>, %arg1: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: sdy.named_computation<"f">(%arg0, %arg1) in_shardings=[<@mesh, [{?}]>, <@mesh, [{"x"}]>] out_shardings=[<@mesh, [{?}]>]
  %0 = sdy.named_computation<"f">(%arg0, %arg1) in_shardings=[<@maximal_3, []>, <@mesh, [{"x"}]>] out_shardings=[<@maximal_3, []>] (%arg2: tensor<8xf32>, %arg3: tensor<8xf32>) {
    %1 = stablehlo.add %arg2, %arg3 : tensor<8xf32>
    sdy.return %1 : tensor<8xf32>
  } : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
