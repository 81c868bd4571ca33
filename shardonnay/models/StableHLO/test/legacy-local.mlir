// RUN: sdy-opt %s -sdy-partition-to-local | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=4]>

// Indices are clamped in the whole dim, then mapped to this device's part; what
// other devices have counts as zeros.
// CHECK-LABEL: func.func @index_select_of_a_cut_dim
func.func @index_select_of_a_cut_dim(%a: tensor<3x10x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}, {}]>}, %i: tensor<3x2xi32>) -> tensor<3x2x5xf32> {
  // CHECK: stablehlo.constant dense<9>
  // CHECK: %[[CLAMPED:.*]] = stablehlo.minimum
  // CHECK: spmd.device_index @mesh {"y"}
  // CHECK: %[[LOCAL:.*]] = stablehlo.subtract %[[CLAMPED]]
  // CHECK: stablehlo.compare GE, %[[LOCAL]]
  // CHECK: stablehlo.compare LT, %[[LOCAL]]
  // CHECK: %[[HERE:.*]] = stablehlo.and
  // CHECK: %[[FOUND:.*]] = "stablehlo.torch_index_select"(%arg0, %{{.*}}) {{.*}} : (tensor<3x3x5xf32>, tensor<3x2xi32>) -> tensor<3x2x5xf32>
  // CHECK: %[[MASK:.*]] = stablehlo.broadcast_in_dim %[[HERE]], dims = [0, 1] : (tensor<3x2xi1>) -> tensor<3x2x5xi1>
  // CHECK: %[[PART:.*]] = stablehlo.select %[[MASK]], %[[FOUND]]
  // CHECK: spmd.all_reduce %[[PART]] @mesh {"y"}
  %0 = "stablehlo.torch_index_select"(%a, %i) <{batch_dims = 1 : i64, dim = 1 : i64}> {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}, {}], unreduced={"y"}>]>} : (tensor<3x10x5xf32>, tensor<3x2xi32>) -> tensor<3x2x5xf32>
  %1 = sdy.all_reduce {"y"} %0 out_sharding=<@mesh, [{}, {}, {}]> : tensor<3x2x5xf32>
  return %1 : tensor<3x2x5xf32>
}
