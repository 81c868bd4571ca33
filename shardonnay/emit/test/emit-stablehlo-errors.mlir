// RUN: sdy-opt %s -split-input-file -verify-diagnostics --sdy-emit-stablehlo

sdy.mesh @mesh = <["x"=2]>

func.func @no_order(%a: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  // expected-error @below {{the target can't combine 'complex<f32>' by max; gather the operand and reduce it whole}}
  %0 = spmd.all_reduce max %a @mesh {"x"} : tensor<4xcomplex<f32>>
  return %0 : tensor<4xcomplex<f32>>
}

// -----

sdy.mesh @mesh = <["x"=2]>

func.func @not_partitioned(
    %a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // expected-error @below {{has no StableHLO form; run sdy-partition-to-local first}}
  %0 = sdy.all_gather [{"x"}] %a out_sharding=<@mesh, [{}]> : tensor<4xf32>
  return
}
