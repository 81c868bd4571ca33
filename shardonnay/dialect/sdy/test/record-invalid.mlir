// RUN: sdy-opt %s -split-input-file -verify-diagnostics -allow-unregistered-dialect

func.func @negative_step() {
  // C69
  // expected-error @below {{expected a step number of at least 0, got -1}}
  "test.op"() {a = #sdy.propagation_edges<[{step--1 = [{"x" = operand-0 -> [result-0]}]}]>} : () -> ()
  return
}

// -----

func.func @step_twice() {
  // C69
  // expected-error @below {{step number 2 occurs twice: write its axes in one step}}
  "test.op"() {a = #sdy.propagation_edges<[{step-2 = [{"x" = operand-0 -> [result-0]}]}, {step-2 = [{"y" = operand-0 -> [result-0]}]}]>} : () -> ()
  return
}

// -----

func.func @to_itself() {
  // C69
  // expected-error @below {{step number 0: axis "x" goes from a value to itself, expected another target}}
  "test.op"() {a = #sdy.propagation_edges<[{step-0 = [{"x" = operand-0 -> [result-0, operand-0]}]}]>} : () -> ()
  return
}

// -----

func.func @no_edges() {
  // C70
  // expected-error @below {{expected 'sdy.propagation_edges' to be '#sdy.propagation_edges', got "x"}}
  "test.op"() {sdy.propagation_edges = "x"} : () -> ()
  return
}

// -----

func.func @no_list() {
  // C70
  // expected-error @below {{expected 'sdy.result_propagation_edges' to be an array of '#sdy.propagation_edges', got [3]}}
  "test.op"() {sdy.result_propagation_edges = [3]} : () -> ()
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @no_such_value(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // C70
  // expected-error @below {{propagation edges: result 1 is named, but the operation has 1}}
  %0 = "test.op"(%arg0) {sdy.propagation_edges = #sdy.propagation_edges<[{step-0 = [{"x" = operand-0 -> [result-1]}]}]>} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @no_sharding(%arg0: tensor<8xf32>) {
  // C71
  // expected-error @below {{propagation edges: expected a value with a sharding among those that they name}}
  %0 = "test.op"(%arg0) {sdy.propagation_edges = #sdy.propagation_edges<[{step-0 = [{"x" = operand-0 -> [result-0]}]}]>} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>
sdy.mesh @other = <["z"=2]>
func.func @two_meshes(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // C71
  // expected-error @below {{propagation edges: expected values on one mesh, got #sdy.mesh<["x"=2]> and #sdy.mesh<["z"=2]>}}
  // expected-note @below {{the second is used here}}
  %0 = "test.op"(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@other, [{"z"}]>]>, sdy.propagation_edges = #sdy.propagation_edges<[{step-0 = [{"x" = operand-0 -> [result-0]}]}]>} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @unknown_axis(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // C71
  // expected-error @below {{propagation edges: unknown axis "q", expected one of the mesh #sdy.mesh<["x"=2]>}}
  %0 = "test.op"(%arg0) {sdy.propagation_edges = #sdy.propagation_edges<[{step-0 = [{"q" = operand-0 -> [result-0]}]}]>} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @two_uses(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // C37
  // expected-error @below {{expected to be the only use of its operand: let other uses have the result}}
  %0 = sdy.func_data_flow_edge %arg0 : tensor<8xf32>
  // expected-note @below {{also used here}}
  return %arg0 : tensor<8xf32>
}

// -----

func.func @dynamic(%arg0: tensor<?xf32>) {  // expected-note {{the operand is made here}}
  // C36
  // expected-error @below {{expected a tensor of static shape, got 'tensor<?xf32>'}}
  %0 = sdy.func_data_flow_edge %arg0 : tensor<?xf32>
  return
}

// -----

func.func @no_call() {
  // expected-note @below {{defined here}}
  %0 = "test.op"() : () -> tensor<8xf32>
  // C39
  // expected-error @below {{expected an argument of a function or a result of a call, got one of 'test.op'}}
  %1 = sdy.func_data_flow_edge %0 : tensor<8xf32>
  return
}

// -----

"test.region"() ({  // expected-note {{defined here}}
^bb0(%arg0: tensor<8xf32>):
  // C39
  // expected-error @below {{expected an argument of a function or a result of a call, got a block argument of 'test.region'}}
  %0 = sdy.func_data_flow_edge %arg0 : tensor<8xf32>
}) : () -> ()

// -----

func.func @no_data_flow() {
  // expected-error @below {{expected 'sdy.block_argument_shardings' to be an '#sdy.sharding_per_value' on an operation that passes values on, got "x"}}
  "test.op"() {sdy.block_argument_shardings = "x"} : () -> ()
  return
}
