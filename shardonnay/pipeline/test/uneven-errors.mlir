// RUN: sdy-opt %s -verify-diagnostics --sdy-partition-pipeline

// What the user cut unevenly is refused where it stands, never trimmed.
sdy.mesh @mesh = <["x"=4]>

func.func public @main(
    // expected-error @below {{cuts dim 0 of size 10 into 4}}
    %a: tensor<10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<10xf32> {
  %0 = stablehlo.negate %a : tensor<10xf32>
  return %0 : tensor<10xf32>
}
