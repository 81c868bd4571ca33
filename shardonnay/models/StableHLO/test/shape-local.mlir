// RUN: sdy-opt %s -sdy-partition-to-local | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=4]>

// Counted in integers: 256 + 1 is 256 in bf16, and so is no sum of two bf16.
// CHECK-LABEL: func.func @iota
func.func @iota() -> (tensor<1024x4xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) {
  // CHECK: %[[COUNT:.*]] = stablehlo.iota dim = 0 : tensor<256x4xi32>
  // CHECK: %[[INDEX:.*]] = spmd.device_index @mesh {"y"}
  // CHECK: %[[SIZE:.*]] = stablehlo.constant dense<256>
  // CHECK: %[[START:.*]] = stablehlo.multiply %[[INDEX]], %[[SIZE]]
  // CHECK: %[[STARTS:.*]] = stablehlo.broadcast_in_dim %[[START]]
  // CHECK: %[[SUM:.*]] = stablehlo.add %[[COUNT]], %[[STARTS]]
  // CHECK: stablehlo.convert %[[SUM]] : (tensor<256x4xi32>) -> tensor<256x4xbf16>
  %0 = stablehlo.iota dim = 0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>} : tensor<1024x4xbf16>
  return %0 : tensor<1024x4xbf16>
}

// CHECK-LABEL: func.func @iota_along_another_dim
func.func @iota_along_another_dim() -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) {
  // CHECK-NEXT: %[[R:.*]] = stablehlo.iota dim = 1 : tensor<2x4xf32>
  // CHECK-NEXT: return %[[R]]
  %0 = stablehlo.iota dim = 1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>} : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @slice_keeps_cut_dims
func.func @slice_keeps_cut_dims(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> (tensor<8x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) {
  // CHECK: stablehlo.slice %arg0 [0:2, 2:11:3] : (tensor<2x16xf32>) -> tensor<2x3xf32>
  %0 = stablehlo.slice %a [0:8, 2:11:3] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>} : (tensor<8x16xf32>) -> tensor<8x3xf32>
  return %0 : tensor<8x3xf32>
}

// CHECK-LABEL: func.func @reshape_of_a_compound_dim
func.func @reshape_of_a_compound_dim(%a: tensor<32x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}) -> (tensor<2x16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}, {}]>}) {
  // CHECK: stablehlo.reshape %arg0 : (tensor<4x4xf32>) -> tensor<1x4x4xf32>
  %0 = stablehlo.reshape %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}, {}]>]>} : (tensor<32x4xf32>) -> tensor<2x16x4xf32>
  return %0 : tensor<2x16x4xf32>
}

// Six rows are two, two, two and none: the shards of the merged dim are others.
// CHECK-LABEL: func.func @uneven_rows_are_split_off
func.func @uneven_rows_are_split_off(%a: tensor<384xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> (tensor<6x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) {
  // CHECK: %[[ROWS:.*]] = spmd.fetch_window %arg0 dim=0 global_size=384 start=0 step=128 size=128 @mesh {"y"} {sdy.cause = "what 'stablehlo.reshape' sees of dim 0 of operand 0 beyond its shard; {{.*}}"} : (tensor<96xf32>) -> tensor<128xf32>
  // CHECK: stablehlo.reshape %[[ROWS]] : (tensor<128xf32>) -> tensor<2x64xf32>
  %0 = stablehlo.reshape %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>} : (tensor<384xf32>) -> tensor<6x64xf32>
  return %0 : tensor<6x64xf32>
}

// CHECK-LABEL: func.func @uneven_rows_are_merged
func.func @uneven_rows_are_merged(%a: tensor<6x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> (tensor<384xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
  // CHECK: %[[ROWS:.*]] = stablehlo.reshape %arg0 : (tensor<2x64xf32>) -> tensor<128xf32>
  // CHECK: spmd.fetch_window %[[ROWS]] dim=0 global_size=384 start=0 step=96 size=96 @mesh {"y"} {sdy.cause = "what 'stablehlo.reshape' makes of dim 0 of result 0 in whole rows, then in even shards; {{.*}}"} : (tensor<128xf32>) -> tensor<96xf32>
  %0 = stablehlo.reshape %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : (tensor<6x64xf32>) -> tensor<384xf32>
  return %0 : tensor<384xf32>
}

// CHECK-LABEL: func.func @broadcast_transpose_pad
func.func @broadcast_transpose_pad(%a: tensor<8x1xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}, %s: tensor<f32>) -> (tensor<18x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) {
  // CHECK: stablehlo.broadcast_in_dim %arg0, dims = [0, 1] : (tensor<2x1xf32>) -> tensor<2x16xf32>
  %0 = stablehlo.broadcast_in_dim %a, dims = [0, 1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>} : (tensor<8x1xf32>) -> tensor<8x16xf32>
  // CHECK: stablehlo.transpose %{{.*}}, dims = [1, 0] : (tensor<2x16xf32>) -> tensor<16x2xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>} : (tensor<8x16xf32>) -> tensor<16x8xf32>
  // CHECK: stablehlo.pad %{{.*}}, %arg1, low = [2, 0], high = [0, 0], interior = [0, 0] : (tensor<16x2xf32>, tensor<f32>) -> tensor<18x2xf32>
  %2 = stablehlo.pad %1, %s, low = [2, 0], high = [0, 0], interior = [0, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>} : (tensor<16x8xf32>, tensor<f32>) -> tensor<18x8xf32>
  return %2 : tensor<18x8xf32>
}
