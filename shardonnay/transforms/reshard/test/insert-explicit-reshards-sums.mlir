// RUN: sdy-opt %s --sdy-propagation-pipeline --sdy-insert-explicit-reshards='enable-full-version=true' --sdy-defer-reductions | FileCheck %s

sdy.mesh @mesh = <["data"=4]>

// The gradient of a table that is looked up in and read by a dot. Alone, the scatter moves its updates and computes
// whole columns; in parts it moves nothing, and one reduction serves both.
// CHECK-LABEL: func @tied_table
// CHECK-NOT: sdy.reshard
// CHECK: %[[SCATTER:.*]] = "stablehlo.scatter"(%{{.*}}, %arg1, %arg2)
// CHECK: unreduced={"data"}
// CHECK-NOT: sdy.reshard
// CHECK: %[[SUM:.*]] = stablehlo.add %{{.*}}, %[[SCATTER]] {{.*}}unreduced={"data"}
// CHECK-NEXT: %[[WHOLE:.*]] = sdy.reshard %[[SUM]] <@mesh, [{}, {}]>
// CHECK-NEXT: return %[[WHOLE]]
func.func @tied_table(
    %table: tensor<128x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>},
    %words: tensor<32x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
    %updates: tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
    %logits: tensor<32x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
    %x: tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>})
    -> (tensor<128x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<128x64xf32>
  %s = "stablehlo.scatter"(%zero, %words, %updates) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<128x64xf32>, tensor<32x1xi32>, tensor<32x64xf32>) -> tensor<128x64xf32>
  %d = stablehlo.dot_general %logits, %x, contracting_dims = [0] x [0] : (tensor<32x128xf32>, tensor<32x64xf32>) -> tensor<128x64xf32>
  %sum = stablehlo.add %d, %s : tensor<128x64xf32>
  return %sum : tensor<128x64xf32>
}
