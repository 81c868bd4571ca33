// RUN: sdy-opt %s --sdy-reshard-to-collectives -split-input-file -verify-diagnostics

sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @other = <["z"=8]>

func.func @partial_on_other_axes(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> tensor<8xf32> {
  // expected-error @+1 {{expected a partial value to stay on meshes of the same axes}}
  %0 = sdy.reshard %arg0 <@other, [{}], unreduced={"z"}> : tensor<8xf32>
  return %0 : tensor<8xf32>
}
