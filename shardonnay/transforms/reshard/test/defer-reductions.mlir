// RUN: sdy-opt %s --sdy-defer-reductions | FileCheck %s
// RUN: sdy-opt %s --sdy-defer-reductions=device-model=gpu-node | FileCheck %s --check-prefix=LATENCY

sdy.mesh @mesh = <["d"=2, "m"=4]>

// CHECK-LABEL: func @two_sums_become_one
func.func @two_sums_become_one(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"d"}>}, %arg1: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"d"}>}) -> tensor<8x16xf32> {
  // CHECK: %[[ADD:.*]] = stablehlo.add %arg0, %arg1
  // CHECK-SAME: [<@mesh, [{}, {}], unreduced={"d"}>]
  // CHECK: %[[SUM:.*]] = sdy.reshard %[[ADD]] <@mesh, [{}, {}]>
  // CHECK: return %[[SUM]]
  %0 = sdy.reshard %arg0 <@mesh, [{}, {}]> : tensor<8x16xf32>
  %1 = sdy.reshard %arg1 <@mesh, [{}, {}]> : tensor<8x16xf32>
  %2 = stablehlo.add %0, %1 : tensor<8x16xf32>
  return %2 : tensor<8x16xf32>
}

// A reduce-scatter for each becomes one for both.
// CHECK-LABEL: func @scatters_become_one
func.func @scatters_become_one(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"m"}], unreduced={"d"}>}, %arg1: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"m"}], unreduced={"d"}>}) -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {"m"}]>}) {
  // CHECK: %[[ADD:.*]] = stablehlo.add %arg0, %arg1
  // CHECK-SAME: [<@mesh, [{}, {"m"}], unreduced={"d"}>]
  // CHECK: sdy.reshard %[[ADD]] <@mesh, [{"d"}, {"m"}]>
  // CHECK-NOT: sdy.reshard
  %0 = sdy.reshard %arg0 <@mesh, [{"d"}, {"m"}]> : tensor<8x16xf32>
  %1 = sdy.reshard %arg1 <@mesh, [{"d"}, {"m"}]> : tensor<8x16xf32>
  %2 = stablehlo.add %0, %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"d"}, {"m"}]>]>} : tensor<8x16xf32>
  return %2 : tensor<8x16xf32>
}

// The transpose lets the first sum meet the second.
// CHECK-LABEL: func @meet_behind_a_transpose
func.func @meet_behind_a_transpose(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"d"}>}, %arg1: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"d"}>}) -> tensor<16x8xf32> {
  // CHECK: %[[T:.*]] = stablehlo.transpose %arg0
  // CHECK-SAME: unreduced={"d"}
  // CHECK: %[[ADD:.*]] = stablehlo.add %[[T]], %arg1
  // CHECK: sdy.reshard %[[ADD]] <@mesh, [{}, {}]>
  // CHECK-NOT: sdy.reshard
  %0 = sdy.reshard %arg0 <@mesh, [{}, {}]> : tensor<8x16xf32>
  %1 = sdy.reshard %arg1 <@mesh, [{}, {}]> : tensor<16x8xf32>
  %2 = stablehlo.transpose %0, dims = [1, 0] : (tensor<8x16xf32>) -> tensor<16x8xf32>
  %3 = stablehlo.add %2, %1 : tensor<16x8xf32>
  return %3 : tensor<16x8xf32>
}

// A transpose of the whole sum instead of a shard, to save a reduce-scatter.
// CHECK-LABEL: func @scatters_meet_behind_a_transpose
func.func @scatters_meet_behind_a_transpose(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"d"}>}, %arg1: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"d"}>}) -> (tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {}]>}) {
  // CHECK: %[[T:.*]] = stablehlo.transpose %arg0
  // CHECK-SAME: unreduced={"d"}
  // CHECK: %[[ADD:.*]] = stablehlo.add %[[T]], %arg1
  // CHECK: sdy.reshard %[[ADD]] <@mesh, [{"d"}, {}]>
  // CHECK-NOT: sdy.reshard
  %0 = sdy.reshard %arg0 <@mesh, [{}, {"d"}]> : tensor<8x16xf32>
  %1 = sdy.reshard %arg1 <@mesh, [{"d"}, {}]> : tensor<16x8xf32>
  %2 = stablehlo.transpose %0, dims = [1, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"d"}, {}]>]>} : (tensor<8x16xf32>) -> tensor<16x8xf32>
  %3 = stablehlo.add %2, %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"d"}, {}]>]>} : tensor<16x8xf32>
  return %3 : tensor<16x8xf32>
}

// One is sharded by rows, one by columns: the second moves while partial, in shards.
// CHECK-LABEL: func @moved_to_meet
func.func @moved_to_meet(%arg0: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"m"}, {}], unreduced={"d"}>}, %arg1: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"m"}], unreduced={"d"}>}) -> (tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"m"}, {}]>}) {
  // CHECK: %[[MOVED:.*]] = sdy.reshard %arg1 <@mesh, [{"m"}, {}], unreduced={"d"}>
  // CHECK: %[[ADD:.*]] = stablehlo.add %arg0, %[[MOVED]]
  // CHECK: sdy.reshard %[[ADD]] <@mesh, [{"m"}, {}]>
  // CHECK-NOT: sdy.reshard
  %0 = sdy.reshard %arg0 <@mesh, [{"m"}, {}]> : tensor<64x32xf32>
  %1 = sdy.reshard %arg1 <@mesh, [{"m"}, {}]> : tensor<64x32xf32>
  %2 = stablehlo.add %0, %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"m"}, {}]>]>} : tensor<64x32xf32>
  return %2 : tensor<64x32xf32>
}

// Zeros are partial as they are.
// CHECK-LABEL: func @scatter_into_zeros
func.func @scatter_into_zeros(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"d"}>}, %arg1: tensor<16x1xi32>) -> tensor<16x8xf32> {
  // CHECK: stablehlo.scatter"(%{{.*}}, %arg1, %arg0)
  // CHECK: unreduced={"d"}
  // CHECK: sdy.reshard
  %cst = sdy.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<16x8xf32>
  %1 = sdy.reshard %arg0 <@mesh, [{}, {}]> : tensor<16x8xf32>
  %2 = "stablehlo.scatter"(%0, %arg1, %1) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %3 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %3 : tensor<f32>
  }) : (tensor<16x8xf32>, tensor<16x1xi32>, tensor<16x8xf32>) -> tensor<16x8xf32>
  return %2 : tensor<16x8xf32>
}

// One device alone adds %arg1, so that the two sums become one.
// CHECK-LABEL: func @owner_adds
func.func @owner_adds(%arg0: tensor<8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"m"}], unreduced={"d"}>}, %arg1: tensor<8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"m"}]>}, %arg2: tensor<8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"m"}], unreduced={"d"}>}) -> (tensor<8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"m"}]>}) {
  // CHECK: %[[W:.*]] = sdy.replicated_to_unreduced {"d"} %arg1 out_sharding=<@mesh, [{}, {"m"}], unreduced={"d"}>
  // CHECK: %[[ADD:.*]] = stablehlo.add %arg0, %[[W]]
  // CHECK: %[[SUM:.*]] = stablehlo.subtract %[[ADD]], %arg2
  // CHECK: %[[R:.*]] = sdy.reshard %[[SUM]] <@mesh, [{}, {"m"}]>
  // CHECK: return %[[R]]
  %0 = sdy.reshard %arg0 <@mesh, [{}, {"m"}]> : tensor<8x64xf32>
  %1 = sdy.reshard %arg2 <@mesh, [{}, {"m"}]> : tensor<8x64xf32>
  %2 = stablehlo.add %0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"m"}]>]>} : tensor<8x64xf32>
  %3 = stablehlo.subtract %2, %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"m"}]>]>} : tensor<8x64xf32>
  return %3 : tensor<8x64xf32>
}

// Both have an addend of their own: a vector and a number.
// CHECK-LABEL: func @both_have_an_owner
func.func @both_have_an_owner(%arg0: tensor<8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"d"}>}, %arg1: tensor<64xf32>, %arg2: tensor<8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"d"}>}) -> tensor<8x64xf32> {
  // CHECK: %[[C:.*]] = sdy.constant
  // CHECK: %[[B:.*]] = stablehlo.broadcast_in_dim %arg1
  // CHECK: %[[OB:.*]] = sdy.replicated_to_unreduced {"d"} %[[B]]
  // CHECK: %[[L:.*]] = stablehlo.add %arg0, %[[OB]]
  // CHECK: %[[OC:.*]] = sdy.replicated_to_unreduced {"d"} %[[C]]
  // CHECK: %[[R:.*]] = stablehlo.add %arg2, %[[OC]]
  // CHECK: stablehlo.add %[[L]], %[[R]]
  // CHECK: sdy.reshard
  // CHECK-NOT: sdy.reshard
  %c = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} dense<2.0> : tensor<8x64xf32>
  %b = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<64xf32>) -> tensor<8x64xf32>
  %0 = sdy.reshard %arg0 <@mesh, [{}, {}]> : tensor<8x64xf32>
  %1 = sdy.reshard %arg2 <@mesh, [{}, {}]> : tensor<8x64xf32>
  %2 = stablehlo.add %0, %b : tensor<8x64xf32>
  %3 = stablehlo.add %1, %c : tensor<8x64xf32>
  %4 = stablehlo.add %2, %3 : tensor<8x64xf32>
  return %4 : tensor<8x64xf32>
}

// A product of two sums is no sum of products: nothing to meet, but one sum
// may be reduced behind it.
// CHECK-LABEL: func @meets_a_product
func.func @meets_a_product(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"d"}>}, %arg1: tensor<8xf32>, %arg2: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"d"}>}) -> tensor<8xf32> {
  // CHECK-NOT: replicated_to_unreduced
  %0 = sdy.reshard %arg0 <@mesh, [{}]> : tensor<8xf32>
  %1 = sdy.reshard %arg2 <@mesh, [{}]> : tensor<8xf32>
  %2 = stablehlo.add %0, %arg1 : tensor<8xf32>
  %3 = stablehlo.multiply %2, %1 : tensor<8xf32>
  return %3 : tensor<8xf32>
}

// Every device would add %arg1, and one alone would save nothing.
// CHECK-LABEL: func @one_summand_is_not_enough
func.func @one_summand_is_not_enough(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"d"}>}, %arg1: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: %[[R:.*]] = sdy.reshard %arg0 <@mesh, [{}]>
  // CHECK: stablehlo.add %[[R]], %arg1
  %0 = sdy.reshard %arg0 <@mesh, [{}]> : tensor<8xf32>
  %1 = stablehlo.add %0, %arg1 : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// CHECK-LABEL: func @not_linear
func.func @not_linear(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"d"}>}) -> tensor<8xf32> {
  // CHECK: sdy.reshard %arg0 <@mesh, [{}]>
  // CHECK: stablehlo.exponential
  %0 = sdy.reshard %arg0 <@mesh, [{}]> : tensor<8xf32>
  %1 = stablehlo.exponential %0 : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// A broadcast would make the reduction larger.
// CHECK-LABEL: func @not_larger
func.func @not_larger(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"d"}>}) -> tensor<8x16xf32> {
  // CHECK: sdy.reshard %arg0 <@mesh, [{}]>
  // CHECK: stablehlo.broadcast_in_dim
  %0 = sdy.reshard %arg0 <@mesh, [{}]> : tensor<8xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<8xf32>) -> tensor<8x16xf32>
  return %1 : tensor<8x16xf32>
}

// An argument in another device order comes first; the sums are not on its mesh.
sdy.mesh @reversed = <["x"=2, "y"=4], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>
sdy.mesh @ordered = <["x"=2, "y"=4]>
// CHECK-LABEL: func @argument_in_another_order
func.func @argument_in_another_order(%arg0: tensor<12x8xf32> {sdy.sharding = #sdy.sharding<@reversed, [{"x"}, {"y"}]>}, %arg1: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@ordered, [{"y"}, {}]>}) -> (tensor<6x12xf32> {sdy.sharding = #sdy.sharding<@ordered, [{}, {"x"}]>}) {
  %0 = sdy.reshard %arg0 <@ordered, [{"x"}, {"y"}]> : tensor<12x8xf32>
  %1 = stablehlo.dot_general %0, %arg1, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@ordered, [{"x"}, {}], unreduced={"y"}>]>} : (tensor<12x8xf32>, tensor<8x6xf32>) -> tensor<12x6xf32>
  %2 = sdy.reshard %1 <@ordered, [{"x"}, {}]> : tensor<12x6xf32>
  // CHECK: %[[T:.*]] = stablehlo.transpose {{.*}}<@ordered, [{}, {"x"}], unreduced={"y"}>
  // CHECK: sdy.reshard %[[T]] <@ordered, [{}, {"x"}]>
  %3 = stablehlo.transpose %2, dims = [1, 0] {sdy.sharding = #sdy.sharding_per_value<[<@ordered, [{}, {"x"}]>]>} : (tensor<12x6xf32>) -> tensor<6x12xf32>
  return %3 : tensor<6x12xf32>
}

// A pad makes the sum a little dearer, what follows much cheaper.
// CHECK-LABEL: func @pad_before_a_reduction
func.func @pad_before_a_reduction(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"d"}>}, %mask: tensor<8x17xf32>) -> tensor<8xf32> {
  // CHECK: %[[P:.*]] = stablehlo.pad %arg0
  // CHECK-SAME: unreduced={"d"}
  // CHECK: %[[M:.*]] = stablehlo.multiply %[[P]], %arg1
  // CHECK: %[[R:.*]] = stablehlo.reduce(%[[M]]
  // CHECK-SAME: unreduced={"d"}
  // CHECK: sdy.reshard %[[R]] <@mesh, [{}]>
  %z = sdy.constant dense<0.0> : tensor<f32>
  %0 = sdy.reshard %arg0 <@mesh, [{}, {}]> : tensor<8x16xf32>
  %1 = stablehlo.pad %0, %z, low = [0, 1], high = [0, 0], interior = [0, 0] : (tensor<8x16xf32>, tensor<f32>) -> tensor<8x17xf32>
  %2 = stablehlo.multiply %1, %mask : tensor<8x17xf32>
  %3 = stablehlo.reduce(%2 init: %z) applies stablehlo.add across dimensions = [1] : (tensor<8x17xf32>, tensor<f32>) -> tensor<8xf32>
  return %3 : tensor<8xf32>
}

// Nothing that follows is cheaper, or passes parts on.
// CHECK-LABEL: func @pad_before_others
func.func @pad_before_others(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"d"}>}, %mask: tensor<8x17xf32>) -> (tensor<8x17xf32>, tensor<8xf32>) {
  // CHECK: sdy.reshard %arg0 <@mesh, [{}, {}]>
  // CHECK: stablehlo.multiply
  // CHECK: sdy.reshard %arg0 <@mesh, [{}, {}]>
  // CHECK: stablehlo.reduce
  %z = sdy.constant dense<0.0> : tensor<f32>
  %0 = sdy.reshard %arg0 <@mesh, [{}, {}]> : tensor<8x16xf32>
  %1 = stablehlo.pad %0, %z, low = [0, 1], high = [0, 0], interior = [0, 0] : (tensor<8x16xf32>, tensor<f32>) -> tensor<8x17xf32>
  %2 = stablehlo.multiply %1, %mask : tensor<8x17xf32>
  %3 = sdy.reshard %arg0 <@mesh, [{}, {}]> : tensor<8x16xf32>
  %4 = stablehlo.pad %3, %z, low = [0, 1], high = [0, 0], interior = [0, 0] : (tensor<8x16xf32>, tensor<f32>) -> tensor<8x17xf32>
  %5 = stablehlo.exponential %4 : tensor<8x17xf32>
  %6 = stablehlo.reduce(%5 init: %z) applies stablehlo.add across dimensions = [1] : (tensor<8x17xf32>, tensor<f32>) -> tensor<8xf32>
  return %2, %6 : tensor<8x17xf32>, tensor<8xf32>
}

// The other factor is passed on in parts, along another axis.
// CHECK-LABEL: func @product_of_parts
func.func @product_of_parts(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"d"}>}, %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"m"}>}) -> tensor<8xf32> {
  // CHECK-NEXT: %[[R:.*]] = sdy.reshard %arg1 <@mesh, [{}]>
  // CHECK-NEXT: stablehlo.multiply %arg0, %[[R]] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"d"}>]>}
  %0 = sdy.reshard %arg1 <@mesh, [{}]> : tensor<8xf32>
  %1 = stablehlo.multiply %arg0, %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"d"}>]>} : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// A row's sum is reduced before it is repeated: of a model with latency a reduce-scatter of what is repeated takes fewer steps, but a
// device would make all of it.
// CHECK-LABEL: func @repeated
// LATENCY-LABEL: func @repeated
func.func @repeated(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"m"}>}) -> (tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"m"}]>}) {
  // CHECK-NEXT: %[[R:.*]] = sdy.reshard %arg0 <@mesh, [{}]>
  // CHECK-NEXT: stablehlo.broadcast_in_dim %[[R]]
  // LATENCY-NEXT: sdy.reshard %arg0 <@mesh, [{}]>
  // LATENCY-NEXT: stablehlo.broadcast_in_dim
  %0 = sdy.reshard %arg0 <@mesh, [{}]> : tensor<8xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"m"}]>]>} : (tensor<8xf32>) -> tensor<8x32xf32>
  return %1 : tensor<8x32xf32>
}
