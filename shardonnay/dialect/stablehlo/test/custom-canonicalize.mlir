// RUN: sdy-opt %s --canonicalize | FileCheck %s

// As HLO has it.
// CHECK-LABEL: func @call(
// CHECK-NEXT: %[[CALL:.*]]:2 = stablehlo.custom_call @Qr(%arg0) {test.attr} : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>)
// CHECK-NEXT: return %[[CALL]]#1, %[[CALL]]#0, %[[CALL]]#1
func.func @call(%a: tensor<4x4xf32>) -> (tensor<4xf32>, tensor<4x4xf32>, tensor<4xf32>) {
  %0 = stablehlo.custom_call @Qr(%a) {test.attr} : (tensor<4x4xf32>) -> tuple<tensor<4x4xf32>, tensor<4xf32>>
  %1 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<4x4xf32>, tensor<4xf32>>) -> tensor<4xf32>
  %2 = stablehlo.get_tuple_element %0[0] : (tuple<tensor<4x4xf32>, tensor<4xf32>>) -> tensor<4x4xf32>
  %3 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<4x4xf32>, tensor<4xf32>>) -> tensor<4xf32>
  return %1, %2, %3 : tensor<4xf32>, tensor<4x4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func @call_of_a_tuple(
// CHECK: stablehlo.get_tuple_element
func.func @call_of_a_tuple(%a: tensor<4xf32>) -> (tensor<4xf32>, tuple<tensor<4xf32>>) {
  %0 = stablehlo.custom_call @Pair(%a) : (tensor<4xf32>) -> tuple<tensor<4xf32>>
  %1 = stablehlo.get_tuple_element %0[0] : (tuple<tensor<4xf32>>) -> tensor<4xf32>
  return %1, %0 : tensor<4xf32>, tuple<tensor<4xf32>>
}

// The elements of a tuple that is made here are taken from it; nested ones too.
// CHECK-LABEL: func @tuples(
// CHECK-NEXT: %[[OTHER:.*]] = stablehlo.get_tuple_element %arg2[0]
// CHECK-NEXT: return %arg1, %arg0, %[[OTHER]]
func.func @tuples(%a: tensor<4xf32>, %b: !stablehlo.token, %c: tuple<tensor<4xf32>>) -> (!stablehlo.token, tensor<4xf32>, tensor<4xf32>) {
  %0 = stablehlo.tuple %a : tuple<tensor<4xf32>>
  %1 = stablehlo.tuple %0, %b : tuple<tuple<tensor<4xf32>>, !stablehlo.token>
  %2 = stablehlo.get_tuple_element %1[1] : (tuple<tuple<tensor<4xf32>>, !stablehlo.token>) -> !stablehlo.token
  %3 = stablehlo.get_tuple_element %1[0] : (tuple<tuple<tensor<4xf32>>, !stablehlo.token>) -> tuple<tensor<4xf32>>
  %4 = stablehlo.get_tuple_element %3[0] : (tuple<tensor<4xf32>>) -> tensor<4xf32>
  %5 = stablehlo.get_tuple_element %c[0] : (tuple<tensor<4xf32>>) -> tensor<4xf32>
  return %2, %4, %5 : !stablehlo.token, tensor<4xf32>, tensor<4xf32>
}
