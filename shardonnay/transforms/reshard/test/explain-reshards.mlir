// RUN: sdy-opt %s --sdy-explain-reshards=device-model=bytes | FileCheck %s

sdy.mesh @mesh = <["d"=2, "m"=4]>
sdy.mesh @turned = <["d"=2, "m"=4], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>

// CHECK-LABEL: func @sum_of_parts
func.func @sum_of_parts(%x: tensor<64x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {"m"}]>}, %w: tensor<128x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"m"}, {}]>}) -> (tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {}]>}) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"d"}, {}], unreduced={"m"}>]>} : (tensor<64x128xf32>, tensor<128x32xf32>) -> tensor<64x32xf32>
  // CHECK: sdy.reshard %0 <@mesh, [{"d"}, {}]> {sdy.cause = "settles the sum along {m} that 'stablehlo.dot_general' computes in parts (it reduces over factor k); 'stablehlo.dot_general' with i by {d}, k by {m} costs 6144 bytes, the next best, k by {m}, 10240 bytes"}
  %1 = sdy.reshard %0 <@mesh, [{"d"}, {}]> : tensor<64x32xf32>
  return %1 : tensor<64x32xf32>
}

// The transpose passes on what the dot made.
// CHECK-LABEL: func @behind_a_linear_op
func.func @behind_a_linear_op(%x: tensor<64x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"m"}]>}, %w: tensor<128x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"m"}, {}]>}) -> tensor<32x64xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"m"}>]>} : (tensor<64x128xf32>, tensor<128x32xf32>) -> tensor<64x32xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"m"}>]>} : (tensor<64x32xf32>) -> tensor<32x64xf32>
  // CHECK: sdy.reshard %1 {{.*}}sdy.cause = "settles the sum along {m} that 'stablehlo.dot_general' computes in parts (it reduces over factor k); here it costs 12288 bytes, behind 'stablehlo.dot_general' 12288 bytes"}
  %2 = sdy.reshard %1 <@mesh, [{}, {}]> : tensor<32x64xf32>
  return %2 : tensor<32x64xf32>
}

// CHECK-LABEL: func @needed_otherwise
func.func @needed_otherwise(%x: tensor<64x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {}]>}, %w: tensor<128x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {}]>}) -> (tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {}]>}) {
  // CHECK: sdy.reshard %arg1 {{.*}}sdy.cause = "moves dim 0 from {d} to {}, as operand 1 of 'stablehlo.dot_general' is needed; 'stablehlo.dot_general' with i by {d} costs 8192 bytes, the next best,
  %0 = sdy.reshard %w <@mesh, [{}, {}]> : tensor<128x32xf32>
  %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"d"}, {}]>]>} : (tensor<64x128xf32>, tensor<128x32xf32>) -> tensor<64x32xf32>
  return %1 : tensor<64x32xf32>
}

// CHECK-LABEL: func @results
func.func @results(%x: tensor<64xf32>, %y: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"d"}>}) -> (tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"m"}]>}, tensor<64xf32>) {
  // CHECK: sdy.reshard %arg0 {{.*}}sdy.cause = "moves dim 0 from {} to {m}, as result 0 is wanted"
  %0 = sdy.reshard %x <@mesh, [{"m"}]> : tensor<64xf32>
  // CHECK: sdy.reshard %arg1 {{.*}}sdy.cause = "settles the sum along {d} of a value that is given in parts"
  %1 = sdy.reshard %y <@mesh, [{}]> : tensor<64xf32>
  return %0, %1 : tensor<64xf32>, tensor<64xf32>
}

// CHECK-LABEL: func @another_order
func.func @another_order(%x: tensor<64xf32> {sdy.sharding = #sdy.sharding<@turned, [{"d"}]>}) -> (tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}]>}) {
  // CHECK: sdy.reshard %arg0 {{.*}}sdy.cause = "brings pieces from one order of the devices to another: both are given"
  %0 = sdy.reshard %x <@mesh, [{"d"}]> : tensor<64xf32>
  return %0 : tensor<64xf32>
}
