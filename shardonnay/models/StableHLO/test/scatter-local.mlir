// RUN: sdy-opt %s -sdy-partition-to-local | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=4]>

// Updates of rows that other devices have are out of bounds, and ignored.
// CHECK-LABEL: func.func @cut_rows
func.func @cut_rows(%a: tensor<64x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %i: tensor<16x1xi32>, %u: tensor<16x6xf32>) -> (tensor<64x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // CHECK: %[[INDEX:.*]] = spmd.device_index @mesh {"x"}
  // CHECK: %[[START:.*]] = stablehlo.multiply %[[INDEX]]
  // CHECK: %[[STARTS:.*]] = stablehlo.broadcast_in_dim %[[START]]
  // CHECK: %[[ROWS:.*]] = stablehlo.subtract %arg1, %[[STARTS]]
  // CHECK: "stablehlo.scatter"(%arg0, %[[ROWS]], %arg2)
  %0 = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %2 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<64x6xf32>, tensor<16x1xi32>, tensor<16x6xf32>) -> tensor<64x6xf32>
  return %0 : tensor<64x6xf32>
}

// What is added to counts once.
// CHECK-LABEL: func.func @cut_updates
func.func @cut_updates(%a: tensor<64x6xf32>, %i: tensor<16x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}, %u: tensor<16x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> (tensor<64x6xf32>) {
  // CHECK: %[[FIRST:.*]] = stablehlo.compare EQ
  // CHECK: %[[INPUT:.*]] = stablehlo.select %[[FIRST]], %arg0
  // CHECK: %[[PART:.*]] = "stablehlo.scatter"(%[[INPUT]], %arg1, %arg2)
  // CHECK: spmd.all_reduce %[[PART]] @mesh {"y"}
  %0 = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %2 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"y"}>]>} : (tensor<64x6xf32>, tensor<16x1xi32>, tensor<16x6xf32>) -> tensor<64x6xf32>
  %1 = sdy.all_reduce {"y"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<64x6xf32>
  return %1 : tensor<64x6xf32>
}

// CHECK-LABEL: func.func @cut_updates_into_zeros
func.func @cut_updates_into_zeros(%i: tensor<16x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}, %u: tensor<16x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> (tensor<64x6xf32>) {
  // CHECK-NOT: stablehlo.select
  // CHECK: spmd.all_reduce
  %z = sdy.constant dense<0.0> : tensor<f32>
  %a = stablehlo.broadcast_in_dim %z, dims = [] : (tensor<f32>) -> tensor<64x6xf32>
  %0 = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %2 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"y"}>]>} : (tensor<64x6xf32>, tensor<16x1xi32>, tensor<16x6xf32>) -> tensor<64x6xf32>
  %1 = sdy.all_reduce {"y"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<64x6xf32>
  return %1 : tensor<64x6xf32>
}

// Windows of 2 rows are written into the device's part with 2 rows around; those
// out of the whole dim's bounds go to -1.
// CHECK-LABEL: func.func @some_rows
func.func @some_rows(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}, %i: tensor<3x1xi32>, %u: tensor<3x2x8xf32>) -> (tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) {
  // CHECK: %[[END:.*]] = stablehlo.constant dense<15> : tensor<3x1xi32>
  // CHECK: stablehlo.compare LT, %arg1, %[[END]]
  // CHECK: %[[RELATIVE:.*]] = stablehlo.subtract
  // CHECK: %[[NOWHERE:.*]] = stablehlo.constant dense<-1> : tensor<3x1xi32>
  // CHECK: %[[AT:.*]] = stablehlo.select %{{.*}}, %[[RELATIVE]], %[[NOWHERE]]
  // CHECK: %[[PADDED:.*]] = stablehlo.pad %arg0, %{{.*}}, low = [2, 0], high = [2, 0]
  // CHECK: %[[WRITTEN:.*]] = "stablehlo.scatter"(%[[PADDED]], %[[AT]], %arg2) <{indices_are_sorted = false
  // CHECK: stablehlo.slice %[[WRITTEN]] [2:6, 0:8]
  %0 = "stablehlo.scatter"(%a, %i, %u) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    stablehlo.return %q : tensor<f32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>} : (tensor<16x8xf32>, tensor<3x1xi32>, tensor<3x2x8xf32>) -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// One tensor as indices and updates: only the former are relative.
// CHECK-LABEL: func.func @by_what_it_writes
func.func @by_what_it_writes(%a: tensor<16x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}, %i: tensor<3x1xi32>) -> (tensor<16x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) {
  // CHECK: %[[ROWS:.*]] = stablehlo.subtract %arg1
  // CHECK: "stablehlo.scatter"(%arg0, %[[ROWS]], %arg1)
  %0 = "stablehlo.scatter"(%a, %i, %i) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%p: tensor<i32>, %q: tensor<i32>):
    stablehlo.return %q : tensor<i32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>} : (tensor<16x1xi32>, tensor<3x1xi32>, tensor<3x1xi32>) -> tensor<16x1xi32>
  return %0 : tensor<16x1xi32>
}

// Each device multiplies its updates; all get the products of all, and combine
// them. What stands behind the end of the updates is filled with ones.
// CHECK-LABEL: func.func @exchanged_products
func.func @exchanged_products(%a: tensor<2xi32>, %i: tensor<90xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}, %u: tensor<90xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> tensor<2xi32> {
  // CHECK: %[[ONE:.*]] = stablehlo.constant dense<1> : tensor<i32>
  // CHECK: %[[ONES:.*]] = stablehlo.constant dense<1> : tensor<2xi32>
  // CHECK: %[[UPDATES:.*]] = spmd.fetch_window %arg2 {{.*}} global_size=90 {{.*}} fill %[[ONE]]
  // CHECK: %[[PART:.*]] = "stablehlo.scatter"(%[[ONES]], %arg1, %[[UPDATES]])
  // CHECK: %[[ROW:.*]] = stablehlo.reshape %[[PART]] : (tensor<2xi32>) -> tensor<1x2xi32>
  // CHECK: %[[ROWS:.*]] = spmd.all_gather %[[ROW]] dim=0 @mesh {"y"} {sdy.cause = "what 'stablehlo.scatter' finds on each device; {{.*}}"} : (tensor<1x2xi32>) -> tensor<4x2xi32>
  // CHECK: %[[ALL:.*]] = stablehlo.reduce(%[[ROWS]] init: %[[ONE]]) applies stablehlo.multiply across dimensions = [0]
  // CHECK: stablehlo.multiply %arg0, %[[ALL]]
  %0 = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    %2 = stablehlo.multiply %x, %y : tensor<i32>
    stablehlo.return %2 : tensor<i32>
  }) : (tensor<2xi32>, tensor<90xi32>, tensor<90xi32>) -> tensor<2xi32>
  return %0 : tensor<2xi32>
}

// Windows of three rows begin at row 0, which no index says: the first device's
// part has two of them.
// CHECK-LABEL: func.func @windows_that_are_not_indexed
func.func @windows_that_are_not_indexed(%a: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}, %i: tensor<5x1xi32>, %u: tensor<5x3xf32>) -> (tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) {
  // CHECK: %[[PADDED:.*]] = stablehlo.pad %arg0, %{{.*}}, low = [3, 0], high = [3, 0]
  // CHECK: %[[CORNER:.*]] = stablehlo.dynamic_slice %[[PADDED]], %[[ROW:.*]], %[[COLUMN:.*]], sizes = [3, 6]
  // CHECK: %[[UPDATED:.*]] = "stablehlo.scatter"(%[[CORNER]],
  // CHECK: %[[BACK:.*]] = stablehlo.dynamic_update_slice %[[PADDED]], %[[UPDATED]], %[[ROW]], %[[COLUMN]]
  // CHECK: stablehlo.slice %[[BACK]] [3:5, 0:6]
  %0 = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [1], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %y : tensor<f32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>} : (tensor<8x6xf32>, tensor<5x1xi32>, tensor<5x3xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// Index vectors of no components.
// CHECK-LABEL: func.func @nothing_is_indexed
func.func @nothing_is_indexed(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}, %i: tensor<5x0xi32>, %u: tensor<5x3xf32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
  // CHECK: "stablehlo.scatter"(%{{.*}}, %arg1, %arg2)
  %0 = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %2 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : (tensor<8xf32>, tensor<5x0xi32>, tensor<5x3xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// All write one known value, so this is a maximum; what stands behind the last update writes nothing.
// CHECK-LABEL: func.func @cut_writes
func.func @cut_writes(%a: tensor<64xi1>, %i: tensor<15x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> tensor<64xi1> {
  %t = sdy.constant dense<true> : tensor<i1>
  %u = stablehlo.broadcast_in_dim %t, dims = [] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : (tensor<i1>) -> tensor<15xi1>
  // CHECK: %[[UPDATES:.*]] = spmd.fetch_window {{.*}} fill {{.*}} -> tensor<4xi1>
  // CHECK: %[[PART:.*]] = "stablehlo.scatter"(%arg0, %{{.*}}, %[[UPDATES]])
  // CHECK-NEXT: ^bb0(%[[X:.*]]: tensor<i1>, %[[Y:.*]]: tensor<i1>):
  // CHECK-NEXT: %[[MOST:.*]] = stablehlo.maximum %[[X]], %[[Y]]
  // CHECK-NEXT: stablehlo.return %[[MOST]]
  // CHECK: spmd.all_reduce max %[[PART]] @mesh {"y"}
  %0 = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<i1>, %y: tensor<i1>):
    stablehlo.return %y : tensor<i1>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced=max{"y"}>]>} : (tensor<64xi1>, tensor<15x1xi32>, tensor<15xi1>) -> tensor<64xi1>
  %1 = sdy.all_reduce max {"y"} %0 out_sharding=<@mesh, [{}]> : tensor<64xi1>
  return %1 : tensor<64xi1>
}

// Less than what is there: a minimum.
// CHECK-LABEL: func.func @cut_writes_of_less
func.func @cut_writes_of_less(%i: tensor<15x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> tensor<64xf32> {
  %z = sdy.constant dense<0.0> : tensor<f32>
  %a = stablehlo.broadcast_in_dim %z, dims = [] : (tensor<f32>) -> tensor<64xf32>
  %l = sdy.constant dense<0xFF800000> : tensor<f32>
  %u = stablehlo.broadcast_in_dim %l, dims = [] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : (tensor<f32>) -> tensor<15xf32>
  // CHECK: stablehlo.minimum %{{.*}} : tensor<f32>
  // CHECK: spmd.all_reduce min
  %0 = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %y : tensor<f32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced=min{"y"}>]>} : (tensor<64xf32>, tensor<15x1xi32>, tensor<15xf32>) -> tensor<64xf32>
  %1 = sdy.all_reduce min {"y"} %0 out_sharding=<@mesh, [{}]> : tensor<64xf32>
  return %1 : tensor<64xf32>
}
