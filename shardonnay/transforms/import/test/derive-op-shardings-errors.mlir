// RUN: sdy-opt %s -split-input-file -verify-diagnostics -sdy-derive-op-shardings=all

sdy.mesh @mesh = <["x"=2]>
func.func @kind(%a: tensor<8x32xf32>, %b: tensor<32x8xf32>) -> tensor<8x8xf32> {
  // expected-error@+1 {{has annotations that give no sharding of the op: it does not reduce by max; expected annotations that agree}}
  %0 = stablehlo.dot %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced=max{"x"}>]>}
      : (tensor<8x32xf32>, tensor<32x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @several(%a: tensor<8x4xf32>, %z: tensor<f32>) -> tensor<f32> {
  // expected-error@+1 {{has annotations that give no sharding of the op: it reduces over several factors, so of which the result is partial is not known; expected annotations that agree}}
  %0 = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0, 1]
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [], unreduced={"x"}>]>} : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @two_results(%a: tensor<8x4xf32>, %z: tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // expected-error@+1 {{has annotations that give no sharding of the op: factor i is sharded in two ways by the op's results, or by axes that another factor has; expected annotations that agree}}
  %0:2 = stablehlo.reduce(%a init: %z), (%a init: %z) across dimensions = [1]
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>, <@mesh, [{"y"}]>]>}
      : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<f32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>)
    reducer(%b: tensor<f32>, %d: tensor<f32>) (%c: tensor<f32>, %e: tensor<f32>) {
      %1 = stablehlo.add %b, %d : tensor<f32>
      %2 = stablehlo.add %c, %e : tensor<f32>
      stablehlo.return %1, %2 : tensor<f32>, tensor<f32>
    }
  return %0#0, %0#1 : tensor<8xf32>, tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=4]>
func.func @behind(%a: tensor<16xf32>) -> tensor<4x4xf32> {
  // expected-error@+1 {{has annotations that give no sharding of the op: it can't be computed as its tensors are sharded; expected annotations that agree}}
  %0 = stablehlo.reshape %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x":(1)2}, {"x":(2)2}]>]>} : (tensor<16xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
