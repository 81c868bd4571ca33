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
// ORDER: module attributes {sdy.propagation_order = {carried = [], later = ["bias"], price = {{.*}}, price_as_given = {{.*}}, split = []}}
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

// -----

// A loop writes rows of a cache that is given whole, and returned whole: it gathers
// the rows, and not the cache behind it.
// CHECK-LABEL: @cache
// CHECK: stablehlo.dynamic_update_slice {{.*}}[<@mesh, [{}, {}]>]
// CHECK: sdy.data_flow_edge %{{.*}}#1 sharding=<@mesh, [{}, {}]>
// GIVEN-LABEL: @cache
// GIVEN: stablehlo.dynamic_update_slice {{.*}}[<@mesh, [{"x", ?}, {?}]>]
// ORDER: module attributes {sdy.propagation_order = {carried = ["result 1 of stablehlo.while"], later = [], price = {{.*}}, price_as_given = {{.*}}, split = []}}
sdy.mesh @mesh = <["x"=4]>
func.func public @cache(
    %cache: tensor<64x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>},
    %row: tensor<64x1xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<64x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %end = stablehlo.constant dense<3> : tensor<i32>
  %0:2 = stablehlo.while(%at = %zero, %carried = %cache) : tensor<i32>, tensor<64x512xf32>
    cond {
    %more = stablehlo.compare LT, %at, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %written = stablehlo.dynamic_update_slice %carried, %row, %zero, %at : (tensor<64x512xf32>, tensor<64x1xf32>, tensor<i32>, tensor<i32>) -> tensor<64x512xf32>
    %next = stablehlo.add %at, %one : tensor<i32>
    stablehlo.return %next, %written : tensor<i32>, tensor<64x512xf32>
  }
  %1 = sdy.data_flow_edge %0#0 : tensor<i32>
  %2 = sdy.data_flow_edge %0#1 : tensor<64x512xf32>
  return %2 : tensor<64x512xf32>
}

// -----

// Rows on four devices, reshaped into three batches that a loop takes one by one: each
// device has some rows of each.
// CHECK-LABEL: @batches
// CHECK: stablehlo.reshape {{.*}}[<@mesh, [{}, {"x"}, {?}]>]
// GIVEN-LABEL: @batches
// GIVEN-NOT: stablehlo.reshape {{.*}}"x"
// ORDER: module attributes {sdy.propagation_order = {carried = [], later = [], price = {{.*}}, price_as_given = {{.*}}, split = ["result 0 of stablehlo.reshape"]}}
sdy.mesh @mesh = <["x"=4]>
func.func public @batches(
    %rows: tensor<384x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %weight: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %end = stablehlo.constant dense<3> : tensor<i32>
  %split = stablehlo.reshape %rows : (tensor<384x32xf32>) -> tensor<3x128x32xf32>
  %0:2 = stablehlo.while(%at = %zero, %sum = %weight) : tensor<i32>, tensor<32x32xf32>
    cond {
    %more = stablehlo.compare LT, %at, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %slice = stablehlo.dynamic_slice %split, %at, %zero, %zero, sizes = [1, 128, 32] : (tensor<3x128x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x128x32xf32>
    %batch = stablehlo.reshape %slice : (tensor<1x128x32xf32>) -> tensor<128x32xf32>
    %2 = stablehlo.dot_general %batch, %batch, contracting_dims = [0] x [0] : (tensor<128x32xf32>, tensor<128x32xf32>) -> tensor<32x32xf32>
    %3 = stablehlo.add %sum, %2 : tensor<32x32xf32>
    %next = stablehlo.add %at, %one : tensor<i32>
    stablehlo.return %next, %3 : tensor<i32>, tensor<32x32xf32>
  }
  return %0#1 : tensor<32x32xf32>
}
