// RUN: sdy-opt %s -split-input-file -verify-diagnostics

sdy.mesh @mesh = <["a"=2, "b"=4]>
func.func @f(%a: tensor<4xf32>)  { // expected-note {{the operand is made here}}
  // expected-error @+1 {{'stablehlo.all_gather' op gathers dim 0 of size 4 to size 9, expected a multiple}}
  %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "a">]>}> : (tensor<4xf32>) -> tensor<9xf32>
  return
}

// -----

func.func @f(%a: tensor<4xf32>)  {
  // expected-error @+1 {{'stablehlo.all_gather' op has replica_groups on mesh @nomesh, expected a mesh of that name in the module}}
  %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @nomesh, axes = [#stablehlo.axis_ref<name = "a">]>}> : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4]>
func.func @f(%a: tensor<4xf32>)  {
  // expected-error @+1 {{expected a mesh or the name of one, got "x"}}
  %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = "x", axes = []>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// expected-error @+1 {{expected at least one axis}}
func.func @f(%a: tensor<4xf32>)  attributes {n = #stablehlo.mesh<axes = []>} {
  return
}

// -----

func.func @f(%a: tensor<4xf32>)  {
  // expected-error @+1 {{'stablehlo.all_gather' op expected replica_groups of rank 2, got 'tensor<2xi64>'}}
  %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<[0,1]> : tensor<2xi64>}> : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%a: tensor<4xf32>)  {
  // expected-error @+1 {{'stablehlo.collective_broadcast' op has device -1 in replica_groups}}
  %0 = "stablehlo.collective_broadcast"(%a) <{replica_groups = dense<[[0,-1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<4xf32>)  {
  // expected-error @+1 {{'stablehlo.collective_broadcast' op expected replica_groups of rank 2, got 'tensor<1xi64>'}}
  %0 = "stablehlo.collective_broadcast"(%a) <{replica_groups = dense<[0]> : tensor<1xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}
