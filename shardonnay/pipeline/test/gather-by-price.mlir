// RUN: sdy-opt %s --sdy-partition-pipeline | FileCheck %s --check-prefix=PRICE
// RUN: sdy-opt %s --sdy-partition-pipeline=no-gather-by-price=true | FileCheck %s --check-prefix=KEPT
// RUN: sdy-opt %s --sdy-partition-pipeline=no-implicit-replication=true | FileCheck %s --check-prefix=KEPT

// A small sort is cheaper on every device, whole, than in shards of its rows,
// which are exchanged twice.
// PRICE: "stablehlo.all_gather"
// PRICE: "stablehlo.sort"{{.*}}
// PRICE: (tensor<8x16xf32>) -> tensor<8x16xf32>
// PRICE-NOT: all_to_all
// KEPT-NOT: all_gather
// KEPT: "stablehlo.all_to_all"
// KEPT: "stablehlo.sort"
// KEPT: (tensor<2x16xf32>) -> tensor<2x16xf32>
// KEPT: "stablehlo.all_to_all"
sdy.mesh @mesh = <["x"=4]>
func.func public @main(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  %0 = "stablehlo.sort"(%a) <{dimension = 1 : i64}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %c = stablehlo.compare LT, %l, %r : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
