// RUN: sdy-opt %s -split-input-file -sdy-inline-private-functions | FileCheck %s

// Recursively, and in every place of a call.
// CHECK-LABEL: func @nested
// CHECK-NEXT:  %[[A:.*]] = stablehlo.abs %arg0
// CHECK-NEXT:  %[[B:.*]] = stablehlo.abs %[[A]]
// CHECK-NEXT:  %[[C:.*]] = stablehlo.abs %arg0
// CHECK-NEXT:  return %[[B]], %[[C]]
// CHECK-NOT:   func.func
func.func @nested(%arg0: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = call @twice(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = call @once(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}
func.func private @twice(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @once(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = call @once(%0) : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
func.func private @once(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.abs %arg0 : tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @dead(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  return %arg0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2, "z"=2]>

// Every sharding at the call becomes a constraint.
// CHECK-LABEL: func @shardings
// CHECK-NEXT:  %[[IN:.*]] = sdy.sharding_constraint %arg0 <@mesh, [{"x"}]>
// CHECK-NEXT:  %[[ABS:.*]] = stablehlo.abs %[[IN]]
// CHECK-NEXT:  %[[CALLEE:.*]] = sdy.sharding_constraint %[[ABS]] <@mesh, [{"y"}]>
// CHECK-NEXT:  %[[CALL:.*]] = sdy.sharding_constraint %[[CALLEE]] <@mesh, [{"z"}]>
// CHECK-NEXT:  return %[[CALL]]
func.func @shardings(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @f(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"z"}]>]>} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @f(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
  %0 = stablehlo.abs %arg0 : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>

// Values that nothing uses get none: without uses it would hold for the operand.
// CHECK-LABEL: func @unused
// CHECK-NEXT:  return %arg0
func.func @unused(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0:2 = call @f(%arg0, %arg0) : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return %0#0 : tensor<8xf32>
}
func.func private @f(%arg0: tensor<8xf32>, %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> (tensor<8xf32>, tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  return %arg0, %arg0 : tensor<8xf32>, tensor<8xf32>
}

// -----

// What has no body, or is public, stays called; what something refers to stays.
// CHECK-LABEL: func @stays
// CHECK:       call @external
// CHECK:       call @public
// CHECK:       func.func private @external
// CHECK:       func.func @public
// CHECK:       func.func private @referred
func.func @stays(%arg0: tensor<8xf32>) {
  call @external(%arg0) : (tensor<8xf32>) -> ()
  call @public(%arg0) {test.body = @referred} : (tensor<8xf32>) -> ()
  return
}
func.func private @external(tensor<8xf32>)
func.func @public(%arg0: tensor<8xf32>) {
  return
}
func.func private @referred() {
  return
}

// -----

// What another op than a call names is no entry.
// CHECK-LABEL: func.func private @comparator
// CHECK:       func.func @main
func.func @comparator(%arg0: tensor<f32>) {
  return
}
func.func @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.custom_call @Select(%arg0) {called_computations = [@comparator]} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
