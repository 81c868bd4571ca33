// RUN: sdy-opt %s --sdy-partition-pipeline | FileCheck %s

// Each row reads at its own number and at a computed place. Sizes that turn out to be known hide neither the count nor
// the gather: no device needs another's rows.
// CHECK-LABEL: func.func @main
// CHECK-NOT: all_gather
// CHECK: "stablehlo.gather"(%arg0, %arg1) <{{.*}}operand_batching_dims = [0]
// CHECK-NOT: all_gather
sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<4x9xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                %at: tensor<4x1xi64> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<4x1xf32> {
  %sizes = stablehlo.constant dense<[4, 1]> : tensor<2xi64>
  %0 = stablehlo.dynamic_iota %sizes, dim = 0 : (tensor<2xi64>) -> tensor<4x1xi64>
  %1 = stablehlo.concatenate %0, %at, dim = 1 : (tensor<4x1xi64>, tensor<4x1xi64>) -> tensor<4x2xi64>
  %one = stablehlo.constant dense<1> : tensor<2xi64>
  %2 = "stablehlo.dynamic_gather"(%x, %1, %one) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 1>}> : (tensor<4x9xf32>, tensor<4x2xi64>, tensor<2xi64>) -> tensor<4x1xf32>
  return %2 : tensor<4x1xf32>
}
