// RUN: sdy-opt %s --sdy-reshard-to-collectives -split-input-file -verify-diagnostics

sdy.mesh @mesh = <["x"=2, "y"=4]>

func.func @dynamic(%arg0: tensor<?xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> tensor<?xf32> {
  // expected-error @+1 {{has the dynamic shape 'tensor<?xf32>', expected static shapes}}
  %0 = sdy.reshard %arg0 <@mesh, [{}]> : tensor<?xf32>
  return %0 : tensor<?xf32>
}
