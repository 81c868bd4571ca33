// RUN: sdy-opt %s --sdy-apply-sharding-constraints="debug-sharding-origins=true debug-propagation-edge-sharding=true" | FileCheck %s

sdy.mesh @mesh = <["a"=4, "b"=2]>

// CHECK-LABEL: func @main
// CHECK-SAME: sdy.sharding_origins = {a = "self"}
func.func @main(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}, %b: tensor<8x16xf32>) -> tensor<8x16xf32> {
  // CHECK: stablehlo.add {{.*}}sdy.sharding_origins = [{a = "constraint_0", b = "constraint_0"}]
  %0 = stablehlo.add %a, %b : tensor<8x16xf32>
  // CHECK: sdy.sharding_constraint {{.*}}sdy.propagation_edges = #sdy.propagation_edges<[{step-0 = [{"a" = result-0 -> [operand-0]}, {"b" = result-0 -> [operand-0]}]}]>, sdy.sharding_origin_name = "constraint_0", sdy.sharding_origins = {a = "self", b = "self"}
  %1 = sdy.sharding_constraint %0 <@mesh, [{"a"}, {"b"}]> : tensor<8x16xf32>
  %2 = stablehlo.tanh %1 : tensor<8x16xf32>
  return %2 : tensor<8x16xf32>
}
