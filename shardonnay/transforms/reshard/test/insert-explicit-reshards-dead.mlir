// RUN: sdy-opt %s --pass-pipeline='builtin.module(func.func(sdy-insert-explicit-reshards{enable-full-version=true},sdy-defer-reductions))' | FileCheck %s

sdy.mesh @mesh = <["x"=2]>

// A loop whose results nobody reads goes, and the reshards in it leave the list
// that the next pass reads.
// CHECK-LABEL: func @dead_loops
// CHECK-NEXT: %[[R:.*]] = sdy.reshard %arg0 <@mesh, [{"x"}]>
// CHECK-NEXT: return %[[R]]
func.func @dead_loops(%arg0: tensor<4xf32>) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.while(%i = %arg0) : tensor<4xf32>
  cond {
    %c = stablehlo.constant dense<false> : tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %1 = stablehlo.while(%j = %i) : tensor<4xf32>
    cond {
      %c = stablehlo.constant dense<false> : tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %2 = sdy.reshard %j <@mesh, [{"x"}]> : tensor<4xf32>
      stablehlo.return %2 : tensor<4xf32>
    }
    %3 = sdy.reshard %1 <@mesh, [{"x"}]> : tensor<4xf32>
    stablehlo.return %3 : tensor<4xf32>
  }
  return %arg0 : tensor<4xf32>
}
