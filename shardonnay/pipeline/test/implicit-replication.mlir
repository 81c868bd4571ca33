// RUN: sdy-opt %s --sdy-partition-pipeline -o /dev/null 2>&1 | FileCheck %s --check-prefix=WARN
// RUN: not sdy-opt %s --sdy-partition-pipeline=no-implicit-replication -o /dev/null 2>&1 | FileCheck %s --check-prefix=ERROR

// The op is not printed with it: that numbers the whole function each time.
// WARN-NOT: see current operation
// WARN: implicit-replication.mlir:[[#@LINE+6]]:8: warning:
// WARN-NOT: see current operation
// ERROR: implicit-replication.mlir:[[#@LINE+4]]:8: error:
sdy.mesh @mesh = <["x"=2]>

func.func public @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %i: tensor<i32>) -> tensor<5xf32> {
  %0 = stablehlo.dynamic_slice %a, %i, sizes = [5] : (tensor<8xf32>, tensor<i32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}
