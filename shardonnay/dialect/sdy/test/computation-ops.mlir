// RUN: sdy-opt %s -allow-unregistered-dialect | sdy-opt -allow-unregistered-dialect | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=4]>

// CHECK-LABEL: func @manual
func.func @manual(%arg0: tensor<8x8xf32>, %arg1: tensor<8xf32>) -> (tensor<8x8xf32>, tensor<8xf32>) {
  // CHECK:      sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{"x", "y"}, {?}]>, <@mesh, [{}], replicated={"x"}>]
  // CHECK-SAME:   out_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{}]>] manual_axes={"x"} (%arg2: tensor<4x8xf32>, %arg3: tensor<8xf32>) {
  // CHECK-NEXT:   sdy.return {test.tag} %arg2, %arg3 : tensor<4x8xf32>, tensor<8xf32>
  // CHECK-NEXT: } {test.tag} : (tensor<8x8xf32>, tensor<8xf32>) -> (tensor<8x8xf32>, tensor<8xf32>)
  %0:2 = sdy.manual_computation(%arg0, %arg1)
      in_shardings=[<@mesh, [{"x", "y"}, {?}]>, <@mesh, [{}], replicated={"x"}>]
      out_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{}]>]
      manual_axes={"x"} (%arg2: tensor<4x8xf32>, %arg3: tensor<8xf32>) {
    sdy.return {test.tag} %arg2, %arg3 : tensor<4x8xf32>, tensor<8xf32>
  } {test.tag} : (tensor<8x8xf32>, tensor<8xf32>) -> (tensor<8x8xf32>, tensor<8xf32>)
  return %0#0, %0#1 : tensor<8x8xf32>, tensor<8xf32>
}

// CHECK-LABEL: func @manual_of_nothing
func.func @manual_of_nothing() {
  // CHECK:      sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={} () {
  // CHECK-NEXT:   sdy.return
  // CHECK-NEXT: } : () -> ()
  sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={} () {
    sdy.return
  } : () -> ()
  return
}

// CHECK-LABEL: func @named
func.func @named(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK:      sdy.named_computation<"f">(%arg0) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{?}]>] (%arg1: tensor<8xf32>) {
  // CHECK-NEXT:   sdy.return %arg1 : tensor<8xf32>
  // CHECK-NEXT: } : (tensor<8xf32>) -> tensor<8xf32>
  %0 = sdy.named_computation<"f">(%arg0) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{?}]>] (%arg1: tensor<8xf32>) {
    sdy.return %arg1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: sdy.named_computation<"g">(%0) (%arg1: tensor<8xf32>) {
  %1 = sdy.named_computation<"g">(%0) (%arg1: tensor<8xf32>) {
    sdy.return %arg1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
