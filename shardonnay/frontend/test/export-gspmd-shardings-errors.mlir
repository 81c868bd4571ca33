// RUN: sdy-opt %s -split-input-file -verify-diagnostics --sdy-export-gspmd-shardings

sdy.mesh @mesh = <["x"=4, "y"=2]>
// expected-error@+1 {{is unreduced by another kind than sum, which HLO shardings can't say; reduce it first}}
func.func @kind(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced=max{"x"}>}) {
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @contexts(%arg0: tensor<8xf32>) {
  // expected-note@+1 {{elsewhere}}
  %0 = func.call @body(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{}]>] out_shardings=[<@mesh, [{}]>] manual_axes={"x"} (%arg1: tensor<8xf32>) {
    // expected-error@+1 {{@body is called under other manual axes than elsewhere, and HLO shardings in it would differ; inline it or call a copy}}
    %2 = func.call @body(%arg1) : (tensor<8xf32>) -> tensor<8xf32>
    sdy.return %2 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}
func.func private @body(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  return %arg0 : tensor<8xf32>
}
