// RUN: sdy-opt %s --canonicalize | FileCheck %s

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
