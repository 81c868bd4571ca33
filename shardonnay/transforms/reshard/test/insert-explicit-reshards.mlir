// RUN: sdy-opt %s -allow-unregistered-dialect --sdy-insert-explicit-reshards=enable-full-version=true | FileCheck %s

sdy.mesh @mesh = <["d"=2, "m"=4]>

// CHECK-LABEL: func @agreement
// CHECK-NOT: sdy.reshard
func.func @agreement(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {}]>}, %arg1: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"m"}]>}) -> (tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {"m"}]>}) {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"d"}, {"m"}]>]>} : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  return %0 : tensor<8x32xf32>
}

// CHECK-LABEL: func @partial_result
func.func @partial_result(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"m"}]>}, %arg1: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"m"}, {}]>}) -> tensor<8x32xf32> {
  // CHECK: %[[DOT:.*]] = stablehlo.dot_general %arg0, %arg1
  // CHECK-SAME: [<@mesh, [{}, {}], unreduced={"m"}>]
  // CHECK: %[[SUM:.*]] = sdy.reshard %[[DOT]] <@mesh, [{}, {}]>
  // CHECK: return %[[SUM]]
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  return %0 : tensor<8x32xf32>
}

// Of three tensors two are sharded by rows: the weight, though the largest, moves.
// CHECK-LABEL: func @gathers_weight
func.func @gathers_weight(%arg0: tensor<8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {}]>}, %arg1: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {}]>}) -> (tensor<8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {}]>}) {
  // CHECK: %[[W:.*]] = sdy.reshard %arg1 <@mesh, [{}, {}]>
  // CHECK: stablehlo.dot_general %arg0, %[[W]]
  // CHECK-NOT: sdy.reshard
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"d"}, {}]>]>} : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
  return %0 : tensor<8x64xf32>
}

// CHECK-LABEL: func @scatters_gradient
func.func @scatters_gradient(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {}]>}, %arg1: tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {}]>}) -> (tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {}]>}) {
  // CHECK: %[[DOT:.*]] = stablehlo.dot_general %arg0, %arg1
  // CHECK-SAME: [<@mesh, [{}, {}], unreduced={"d"}>]
  // CHECK: sdy.reshard %[[DOT]] <@mesh, [{"d"}, {}]>
  // CHECK-NOT: sdy.reshard
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [0] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"d"}, {}]>]>} : (tensor<8x16xf32>, tensor<8x32xf32>) -> tensor<16x32xf32>
  return %0 : tensor<16x32xf32>
}

// CHECK-LABEL: func @one_reshard_for_all_uses
func.func @one_reshard_for_all_uses(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"m"}, {}]>}) -> (tensor<8x16xf32>, tensor<8x16xf32>) {
  // CHECK: %[[R:.*]] = sdy.reshard %arg0 <@mesh, [{}, {}]>
  // CHECK-NOT: sdy.reshard
  // CHECK: return %[[R]], %[[R]]
  return %arg0, %arg0 : tensor<8x16xf32>, tensor<8x16xf32>
}

// Partial along "m" and wanted sharded by it.
// CHECK-LABEL: func @max_is_a_kind
func.func @max_is_a_kind(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"m"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"m"}]>}) {
  %cst = sdy.constant dense<0xFF800000> : tensor<f32>
  // CHECK: stablehlo.reduce
  // CHECK-SAME: [<@mesh, [{}], unreduced=max{"m"}>]
  // CHECK: sdy.reshard %{{.*}} <@mesh, [{"m"}]>
  // CHECK-NOT: sdy.reshard
  %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Two rows on four devices. Their elements in one dim would be sharded otherwise: the constant is not computed in the result's layout.
// CHECK-LABEL: func @constant_that_cannot_follow
func.func @constant_that_cannot_follow() -> (tensor<2x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"m"}, {}]>}) {
  // CHECK: %[[R:.*]] = stablehlo.reshape %{{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"m":(1)2}, {}]>]>}
  // CHECK: sdy.reshard %[[R]] <@mesh, [{"m"}, {}]>
  %cst = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"m":(1)2}]>]>} dense<0.0> : tensor<16xf32>
  %0 = stablehlo.reshape %cst {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"m":(1)2}, {}]>]>} : (tensor<16xf32>) -> tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}

// CHECK-LABEL: func @constants_are_computed_again
func.func @constants_are_computed_again(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {}]>}) -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {}]>}) {
  // CHECK-NOT: sdy.reshard
  // CHECK: %[[C:.*]] = sdy.constant
  // CHECK-SAME: [<@mesh, [{"d"}]>]
  // CHECK: %[[B:.*]] = stablehlo.broadcast_in_dim %[[C]]
  // CHECK-SAME: [<@mesh, [{"d"}, {}]>]
  // CHECK: stablehlo.add %arg0, %[[B]]
  // CHECK-NOT: sdy.reshard
  %cst = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"m"}]>]>} dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<8xf32>
  %0 = stablehlo.broadcast_in_dim %cst, dims = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"m"}, {}]>]>} : (tensor<8xf32>) -> tensor<8x16xf32>
  %1 = stablehlo.add %arg0, %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"d"}, {}]>]>} : tensor<8x16xf32>
  return %1 : tensor<8x16xf32>
}

// CHECK-LABEL: func @sources_of_data_flow
func.func @sources_of_data_flow(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"m"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}]>}) {
  // CHECK: %[[R:.*]] = sdy.reshard %arg0 <@mesh, [{"d"}]>
  // CHECK: stablehlo.optimization_barrier
  // CHECK-SAME: %[[R]]
  %0 = stablehlo.optimization_barrier {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"d"}]>]>} %arg0 : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// The dim that is sorted can't be sharded; its axis goes to the other one.
// CHECK-LABEL: func @axes_of_a_whole_dim_move
func.func @axes_of_a_whole_dim_move(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"m"}]>}) -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"m"}]>}) {
  // CHECK: %[[R:.*]] = sdy.reshard %arg0 <@mesh, [{"m"}, {}]>
  // CHECK: %[[S:.*]] = "test.sort"(%[[R]])
  // CHECK-SAME: [<@mesh, [{"m"}, {}]>]
  // CHECK: sdy.reshard %[[S]] <@mesh, [{}, {"m"}]>
  %0 = "test.sort"(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"m"}]>]>, sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=16} need_replication={j}, custom>} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// A negation could be computed on shards; the user wants one dim whole.
// CHECK-LABEL: func @dim_that_the_user_wants_whole
func.func @dim_that_the_user_wants_whole(%arg0: tensor<8192x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"m"}]>}) -> (tensor<8192x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"m"}]>}) {
  // CHECK: %[[R:.*]] = sdy.reshard %arg0 <@mesh, [{"m"}, {}]>
  // CHECK: %[[N:.*]] = stablehlo.negate %[[R]] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"m"}, {}]>]>
  // CHECK: sdy.reshard %[[N]] <@mesh, [{}, {"m"}]>
  %0 = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"m"}]>]>, sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8192, j=16} need_replication={j}, custom>} : tensor<8192x16xf32>
  return %0 : tensor<8192x16xf32>
}

// A few numbers are ordered on each device: one gather, and no way back.
// CHECK-LABEL: func @little_work_is_repeated
func.func @little_work_is_repeated(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"m"}]>}) -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"m"}]>}) {
  // CHECK: %[[R:.*]] = sdy.reshard %arg0 <@mesh, [{}, {}]>
  // CHECK: %[[S:.*]] = {{.*}}stablehlo.sort
  // CHECK: sdy.reshard %[[S]] <@mesh, [{}, {"m"}]>
  %0 = "stablehlo.sort"(%arg0) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"m"}]>]>} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// Many are not: each device orders its rows.
// CHECK-LABEL: func @much_work_is_not
func.func @much_work_is_not(%arg0: tensor<8192x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"m"}]>}) -> (tensor<8192x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"m"}]>}) {
  // CHECK: %[[R:.*]] = sdy.reshard %arg0 <@mesh, [{"m"}, {}]>
  // CHECK: %[[S:.*]] = {{.*}}stablehlo.sort
  // CHECK: sdy.reshard %[[S]] <@mesh, [{}, {"m"}]>
  %0 = "stablehlo.sort"(%arg0) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"m"}]>]>} : (tensor<8192x4096xf32>) -> tensor<8192x4096xf32>
  return %0 : tensor<8192x4096xf32>
}

// Only the last of a chain of layouts is seen: one reshard.
// CHECK-LABEL: func @chains_merge
func.func @chains_merge(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"m"}]>}, %arg1: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"m"}, {}]>}) -> (tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"m"}, {}]>}) {
  // CHECK: %[[DOT:.*]] = stablehlo.dot_general
  // CHECK: %[[R:.*]] = sdy.reshard %[[DOT]] <@mesh, [{"m"}, {}]>
  // CHECK-NEXT: return %[[R]]
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  return %0 : tensor<8x32xf32>
}

// No use keeps the dot's columns sharded: its rows are, and the weight is gathered.
// CHECK-LABEL: func @wanted_by_uses
func.func @wanted_by_uses(%arg0: tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {}]>}, %arg1: tensor<128x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {}]>}, %arg2: tensor<8x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {}]>}) -> (tensor<8x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {}]>}) {
  // CHECK: %[[W:.*]] = sdy.reshard %arg1 <@mesh, [{}, {}]>
  // CHECK: stablehlo.dot_general %arg0, %[[W]]
  // CHECK-NOT: sdy.reshard
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"d"}]>]>} : (tensor<8x32xf32>, tensor<128x32xf32>) -> tensor<8x128xf32>
  %1 = stablehlo.multiply %0, %arg2 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"d"}, {}]>]>} : tensor<8x128xf32>
  return %1 : tensor<8x128xf32>
}

// A written rule does not say that this is a maximum.
// CHECK-LABEL: func @combiner_is_the_ops
func.func @combiner_is_the_ops(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"m"}]>}) -> (tensor<8xf32>, tensor<8xf32>) {
  %cst = sdy.constant dense<0xFF800000> : tensor<f32>
  // CHECK: stablehlo.reduce
  // CHECK-SAME: unreduced=max{"m"}
  %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [])->([i]) {i=8, j=16} reduction={j}>} : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
  // CHECK: stablehlo.reduce
  // CHECK-SAME: unreduced=max{"m"}
  %1 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [])->([i]) {i=8, j=16} reduction={j}, custom>} : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// Each dot alone would turn its activation around; all of them gather the
// weight, once.
// CHECK-LABEL: func @shared_weight
func.func @shared_weight(%w: tensor<32x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d", "m"}, {}]>}, %a: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d", "m"}, {}]>}, %b: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d", "m"}, {}]>}, %c: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d", "m"}, {}]>}, %e: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d", "m"}, {}]>}) -> (tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d", "m"}, {}]>}, tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d", "m"}, {}]>}, tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d", "m"}, {}]>}, tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d", "m"}, {}]>}) {
  // CHECK: %[[W:.*]] = sdy.reshard %arg0 <@mesh, [{}, {}]>
  // CHECK-NEXT: stablehlo.dot_general %arg1, %[[W]]
  // CHECK-NEXT: stablehlo.dot_general %arg2, %[[W]]
  // CHECK-NEXT: stablehlo.dot_general %arg3, %[[W]]
  // CHECK-NEXT: stablehlo.dot_general %arg4, %[[W]]
  // CHECK-NEXT: return
  %0 = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"d", "m"}, {}]>]>} : (tensor<16x32xf32>, tensor<32x8xf32>) -> tensor<16x8xf32>
  %1 = stablehlo.dot_general %b, %w, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"d", "m"}, {}]>]>} : (tensor<16x32xf32>, tensor<32x8xf32>) -> tensor<16x8xf32>
  %2 = stablehlo.dot_general %c, %w, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"d", "m"}, {}]>]>} : (tensor<16x32xf32>, tensor<32x8xf32>) -> tensor<16x8xf32>
  %3 = stablehlo.dot_general %e, %w, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"d", "m"}, {}]>]>} : (tensor<16x32xf32>, tensor<32x8xf32>) -> tensor<16x8xf32>
  return %0, %1, %2, %3 : tensor<16x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>
}

// Behind propagation a barrier is its operand: the gather stands where the value is wanted whole.
// CHECK-LABEL: func @barrier
func.func @barrier(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  // CHECK-NEXT: %[[A:.*]] = sdy.reshard %arg0 <@mesh, [{}, {}]>
  // CHECK-NEXT: return %[[A]]
  %0 = sdy.propagation_barrier %arg0 allowed_direction=NONE : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// Sums that the user gives and wants in parts stay in parts through what is linear.
// CHECK-LABEL: func @kept_parts
func.func @kept_parts(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {}], unreduced={"m"}>}, %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"d", "m"}>}) {
  // CHECK: %[[SCALED:.*]] = stablehlo.multiply %arg0, %arg1 {{.*}}unreduced={"m"}
  %0 = stablehlo.multiply %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"d"}, {}], unreduced={"m"}>]>} : tensor<8x8xf32>
  // One device's: the others have zeros.
  // CHECK: %[[OWNED:.*]] = sdy.reshard %arg1 <@mesh, [{"d"}, {}], unreduced={"m"}>
  // CHECK: %[[SUM:.*]] = stablehlo.add %[[SCALED]], %[[OWNED]] {{.*}}unreduced={"m"}
  %1 = stablehlo.add %0, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"d"}, {}], unreduced={"m"}>]>} : tensor<8x8xf32>
  %z = sdy.constant dense<0.0> : tensor<f32>
  // CHECK: %[[R:.*]] = stablehlo.reduce(%[[SUM]] init: %{{.*}}unreduced={"d", "m"}
  // CHECK: return %[[R]]
  %2 = stablehlo.reduce(%1 init: %z) applies stablehlo.add across dimensions = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"d", "m"}>]>} : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}

// What is not linear needs them whole.
// CHECK-LABEL: func @settled_parts
func.func @settled_parts(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"m"}>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"m"}>}) {
  // CHECK: %[[A:.*]] = sdy.reshard %arg0 <@mesh, [{}]>
  // CHECK: %[[TANH:.*]] = stablehlo.tanh %[[A]] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>}
  // CHECK: sdy.reshard %[[TANH]] <@mesh, [{}], unreduced={"m"}>
  %0 = stablehlo.tanh %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"m"}>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Whether the op passes parts on, nobody has said: the result's sharding is the function's.
// CHECK-LABEL: func @opaque_op_between_parts
func.func @opaque_op_between_parts(%a: tensor<4x8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"m"}>}) -> (tensor<4x8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"m"}>}) {
  // CHECK: %[[WHOLE:.*]] = sdy.reshard %arg0 <@mesh, [{}, {}]>
  // CHECK: stablehlo.custom_call @f(%[[WHOLE]])
  // CHECK-NOT: unreduced
  // CHECK: sdy.reshard {{.*}}unreduced={"m"}
  %0 = stablehlo.custom_call @f(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"m"}>]>, sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8}, custom>} : (tensor<4x8xi32>) -> tensor<4x8xi32>
  return %0 : tensor<4x8xi32>
}

// What is returned so anyway, the op before the return reads too.
// CHECK-LABEL: func @returned_and_transposed
func.func @returned_and_transposed(%a: tensor<64x64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"m"}, {}]>}) -> (tensor<64x64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"m"}, {}, {}]>}, tensor<64x32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"m"}, {}, {}]>}) {
  // CHECK-NEXT: %[[A:.*]] = sdy.reshard %arg0 <@mesh, [{"m"}, {}, {}]>
  // CHECK-NEXT: %[[T:.*]] = stablehlo.transpose %[[A]]
  // CHECK-NEXT: %[[RETURNED:.*]] = sdy.reshard %arg0 <@mesh, [{"m"}, {}, {}]>
  // CHECK-NEXT: return %[[RETURNED]], %[[T]]
  %0 = stablehlo.transpose %a, dims = [0, 2, 1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}, {"m"}]>]>} : (tensor<64x64x32xf32>) -> tensor<64x32x64xf32>
  return %a, %0 : tensor<64x64x32xf32>, tensor<64x32x64xf32>
}

// Nor is it resharded behind such an op.
// CHECK-LABEL: func @returned_and_transposed_for_a_sum
func.func @returned_and_transposed_for_a_sum(%a: tensor<64x64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"m"}, {}]>}, %b: tensor<64x32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"m"}, {}, {}]>}) -> (tensor<64x64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"m"}, {}, {}]>}, tensor<64x32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"m"}, {}, {}]>}) {
  // CHECK-NEXT: %[[A:.*]] = sdy.reshard %arg0 <@mesh, [{"m"}, {}, {}]>
  // CHECK-NEXT: %[[T:.*]] = stablehlo.transpose %[[A]]
  // CHECK-NEXT: stablehlo.add %[[T]], %arg1
  %0 = stablehlo.transpose %a, dims = [0, 2, 1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}, {"m"}]>]>} : (tensor<64x64x32xf32>) -> tensor<64x32x64xf32>
  %1 = stablehlo.add %0, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"m"}, {}, {}]>]>} : tensor<64x32x64xf32>
  return %a, %1 : tensor<64x64x32xf32>, tensor<64x32x64xf32>
}
