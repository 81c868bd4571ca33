// RUN: sdy-opt %s --sdy-split-merged-dims | FileCheck %s
// RUN: sdy-opt %s --sdy-split-merged-dims | sdy-opt --sdy-split-merged-dims | FileCheck %s

sdy.mesh @mesh = <["x"=4]>

// CHECK-LABEL: @product
// CHECK: %[[DOT:.*]] = stablehlo.dot_general %arg0, %arg1, contracting_dims = [2] x [0] : (tensor<4x8x16xf32>, tensor<16x32xf32>) -> tensor<4x8x32xf32>
// CHECK-NEXT: %[[TANH:.*]] = stablehlo.tanh %[[DOT]] : tensor<4x8x32xf32>
// CHECK-NEXT: return %[[TANH]]
func.func @product(%tokens: tensor<4x8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}, %weight: tensor<16x32xf32>) -> tensor<4x8x32xf32> {
  %0 = stablehlo.reshape %tokens : (tensor<4x8x16xf32>) -> tensor<32x16xf32>
  %1 = stablehlo.dot %0, %weight : (tensor<32x16xf32>, tensor<16x32xf32>) -> tensor<32x32xf32>
  %2 = stablehlo.tanh %1 : tensor<32x32xf32>
  %3 = stablehlo.reshape %2 : (tensor<32x32xf32>) -> tensor<4x8x32xf32>
  return %3 : tensor<4x8x32xf32>
}

// What is contracted is reduced over both dims.
// CHECK-LABEL: @gradient
// CHECK: %[[T:.*]] = stablehlo.transpose %arg0, dims = [2, 0, 1]
// CHECK-NEXT: stablehlo.dot_general %[[T]], %arg1, contracting_dims = [1, 2] x [0, 1] : (tensor<16x4x8xf32>, tensor<4x8x5xf32>) -> tensor<16x5xf32>
func.func @gradient(%tokens: tensor<4x8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}, %cotangent: tensor<4x8x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}) -> tensor<16x5xf32> {
  %0 = stablehlo.reshape %tokens : (tensor<4x8x16xf32>) -> tensor<32x16xf32>
  %1 = stablehlo.reshape %cotangent : (tensor<4x8x5xf32>) -> tensor<32x5xf32>
  %2 = stablehlo.transpose %0, dims = [1, 0] : (tensor<32x16xf32>) -> tensor<16x32xf32>
  %3 = stablehlo.dot_general %2, %1, contracting_dims = [1] x [0] : (tensor<16x32xf32>, tensor<32x5xf32>) -> tensor<16x5xf32>
  return %3 : tensor<16x5xf32>
}

// CHECK-LABEL: @loss
// CHECK: %[[LABELS:.*]] = stablehlo.reshape %arg1 : (tensor<4x8xi32>) -> tensor<4x8x1xi32>
// CHECK-NEXT: %[[PICKED:.*]] = "stablehlo.gather"(%arg0, %[[LABELS]]) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [2], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 1], start_index_map = [2], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 1>}>
// CHECK-NEXT: %[[ALL:.*]] = stablehlo.broadcast_in_dim %[[PICKED]], dims = [0, 1] : (tensor<4x8xf32>) -> tensor<4x8x16xf32>
// CHECK-NEXT: %[[LESS:.*]] = stablehlo.subtract %[[ALL]], %arg0
// CHECK-NEXT: stablehlo.reduce(%[[LESS]] init: %{{.*}}) applies stablehlo.add across dimensions = [0, 1, 2]
func.func @loss(%logits: tensor<4x8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}, %labels: tensor<4x8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reshape %logits : (tensor<4x8x16xf32>) -> tensor<32x16xf32>
  %1 = stablehlo.reshape %labels : (tensor<4x8xi32>) -> tensor<32x1xi32>
  %2 = "stablehlo.gather"(%0, %1) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<32x16xf32>, tensor<32x1xi32>) -> tensor<32xf32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<32xf32>) -> tensor<32x16xf32>
  %4 = stablehlo.subtract %3, %0 : tensor<32x16xf32>
  %5 = stablehlo.reduce(%4 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<32x16xf32>, tensor<f32>) -> tensor<f32>
  return %5 : tensor<f32>
}

// CHECK-LABEL: @embedding_gradient
// CHECK: %[[IDS:.*]] = stablehlo.reshape %arg0 : (tensor<4x8xi32>) -> tensor<4x8x1xi32>
// CHECK-NEXT: "stablehlo.scatter"(%{{.*}}, %[[IDS]], %arg1) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>}>
func.func @embedding_gradient(%ids: tensor<4x8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %updates: tensor<4x8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}) -> tensor<50x16xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<50x16xf32>
  %0 = stablehlo.reshape %ids : (tensor<4x8xi32>) -> tensor<32x1xi32>
  %1 = stablehlo.reshape %updates : (tensor<4x8x16xf32>) -> tensor<32x16xf32>
  %2 = "stablehlo.scatter"(%zero, %0, %1) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<50x16xf32>, tensor<32x1xi32>, tensor<32x16xf32>) -> tensor<50x16xf32>
  return %2 : tensor<50x16xf32>
}

// CHECK-LABEL: @other_dims
// CHECK: stablehlo.slice %arg0 [0:4, 0:8, 0:8:2]
// CHECK: stablehlo.pad %{{.*}}, %{{.*}}, low = [0, 0, 1], high = [0, 0, 0], interior = [0, 0, 0]
// CHECK: stablehlo.concatenate %{{.*}}, dim = 2
// CHECK: stablehlo.reverse %{{.*}}, dims = [2] : tensor<4x8x10xf32>
// CHECK: "stablehlo.sort"(%{{.*}}) <{dimension = 2 : i64}>
// CHECK-NOT: stablehlo.reshape
func.func @other_dims(%tokens: tensor<4x8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}) -> tensor<4x8x10xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reshape %tokens : (tensor<4x8x16xf32>) -> tensor<32x16xf32>
  %1 = stablehlo.slice %0 [0:32, 0:8:2] : (tensor<32x16xf32>) -> tensor<32x4xf32>
  %2 = stablehlo.pad %1, %zero, low = [0, 1], high = [0, 0], interior = [0, 0] : (tensor<32x4xf32>, tensor<f32>) -> tensor<32x5xf32>
  %3 = stablehlo.concatenate %2, %2, dim = 1 : (tensor<32x5xf32>, tensor<32x5xf32>) -> tensor<32x10xf32>
  %4 = stablehlo.reverse %3, dims = [1] : tensor<32x10xf32>
  %5 = "stablehlo.sort"(%4) <{dimension = -1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<32x10xf32>) -> tensor<32x10xf32>
  %6 = stablehlo.reshape %5 : (tensor<32x10xf32>) -> tensor<4x8x10xf32>
  return %6 : tensor<4x8x10xf32>
}

// What is repeated is split before that.
// CHECK-LABEL: @joins
// CHECK: %[[MASK:.*]] = stablehlo.reshape %arg2 : (tensor<32xi1>) -> tensor<4x8xi1>
// CHECK-NEXT: %[[MASKS:.*]] = stablehlo.broadcast_in_dim %[[MASK]], dims = [0, 1]
// CHECK-NEXT: %[[BIAS:.*]] = stablehlo.broadcast_in_dim %arg1, dims = [2]
// CHECK-NEXT: stablehlo.select %[[MASKS]], %arg0, %[[BIAS]] : tensor<4x8x16xi1>, tensor<4x8x16xf32>
// CHECK-NOT: stablehlo.broadcast_in_dim
func.func @joins(%tokens: tensor<4x8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}, %bias: tensor<16xf32>, %mask: tensor<32xi1>) -> tensor<4x8x16xf32> {
  %0 = stablehlo.reshape %tokens : (tensor<4x8x16xf32>) -> tensor<32x16xf32>
  %1 = stablehlo.broadcast_in_dim %bias, dims = [1] : (tensor<16xf32>) -> tensor<32x16xf32>
  %2 = stablehlo.broadcast_in_dim %mask, dims = [0] : (tensor<32xi1>) -> tensor<32x16xi1>
  %3 = stablehlo.select %2, %0, %1 : tensor<32x16xi1>, tensor<32x16xf32>
  %4 = stablehlo.reshape %3 : (tensor<32x16xf32>) -> tensor<4x8x16xf32>
  return %4 : tensor<4x8x16xf32>
}

// The other dims that are merged stay so.
// CHECK-LABEL: @heads
// CHECK: %[[H:.*]] = stablehlo.reshape %arg0 : (tensor<4x8x2x16xf32>) -> tensor<4x8x32xf32>
// CHECK-NEXT: %[[N:.*]] = stablehlo.negate %[[H]]
// CHECK-NEXT: return %[[N]]
func.func @heads(%tokens: tensor<4x8x2x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}, {}]>}) -> tensor<4x8x32xf32> {
  %0 = stablehlo.reshape %tokens : (tensor<4x8x2x16xf32>) -> tensor<32x32xf32>
  %1 = stablehlo.negate %0 : tensor<32x32xf32>
  %2 = stablehlo.reshape %1 : (tensor<32x32xf32>) -> tensor<4x8x32xf32>
  return %2 : tensor<4x8x32xf32>
}

// A use that can't have the dim split has it merged.
// CHECK-LABEL: @other_use
// CHECK: %[[N:.*]] = stablehlo.negate %arg0 : tensor<4x8x16xf32>
// CHECK: %[[SUM:.*]] = stablehlo.reduce(%[[N]] init: %{{.*}}) applies stablehlo.add across dimensions = [2]
// CHECK-NEXT: %[[MERGED:.*]] = stablehlo.reshape %[[SUM]] : (tensor<4x8xf32>) -> tensor<32xf32>
// CHECK-NEXT: stablehlo.slice %[[MERGED]] [1:32]
func.func @other_use(%tokens: tensor<4x8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}) -> tensor<31xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reshape %tokens : (tensor<4x8x16xf32>) -> tensor<32x16xf32>
  %1 = stablehlo.negate %0 : tensor<32x16xf32>
  %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<32x16xf32>, tensor<f32>) -> tensor<32xf32>
  %3 = stablehlo.slice %2 [1:32] : (tensor<32xf32>) -> tensor<31xf32>
  return %3 : tensor<31xf32>
}

// Nothing is saved where as much is merged in the end.
// CHECK-LABEL: @as_much
// CHECK: stablehlo.reshape
// CHECK-NEXT: stablehlo.negate %{{.*}} : tensor<32x16xf32>
func.func @as_much(%tokens: tensor<4x8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}) -> tensor<32x16xf32> {
  %0 = stablehlo.reshape %tokens : (tensor<4x8x16xf32>) -> tensor<32x16xf32>
  %1 = stablehlo.negate %0 : tensor<32x16xf32>
  return %1 : tensor<32x16xf32>
}

// Axes of the first dim are those of the merged one too.
// CHECK-LABEL: @first
// CHECK: stablehlo.negate %{{.*}} : tensor<32x16xf32>
func.func @first(%tokens: tensor<4x8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}) -> tensor<4x8x16xf32> {
  %0 = stablehlo.reshape %tokens : (tensor<4x8x16xf32>) -> tensor<32x16xf32>
  %1 = stablehlo.negate %0 : tensor<32x16xf32>
  %2 = stablehlo.reshape %1 : (tensor<32x16xf32>) -> tensor<4x8x16xf32>
  return %2 : tensor<4x8x16xf32>
}

// An op with a sharding of its own is not rewritten.
// CHECK-LABEL: @own_sharding
// CHECK: stablehlo.negate %{{.*}} : tensor<32x16xf32>
func.func @own_sharding(%tokens: tensor<4x8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}) -> tensor<4x8x16xf32> {
  %0 = stablehlo.reshape %tokens : (tensor<4x8x16xf32>) -> tensor<32x16xf32>
  %1 = stablehlo.negate %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<32x16xf32>
  %2 = stablehlo.reshape %1 : (tensor<32x16xf32>) -> tensor<4x8x16xf32>
  return %2 : tensor<4x8x16xf32>
}

// An index counts positions of the merged dim, though the window has them all.
// CHECK-LABEL: @indexed
// CHECK: "stablehlo.gather"(%{{.*}}, %{{.*}}) {{.*}} : (tensor<32x16xf32>, tensor<1xi32>) -> tensor<32x16xf32>
func.func @indexed(%tokens: tensor<4x8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}, %start: tensor<1xi32>) -> tensor<4x8x16xf32> {
  %0 = stablehlo.reshape %tokens : (tensor<4x8x16xf32>) -> tensor<32x16xf32>
  %1 = "stablehlo.gather"(%0, %start) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], start_index_map = [0], index_vector_dim = 0>, slice_sizes = array<i64: 32, 16>}> : (tensor<32x16xf32>, tensor<1xi32>) -> tensor<32x16xf32>
  %2 = stablehlo.reshape %1 : (tensor<32x16xf32>) -> tensor<4x8x16xf32>
  return %2 : tensor<4x8x16xf32>
}

// One operand was split in another dim than the op asks for too: smallest
// program of a fault.
// CHECK-LABEL: @split_in_two_dims
// CHECK: %[[UPDATES:.*]] = stablehlo.reshape %arg2 : (tensor<2x3x4xf32>) -> tensor<2x3x2x2xf32>
// CHECK-NEXT: "stablehlo.scatter"(%{{.*}}, %{{.*}}, %[[UPDATES]])
func.func @split_in_two_dims(%table: tensor<3x2x2x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {"x"}]>}, %ids: tensor<6xi32>, %updates: tensor<2x3x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}) -> tensor<3x2x2x2xf32> {
  %0 = stablehlo.reshape %table : (tensor<3x2x2x2xf32>) -> tensor<3x2x4xf32>
  %1 = stablehlo.reshape %updates : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %2 = stablehlo.reshape %ids : (tensor<6xi32>) -> tensor<6x1xi32>
  %3 = stablehlo.slice %0 [0:3, 0:1, 0:4] : (tensor<3x2x4xf32>) -> tensor<3x1x4xf32>
  %4 = stablehlo.reshape %3 : (tensor<3x1x4xf32>) -> tensor<3x4xf32>
  %5 = "stablehlo.scatter"(%4, %2, %1) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<3x4xf32>, tensor<6x1xi32>, tensor<6x4xf32>) -> tensor<3x4xf32>
  %6 = stablehlo.broadcast_in_dim %5, dims = [0, 2] : (tensor<3x4xf32>) -> tensor<3x2x4xf32>
  %7 = stablehlo.reshape %6 : (tensor<3x2x4xf32>) -> tensor<3x2x2x2xf32>
  return %7 : tensor<3x2x2x2xf32>
}

// A window of a sharded dim has its axes too, though it does not divide.
// CHECK-LABEL: @window
// CHECK: %[[LESS:.*]] = stablehlo.slice %arg0 [0:4, 0:7, 0:16]
// CHECK-NEXT: %[[N:.*]] = stablehlo.negate %[[LESS]] : tensor<4x7x16xf32>
// CHECK-NEXT: return %[[N]]
func.func @window(%tokens: tensor<4x8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}) -> tensor<4x7x16xf32> {
  %0 = stablehlo.slice %tokens [0:4, 0:7, 0:16] : (tensor<4x8x16xf32>) -> tensor<4x7x16xf32>
  %1 = stablehlo.reshape %0 : (tensor<4x7x16xf32>) -> tensor<28x16xf32>
  %2 = stablehlo.negate %1 : tensor<28x16xf32>
  %3 = stablehlo.reshape %2 : (tensor<28x16xf32>) -> tensor<4x7x16xf32>
  return %3 : tensor<4x7x16xf32>
}

// What one device computes has no shardings, its arguments neither.
// CHECK-LABEL: func @on_one_device
func.func @on_one_device(%x: tensor<13x8xf32>, %y: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<104xf32>, tensor<8xf32>) {
  // CHECK: spmd.on_device
  // CHECK: stablehlo.reshape {{.*}} : (tensor<13x8xf32>) -> tensor<104xf32>
  %0 = sdy.constant dense<0.0> : tensor<104xf32>
  %1 = spmd.on_device 1 @mesh(%x) else(%0) {
  ^bb0(%part: tensor<13x8xf32>):
    %2 = stablehlo.reshape %part : (tensor<13x8xf32>) -> tensor<104xf32>
    spmd.return %2 : tensor<104xf32>
  } : (tensor<13x8xf32>, tensor<104xf32>) -> tensor<104xf32>
  return %1, %y : tensor<104xf32>, tensor<8xf32>
}
