// RUN: sdy-opt %s -split-input-file -verify-diagnostics

func.func @elements(%i: tensor<4xi32>) {
  // expected-error @+1 {{'mhlo.erf' op operand #0 must be ranked tensor of floating-point values, but got 'tensor<4xi32>'}}
  %0 = mhlo.erf %i : tensor<4xi32>
  return
}
