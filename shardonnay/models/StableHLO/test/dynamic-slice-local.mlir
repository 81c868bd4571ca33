// RUN: sdy-opt %s -sdy-partition-to-local | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=4]>

// CHECK-LABEL: func.func @whole_dims_of_the_window
func.func @whole_dims_of_the_window(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}, %i: tensor<i32>) -> (tensor<5x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) {
  // CHECK: stablehlo.dynamic_slice %arg0, %arg1, %arg1, sizes = [5, 2] : (tensor<16x2xf32>, tensor<i32>, tensor<i32>) -> tensor<5x2xf32>
  %0 = stablehlo.dynamic_slice %a, %i, %i, sizes = [5, 8] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>} : (tensor<16x8xf32>, tensor<i32>, tensor<i32>) -> tensor<5x8xf32>
  return %0 : tensor<5x8xf32>
}

// CHECK-LABEL: func.func @update_whole_dims
func.func @update_whole_dims(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}, %u: tensor<5x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}, %i: tensor<i32>) -> (tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) {
  // CHECK-NEXT: stablehlo.dynamic_update_slice %arg0, %arg1, %arg2, %arg2 : (tensor<16x2xf32>, tensor<5x2xf32>, tensor<i32>, tensor<i32>) -> tensor<16x2xf32>
  %0 = stablehlo.dynamic_update_slice %a, %u, %i, %i {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>} : (tensor<16x8xf32>, tensor<5x8xf32>, tensor<i32>, tensor<i32>) -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// Each device writes the rows of the window that it has: those of the padded
// update at 4 - (start - 4 * index) where they are no padding.
// CHECK-LABEL: func.func @update_a_cut_dim
func.func @update_a_cut_dim(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}, %u: tensor<5x8xf32>, %i: tensor<i32>) -> (tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) {
  // CHECK: %[[LAST:.*]] = stablehlo.constant dense<11>
  // CHECK: %[[START:.*]] = stablehlo.minimum %{{.*}}, %[[LAST]]
  // CHECK: %[[RELATIVE:.*]] = stablehlo.subtract %[[START]]
  // CHECK: stablehlo.subtract %{{.*}}, %[[RELATIVE]] : tensor<i32>
  // CHECK: %[[READ:.*]] = stablehlo.minimum
  // CHECK: stablehlo.iota dim = 0 : tensor<4xi32>
  // CHECK: %[[WRITTEN:.*]] = stablehlo.broadcast_in_dim %{{.*}}, dims = [0] : (tensor<4xi1>) -> tensor<4x8xi1>
  // CHECK: %[[PADDED:.*]] = stablehlo.pad %arg1, %{{.*}}, low = [4, 0], high = [4, 0]
  // CHECK: %[[NEW:.*]] = stablehlo.dynamic_slice %[[PADDED]], %[[READ]], %{{.*}}, sizes = [4, 8]
  // CHECK: %[[OLD:.*]] = stablehlo.dynamic_slice %arg0
  // CHECK: %[[PIECE:.*]] = stablehlo.select %[[WRITTEN]], %[[NEW]], %[[OLD]]
  // CHECK: stablehlo.dynamic_update_slice %arg0, %[[PIECE]]
  %0 = stablehlo.dynamic_update_slice %a, %u, %i, %i {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>} : (tensor<16x8xf32>, tensor<5x8xf32>, tensor<i32>, tensor<i32>) -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// Each device has 2 rows and writes the part of 2 nearest to the window into 6 rows
// of zeros, of which the middle ones are the window.
// CHECK-LABEL: func.func @some_rows
func.func @some_rows(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}, %i: tensor<i32>) -> (tensor<2x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"y"}>}) {
  // CHECK: %[[LAST:.*]] = stablehlo.constant dense<14>
  // CHECK: %[[START:.*]] = stablehlo.minimum %{{.*}}, %[[LAST]]
  // CHECK: %[[RELATIVE:.*]] = stablehlo.subtract %[[START]]
  // CHECK: %[[FROM:.*]] = stablehlo.minimum
  // CHECK: %[[SHIFT:.*]] = stablehlo.subtract %[[FROM]], %[[RELATIVE]]
  // CHECK: %[[PIECE:.*]] = stablehlo.dynamic_slice %arg0, %[[FROM]], %{{.*}}, sizes = [2, 8] : (tensor<4x8xf32>
  // CHECK: %[[ZEROS:.*]] = stablehlo.constant dense<-0.000000e+00> : tensor<6x8xf32>
  // CHECK: stablehlo.add %[[SHIFT]]
  // CHECK: %[[ROOMY:.*]] = stablehlo.dynamic_update_slice %[[ZEROS]], %[[PIECE]]
  // CHECK: stablehlo.slice %[[ROOMY]] [2:4, 0:8]
  %0 = stablehlo.dynamic_slice %a, %i, %i, sizes = [2, 8] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"y"}>]>} : (tensor<16x8xf32>, tensor<i32>, tensor<i32>) -> tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}
