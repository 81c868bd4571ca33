// RUN: sdy-opt %s -split-input-file -verify-diagnostics -sdy-export-shard

// expected-error@+1 {{has an order of its devices, which 'shard.grid' can't say; expected a mesh without 'device_ids'}}
sdy.mesh @mesh = <["x"=2], device_ids=[1, 0]>

// -----

// expected-error@+1 {{is used by parts of axis "x" that end at 2 and at 3, which no grid has as axes; expected parts that nest}}
sdy.mesh @mesh = <["x"=6]>
func.func @parts(%a: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2}]>},
                 %b: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)3}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>
// expected-error@+1 {{has the partial values of #sdy.sharding<@mesh, [{}], unreduced={"x"}>, which 'shard.sharding' can't say; expected none: reduce them before}}
func.func @partial(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) {
  return
}

// -----

// expected-error@+1 {{has a sharding whose mesh has no name; expected one of the module: run sdy-lift-inlined-meshes first}}
func.func @inlined(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=2]>, [{"x"}]>}) {
  return
}

// -----

func.func @group(%a: tensor<8xf32>) {
  // expected-error@+1 {{'sdy.sharding_group' has no form in MLIR's 'shard' dialect; run sdy-remove-sharding-groups first}}
  sdy.sharding_group %a group_id=0 : tensor<8xf32>
  return
}

// -----

func.func @barrier(%a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{'sdy.propagation_barrier' has no form in MLIR's 'shard' dialect; run sdy-remove-propagation-barriers first}}
  %0 = sdy.propagation_barrier %a allowed_direction=FORWARD : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @manual(%a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{'sdy.manual_computation' has no form in MLIR's 'shard' dialect; expected ops on global values only}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%b: tensor<4xf32>) {
    sdy.return %b : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @local(%a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{'spmd.all_reduce' has no form in MLIR's 'shard' dialect; it is a program of local shards: run sdy-export-local-shard}}
  %0 = spmd.all_reduce %a @mesh {"x"} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @edge(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.optimization_barrier %a : tensor<8xf32>
  // expected-error@+1 {{'sdy.data_flow_edge' has no form in MLIR's 'shard' dialect; run sdy-sink-data-flow-edges first}}
  %1 = sdy.data_flow_edge %0 : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

func.func @rule(%a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{has the attribute 'sdy.sharding_rule', which MLIR's 'shard' dialect does not know; expected an op that needs none}}
  %0 = math.exp %a {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8}, custom>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}
