// Tokens are the same on every device, so a constraint asks for nothing; what goes into a tuple comes out of it.
// RUN: sdy-opt %s --sdy-partition-pipeline | FileCheck %s

sdy.mesh @mesh = <["x"=4]>
// CHECK-LABEL: func.func public @main(%arg0: tensor<4xf32>, %arg1: !stablehlo.token) -> (tensor<4xf32>
// CHECK-NEXT: %[[SUM:.*]] = stablehlo.add %arg0, %arg0 : tensor<4xf32>
// CHECK-NEXT: %[[NEW:.*]] = stablehlo.create_token : !stablehlo.token
// CHECK-NEXT: %[[BOTH:.*]] = stablehlo.after_all %arg1, %[[NEW]] : !stablehlo.token
// CHECK-NEXT: return %[[SUM]], %[[BOTH]]
func.func public @main(%a: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %t: !stablehlo.token) -> (tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, !stablehlo.token) {
  %0 = stablehlo.add %a, %a : tensor<16xf32>
  %1 = stablehlo.create_token : !stablehlo.token
  %2 = stablehlo.after_all %t, %1 : !stablehlo.token
  %6 = sdy.sharding_constraint %2 <@mesh, []> : !stablehlo.token
  %3 = stablehlo.tuple %0, %6 : tuple<tensor<16xf32>, !stablehlo.token>
  %4 = stablehlo.get_tuple_element %3[0] : (tuple<tensor<16xf32>, !stablehlo.token>) -> tensor<16xf32>
  %5 = stablehlo.get_tuple_element %3[1] : (tuple<tensor<16xf32>, !stablehlo.token>) -> !stablehlo.token
  return %4, %5 : tensor<16xf32>, !stablehlo.token
}
