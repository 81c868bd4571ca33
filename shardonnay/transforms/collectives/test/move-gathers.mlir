// RUN: sdy-opt %s --sdy-move-gathers | FileCheck %s
// RUN: echo '{"name": "slow memory", "bandwidth": 4e9, "latency": 2e-6, "flops": 5e10, "memory_bandwidth": 5e9}' > %t.json
// RUN: sdy-opt %s --sdy-move-gathers=device-model=%t.json | FileCheck %s --check-prefix=SLOW

sdy.mesh @mesh = <["x"=2, "y"=4]>

// CHECK-LABEL: func @narrowed
func.func @narrowed(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xbf16> {
  // CHECK-NEXT: %[[C:.*]] = stablehlo.convert %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
  // CHECK-NEXT: %[[R:.*]] = sdy.all_gather [{"x"}, {}] %[[C]] out_sharding=<@mesh, [{}, {}]>
  // CHECK-NEXT: return %[[R]]
  %0 = sdy.all_gather [{"x"}, {}] %arg0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %1 = stablehlo.convert %0 : (tensor<8x8xf32>) -> tensor<8x8xbf16>
  return %1 : tensor<8x8xbf16>
}

// CHECK-LABEL: func @widened
func.func @widened(%arg0: tensor<8x8xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  // CHECK-NEXT: %[[G:.*]] = sdy.all_gather [{"x"}, {}] %arg0
  // CHECK-NEXT: %[[C:.*]] = stablehlo.convert %[[G]]
  // CHECK-NEXT: return %[[C]]
  %0 = sdy.all_gather [{"x"}, {}] %arg0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xbf16>
  %1 = stablehlo.convert %0 : (tensor<8x8xbf16>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// Sending half is worth touching more memory where that is fast.
// CHECK-LABEL: func @widened_before
// SLOW-LABEL: func @widened_before
func.func @widened_before(%arg0: tensor<4096x64xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> tensor<4096x64xf32> {
  // CHECK-NEXT: %[[G:.*]] = sdy.all_gather [{"y"}, {}] %arg0
  // CHECK-NEXT: %[[C:.*]] = stablehlo.convert %[[G]] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>}
  // CHECK-NEXT: return %[[C]]
  // SLOW-NEXT: stablehlo.convert
  // SLOW-NEXT: sdy.all_gather
  %0 = stablehlo.convert %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>} : (tensor<4096x64xbf16>) -> tensor<4096x64xf32>
  %1 = sdy.all_gather [{"y"}, {}] %0 out_sharding=<@mesh, [{}, {}]> : tensor<4096x64xf32>
  return %1 : tensor<4096x64xf32>
}

// Two gathers become one.
// CHECK-LABEL: func @both
func.func @both(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  // CHECK-NEXT: %[[M:.*]] = stablehlo.multiply %arg0, %arg1
  // CHECK-NEXT: %[[R:.*]] = sdy.all_gather [{"x"}, {}] %[[M]]
  // CHECK-NEXT: return %[[R]]
  %0 = sdy.all_gather [{"x"}, {}] %arg0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %1 = sdy.all_gather [{"x"}, {}] %arg1 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}

// A whole operand is sliced.
// CHECK-LABEL: func @transposed_and_added
func.func @transposed_and_added(%arg0: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // CHECK-NEXT: %[[T:.*]] = stablehlo.transpose %arg0, dims = [1, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>}
  // CHECK-NEXT: %[[S:.*]] = sdy.all_slice [{}, {"x"}] %arg1
  // CHECK-NEXT: %[[A:.*]] = stablehlo.add %[[T]], %[[S]]
  // CHECK-NEXT: %[[R:.*]] = sdy.all_gather [{}, {"x"}] %[[A]]
  // CHECK-NEXT: return %[[R]]
  %0 = sdy.all_gather [{"x"}, {}] %arg0 out_sharding=<@mesh, [{}, {}]> : tensor<4x8xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %2 = stablehlo.add %1, %arg1 : tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}

// A larger result is not gathered in the place of a smaller operand.
// CHECK-LABEL: func @repeated
func.func @repeated(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8x64xf32> {
  // CHECK-NEXT: sdy.all_gather
  // CHECK-NEXT: stablehlo.broadcast_in_dim
  %0 = sdy.all_gather [{"x"}] %arg0 out_sharding=<@mesh, [{}]> : tensor<8xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<8xf32>) -> tensor<8x64xf32>
  return %1 : tensor<8x64xf32>
}

// An axis of 6 has no splitting with both (1)2 and (3)2: the scatter cannot sum
// over the one and keep the other, though neither reaches into the other.
sdy.mesh @six = <["y"=6]>
// CHECK-LABEL: func @parts_that_do_not_coexist
func.func @parts_that_do_not_coexist(%arg0: tensor<16x7xi8> {sdy.sharding = #sdy.sharding<@six, [{"y":(3)2}, {}]>}, %arg1: tensor<4x0x8xi8> {sdy.sharding = #sdy.sharding<@six, [{"y":(1)2}, {}, {}]>}, %arg2: tensor<4x4x4x8xi8>) -> (tensor<16x7xi8> {sdy.sharding = #sdy.sharding<@six, [{"y":(3)2}, {}]>}) {
  // CHECK-NEXT: %[[I:.*]] = sdy.all_gather [{"y":(1)2}, {}, {}] %arg1
  // CHECK-NEXT: "stablehlo.scatter"(%arg0, %[[I]], %arg2)
  %0 = sdy.all_gather [{"y":(1)2}, {}, {}] %arg1 out_sharding=<@six, [{}, {}, {}]> : tensor<4x0x8xi8>
  %1 = "stablehlo.scatter"(%arg0, %0, %arg2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<i8>, %b: tensor<i8>):
    %2 = stablehlo.add %a, %b : tensor<i8>
    stablehlo.return %2 : tensor<i8>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@six, [{"y":(3)2}, {}]>]>} : (tensor<16x7xi8>, tensor<4x0x8xi8>, tensor<4x4x4x8xi8>) -> tensor<16x7xi8>
  return %1 : tensor<16x7xi8>
}

// Behind a reshape there is as much to gather as before it, before the
// broadcast less.
// CHECK-LABEL: func @repeated_and_reshaped
func.func @repeated_and_reshaped(%arg0: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> tensor<1x16x64xf32> {
  // CHECK-NEXT: %[[G:.*]] = sdy.all_gather [{"y"}] %arg0 out_sharding=<@mesh, [{}]>
  // CHECK-NEXT: %[[B:.*]] = stablehlo.broadcast_in_dim %[[G]], dims = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>}
  // CHECK-NEXT: %[[R:.*]] = stablehlo.reshape %[[B]] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}, {}]>]>}
  // CHECK-NEXT: return %[[R]]
  %0 = stablehlo.broadcast_in_dim %arg0, dims = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>} : (tensor<16xf32>) -> tensor<16x64xf32>
  %1 = stablehlo.reshape %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}, {}]>]>} : (tensor<16x64xf32>) -> tensor<1x16x64xf32>
  %2 = sdy.all_gather [{}, {"y"}, {}] %1 out_sharding=<@mesh, [{}, {}, {}]> : tensor<1x16x64xf32>
  return %2 : tensor<1x16x64xf32>
}

// What is repeated has another use on its shards: two of it would be made.
// CHECK-LABEL: func @repeated_for_another
func.func @repeated_for_another(%arg0: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> (tensor<1x16x64xf32>, tensor<16x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) {
  // CHECK-NEXT: stablehlo.broadcast_in_dim %arg0
  // CHECK-NEXT: stablehlo.reshape
  // CHECK-NEXT: sdy.all_gather
  %0 = stablehlo.broadcast_in_dim %arg0, dims = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>} : (tensor<16xf32>) -> tensor<16x64xf32>
  %1 = stablehlo.reshape %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}, {}]>]>} : (tensor<16x64xf32>) -> tensor<1x16x64xf32>
  %2 = sdy.all_gather [{}, {"y"}, {}] %1 out_sharding=<@mesh, [{}, {}, {}]> : tensor<1x16x64xf32>
  return %2, %0 : tensor<1x16x64xf32>, tensor<16x64xf32>
}

// An all_to_all of what is repeated is a gather of the operand.
// CHECK-LABEL: func @repeated_and_dealt
func.func @repeated_and_dealt(%arg0: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) {
  // CHECK-NEXT: %[[G:.*]] = sdy.all_gather [{"y"}] %arg0 out_sharding=<@mesh, [{}]>
  // CHECK-NEXT: %[[B:.*]] = stablehlo.broadcast_in_dim %[[G]], dims = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>}
  // CHECK-NEXT: return %[[B]]
  %0 = stablehlo.broadcast_in_dim %arg0, dims = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>} : (tensor<16xf32>) -> tensor<8x16xf32>
  %1 = sdy.all_to_all [{"y"}: 1->0] %0 out_sharding=<@mesh, [{"y"}, {}]> : tensor<8x16xf32>
  return %1 : tensor<8x16xf32>
}

// So is a permute of it.
// CHECK-LABEL: func @repeated_and_permuted
func.func @repeated_and_permuted(%arg0: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}]>}) -> (tensor<16x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "x"}, {}]>}) {
  // CHECK-NEXT: %[[P:.*]] = sdy.collective_permute %arg0 out_sharding=<@mesh, [{"y", "x"}]>
  // CHECK-NEXT: stablehlo.broadcast_in_dim %[[P]]
  %0 = stablehlo.broadcast_in_dim %arg0, dims = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", "y"}, {}]>]>} : (tensor<16xf32>) -> tensor<16x64xf32>
  %1 = sdy.collective_permute %0 out_sharding=<@mesh, [{"y", "x"}, {}]> : tensor<16x64xf32>
  return %1 : tensor<16x64xf32>
}

// Before the reshapes stands another collective: one does for both.
// CHECK-LABEL: func @scattered_and_gathered
func.func @scattered_and_gathered(%arg0: tensor<32x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> tensor<4x4xf32> {
  // CHECK: %[[S:.*]] = stablehlo.reduce
  // CHECK-NEXT: %[[A:.*]] = sdy.all_reduce {"y"} %[[S]] out_sharding=<@mesh, [{}]>
  // CHECK-NEXT: %[[R:.*]] = stablehlo.reshape %[[A]] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>}
  // CHECK-NEXT: %[[T:.*]] = stablehlo.transpose %[[R]], dims = [1, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>}
  // CHECK-NEXT: return %[[T]]
  %zero = sdy.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%arg0 init: %zero) applies stablehlo.add across dimensions = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"y"}>]>} : (tensor<32x16xf32>, tensor<f32>) -> tensor<16xf32>
  %1 = sdy.reduce_scatter [{"y"}] %0 out_sharding=<@mesh, [{"y"}]> : tensor<16xf32>
  %2 = stablehlo.reshape %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>} : (tensor<16xf32>) -> tensor<4x4xf32>
  %3 = stablehlo.transpose %2, dims = [1, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = sdy.all_gather [{}, {"y"}] %3 out_sharding=<@mesh, [{}, {}]> : tensor<4x4xf32>
  return %4 : tensor<4x4xf32>
}

// The shards have another reader.
// CHECK-LABEL: func @scattered_for_another
func.func @scattered_for_another(%arg0: tensor<32x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> (tensor<4x4xf32>, tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
  // CHECK: sdy.reduce_scatter
  // CHECK: sdy.all_gather
  %zero = sdy.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%arg0 init: %zero) applies stablehlo.add across dimensions = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"y"}>]>} : (tensor<32x16xf32>, tensor<f32>) -> tensor<16xf32>
  %1 = sdy.reduce_scatter [{"y"}] %0 out_sharding=<@mesh, [{"y"}]> : tensor<16xf32>
  %2 = stablehlo.reshape %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>} : (tensor<16xf32>) -> tensor<4x4xf32>
  %3 = sdy.all_gather [{"y"}, {}] %2 out_sharding=<@mesh, [{}, {}]> : tensor<4x4xf32>
  return %3, %1 : tensor<4x4xf32>, tensor<16xf32>
}

// What stands between is computed on shards, and would be on all devices.
// CHECK-LABEL: func @computed_on_shards
func.func @computed_on_shards(%arg0: tensor<32x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> tensor<16xf32> {
  // CHECK: sdy.reduce_scatter
  // CHECK: sdy.all_gather
  %zero = sdy.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%arg0 init: %zero) applies stablehlo.add across dimensions = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"y"}>]>} : (tensor<32x16xf32>, tensor<f32>) -> tensor<16xf32>
  %1 = sdy.reduce_scatter [{"y"}] %0 out_sharding=<@mesh, [{"y"}]> : tensor<16xf32>
  %2 = stablehlo.tanh %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : tensor<16xf32>
  %3 = sdy.all_gather [{"y"}] %2 out_sharding=<@mesh, [{}]> : tensor<16xf32>
  return %3 : tensor<16xf32>
}

// CHECK-LABEL: func @reversed_on_shards
func.func @reversed_on_shards(%arg0: tensor<16x4xf32>) -> tensor<4x16xf32> {
  // CHECK: sdy.all_slice
  // CHECK: sdy.all_gather
  %0 = sdy.all_slice [{"y"}, {}] %arg0 out_sharding=<@mesh, [{"y"}, {}]> : tensor<16x4xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>} : (tensor<16x4xf32>) -> tensor<4x16xf32>
  %2 = sdy.all_gather [{}, {"y"}] %1 out_sharding=<@mesh, [{}, {}]> : tensor<4x16xf32>
  return %2 : tensor<4x16xf32>
}
