// RUN: sdy-opt %s --sdy-partition-pipeline="device-model=gpu-cluster search-mode=graph" | FileCheck %s

// The slice takes one position: where its result moves off the picked dim it is
// an op of another rule, which no strategy of the former is one of.
// CHECK-LABEL: func @main
// CHECK: stablehlo.slice
sdy.mesh @mesh = <["x"=2, "y"=2, "z"=2]>
func.func @main(%v0: tensor<6xi1> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "z", "y"}]>}, %v2: tensor<9xi1> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}]>}) -> (tensor<2x3xi1>, tensor<2x3xi1>, tensor<i1>) {
%v1 = "stablehlo.reshape"(%v0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x", "z", "y"}]>]>} : (tensor<6xi1>) -> tensor<2x3xi1>
%v3 = "stablehlo.optimization_barrier"(%v2) : (tensor<9xi1>) -> tensor<9xi1>
%v4 = sdy.sharding_constraint %v3 <@mesh, [{}]> : tensor<9xi1>
%v5 = "stablehlo.slice"(%v4) <{start_indices = array<i64: 5>, limit_indices = array<i64: 6>, strides = array<i64: 1>}> {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", "y"}], replicated={"z"}>]>} : (tensor<9xi1>) -> tensor<1xi1>
%v6 = "stablehlo.transpose"(%v5) <{permutation = array<i64: 0>}> : (tensor<1xi1>) -> tensor<1xi1>
%v7 = "chlo.broadcast_xor"(%v6, %v1) : (tensor<1xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
%v8 = stablehlo.constant dense<false> : tensor<i1>
%v13 = "stablehlo.reduce"(%v5, %v8) <{dimensions = array<i64: 0>}> ({
^bb0(%v10: tensor<i1>, %v11: tensor<i1>):
%v9 = stablehlo.add %v10, %v11 : tensor<i1>
stablehlo.return %v9 : tensor<i1>
}) : (tensor<1xi1>, tensor<i1>) -> tensor<i1>
%v12 = sdy.sharding_constraint %v13 <@mesh, []> : tensor<i1>
return %v1, %v7, %v12 : tensor<2x3xi1>, tensor<2x3xi1>, tensor<i1>
}
