// RUN: sdy-opt %s -verify-diagnostics --sdy-emit-stablehlo="replica-count=2 partition-count=4"

// expected-error @below {{has 2 devices, but there are 2 replicas of 4 partitions; expected as many partitions as devices, or replicas times partitions}}
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = spmd.all_reduce %a @mesh {"x"} : tensor<4xf32>
  return %0 : tensor<4xf32>
}
