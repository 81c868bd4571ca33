// A pass on a module changes functions, of which passes before it have asked what is in them.
// RUN: sdy-opt %s "--pass-pipeline=builtin.module(sdy-update-non-divisible-input-output-shardings,sdy-add-data-flow-edges,func.func(sdy-sink-data-flow-edges))" | FileCheck %s --check-prefix=EDGES
// RUN: sdy-opt %s --sdy-close-shardings --sdy-apply-canonical-patterns --sdy-close-shardings | FileCheck %s --check-prefix=DEAD

sdy.mesh @mesh = <["x"=2]>

// EDGES-NOT: sdy.data_flow_edge
// DEAD-NOT: stablehlo.tanh
func.func @main(%a: tensor<4xf32>, %n: tensor<i32>) -> tensor<4xf32> {
  %0 = stablehlo.tanh %a : tensor<4xf32>
  %1:2 = stablehlo.while(%x = %a, %i = %n) : tensor<4xf32>, tensor<i32>
    cond {
    %2 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  } do {
    stablehlo.return %x, %i : tensor<4xf32>, tensor<i32>
  }
  return %1#0 : tensor<4xf32>
}
