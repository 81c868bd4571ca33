// RUN: sdy-opt %s --sdy-partition-pipeline -o /dev/null 2>&1 | FileCheck %s --check-prefix=WARN
// RUN: not sdy-opt %s --sdy-partition-pipeline=no-implicit-replication -o /dev/null 2>&1 | FileCheck %s --check-prefix=ERROR

// WARN: gathered-windows.mlir:[[#@LINE+6]]:8: warning: op 'stablehlo.reduce_window' cannot be computed sharded along dim 0
// ERROR: gathered-windows.mlir:[[#@LINE+5]]:8: error: op 'stablehlo.reduce_window' cannot be computed sharded along dim 0
sdy.mesh @mesh = <["x"=4]>

func.func public @main(%a: tensor<4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %z = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%a, %z) <{window_dimensions = array<i64: 4096>, padding = dense<[[4095, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%b: tensor<f32>, %c: tensor<f32>):
    %1 = stablehlo.add %b, %c : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4096xf32>, tensor<f32>) -> tensor<4096xf32>
  return %0 : tensor<4096xf32>
}
