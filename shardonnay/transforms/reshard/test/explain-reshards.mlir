// RUN: sdy-opt %s --sdy-explain-reshards=device-model=bytes | FileCheck %s

sdy.mesh @mesh = <["d"=2, "m"=4]>
sdy.mesh @turned = <["d"=2, "m"=4], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>
sdy.mesh @line = <["l"=8]>

// CHECK-LABEL: func @sum_of_parts
func.func @sum_of_parts(%x: tensor<64x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {"m"}]>}, %w: tensor<128x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"m"}, {}]>}) -> (tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {}]>}) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"d"}, {}], unreduced={"m"}>]>} : (tensor<64x128xf32>, tensor<128x32xf32>) -> tensor<64x32xf32>
  // CHECK: sdy.reshard %0 <@mesh, [{"d"}, {}]> {sdy.cause = "reduces the sum along {m} that 'stablehlo.dot_general' computes in parts (it reduces over factor k); 'stablehlo.dot_general' with i by {d}, k by {m} costs 6144 bytes, the next best, k by {m}, 10240 bytes"}
  %1 = sdy.reshard %0 <@mesh, [{"d"}, {}]> : tensor<64x32xf32>
  return %1 : tensor<64x32xf32>
}

// The transpose passes on what the dot made.
// CHECK-LABEL: func @behind_a_linear_op
func.func @behind_a_linear_op(%x: tensor<64x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"m"}]>}, %w: tensor<128x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"m"}, {}]>}) -> tensor<32x64xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"m"}>]>} : (tensor<64x128xf32>, tensor<128x32xf32>) -> tensor<64x32xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"m"}>]>} : (tensor<64x32xf32>) -> tensor<32x64xf32>
  // CHECK: sdy.reshard %1 {{.*}}sdy.cause = "reduces the sum along {m} that 'stablehlo.dot_general' computes in parts (it reduces over factor k); here it costs 12288 bytes, behind 'stablehlo.dot_general' 12288 bytes"}
  %2 = sdy.reshard %1 <@mesh, [{}, {}]> : tensor<32x64xf32>
  return %2 : tensor<32x64xf32>
}

// CHECK-LABEL: func @needed_otherwise
func.func @needed_otherwise(%x: tensor<64x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {}]>}, %w: tensor<128x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {}]>}) -> (tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {}]>}) {
  // CHECK: sdy.reshard %arg1 {{.*}}sdy.cause = "moves dim 0 from {d} to {}, as operand 1 of 'stablehlo.dot_general' is needed; 'stablehlo.dot_general' with i by {d} costs 8192 bytes, the next best, i by {d}, j by {m}, 5120 bytes, but only as far as this op goes"}
  %0 = sdy.reshard %w <@mesh, [{}, {}]> : tensor<128x32xf32>
  %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"d"}, {}]>]>} : (tensor<64x128xf32>, tensor<128x32xf32>) -> tensor<64x32xf32>
  return %1 : tensor<64x32xf32>
}

// CHECK-LABEL: func @results
func.func @results(%x: tensor<64xf32>, %y: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"d"}>}) -> (tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"m"}]>}, tensor<64xf32>) {
  // CHECK: sdy.reshard %arg0 {{.*}}sdy.cause = "moves dim 0 from {} to {m}, as result 0 is wanted; no other plan: the shardings at both ends are fixed"}
  %0 = sdy.reshard %x <@mesh, [{"m"}]> : tensor<64xf32>
  // CHECK: sdy.reshard %arg1 {{.*}}sdy.cause = "reduces the sum along {d} of a value that is given in parts; no other plan: the shardings at both ends are fixed"}
  %1 = sdy.reshard %y <@mesh, [{}]> : tensor<64xf32>
  return %0, %1 : tensor<64xf32>, tensor<64xf32>
}

// CHECK-LABEL: func @from_end_to_end
func.func @from_end_to_end(%x: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"m"}, {}]>}) -> (tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"m"}]>}) {
  // CHECK: sdy.reshard %arg0 {{.*}}as result 0 is wanted; both ends are fixed: the way between costs 3072 bytes, through the whole tensor 12288 bytes"}
  %0 = sdy.reshard %x <@mesh, [{}, {"m"}]> : tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// CHECK-LABEL: func @another_order
func.func @another_order(%x: tensor<64xf32> {sdy.sharding = #sdy.sharding<@turned, [{"d"}]>}) -> (tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}]>}) {
  // CHECK: sdy.reshard %arg0 {{.*}}sdy.cause = "brings shards from one mesh to another; no other plan: both meshes are given"
  %0 = sdy.reshard %x <@mesh, [{"d"}]> : tensor<64xf32>
  return %0 : tensor<64xf32>
}

// Strategies of an op on one mesh are not weighed by axes of another.
// CHECK-LABEL: func @result_on_another_mesh
func.func @result_on_another_mesh(%x: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}]>}) -> (tensor<64xf32> {sdy.sharding = #sdy.sharding<@line, [{"l"}]>}) {
  // CHECK: sdy.reshard %arg0 {{.*}}sdy.cause = "moves dim 0 from {d} to {m}, as operand 0 of 'stablehlo.tanh' is needed; 'stablehlo.tanh' with
  %0 = sdy.reshard %x <@mesh, [{"m"}]> : tensor<64xf32>
  %1 = stablehlo.tanh %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"m"}]>]>} : tensor<64xf32>
  // CHECK: sdy.reshard {{.*}}sdy.cause = "brings shards from one mesh to another; no other plan: both meshes are given"
  %2 = sdy.reshard %1 <@line, [{"l"}]> : tensor<64xf32>
  return %2 : tensor<64xf32>
}

// Of all ways to sort there is one.
// CHECK-LABEL: func @no_other_cut
func.func @no_other_cut(%x: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}]>}) -> tensor<64xf32> {
  // CHECK: sdy.reshard %arg0 {{.*}}as operand 0 of 'stablehlo.sort' is needed; no other plan: 'stablehlo.sort' can be sharded in no other way"}
  %0 = sdy.reshard %x <@mesh, [{}]> : tensor<64xf32>
  %1 = "stablehlo.sort"(%0) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %2 = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  }) : (tensor<64xf32>) -> tensor<64xf32>
  return %1 : tensor<64xf32>
}

// CHECK-LABEL: func @no_rule
func.func @no_rule(%x: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}]>}) -> tensor<64xf32> {
  // CHECK: sdy.reshard %arg0 {{.*}}as operand 0 of 'stablehlo.custom_call' is needed; no other plan: 'stablehlo.custom_call' is computed on whole tensors alone"}
  %0 = sdy.reshard %x <@mesh, [{}]> : tensor<64xf32>
  %1 = stablehlo.custom_call @unknown(%0) : (tensor<64xf32>) -> tensor<64xf32>
  return %1 : tensor<64xf32>
}

// "m" is split in half at one operand: the halves are distributed apart.
// CHECK-LABEL: func @halves
func.func @halves(%x: tensor<64x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"m"}, {}]>}, %w: tensor<128x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"m":(1)2}]>}) -> (tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"m"}, {}]>}) {
  // CHECK: sdy.reshard %arg1 {{.*}}'stablehlo.dot_general' with i by {m} costs 8192 bytes, the next best,
  %0 = sdy.reshard %w <@mesh, [{}, {}]> : tensor<128x32xf32>
  %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"m"}, {}]>]>} : (tensor<64x128xf32>, tensor<128x32xf32>) -> tensor<64x32xf32>
  return %1 : tensor<64x32xf32>
}

// Carried as it is given, something would move in each of the 10 runs.
// CHECK-LABEL: func @carried
func.func @carried(%x: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}]>}, %w: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"m"}]>}) -> (tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"m"}]>}) {
  %zero = sdy.constant dense<0> : tensor<i32>
  // CHECK: sdy.reshard %arg0 {{.*}}as operand 1 of 'stablehlo.while' is needed; 'stablehlo.while' carries it for 64 bytes, with what the ops around it cost; in the other sharding for 1344 bytes"}
  %0 = sdy.reshard %x <@mesh, [{"m"}]> : tensor<64xf32>
  %1:2 = stablehlo.while(%i = %zero, %c = %0) : tensor<i32>, tensor<64xf32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>, <@mesh, [{"m"}]>]>}
  cond {
    %ten = sdy.constant dense<10> : tensor<i32>
    %2 = stablehlo.compare LT, %i, %ten : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  } do {
    %one = sdy.constant dense<1> : tensor<i32>
    %2 = stablehlo.add %i, %one : tensor<i32>
    %3 = stablehlo.multiply %c, %w {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"m"}]>]>} : tensor<64xf32>
    stablehlo.return %2, %3 : tensor<i32>, tensor<64xf32>
  }
  return %1#1 : tensor<64xf32>
}

// The loop runs no time at all, and what its branches yield moves no time.
// CHECK-LABEL: func @never
func.func @never(%x: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"m"}]>}, %y: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}]>}, %p: tensor<i1>) -> (tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}]>}) {
  %zero = sdy.constant dense<0> : tensor<i32>
  %one = sdy.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %c = %y) : tensor<i32>, tensor<64xf32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>, <@mesh, [{"d"}]>]>}
  cond {
    %1 = stablehlo.compare LT, %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.add %i, %one : tensor<i32>
    %2 = "stablehlo.if"(%p) ({
      // CHECK: sdy.reshard %arg0 {{.*}}'stablehlo.if' carries it for 0 bytes
      %3 = sdy.reshard %x <@mesh, [{"d"}]> : tensor<64xf32>
      stablehlo.return %3 : tensor<64xf32>
    }, {
      stablehlo.return %c : tensor<64xf32>
    }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"d"}]>]>} : (tensor<i1>) -> tensor<64xf32>
    stablehlo.return %1, %2 : tensor<i32>, tensor<64xf32>
  }
  return %0#1 : tensor<64xf32>
}
