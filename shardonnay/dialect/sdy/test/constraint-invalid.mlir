// RUN: sdy-opt %s -split-input-file -verify-diagnostics -allow-unregistered-dialect

sdy.mesh @mesh = <["x"=2]>
func.func @constraint(%arg0: tensor<8x8xf32>) {
  // C17
  // expected-error @below {{sharding has 1 dims, expected 2}}
  %0 = sdy.sharding_constraint %arg0 <@mesh, [{"x"}]> : tensor<8x8xf32>
  return
}

// -----

// expected-note @below {{the mesh is declared here}}
sdy.mesh @mesh = <["x"=2]>
func.func @reshard(%arg0: tensor<8xf32>) {
  // C8
  // expected-error @below {{unknown axis "y"}}
  %0 = sdy.reshard %arg0 <@mesh, [{"y"}]> : tensor<8xf32>
  return
}

// -----

func.func @barrier(%arg0: tensor<8xf32>) {
  // C35
  // expected-error @below {{with direction BOTH stops nothing, expected NONE, FORWARD or BACKWARD}}
  %0 = sdy.propagation_barrier %arg0 allowed_direction=BOTH : tensor<8xf32>
  return
}

// -----

func.func @edge_uses() {
  %0 = "test.op"() : () -> tensor<8xf32>
  // C37
  // expected-error @below {{expected to be the only use of its operand}}
  %1 = sdy.data_flow_edge %0 : tensor<8xf32>
  // expected-note @below {{also used here}}
  return %0 : tensor<8xf32>
}

// -----

func.func @edge_source() -> tensor<8xf32> {
  // expected-note @below {{defined here}}
  %0 = sdy.constant dense<1.0> : tensor<8xf32>
  // C38
  // expected-error @below {{expected an operand that an operation which passes values on owns, got a result of 'sdy.constant'}}
  %1 = sdy.data_flow_edge %0 : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

func.func @edge_dynamic(%arg0: tensor<?xf32>) {  // expected-note {{the operand is made here}}
  // C36
  // expected-error @below {{expected a tensor of static shape, got 'tensor<?xf32>'}}
  %0 = sdy.data_flow_edge %arg0 : tensor<?xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @maxima_to_sums(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced=max{"x"}>}) {  // expected-note {{the operand is made here}}
  // C88
  // expected-error @below {{expected unreduced axes of the operand's kind, max, got sum; reduce them first, by a sharding without unreduced axes}}
  %0 = sdy.reshard %arg0 <@mesh, [{}], unreduced={"x"}> : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @sums_to_minima(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) {  // expected-note {{the operand is made here}}
  // C88
  // expected-error @below {{expected unreduced axes of the operand's kind, sum, got min}}
  %0 = sdy.sharding_constraint %arg0 <@mesh, [{}], unreduced=min{"x", "y"}> : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @dims_of_a_token(%arg0: !stablehlo.token) {
  // C18
  // expected-error @below {{expected a sharding without dims and axes for a value of type '!stablehlo.token', got #sdy.sharding<@mesh, [{}]>}}
  %0 = sdy.sharding_constraint %arg0 <@mesh, [{}]> : !stablehlo.token
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @axes_of_a_token(%arg0: !stablehlo.token) {
  // C18
  // expected-error @below {{expected a sharding without dims and axes for a value of type '!stablehlo.token', got #sdy.sharding<@mesh, [], unreduced={"x"}>}}
  %0 = sdy.reshard %arg0 <@mesh, [], unreduced={"x"}> : !stablehlo.token
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @memory(%arg0: memref<f32>) {
  // expected-error @below {{'sdy.reshard' op operand #0 must be ranked tensor, or value without a shape such as a token, but got 'memref<f32>'}}
  %0 = sdy.reshard %arg0 <@mesh, []> : memref<f32>
  return
}
