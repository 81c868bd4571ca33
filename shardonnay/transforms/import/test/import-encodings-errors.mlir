// RUN: sdy-opt %s --sdy-import-encodings -split-input-file -verify-diagnostics

// expected-note @below {{the mesh is declared here}}
sdy.mesh @mesh = <["x"=2]>
// expected-error @below {{argument 0: unknown axis "z", expected one of the mesh #sdy.mesh<["x"=2]>}}
func.func @unknown_axis(%a: tensor<8xf32, #sdy.sharding<@mesh, [{"z"}]>>) {
  return
}

// -----

// expected-error @below {{result 0: unknown mesh @mesh, expected the name of an 'sdy.mesh' of the module}}
func.func private @unknown_mesh() -> tensor<8xf32, #sdy.sharding<@mesh, [{}]>>

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @two_shardings(%a: tensor<8xf32>) {
  // expected-error @below {{result 0: its type says the sharding #sdy.sharding<@mesh, [{"x"}]>, but the sharding #sdy.sharding<@mesh, [{}]> is written; take one of them away}}
  %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : (tensor<8xf32>) -> tensor<8xf32, #sdy.sharding<@mesh, [{"x"}]>>
  return
}
