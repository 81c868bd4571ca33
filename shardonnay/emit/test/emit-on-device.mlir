// RUN: sdy-opt %s --sdy-emit-stablehlo | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>

// CHECK-LABEL: func @on_device
func.func @on_device(%a: tensor<4xf32>, %z: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[ID:.*]] = stablehlo.partition_id
  // CHECK-NEXT: %[[HERE:.*]] = stablehlo.convert %[[ID]]
  // CHECK-NEXT: %[[THREE:.*]] = stablehlo.constant dense<3> : tensor<i32>
  // CHECK-NEXT: %[[IS:.*]] = stablehlo.compare EQ, %[[HERE]], %[[THREE]]
  // CHECK-NEXT: %[[R:.*]] = "stablehlo.if"(%[[IS]]) ({
  // CHECK-NEXT:   %[[S:.*]] = stablehlo.sine %arg0
  // CHECK-NEXT:   stablehlo.return %[[S]]
  // CHECK-NEXT: }, {
  // CHECK-NEXT:   stablehlo.return %arg1
  // CHECK:      return %[[R]]
  %0 = spmd.on_device 3 @mesh(%a) else(%z) {
  ^bb0(%b: tensor<4xf32>):
    %1 = stablehlo.sine %b : tensor<4xf32>
    spmd.return %1 : tensor<4xf32>
  } : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
