// RUN: sdy-opt %s --sdy-insert-explicit-reshards="enable-full-version=true device-model=bytes" | FileCheck %s
// RUN: sed 's/attributes {/attributes {sdy.memory_price = 99.0 : f64, /' %s | sdy-opt --sdy-insert-explicit-reshards="enable-full-version=true device-model=bytes prices-memory=true" | FileCheck %s --check-prefix=SMALL

// What a loop does not change is resharded once, before it, and what it adds up
// is reduced once, behind it. Here that is foreseen: the weight is gathered,
// which in each run would be more than to move the batch, and its gradient is
// left in parts. Where memory is as dear as all runs of the loop the batch is moved.

sdy.mesh @mesh = <["x"=4]>

// CHECK-LABEL: func @microbatches
// SMALL-LABEL: func @microbatches
func.func @microbatches(
    %w: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %x: tensor<100x32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>})
    -> (tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %i = sdy.constant dense<0> : tensor<i32>
  %zeros = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} dense<0.0> : tensor<64x64xf32>
  // CHECK: do {
  // CHECK: %[[W:.*]] = sdy.reshard %{{.*}} <@mesh, [{}, {}]> : tensor<64x64xf32>
  // CHECK: stablehlo.dot_general %{{.*}}, %[[W]], contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
  // CHECK: stablehlo.dot_general {{.*}} contracting_dims = [0] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>}
  // SMALL: do {
  // SMALL-NOT: sdy.reshard {{.*}} <@mesh, [{}, {}]> : tensor<64x64xf32>
  // SMALL-NOT: unreduced={"x"}>]>} : (tensor<32x64xf32>, tensor<32x64xf32>)
  // SMALL: return
  %0:4 = stablehlo.while(%sum = %zeros, %a = %w, %b = %x, %c = %i) : tensor<64x64xf32>, tensor<64x64xf32>, tensor<100x32x64xf32>, tensor<i32>
      attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{}, {"x"}, {}]>, <@mesh, []>]>}
  cond {
    %n = sdy.constant dense<100> : tensor<i32>
    %1 = stablehlo.compare LT, %c, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %s = stablehlo.dynamic_slice %b, %c, %i, %i, sizes = [1, 32, 64] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}, {}]>]>} : (tensor<100x32x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x32x64xf32>
    %1 = stablehlo.reshape %s {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<1x32x64xf32>) -> tensor<32x64xf32>
    %2 = stablehlo.dot_general %1, %a, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<32x64xf32>, tensor<64x64xf32>) -> tensor<32x64xf32>
    %3 = stablehlo.dot_general %1, %2, contracting_dims = [0] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<32x64xf32>, tensor<32x64xf32>) -> tensor<64x64xf32>
    %4 = stablehlo.add %sum, %3 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<64x64xf32>
    %one = sdy.constant dense<1> : tensor<i32>
    %5 = stablehlo.add %c, %one : tensor<i32>
    stablehlo.return %4, %a, %b, %5 : tensor<64x64xf32>, tensor<64x64xf32>, tensor<100x32x64xf32>, tensor<i32>
  }
  return %0#0 : tensor<64x64xf32>
}
