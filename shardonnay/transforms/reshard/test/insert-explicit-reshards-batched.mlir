// RUN: sdy-opt %s --sdy-insert-explicit-reshards='enable-full-version=true device-model=bytes' | FileCheck %s

sdy.mesh @mesh = <["a"=8]>

// Two steps of an orthogonalization of several matrices, by columns: their
// squares are sums over the columns. The matrices are dealt out instead, once,
// and their factor is a scalar that is broadcast anew.
// CHECK-LABEL: func @deals_out_what_is_batched
func.func @deals_out_what_is_batched(%x: tensor<8x16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"a"}]>}, %c: tensor<f32>) -> (tensor<8x16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"a"}]>}) {
  // CHECK: %[[X:.*]] = sdy.reshard %arg0 <@mesh, [{"a"}, {}, {}]>
  // CHECK-NOT: sdy.reshard
  // CHECK: stablehlo.add
  // CHECK-NOT: sdy.reshard
  // CHECK: %[[LAST:.*]] = stablehlo.add
  // CHECK-NEXT: %[[RESULT:.*]] = sdy.reshard %[[LAST]] <@mesh, [{}, {}, {"a"}]>
  // CHECK-NEXT: return %[[RESULT]]
  %0 = stablehlo.broadcast_in_dim %c, dims = [] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}, {"a"}]>]>} : (tensor<f32>) -> tensor<8x16x16xf32>
  %1 = stablehlo.transpose %x, dims = [0, 2, 1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"a"}, {}]>]>} : (tensor<8x16x16xf32>) -> tensor<8x16x16xf32>
  %2 = stablehlo.dot_general %x, %1, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<8x16x16xf32>, tensor<8x16x16xf32>) -> tensor<8x16x16xf32>
  %b = stablehlo.dot_general %2, %2, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<8x16x16xf32>, tensor<8x16x16xf32>) -> tensor<8x16x16xf32>
  %3 = stablehlo.multiply %0, %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}, {"a"}]>]>} : tensor<8x16x16xf32>
  %4 = stablehlo.dot_general %b, %x, batching_dims = [0] x [0], contracting_dims = [2] x [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}, {"a"}]>]>} : (tensor<8x16x16xf32>, tensor<8x16x16xf32>) -> tensor<8x16x16xf32>
  %5 = stablehlo.add %3, %4 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}, {"a"}]>]>} : tensor<8x16x16xf32>
  %6 = stablehlo.transpose %5, dims = [0, 2, 1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"a"}, {}]>]>} : (tensor<8x16x16xf32>) -> tensor<8x16x16xf32>
  %7 = stablehlo.dot_general %5, %6, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<8x16x16xf32>, tensor<8x16x16xf32>) -> tensor<8x16x16xf32>
  %d = stablehlo.dot_general %7, %7, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<8x16x16xf32>, tensor<8x16x16xf32>) -> tensor<8x16x16xf32>
  %8 = stablehlo.multiply %0, %5 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}, {"a"}]>]>} : tensor<8x16x16xf32>
  %9 = stablehlo.dot_general %d, %5, batching_dims = [0] x [0], contracting_dims = [2] x [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}, {"a"}]>]>} : (tensor<8x16x16xf32>, tensor<8x16x16xf32>) -> tensor<8x16x16xf32>
  %10 = stablehlo.add %8, %9 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}, {"a"}]>]>} : tensor<8x16x16xf32>
  return %10 : tensor<8x16x16xf32>
}

// The same by rows, which go to and fro in each step: what a step makes stays
// dealt out, and what is multiplied with the scalar is read as it is there.
// CHECK-LABEL: func @stays_dealt_out
func.func @stays_dealt_out(%x: tensor<8x16x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"a"}, {}]>}, %c: tensor<f32>) -> (tensor<8x16x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"a"}, {}]>}) {
  // CHECK: sdy.reshard %arg0 <@mesh, [{"a"}, {}, {}]>
  // CHECK: sdy.reshard %arg0 <@mesh, [{"a"}, {}, {}]>
  // CHECK-NOT: sdy.reshard
  // CHECK: stablehlo.add
  // CHECK-NOT: sdy.reshard
  // CHECK: %[[LAST:.*]] = stablehlo.add
  // CHECK-NEXT: %[[RESULT:.*]] = sdy.reshard %[[LAST]] <@mesh, [{}, {"a"}, {}]>
  // CHECK-NEXT: return %[[RESULT]]
  %0 = stablehlo.broadcast_in_dim %c, dims = [] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"a"}, {}]>]>} : (tensor<f32>) -> tensor<8x16x64xf32>
  %1 = stablehlo.transpose %x, dims = [0, 2, 1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}, {"a"}]>]>} : (tensor<8x16x64xf32>) -> tensor<8x64x16xf32>
  %2 = stablehlo.dot_general %x, %1, batching_dims = [0] x [0], contracting_dims = [2] x [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"a"}, {}]>]>} : (tensor<8x16x64xf32>, tensor<8x64x16xf32>) -> tensor<8x16x16xf32>
  %3 = stablehlo.multiply %0, %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"a"}, {}]>]>} : tensor<8x16x64xf32>
  %4 = stablehlo.dot_general %2, %x, batching_dims = [0] x [0], contracting_dims = [2] x [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"a"}, {}]>]>} : (tensor<8x16x16xf32>, tensor<8x16x64xf32>) -> tensor<8x16x64xf32>
  %5 = stablehlo.add %3, %4 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"a"}, {}]>]>} : tensor<8x16x64xf32>
  %6 = stablehlo.transpose %5, dims = [0, 2, 1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}, {"a"}]>]>} : (tensor<8x16x64xf32>) -> tensor<8x64x16xf32>
  %7 = stablehlo.dot_general %5, %6, batching_dims = [0] x [0], contracting_dims = [2] x [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"a"}, {}]>]>} : (tensor<8x16x64xf32>, tensor<8x64x16xf32>) -> tensor<8x16x16xf32>
  %8 = stablehlo.multiply %0, %5 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"a"}, {}]>]>} : tensor<8x16x64xf32>
  %9 = stablehlo.dot_general %7, %5, batching_dims = [0] x [0], contracting_dims = [2] x [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"a"}, {}]>]>} : (tensor<8x16x16xf32>, tensor<8x16x64xf32>) -> tensor<8x16x64xf32>
  %10 = stablehlo.add %8, %9 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"a"}, {}]>]>} : tensor<8x16x64xf32>
  return %10 : tensor<8x16x64xf32>
}
