// RUN: sdy-opt %s -sdy-partition-to-local | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=4]>

// Indices are clamped in the whole table, then mapped to this device's rows;
// rows of other devices count as zeros.
// CHECK-LABEL: func.func @rows_of_a_cut_table
func.func @rows_of_a_cut_table(%t: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %i: tensor<8x1xi32>) -> (tensor<8x32xf32>) {
  // CHECK: stablehlo.maximum %arg1
  // CHECK: %[[LAST:.*]] = stablehlo.constant dense<63>
  // CHECK: %[[ROW:.*]] = stablehlo.minimum %{{.*}}, %[[LAST]]
  // CHECK: spmd.device_index @mesh {"x"}
  // CHECK: %[[LOCAL:.*]] = stablehlo.subtract %[[ROW]]
  // CHECK: stablehlo.compare GE, %[[LOCAL]]
  // CHECK: stablehlo.compare LT, %[[LOCAL]]
  // CHECK: %[[HERE:.*]] = stablehlo.reshape %{{.*}} : (tensor<8x1xi1>) -> tensor<8xi1>
  // CHECK: %[[ROWS:.*]] = "stablehlo.gather"(%arg0, %[[LOCAL]]) {{.*}} : (tensor<32x32xf32>, tensor<8x1xi32>) -> tensor<8x32xf32>
  // CHECK: %[[MASK:.*]] = stablehlo.broadcast_in_dim %[[HERE]], dims = [0] : (tensor<8xi1>) -> tensor<8x32xi1>
  // CHECK: %[[PART:.*]] = stablehlo.select %[[MASK]], %[[ROWS]]
  // CHECK: spmd.all_reduce %[[PART]] @mesh {"x"}
  %0 = "stablehlo.gather"(%t, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 32>}> {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>} : (tensor<64x32xf32>, tensor<8x1xi32>) -> tensor<8x32xf32>
  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<8x32xf32>
  return %1 : tensor<8x32xf32>
}

// No integer of 32 bits holds every index.
// CHECK-LABEL: func.func @unsigned_indices
func.func @unsigned_indices(%t: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %i: tensor<8x1xui32>) -> (tensor<8x32xf32>) {
  // CHECK: stablehlo.convert %arg1 : (tensor<8x1xui32>) -> tensor<8x1xi64>
  %0 = "stablehlo.gather"(%t, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 32>}> {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>} : (tensor<64x32xf32>, tensor<8x1xui32>) -> tensor<8x32xf32>
  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<8x32xf32>
  return %1 : tensor<8x32xf32>
}

// CHECK-LABEL: func.func @columns
func.func @columns(%t: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}, %i: tensor<8x1xi32>) -> (tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) {
  // CHECK-NEXT: "stablehlo.gather"(%arg0, %arg1) {{.*}}slice_sizes = array<i64: 1, 8>{{.*}} -> tensor<8x8xf32>
  %0 = "stablehlo.gather"(%t, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 32>}> {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>} : (tensor<64x32xf32>, tensor<8x1xi32>) -> tensor<8x32xf32>
  return %0 : tensor<8x32xf32>
}

// Windows of 2 rows see zeros around the device's part.
// CHECK-LABEL: func.func @some_rows
func.func @some_rows(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}, %i: tensor<3x1xi32>) -> (tensor<3x2x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}], unreduced={"y"}>}) {
  // CHECK: %[[LAST:.*]] = stablehlo.constant dense<14> : tensor<3x1xi32>
  // CHECK: %[[AT:.*]] = stablehlo.minimum %{{.*}}, %[[LAST]]
  // CHECK: %[[RELATIVE:.*]] = stablehlo.subtract %[[AT]]
  // CHECK: %[[PADDED:.*]] = stablehlo.pad %arg0, %{{.*}}, low = [2, 0], high = [2, 0]
  // CHECK: "stablehlo.gather"(%[[PADDED]], %[[RELATIVE]])
  // CHECK-NOT: select
  // CHECK: return
  %0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 2, 8>}> {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}, {}], unreduced={"y"}>]>} : (tensor<16x8xf32>, tensor<3x1xi32>) -> tensor<3x2x8xf32>
  return %0 : tensor<3x2x8xf32>
}

// The same where all windows begin at 0: what the part has of them.
// CHECK-LABEL: func.func @first_rows
func.func @first_rows(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}, %i: tensor<3x1xi32>) -> (tensor<3x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"y"}>}) {
  // CHECK: %[[PADDED:.*]] = stablehlo.pad %arg0, %{{.*}}, low = [2, 0], high = [2, 0]
  // CHECK: %[[FIRST:.*]] = stablehlo.dynamic_slice %[[PADDED]], %{{.*}}, %{{.*}}, sizes = [2, 8]
  // CHECK: "stablehlo.gather"(%[[FIRST]]
  %0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 2, 1>}> {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"y"}>]>} : (tensor<16x8xf32>, tensor<3x1xi32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}
