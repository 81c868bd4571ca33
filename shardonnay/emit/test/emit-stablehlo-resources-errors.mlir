// RUN: sdy-opt %s -split-input-file --sdy-partition-pipeline -verify-diagnostics

func.func @main() -> tensor<2xf32> {
  // expected-error @+1 {{found no elements of the resource '__elided__', expected them at the end of the program; print it without leaving out large ones}}
  %0 = stablehlo.constant dense_resource<__elided__> : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @main() -> tensor<4xf32> {
  // expected-error @+1 {{found 8 bytes in the resource 'short', expected those of 'tensor<4xf32>'}}
  %0 = stablehlo.constant dense_resource<short> : tensor<4xf32>
  return %0 : tensor<4xf32>
}

{-#
  dialect_resources: {
    builtin: {
      short: "0x040000000000803F00000040"
    }
  }
#-}
