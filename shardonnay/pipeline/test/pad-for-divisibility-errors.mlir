// RUN: sdy-opt %s -split-input-file -verify-diagnostics -pass-pipeline="builtin.module(func.func(sdy-pad-for-divisibility{pad=true}))"

sdy.mesh @mesh = <["x"=4]>
func.func @argument(
    // expected-error @below {{argument 0 has axes that do not divide it, #sdy.sharding<@mesh, [{"x"}]> of 'tensor<10xf32>'; expected them to: run sdy-update-non-divisible-input-output-shardings before}}
    %arg0: tensor<10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["x"=4]>
// expected-error @below {{result 0 has axes that do not divide it}}
func.func @result(%arg0: tensor<10xf32>) -> (tensor<10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  return %arg0 : tensor<10xf32>
}

// -----

sdy.mesh @mesh = <["x"=4]>
func.func @branch(%arg0: tensor<10xf32>, %arg1: tensor<i1>) -> tensor<10xf32> {
  %0 = sdy.all_slice [{"x"}] %arg0 out_sharding=<@mesh, [{"x"}]> : tensor<10xf32>
  // expected-error @below {{has a tensor that its axes do not divide and cannot be padded; expected an operation that can be partitioned alone: constrain the tensor to axes that divide it}}
  %1 = "stablehlo.if"(%arg1) ({
    stablehlo.return %0 : tensor<10xf32>
  }, {
    stablehlo.return %0 : tensor<10xf32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<i1>) -> tensor<10xf32>
  %2 = sdy.all_gather [{"x"}] %1 out_sharding=<@mesh, [{}]> : tensor<10xf32>
  return %2 : tensor<10xf32>
}
