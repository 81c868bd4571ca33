// RUN: sdy-opt %s -allow-unregistered-dialect | sdy-opt -allow-unregistered-dialect | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=4]>

// CHECK-LABEL: func @edges
func.func @edges(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>, sdy.sharding_origins = {x = "self"}}) {
  // CHECK: sdy.propagation_edges = #sdy.propagation_edges<[{step-0 = [{"x" = operand-0 -> [result-0, operand-1]}, {"y":(1)2 = result-0 -> [operand-1]}]}, {step-7 = [{"x" = result-0 -> [operand-0]}]}]>
  // CHECK-SAME: sdy.sharding_origins = [{x = "input: 0", "y:(1)2" = "constraint_0"}]
  %0 = "test.op"(%arg0, %arg0) {
      sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y":(1)2}]>]>,
      sdy.sharding_origins = [{x = "input: 0", "y:(1)2" = "constraint_0"}],
      sdy.propagation_edges = #sdy.propagation_edges<[{step-0 = [{"x" = operand-0 -> [result-0, operand-1]}, {"y":(1)2 = result-0 -> [operand-1]}]}, {step-7 = [{"x" = result-0 -> [operand-0]}]}]>
    } : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return
}

// CHECK-LABEL: func @lists
func.func @lists(%arg0: tensor<8x8xf32>) {
  // CHECK: sdy.block_arg_propagation_edges = [#sdy.propagation_edges<[{step-0 = [{"x" = operand-0 -> [result-0]}]}]>]
  // CHECK-SAME: sdy.result_propagation_edges = []
  %0 = "test.op"(%arg0) {
      sdy.block_arg_propagation_edges = [#sdy.propagation_edges<[{step-0 = [{"x" = operand-0 -> [result-0]}]}]>],
      sdy.result_propagation_edges = []} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return
}

// CHECK-LABEL: func @parts
func.func @parts() {
  // CHECK: a = #sdy<edge_value_ref result-1>
  // CHECK-SAME: b = #sdy<axis_to_propagation_details{"x" = operand-0 -> [result-0]}>
  // CHECK-SAME: c = #sdy<propagation_one_step{step-0 = [{"x" = operand-0 -> [result-0]}]}>
  "test.op"() {
      a = #sdy<edge_value_ref result-1>,
      b = #sdy<axis_to_propagation_details{"x" = operand-0 -> [result-0]}>,
      c = #sdy<propagation_one_step{step-0 = [{"x" = operand-0 -> [result-0]}]}>} : () -> ()
  return
}

// CHECK-LABEL: func @func_edges
// CHECK-SAME: (%[[ARG:.*]]: tensor<8xf32>)
func.func @func_edges(%arg0: tensor<8xf32>) {
  // CHECK: %[[IN:.*]] = sdy.func_data_flow_edge %[[ARG]] : tensor<8xf32>
  %0 = sdy.func_data_flow_edge %arg0 : tensor<8xf32>
  // CHECK: %[[CALL:.*]] = call @callee(%[[IN]])
  %1 = func.call @callee(%0) : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: sdy.func_data_flow_edge %[[CALL]] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
  %2 = sdy.func_data_flow_edge %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
  return
}
func.func private @callee(tensor<8xf32>) -> tensor<8xf32>
