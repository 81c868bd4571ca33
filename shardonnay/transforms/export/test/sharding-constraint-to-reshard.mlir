// RUN: sdy-opt %s -pass-pipeline="builtin.module(func.func(sdy-sharding-constraint-to-reshard))" | FileCheck %s

sdy.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func @constraint
func.func @constraint(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: %[[R:.*]] = sdy.reshard %arg0 <@mesh, [{"x"}]> : tensor<8xf32>
  %0 = sdy.sharding_constraint %arg0 <@mesh, [{"x"}]> : tensor<8xf32>
  // CHECK: return %[[R]]
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func @token
func.func @token(%arg0: !stablehlo.token) -> !stablehlo.token {
  // CHECK: %[[R:.*]] = sdy.reshard %arg0 <@mesh, []> : !stablehlo.token
  %0 = sdy.sharding_constraint %arg0 <@mesh, []> : !stablehlo.token
  // CHECK: return %[[R]]
  return %0 : !stablehlo.token
}
