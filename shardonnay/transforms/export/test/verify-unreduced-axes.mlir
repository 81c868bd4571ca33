// RUN: sdy-opt %s -split-input-file -verify-diagnostics -pass-pipeline="builtin.module(func.func(sdy-verify-unreduced-axes))"

sdy.mesh @mesh = <["x"=2, "y"=4]>

func.func @accounted_for(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %arg1: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.negate %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>} : tensor<8x8xf32>
  %2 = sdy.reshard %1 <@mesh, [{}, {}]> : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>

func.func @appears(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {  // expected-note {{this operand is made here}}
  // expected-error @below {{result 0 is partial, #sdy.sharding<@mesh, [{}], unreduced={"x"}>, expected an operand that is, or that is sharded where the op reduces}}
  %0 = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"x"}>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>

// expected-note @below {{made here}}
func.func @vanishes(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) -> tensor<8xf32> {
  // expected-error @below {{operand 0 is partial, #sdy.sharding<@mesh, [{}], unreduced={"x"}>, but result 0 is not so, expected a reshard between: only that adds up}}
  %0 = stablehlo.negate %arg0 : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>

// expected-note @below {{made here}}
func.func @call(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) -> tensor<8xf32> {
  // expected-error @below {{operand 0 is partial, #sdy.sharding<@mesh, [{}], unreduced={"x"}>, but the function's argument is whole, expected a reshard between}}
  %0 = call @callee(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @callee(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  return %arg0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>

func.func @call_result(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{result 0 is partial along other axes than the function's result, expected the same}}
  %0 = call @callee(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"x"}>]>} : (tensor<8xf32>) -> tensor<8xf32>
  %1 = sdy.reshard %0 <@mesh, [{}]> : tensor<8xf32>
  return %1 : tensor<8xf32>
}
func.func private @callee(%arg0: tensor<8xf32>) -> tensor<8xf32> {  // expected-note {{the function is defined here}}
  return %arg0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>

func.func @function_result(%arg0: tensor<8xf32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) {
  // expected-note @below {{made here}}
  %0 = stablehlo.negate %arg0 : tensor<8xf32>
  // expected-error @below {{operand 0 is whole, but the function's result is partial, #sdy.sharding<@mesh, [{}], unreduced={"x"}>, expected a reshard between}}
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>

func.func @manual(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}], unreduced={"y"}>] manual_axes={"x"} (%arg1: tensor<4xf32>) {
    // expected-note @below {{made here}}
    %2 = stablehlo.negate %arg1 : tensor<4xf32>
    // expected-error @below {{operand 0 is whole, but what it flows into is partial, #sdy.sharding<@mesh, [{}], unreduced={"y"}>, expected a reshard between}}
    sdy.return %2 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  %1 = sdy.reshard %0 <@mesh, [{}]> : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>

// expected-note @below {{made here}}
func.func @kinds(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced=max{"x"}>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) {
  // expected-error @below {{operand 0 is partial, #sdy.sharding<@mesh, [{}], unreduced=max{"x"}>, but result 0 is not so, expected a reshard between: only that adds up}}
  %0 = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"x"}>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>

// expected-note @below {{made here}}
func.func @whole_operand(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{adds up a whole value, expected a partial one}}
  %0 = sdy.all_reduce {"x"} %arg0 out_sharding=<@mesh, [{}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>

// What makes it says so, if its sharding does not.
func.func @contraction(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.dot %arg0, %arg1 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
