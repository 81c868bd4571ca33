// RUN: sdy-opt %s -sdy-partition-to-local | FileCheck %s

sdy.mesh @mesh = <["x"=4, "y"=2]>

// 3, 3, 3 and 1 rows.
// CHECK-LABEL: func.func @pieces(
// CHECK-SAME: %arg0: tensor<3x1xf32>, %arg1: tensor<0xf32>) -> tensor<3x1xf32>
func.func @pieces(
    %a: tensor<10x1xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
    %b: tensor<0xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> (tensor<10x1xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) {
  return %a : tensor<10x1xf32>
}

// CHECK-LABEL: func.func @gather(
func.func @gather(%a: tensor<10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<10xf32> {
  // CHECK-NEXT: %[[ALL:.*]] = spmd.all_gather %arg0 dim=0 @mesh {"x"} : (tensor<3xf32>) -> tensor<12xf32>
  // CHECK-NEXT: spmd.fetch_window %[[ALL]] dim=0 global_size=10 start=0 step=10 size=10 : (tensor<12xf32>) -> tensor<10xf32>
  %0 = sdy.all_gather [{"x"}] %a out_sharding=<@mesh, [{}]> : tensor<10xf32>
  return %0 : tensor<10xf32>
}

// CHECK-LABEL: func.func @slice(
func.func @slice(%a: tensor<10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
  // CHECK-NEXT: spmd.fetch_window %arg0 dim=0 global_size=10 start=0 step=2 size=2 @mesh {"y"} to {"y", "x"} : (tensor<5xf32>) -> tensor<2xf32>
  %0 = sdy.all_slice [{"x"}] %a out_sharding=<@mesh, [{"y", "x"}]> : tensor<10xf32>
  return
}

// Dim 1 is made divisible first; of dim 0 the end is sliced off.
// CHECK-LABEL: func.func @all_to_all(
func.func @all_to_all(%a: tensor<10x7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // CHECK-NEXT: %[[WIDE:.*]] = spmd.fetch_window %arg0 dim=1 global_size=7 start=0 step=8 size=8 : (tensor<3x7xf32>) -> tensor<3x8xf32>
  // CHECK-NEXT: %[[MOVED:.*]] = spmd.all_to_all %[[WIDE]] split_dim=1 concat_dim=0 @mesh {"x"} : (tensor<3x8xf32>) -> tensor<12x2xf32>
  // CHECK-NEXT: spmd.fetch_window %[[MOVED]] dim=0 global_size=10 start=0 step=10 size=10 : (tensor<12x2xf32>) -> tensor<10x2xf32>
  %0 = sdy.all_to_all [{"x"}: 0->1] %a out_sharding=<@mesh, [{}, {"x"}]> : tensor<10x7xf32>
  return
}

// What stands behind the end does not count, on either side.
// CHECK-LABEL: func.func @dot(
func.func @dot(
    %a: tensor<4x10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
    %b: tensor<10x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // CHECK:      %[[A:.*]] = spmd.fetch_window %arg0 dim=1 global_size=10 start=0 step=3 size=3 @mesh {"x"} fill
  // CHECK:      %[[B:.*]] = spmd.fetch_window %arg1 dim=0 global_size=10 start=0 step=3 size=3 @mesh {"x"} fill
  // CHECK-NEXT: stablehlo.dot_general %[[A]], %[[B]]
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>} : (tensor<4x10xf32>, tensor<10x6xf32>) -> tensor<4x6xf32>
  return
}

// An even sharding needs no mask, nor does a dim that is passed through.
// CHECK-LABEL: func.func @no_mask(
func.func @no_mask(%a: tensor<8x10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}, %z: tensor<f32>) {
  // CHECK-NOT: fetch_window
  // CHECK:     return
  %0 = stablehlo.reduce(%a init: %z) applies stablehlo.maximum across dimensions = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}], unreduced=max{"y"}>]>} : (tensor<8x10xf32>, tensor<f32>) -> tensor<10xf32>
  return
}

// Shards behind the end hold nothing; their windows hold the beginning again.
// CHECK-LABEL: func.func @beginning_again(
func.func @beginning_again(%a: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}]>}) {
  // CHECK-NEXT: spmd.fetch_window %arg0 dim=0 global_size=6 start=0 step=1 size=1 @mesh {"x", "y"} periodic
  %0 = spmd.periodic_window %a dim=0 start=0 size=8 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", "y"}]>]>} : (tensor<6xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func.func @all_of_it(
func.func @all_of_it(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}]>}) {
  // CHECK-NEXT: return %arg0
  %0 = spmd.periodic_window %a dim=0 start=0 size=8 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", "y"}]>]>} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
