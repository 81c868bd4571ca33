// RUN: sdy-opt %s -split-input-file --sdy-propagate-by-price | FileCheck %s
// RUN: sdy-opt %s -split-input-file --sdy-user-priority-propagate | FileCheck %s --check-prefix=GIVEN
// RUN: sdy-opt %s -split-input-file --sdy-propagate-by-price="options=keep-propagated=true" | FileCheck %s --check-prefix=GIVEN
// RUN: sdy-opt %s -split-input-file --sdy-propagate-by-price="record-order=true options='device-model=bytes'" | FileCheck %s --check-prefix=ORDER

sdy.mesh @mesh = <["x"=4]>

// The element-wise adds come first in the order of the ops, and give the columns to
// all activations: each product is then a sum of parts. It is cheaper to move the
// bias once, so what was given to the batch comes first.
// CHECK-LABEL: @layers
// CHECK-COUNT-3: stablehlo.dot {{.*}}[<@mesh, [{"x", ?}, {?}]>]
// GIVEN-LABEL: @layers
// GIVEN: stablehlo.add {{.*}}[<@mesh, [{?}, {"x", ?}]>]
// ORDER: module attributes {sdy.propagation_order = {later = ["bias"], price = {{.*}}, price_as_given = {{.*}}}}
func.func public @layers(
    %x: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %w: tensor<32x32xf32>,
    %bias: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>} loc("bias"))
    -> (tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.dot %x, %w : (tensor<16x32xf32>, tensor<32x32xf32>) -> tensor<16x32xf32>
  %1 = stablehlo.add %0, %bias : tensor<16x32xf32>
  %2 = stablehlo.dot %1, %w : (tensor<16x32xf32>, tensor<32x32xf32>) -> tensor<16x32xf32>
  %3 = stablehlo.add %2, %bias : tensor<16x32xf32>
  %4 = stablehlo.dot %3, %w : (tensor<16x32xf32>, tensor<32x32xf32>) -> tensor<16x32xf32>
  return %4 : tensor<16x32xf32>
}

// -----

sdy.mesh @mesh = <["x"=4]>

// The user says what comes first.
// CHECK-LABEL: @user_priority
// CHECK: stablehlo.dot {{.*}}[<@mesh, [{?}, {"x", ?}]>]
// ORDER-NOT: sdy.propagation_order
func.func public @user_priority(
    %x: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}p1, {}]>},
    %w: tensor<32x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}p0]>})
    -> tensor<16x32xf32> {
  %0 = stablehlo.dot %x, %w : (tensor<16x32xf32>, tensor<32x32xf32>) -> tensor<16x32xf32>
  return %0 : tensor<16x32xf32>
}

// -----

// Nothing competes: what is given to one group goes wherever it can.
// CHECK-LABEL: @one_group
// CHECK: stablehlo.tanh {{.*}}[<@mesh, [{"x", ?}, {?}]>]
// ORDER-NOT: sdy.propagation_order
sdy.mesh @mesh = <["x"=4]>
func.func public @one_group(
    %x: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> tensor<16x32xf32> {
  %0 = stablehlo.tanh %x : tensor<16x32xf32>
  return %0 : tensor<16x32xf32>
}
