// RUN: sdy-opt %s -sdy-partition-to-local | FileCheck %s

sdy.mesh @mesh = <["x"=4]>

// CHECK-LABEL: func.func @strided_slice(
func.func @strided_slice(%a: tensor<17xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // CHECK-NEXT: %[[WINDOW:.*]] = spmd.fetch_window %arg0 dim=0 global_size=17 start=2 step=6 size=4 @mesh {"x"} {sdy.cause = "what 'stablehlo.slice' sees of dim 0 of operand 0 beyond its shard; {{.*}}"} : (tensor<5xf32>) -> tensor<4xf32>
  // CHECK-NEXT: stablehlo.slice %[[WINDOW]] [0:4:3] : (tensor<4xf32>) -> tensor<2xf32>
  %0 = stablehlo.slice %a [2:17:3] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<17xf32>) -> tensor<5xf32>
  return
}

// The last three devices have nothing of it, and fetch nothing.
// CHECK-LABEL: func.func @first_row(
func.func @first_row(%a: tensor<24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // CHECK-NEXT: spmd.fetch_window %arg0 dim=0 global_size=1 start=0 step=1 size=1 @mesh {"x"} {{.*}} : (tensor<6xf32>) -> tensor<1xf32>
  %0 = stablehlo.slice %a [0:1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<24xf32>) -> tensor<1xf32>
  return
}

// CHECK-LABEL: func.func @reverse(
func.func @reverse(%a: tensor<10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // CHECK-NEXT: %[[WINDOW:.*]] = spmd.fetch_window %arg0 dim=0 global_size=10 start=7 step=-3 size=3 @mesh {"x"}
  // CHECK-NEXT: stablehlo.reverse %[[WINDOW]], dims = [0] : tensor<3xf32>
  %0 = stablehlo.reverse %a, dims = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<10xf32>
  return
}

// CHECK-LABEL: func.func @reverse_of_nothing(
func.func @reverse_of_nothing(%a: tensor<0xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // CHECK-NEXT: stablehlo.reverse %arg0, dims = [0] : tensor<0xf32>
  %0 = stablehlo.reverse %a, dims = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<0xf32>
  return
}

// CHECK-LABEL: func.func @pad(
func.func @pad(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %z: tensor<f32>) {
  // CHECK-NEXT: %[[WINDOW:.*]] = spmd.fetch_window %arg0 dim=0 global_size=8 start=-1 step=3 size=3 @mesh {"x"} fill %arg1
  // CHECK-NEXT: stablehlo.pad %[[WINDOW]], %arg1, low = [0], high = [0], interior = [0]
  %0 = stablehlo.pad %a, %z, low = [1], high = [2], interior = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<8xf32>, tensor<f32>) -> tensor<11xf32>
  return
}

// Elements are sent, not the holes between them. Devices begin with an element and with a hole by turns: five positions
// are taken from where each begins.
// CHECK-LABEL: func.func @pad_with_holes(
func.func @pad_with_holes(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %z: tensor<f32>) {
  // CHECK-NEXT: %[[WINDOW:.*]] = spmd.fetch_window %arg0 dim=0 global_size=8 start=0 step=2 size=4 @mesh {"x"} fill %arg1
  // CHECK-NEXT: %[[FILLED:.*]] = stablehlo.pad %[[WINDOW]], %arg1, low = [1], high = [0], interior = [1]
  // CHECK: stablehlo.dynamic_slice %[[FILLED]], %{{.*}}, sizes = [5]
  %0 = stablehlo.pad %a, %z, low = [1], high = [1], interior = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<8xf32>, tensor<f32>) -> tensor<17xf32>
  return
}

// Each operand's window at the device's place; by position the one that is there.
// CHECK-LABEL: func.func @concatenate(
func.func @concatenate(
    %a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
    %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // CHECK-DAG: %[[A:.*]] = spmd.fetch_window %arg0 dim=0 global_size=4 start=0 step=3 size=3 @mesh {"x"}
  // CHECK-DAG: %[[B:.*]] = spmd.fetch_window %arg1 dim=0 global_size=8 start=-4 step=3 size=3 @mesh {"x"}
  // CHECK:     %[[BEHIND:.*]] = stablehlo.compare GE
  // CHECK:     stablehlo.select %{{.*}}, %[[B]], %[[A]]
  %0 = stablehlo.concatenate %a, %b, dim = 0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<4xf32>, tensor<8xf32>) -> tensor<12xf32>
  return
}

// A running maximum: each device scans its shard, and takes the totals of those before it.
// CHECK-LABEL: func.func @running_maximum(
func.func @running_maximum(%a: tensor<6x10xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  // CHECK-NEXT: %[[LEAST:.*]] = sdy.constant dense<-2147483648> : tensor<i32>
  %z = sdy.constant dense<-2147483648> : tensor<i32>
  // CHECK-NEXT: %[[OWN:.*]] = spmd.fetch_window %arg0 dim=1 global_size=10 start=0 step=3 size=3 @mesh {"x"} fill %[[LEAST]] : (tensor<6x3xi32>, tensor<i32>) -> tensor<6x3xi32>
  // CHECK-NEXT: %[[SCANNED:.*]] = "stablehlo.reduce_window"(%[[OWN]], %[[LEAST]])
  // CHECK-SAME{LITERAL}: padding = dense<[[0, 0], [2, 0]]> : tensor<2x2xi64>
  // CHECK-SAME: window_dimensions = array<i64: 1, 3>
  // CHECK: %[[LAST:.*]] = stablehlo.slice %[[SCANNED]] [0:6, 2:3]
  // CHECK: %[[TOTAL:.*]] = stablehlo.reshape {{.*}} -> tensor<1x6xi32>
  // CHECK-NEXT: %[[TOTALS:.*]] = spmd.all_gather %[[TOTAL]] dim=0 @mesh {"x"} {{.*}} : (tensor<1x6xi32>) -> tensor<4x6xi32>
  // CHECK: %[[BEFORE:.*]] = stablehlo.compare LT
  // CHECK: %[[KEPT:.*]] = stablehlo.select %[[BEFORE]], %[[TOTALS]]
  // CHECK: %[[MOST:.*]] = stablehlo.reduce(%[[KEPT]] init: %[[LEAST]]) applies stablehlo.maximum across dimensions = [0]
  // CHECK: %[[OTHERS:.*]] = stablehlo.broadcast_in_dim %[[MOST]], dims = [0] : (tensor<6xi32>) -> tensor<6x3xi32>
  // CHECK: stablehlo.maximum %[[OTHERS]], %[[SCANNED]] : tensor<6x3xi32>
  %0 = "stablehlo.reduce_window"(%a, %z) <{window_dimensions = array<i64: 1, 10>, padding = dense<[[0, 0], [9, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%b: tensor<i32>, %c: tensor<i32>):
    %1 = stablehlo.maximum %b, %c : tensor<i32>
    stablehlo.return %1 : tensor<i32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : (tensor<6x10xi32>, tensor<i32>) -> tensor<6x10xi32>
  return
}

// A body of several ops that is known; each is applied to a whole shard.
// CHECK-LABEL: func.func @running_log_sum_exp(
func.func @running_log_sum_exp(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %z = sdy.constant dense<0xFF800000> : tensor<f32>
  // CHECK: %[[SCANNED:.*]] = "stablehlo.reduce_window"(%arg0
  // CHECK: %[[TOTALS:.*]] = spmd.all_gather %{{.*}} dim=0 @mesh {"x"} {{.*}} : (tensor<1xf32>) -> tensor<4xf32>
  // CHECK: stablehlo.reduce
  // CHECK: %[[OTHERS:.*]] = stablehlo.broadcast_in_dim %{{.*}}, dims = [] : (tensor<f32>) -> tensor<2xf32>
  // CHECK-NEXT: stablehlo.maximum %[[OTHERS]], %[[SCANNED]] : tensor<2xf32>
  // CHECK: stablehlo.compare NE, {{.*}} -> tensor<2xi1>
  // CHECK: stablehlo.log_plus_one %{{.*}} : tensor<2xf32>
  // CHECK: stablehlo.select {{.*}} : tensor<2xi1>, tensor<2xf32>
  %0 = "stablehlo.reduce_window"(%a, %z) <{window_dimensions = array<i64: 8>, padding = dense<[[7, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%b: tensor<f32>, %c: tensor<f32>):
    %most = stablehlo.maximum %b, %c : tensor<f32>
    %d = stablehlo.subtract %b, %c : tensor<f32>
    %nan = stablehlo.compare NE, %d, %d, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %sum = stablehlo.add %b, %c : tensor<f32>
    %abs = stablehlo.abs %d : tensor<f32>
    %less = stablehlo.negate %abs : tensor<f32>
    %exp = stablehlo.exponential %less : tensor<f32>
    %log = stablehlo.log_plus_one %exp : tensor<f32>
    %both = stablehlo.add %most, %log : tensor<f32>
    %r = stablehlo.select %nan, %sum, %both : tensor<i1>, tensor<f32>
    stablehlo.return %r : tensor<f32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return
}

// It starts from something else than the neutral element, which would count on each device.
// CHECK-LABEL: func.func @running_log_sum_exp_from_zero(
func.func @running_log_sum_exp_from_zero(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %z = sdy.constant dense<0.0> : tensor<f32>
  // CHECK-NOT: spmd.all_gather
  // CHECK: spmd.fetch_window %arg0 dim=0 global_size=8 start=-7 step=2 size=9
  %0 = "stablehlo.reduce_window"(%a, %z) <{window_dimensions = array<i64: 8>, padding = dense<[[7, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%b: tensor<f32>, %c: tensor<f32>):
    %most = stablehlo.maximum %b, %c : tensor<f32>
    %d = stablehlo.subtract %b, %c : tensor<f32>
    %nan = stablehlo.compare NE, %d, %d, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %sum = stablehlo.add %b, %c : tensor<f32>
    %abs = stablehlo.abs %d : tensor<f32>
    %less = stablehlo.negate %abs : tensor<f32>
    %exp = stablehlo.exponential %less : tensor<f32>
    %log = stablehlo.log_plus_one %exp : tensor<f32>
    %both = stablehlo.add %most, %log : tensor<f32>
    %r = stablehlo.select %nan, %sum, %both : tensor<i1>, tensor<f32>
    stablehlo.return %r : tensor<f32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return
}

// Something else that looks like it.
// CHECK-LABEL: func.func @running_unknown(
func.func @running_unknown(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %z = sdy.constant dense<0xFF800000> : tensor<f32>
  // CHECK-NOT: spmd.all_gather
  // CHECK: spmd.fetch_window %arg0 dim=0 global_size=8 start=-7 step=2 size=9
  %0 = "stablehlo.reduce_window"(%a, %z) <{window_dimensions = array<i64: 8>, padding = dense<[[7, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%b: tensor<f32>, %c: tensor<f32>):
    %most = stablehlo.maximum %b, %c : tensor<f32>
    %d = stablehlo.subtract %b, %c : tensor<f32>
    %nan = stablehlo.compare EQ, %d, %d, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %sum = stablehlo.add %b, %c : tensor<f32>
    %abs = stablehlo.abs %d : tensor<f32>
    %less = stablehlo.negate %abs : tensor<f32>
    %exp = stablehlo.exponential %less : tensor<f32>
    %log = stablehlo.log_plus_one %exp : tensor<f32>
    %both = stablehlo.add %most, %log : tensor<f32>
    %r = stablehlo.select %nan, %sum, %both : tensor<i1>, tensor<f32>
    stablehlo.return %r : tensor<f32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return
}

// The rule of one is not that of the other, whose windows are whole.
// CHECK-LABEL: func.func @from_zero_and_from_three(
func.func @from_zero_and_from_three(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %z = sdy.constant dense<0.0> : tensor<f32>
  %t = sdy.constant dense<3.0> : tensor<f32>
  // CHECK: spmd.all_gather
  // CHECK: spmd.fetch_window %arg0 dim=0 global_size=8 start=-7 step=2 size=9
  %0 = "stablehlo.reduce_window"(%a, %z) <{window_dimensions = array<i64: 8>, padding = dense<[[7, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%b: tensor<f32>, %c: tensor<f32>):
    %s = stablehlo.add %b, %c : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = "stablehlo.reduce_window"(%a, %t) <{window_dimensions = array<i64: 8>, padding = dense<[[7, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%b: tensor<f32>, %c: tensor<f32>):
    %d = stablehlo.abs %c : tensor<f32>
    %s = stablehlo.add %b, %d : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return
}

// Devices exchange what they found, not what they have.
// CHECK-LABEL: func.func @product(
func.func @product(%a: tensor<10x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %i: tensor<f32>) {
  // CHECK:      %[[ONE:.*]] = stablehlo.constant dense<1.000000e+00> : tensor<f32>
  // CHECK:      %[[FILLED:.*]] = spmd.fetch_window %arg0 dim=0 global_size=10 start=0 step=3 size=3 @mesh {"x"} fill
  // CHECK:      %[[PART:.*]] = stablehlo.reduce(%[[FILLED]] init: %{{.*}}) applies stablehlo.multiply across dimensions = [0] : (tensor<3x6xf32>, tensor<f32>) -> tensor<6xf32>
  // CHECK:      %[[ROW:.*]] = stablehlo.reshape %[[PART]] : (tensor<6xf32>) -> tensor<1x6xf32>
  // CHECK:      %[[ROWS:.*]] = spmd.all_gather %[[ROW]] dim=0 @mesh {"x"}
  // CHECK:      stablehlo.reduce(%[[ROWS]] init: %arg1) applies stablehlo.multiply across dimensions = [0] : (tensor<4x6xf32>, tensor<f32>) -> tensor<6xf32>
  %0 = stablehlo.reduce(%a init: %i) applies stablehlo.multiply across dimensions = [0] : (tensor<10x6xf32>, tensor<f32>) -> tensor<6xf32>
  return
}

// Each device has 4 positions, which 3 windows reach; with a neighbour's they see
// 7. Of the three places in a window each adds what goes there.
// CHECK-LABEL: func.func @select_and_scatter
func.func @select_and_scatter(%a: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %s: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %c: tensor<f32>) -> (tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // CHECK: %[[SEEN:.*]] = spmd.fetch_window %arg0{{.*}} : {{.*}}tensor<7xf32>
  // CHECK: %[[SOURCES:.*]] = spmd.fetch_window %arg1{{.*}} : {{.*}}tensor<3xf32>
  // CHECK: %[[OUTSIDE:.*]] = stablehlo.constant dense<-1> : tensor<7xi32>
  // CHECK: %[[PLACES:.*]] = stablehlo.select %{{.*}}, %{{.*}}, %[[OUTSIDE]]
  // CHECK: "stablehlo.reduce_window"(%[[SEEN]], %[[PLACES]]
  // CHECK-COUNT-3: stablehlo.select %{{.*}}, %[[SOURCES]]
  // CHECK: stablehlo.dynamic_slice %{{.*}} sizes = [4]
  %0 = "stablehlo.select_and_scatter"(%a, %s, %c) <{window_dimensions = array<i64: 3>, window_strides = array<i64: 2>, padding = dense<[[1, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<16xf32>, tensor<8xf32>, tensor<f32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// Around complex numbers there are complex zeros.
// CHECK-LABEL: func.func @complex_convolution
func.func @complex_convolution(%x: tensor<1x8x1xcomplex<f32>> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}, %k: tensor<3x1x1xcomplex<f32>>) -> (tensor<1x8x1xcomplex<f32>> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}) {
  // CHECK: %[[ZERO:.*]] = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f32>>
  // CHECK: spmd.fetch_window %arg0 dim=1 {{.*}} fill %[[ZERO]]
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}, {}]>]>} : (tensor<1x8x1xcomplex<f32>>, tensor<3x1x1xcomplex<f32>>) -> tensor<1x8x1xcomplex<f32>>
  return %0 : tensor<1x8x1xcomplex<f32>>
}
