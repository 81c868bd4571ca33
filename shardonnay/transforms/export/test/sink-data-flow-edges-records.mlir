// RUN: sdy-opt %s --pass-pipeline='builtin.module(func.func(sdy-sink-data-flow-edges{sink-debug-sharding-origins=true sink-debug-propagation-edge-sharding=true}))' | FileCheck %s
// RUN: sdy-opt %s --pass-pipeline='builtin.module(func.func(sdy-sink-data-flow-edges))' | FileCheck %s --check-prefix=NONE

sdy.mesh @mesh = <["a"=4]>

// CHECK-LABEL: func @main
// NONE-NOT: origins
func.func @main(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: optimization_barrier
  // CHECK-SAME: sdy.block_arg_propagation_edges = [], sdy.block_arg_sharding_origins = []
  // CHECK-SAME: sdy.result_propagation_edges = [#sdy.propagation_edges<[{step-4 = [{"a" = operand-0 -> [result-0]}]}]>]
  // CHECK-SAME: sdy.result_sharding_origins = [{a = "constraint_0"}]
  %0:2 = stablehlo.optimization_barrier %a, %b : tensor<8xf32>, tensor<8xf32>
  %1 = sdy.data_flow_edge %0#0 sharding=<@mesh, [{"a", ?}]> {sdy.propagation_edges = #sdy.propagation_edges<[{step-4 = [{"a" = operand-0 -> [result-0]}]}]>, sdy.sharding_origins = {a = "constraint_0"}} : tensor<8xf32>
  %2 = sdy.data_flow_edge %0#1 : tensor<8xf32>
  %3 = stablehlo.add %1, %2 : tensor<8xf32>
  return %3 : tensor<8xf32>
}
