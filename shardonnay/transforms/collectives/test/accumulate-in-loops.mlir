// RUN: sdy-opt %s --sdy-accumulate-in-loops | FileCheck %s
// RUN: sed 's/attributes {/attributes {sdy.memory_price = 0.5 : f64, /' %s | sdy-opt --sdy-optimize-collectives | FileCheck %s --check-prefix=CHEAP
// RUN: sed 's/attributes {/attributes {sdy.memory_price = 8.0 : f64, /' %s | sdy-opt --sdy-optimize-collectives | FileCheck %s --check-prefix=DEAR

sdy.mesh @mesh = <["x"=2]>
sdy.mesh @two = <["x"=2, "y"=2]>

// CHECK-LABEL: func @gradients
func.func @gradients(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<4x4xf32> {
  // CHECK: %[[Z:.*]] = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>}
  // CHECK: %[[W:.*]]:2 = stablehlo.while(%[[S:.*]] = %[[Z]],
  // CHECK-SAME: [<@mesh, [{}, {}], unreduced={"x"}>, <@mesh, []>]
  // CHECK: do {
  // CHECK: %[[D:.*]] = stablehlo.dot_general
  // CHECK-NOT: sdy.all_reduce
  // CHECK: stablehlo.add %[[S]], %[[D]] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>}
  // CHECK: %[[R:.*]] = sdy.all_reduce {"x"} %[[W]]#0 out_sharding=<@mesh, [{}, {}]>
  // CHECK: return %[[R]]
  %i = sdy.constant dense<0> : tensor<i32>
  %zero = sdy.constant dense<0.0> : tensor<f32>
  %zeros = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<4x4xf32>
  %0:2 = stablehlo.while(%s = %zeros, %c = %i) : tensor<4x4xf32>, tensor<i32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>, <@mesh, []>]>}
  cond {
    %n = sdy.constant dense<5> : tensor<i32>
    %1 = stablehlo.compare LT, %c, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %2 = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
    %3 = sdy.all_reduce {"x"} %2 out_sharding=<@mesh, [{}, {}]> : tensor<4x4xf32>
    %4 = stablehlo.add %s, %3 : tensor<4x4xf32>
    %one = sdy.constant dense<1> : tensor<i32>
    %5 = stablehlo.add %c, %one : tensor<i32>
    stablehlo.return %4, %5 : tensor<4x4xf32>, tensor<i32>
  }
  return %0#0 : tensor<4x4xf32>
}

// Shards are summed up: parts of the whole are carried, and scattered behind.
// CHECK-LABEL: func @scattered
func.func @scattered(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // CHECK: %[[W:.*]]:2 = stablehlo.while
  // CHECK: do {
  // CHECK-NOT: sdy.reduce_scatter
  // CHECK: %[[R:.*]] = sdy.reduce_scatter [{"x"}, {}] %[[W]]#0 out_sharding=<@mesh, [{"x"}, {}]>
  // CHECK: return %[[R]]
  %i = sdy.constant dense<0> : tensor<i32>
  %zeros = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} dense<0.0> : tensor<4x4xf32>
  %0:2 = stablehlo.while(%s = %zeros, %c = %i) : tensor<4x4xf32>, tensor<i32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>, <@mesh, []>]>}
  cond {
    %n = sdy.constant dense<5> : tensor<i32>
    %1 = stablehlo.compare LT, %c, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %2 = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
    %3 = sdy.reduce_scatter [{"x"}, {}] %2 out_sharding=<@mesh, [{"x"}, {}]> : tensor<4x4xf32>
    %4 = stablehlo.add %3, %s {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<4x4xf32>
    %one = sdy.constant dense<1> : tensor<i32>
    %5 = stablehlo.add %c, %one : tensor<i32>
    stablehlo.return %4, %5 : tensor<4x4xf32>, tensor<i32>
  }
  return %0#0 : tensor<4x4xf32>
}

// Every run needs the sum so far.
// CHECK-LABEL: func @seen_in_the_loop
func.func @seen_in_the_loop(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<4x4xf32> {
  // CHECK: do {
  // CHECK: sdy.all_reduce
  %i = sdy.constant dense<0> : tensor<i32>
  %zeros = sdy.constant dense<0.0> : tensor<4x4xf32>
  %0:2 = stablehlo.while(%s = %zeros, %c = %i) : tensor<4x4xf32>, tensor<i32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>, <@mesh, []>]>}
  cond {
    %n = sdy.constant dense<5> : tensor<i32>
    %1 = stablehlo.compare LT, %c, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %y = stablehlo.dot %x, %s {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %2 = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
    %3 = sdy.all_reduce {"x"} %2 out_sharding=<@mesh, [{}, {}]> : tensor<4x4xf32>
    %4 = stablehlo.add %s, %3 : tensor<4x4xf32>
    %one = sdy.constant dense<1> : tensor<i32>
    %5 = stablehlo.add %c, %one : tensor<i32>
    stablehlo.return %4, %5 : tensor<4x4xf32>, tensor<i32>
  }
  return %0#0 : tensor<4x4xf32>
}

// One device keeps what the sum starts from.
// CHECK-LABEL: func @starts_from_something
func.func @starts_from_something(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %start: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK: %[[KEPT:.*]] = sdy.replicated_to_unreduced {"x"} %arg1 out_sharding=<@mesh, [{}, {}], unreduced={"x"}>
  // CHECK: %[[W:.*]]:2 = stablehlo.while(%[[S:.*]] = %[[KEPT]],
  // CHECK: do {
  // CHECK-NOT: sdy.all_reduce
  // CHECK: %[[R:.*]] = sdy.all_reduce {"x"} %[[W]]#0 out_sharding=<@mesh, [{}, {}]>
  // CHECK: return %[[R]]
  %i = sdy.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%s = %start, %c = %i) : tensor<4x4xf32>, tensor<i32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>, <@mesh, []>]>}
  cond {
    %n = sdy.constant dense<5> : tensor<i32>
    %1 = stablehlo.compare LT, %c, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %2 = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
    %3 = sdy.all_reduce {"x"} %2 out_sharding=<@mesh, [{}, {}]> : tensor<4x4xf32>
    %4 = stablehlo.add %s, %3 : tensor<4x4xf32>
    %one = sdy.constant dense<1> : tensor<i32>
    %5 = stablehlo.add %c, %one : tensor<i32>
    stablehlo.return %4, %5 : tensor<4x4xf32>, tensor<i32>
  }
  return %0#0 : tensor<4x4xf32>
}

// Each device puts its shard of it in its place.
// CHECK-LABEL: func @starts_from_pieces
func.func @starts_from_pieces(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %start: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // CHECK: %[[PLACED:.*]] = sdy.sharded_to_unreduced [{"x"}, {}] %arg1 out_sharding=<@mesh, [{}, {}], unreduced={"x"}>
  // CHECK: %[[W:.*]]:2 = stablehlo.while(%{{.*}} = %[[PLACED]],
  // CHECK: do {
  // CHECK-NOT: sdy.reduce_scatter
  // CHECK: sdy.reduce_scatter [{"x"}, {}] %[[W]]#0
  %i = sdy.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%s = %start, %c = %i) : tensor<4x4xf32>, tensor<i32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>, <@mesh, []>]>}
  cond {
    %n = sdy.constant dense<5> : tensor<i32>
    %1 = stablehlo.compare LT, %c, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %2 = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
    %3 = sdy.reduce_scatter [{"x"}, {}] %2 out_sharding=<@mesh, [{"x"}, {}]> : tensor<4x4xf32>
    %4 = stablehlo.add %3, %s {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<4x4xf32>
    %one = sdy.constant dense<1> : tensor<i32>
    %5 = stablehlo.add %c, %one : tensor<i32>
    stablehlo.return %4, %5 : tensor<4x4xf32>, tensor<i32>
  }
  return %0#0 : tensor<4x4xf32>
}

// It has another sharding, and is gathered once, before the loop.
// CHECK-LABEL: func @starts_elsewhere
func.func @starts_elsewhere(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@two, [{"x"}, {}]>}, %start: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@two, [{"y"}, {}]>}) -> (tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@two, [{"y"}, {}]>}) {
  // CHECK: %[[G:.*]] = sdy.all_gather [{"y"}, {}] %arg1
  // CHECK: sdy.replicated_to_unreduced {"x"} %[[G]]
  // CHECK: do {
  // CHECK-NOT: sdy.all_reduce
  // CHECK: return
  %i = sdy.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%s = %start, %c = %i) : tensor<4x4xf32>, tensor<i32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@two, [{"y"}, {}]>, <@two, []>]>}
  cond {
    %n = sdy.constant dense<5> : tensor<i32>
    %1 = stablehlo.compare LT, %c, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %2 = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@two, [{}, {}], unreduced={"x"}>]>} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
    %3 = sdy.all_reduce {"x"} %2 out_sharding=<@two, [{}, {}]> : tensor<4x4xf32>
    %6 = sdy.all_slice [{"y"}, {}] %3 out_sharding=<@two, [{"y"}, {}]> : tensor<4x4xf32>
    %4 = stablehlo.add %6, %s {sdy.sharding = #sdy.sharding_per_value<[<@two, [{"y"}, {}]>]>} : tensor<4x4xf32>
    %one = sdy.constant dense<1> : tensor<i32>
    %5 = stablehlo.add %c, %one : tensor<i32>
    stablehlo.return %4, %5 : tensor<4x4xf32>, tensor<i32>
  }
  return %0#0 : tensor<4x4xf32>
}

// The same of a maximum, of which all devices may keep the start.
// CHECK-LABEL: func @maximum
func.func @maximum(%x: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %start: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[KEPT:.*]] = sdy.replicated_to_unreduced {"x"} %arg1 out_sharding=<@mesh, [{}], unreduced=max{"x"}>
  // CHECK: %[[W:.*]] = stablehlo.while(%{{.*}} = %[[KEPT]])
  // CHECK: do {
  // CHECK-NOT: sdy.all_reduce
  // CHECK: sdy.all_reduce max {"x"} %[[W]]
  %z = sdy.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.while(%s = %start) : tensor<4xf32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>}
  cond {
    %1 = sdy.constant dense<true> : tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %2 = stablehlo.reduce(%x init: %z) applies stablehlo.maximum across dimensions = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced=max{"x"}>]>} : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
    %3 = sdy.all_reduce max {"x"} %2 out_sharding=<@mesh, [{}]> : tensor<4xf32>
    %4 = stablehlo.maximum %s, %3 : tensor<4xf32>
    stablehlo.return %4 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// What an inner loop adds to is carried in parts by both.
// CHECK-LABEL: func @nested
func.func @nested(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %start: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK: %[[KEPT:.*]] = sdy.replicated_to_unreduced {"x"} %arg1
  // CHECK-NEXT: %[[W:.*]] = stablehlo.while(%[[S:.*]] = %[[KEPT]])
  // CHECK: do {
  // CHECK: stablehlo.while(%{{.*}} = %[[S]],
  // CHECK: do {
  // CHECK-NOT: sdy.all_reduce
  // CHECK: %[[R:.*]] = sdy.all_reduce {"x"} %[[W]]
  // CHECK: return %[[R]]
  %i = sdy.constant dense<0> : tensor<i32>
  %o = stablehlo.while(%t = %start) : tensor<4x4xf32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>}
  cond {
    %1 = sdy.constant dense<true> : tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %k = sdy.replicated_to_unreduced {"x"} %t out_sharding=<@mesh, [{}, {}], unreduced={"x"}> : tensor<4x4xf32>
  %0:2 = stablehlo.while(%s = %k, %c = %i) : tensor<4x4xf32>, tensor<i32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>, <@mesh, []>]>}
  cond {
    %n = sdy.constant dense<5> : tensor<i32>
    %1 = stablehlo.compare LT, %c, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %2 = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
    %4 = stablehlo.add %2, %s {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>} : tensor<4x4xf32>
    %one = sdy.constant dense<1> : tensor<i32>
    %5 = stablehlo.add %c, %one : tensor<i32>
    stablehlo.return %4, %5 : tensor<4x4xf32>, tensor<i32>
  }
    %r = sdy.all_reduce {"x"} %0#0 out_sharding=<@mesh, [{}, {}]> : tensor<4x4xf32>
    stablehlo.return %r : tensor<4x4xf32>
  }
  return %o : tensor<4x4xf32>
}

// Ops that are linear in what is reduced are computed on parts. Zeros are there
// in any sharding. A device carries 64 bytes more, and sends 32 in each of 5 runs.
// CHECK-LABEL: func @linear_steps
// CHEAP-LABEL: func @linear_steps
// DEAR-LABEL: func @linear_steps
func.func @linear_steps(%x: tensor<8x4xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %y: tensor<8x8xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // CHECK: %[[W:.*]]:2 = stablehlo.while(%[[S:.*]] = %{{.*}}, %{{.*}} = %{{.*}})
  // CHECK-SAME: [<@mesh, [{}, {}], unreduced={"x"}>, <@mesh, []>]
  // CHECK: do {
  // CHECK-NOT: sdy.reduce_scatter
  // CHECK: stablehlo.transpose {{.*}}unreduced={"x"}
  // CHECK: stablehlo.convert {{.*}}unreduced={"x"}
  // CHECK-NEXT: %[[Z:.*]] = sdy.constant {{.*}}[{}, {}]{{.*}} dense<0.000000e+00> : tensor<8x4xf32>
  // CHECK-NEXT: stablehlo.dynamic_update_slice %[[Z]], {{.*}}unreduced={"x"}
  // CHECK: stablehlo.add %[[S]], %{{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>}
  // CHECK: %[[R:.*]] = sdy.reduce_scatter [{"x"}, {}] %[[W]]#0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x4xf32>
  // CHECK: return %[[R]]
  // CHEAP-NOT: sdy.memory_price
  // CHEAP: do {
  // CHEAP-NOT: sdy.reduce_scatter
  // CHEAP: sdy.reduce_scatter {{.*}}#0
  // DEAR: do {
  // DEAR: sdy.reduce_scatter
  // DEAR: stablehlo.return
  // DEAR-NOT: sdy.reduce_scatter
  // DEAR: return
  %i = sdy.constant dense<0> : tensor<i32>
  %zeros = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} dense<0.0> : tensor<8x4xf32>
  %0:2 = stablehlo.while(%s = %zeros, %c = %i) : tensor<8x4xf32>, tensor<i32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>, <@mesh, []>]>}
  cond {
    %n = sdy.constant dense<5> : tensor<i32>
    %1 = stablehlo.compare LT, %c, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %e = stablehlo.convert %c : (tensor<i32>) -> tensor<bf16>
    %f = stablehlo.broadcast_in_dim %e, dims = [] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<bf16>) -> tensor<8x4xbf16>
    %g = stablehlo.multiply %x, %f {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x4xbf16>
    %2 = stablehlo.dot_general %g, %y, contracting_dims = [0] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>} : (tensor<8x4xbf16>, tensor<8x8xbf16>) -> tensor<4x8xbf16>
    %3 = sdy.reduce_scatter [{}, {"x"}] %2 out_sharding=<@mesh, [{}, {"x"}]> : tensor<4x8xbf16>
    %4 = stablehlo.transpose %3, dims = [1, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<4x8xbf16>) -> tensor<8x4xbf16>
    %5 = stablehlo.convert %4 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<8x4xbf16>) -> tensor<8x4xf32>
    %6 = stablehlo.dynamic_update_slice %zeros, %5, %i, %i {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<i32>, tensor<i32>) -> tensor<8x4xf32>
    %7 = stablehlo.add %s, %6 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x4xf32>
    %one = sdy.constant dense<1> : tensor<i32>
    %8 = stablehlo.add %c, %one : tensor<i32>
    stablehlo.return %7, %8 : tensor<8x4xf32>, tensor<i32>
  }
  return %0#0 : tensor<8x4xf32>
}

// A number that gets fewer bits is rounded, and of each part something else.
// CHECK-LABEL: func @narrowed
func.func @narrowed(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<4x4xbf16> {
  // CHECK: do {
  // CHECK: sdy.all_reduce
  // CHECK: stablehlo.convert
  %i = sdy.constant dense<0> : tensor<i32>
  %zeros = sdy.constant dense<0.0> : tensor<4x4xbf16>
  %0:2 = stablehlo.while(%s = %zeros, %c = %i) : tensor<4x4xbf16>, tensor<i32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>, <@mesh, []>]>}
  cond {
    %n = sdy.constant dense<5> : tensor<i32>
    %1 = stablehlo.compare LT, %c, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %2 = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
    %3 = sdy.all_reduce {"x"} %2 out_sharding=<@mesh, [{}, {}]> : tensor<4x4xf32>
    %4 = stablehlo.convert %3 : (tensor<4x4xf32>) -> tensor<4x4xbf16>
    %5 = stablehlo.add %s, %4 : tensor<4x4xbf16>
    %one = sdy.constant dense<1> : tensor<i32>
    %6 = stablehlo.add %c, %one : tensor<i32>
    stablehlo.return %5, %6 : tensor<4x4xbf16>, tensor<i32>
  }
  return %0#0 : tensor<4x4xbf16>
}

// Of a dot every device would compute more.
// CHECK-LABEL: func @contraction
func.func @contraction(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK: do {
  // CHECK: sdy.all_reduce
  // CHECK: stablehlo.dot
  %i = sdy.constant dense<0> : tensor<i32>
  %zeros = sdy.constant dense<0.0> : tensor<4x4xf32>
  %0:2 = stablehlo.while(%s = %zeros, %c = %i) : tensor<4x4xf32>, tensor<i32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>, <@mesh, []>]>}
  cond {
    %n = sdy.constant dense<5> : tensor<i32>
    %1 = stablehlo.compare LT, %c, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %2 = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
    %3 = sdy.all_reduce {"x"} %2 out_sharding=<@mesh, [{}, {}]> : tensor<4x4xf32>
    %4 = stablehlo.dot %w, %3 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %5 = stablehlo.add %s, %4 : tensor<4x4xf32>
    %one = sdy.constant dense<1> : tensor<i32>
    %6 = stablehlo.add %c, %one : tensor<i32>
    stablehlo.return %5, %6 : tensor<4x4xf32>, tensor<i32>
  }
  return %0#0 : tensor<4x4xf32>
}

// A scan over layers puts the gradient of each beside the others; the loop
// around it adds them up. Both carry parts, which are reduced behind both.
// CHECK-LABEL: func @stacked
func.func @stacked(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<3x4x4xf64> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}) {
  // CHECK: %[[W:.*]]:2 = stablehlo.while(%[[SUM:[A-Za-z_0-9]+]] = %{{[0-9]+}},
  // CHECK-SAME: [<@mesh, [{}, {}, {}], unreduced={"x"}>, <@mesh, []>]
  // CHECK: do {
  // CHECK: stablehlo.while(%[[STACK:[A-Za-z_0-9]+]] = %{{[0-9]+}},
  // CHECK-SAME: [<@mesh, [{}, {}, {}], unreduced={"x"}>, <@mesh, []>]
  // CHECK: do {
  // CHECK: %[[D:.*]] = stablehlo.reshape
  // CHECK-NOT: sdy.reduce_scatter
  // CHECK: stablehlo.dynamic_update_slice %[[STACK]], %[[D]], {{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}, {}], unreduced={"x"}>]>}
  // CHECK-NOT: sdy.reduce_scatter
  // CHECK: stablehlo.add %[[SUM]]
  // CHECK: %[[R:.*]] = sdy.reduce_scatter [{}, {"x"}, {}] %[[W]]#0 out_sharding=<@mesh, [{}, {"x"}, {}]>
  // CHECK: return %[[R]]
  %i = sdy.constant dense<0> : tensor<i32>
  %one = sdy.constant dense<1> : tensor<i32>
  %sums = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}, {}]>]>} dense<0.0> : tensor<3x4x4xf64>
  %0:2 = stablehlo.while(%sum = %sums, %c = %i) : tensor<3x4x4xf64>, tensor<i32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}, {}]>, <@mesh, []>]>}
  cond {
    %n = sdy.constant dense<5> : tensor<i32>
    %1 = stablehlo.compare LT, %c, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %zeros = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}, {}]>]>} dense<0.0> : tensor<3x4x4xf32>
    %inner:2 = stablehlo.while(%stack = %zeros, %layer = %i) : tensor<3x4x4xf32>, tensor<i32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}, {}]>, <@mesh, []>]>}
    cond {
      %n = sdy.constant dense<3> : tensor<i32>
      %1 = stablehlo.compare LT, %layer, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %2 = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
      %3 = stablehlo.reshape %2 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}, {}], unreduced={"x"}>]>} : (tensor<4x4xf32>) -> tensor<1x4x4xf32>
      %4 = sdy.reduce_scatter [{}, {"x"}, {}] %3 out_sharding=<@mesh, [{}, {"x"}, {}]> : tensor<1x4x4xf32>
      %5 = stablehlo.dynamic_update_slice %stack, %4, %layer, %i, %i {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}, {}]>]>} : (tensor<3x4x4xf32>, tensor<1x4x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x4x4xf32>
      %6 = stablehlo.add %layer, %one : tensor<i32>
      stablehlo.return %5, %6 : tensor<3x4x4xf32>, tensor<i32>
    }
    %7 = stablehlo.convert %inner#0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}, {}]>]>} : (tensor<3x4x4xf32>) -> tensor<3x4x4xf64>
    %8 = stablehlo.add %sum, %7 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}, {}]>]>} : tensor<3x4x4xf64>
    %9 = stablehlo.add %c, %one : tensor<i32>
    stablehlo.return %8, %9 : tensor<3x4x4xf64>, tensor<i32>
  }
  return %0#0 : tensor<3x4x4xf64>
}

// No loop adds them up: behind this one there is as much to be reduced.
// CHECK-LABEL: func @stacked_alone
func.func @stacked_alone(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<3x4x4xf32> {
  // CHECK: do {
  // CHECK: sdy.all_reduce
  // CHECK: stablehlo.dynamic_update_slice
  // CHECK: return
  // CHECK-NOT: sdy.all_reduce
  %i = sdy.constant dense<0> : tensor<i32>
  %one = sdy.constant dense<1> : tensor<i32>
  %zeros = sdy.constant dense<0.0> : tensor<3x4x4xf32>
  %inner:2 = stablehlo.while(%stack = %zeros, %layer = %i) : tensor<3x4x4xf32>, tensor<i32>
  cond {
    %n = sdy.constant dense<3> : tensor<i32>
    %1 = stablehlo.compare LT, %layer, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %2 = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
    %3 = stablehlo.reshape %2 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}, {}], unreduced={"x"}>]>} : (tensor<4x4xf32>) -> tensor<1x4x4xf32>
    %4 = sdy.all_reduce {"x"} %3 out_sharding=<@mesh, [{}, {}, {}]> : tensor<1x4x4xf32>
    %5 = stablehlo.dynamic_update_slice %stack, %4, %layer, %i, %i : (tensor<3x4x4xf32>, tensor<1x4x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x4x4xf32>
    %6 = stablehlo.add %layer, %one : tensor<i32>
    stablehlo.return %5, %6 : tensor<3x4x4xf32>, tensor<i32>
  }
  return %inner#0 : tensor<3x4x4xf32>
}

// Slices of one reduced value are added to several tensors, behind a transpose:
// each carries parts. One is sharded, and takes its shards behind the loop.
// CHECK-LABEL: func @slices_of_one
func.func @slices_of_one(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  // CHECK: %[[W:.*]]:3 = stablehlo.while(%[[A:[A-Za-z0-9_]*]] = %{{[0-9]+}}, %[[B:[A-Za-z0-9_]*]] = %{{[0-9]+}},
  // CHECK-SAME: [<@mesh, [{}, {}], unreduced={"x"}>, <@mesh, [{}, {}], unreduced={"x"}>, <@mesh, []>]
  // CHECK: do {
  // CHECK-NOT: sdy.all_{{reduce|slice}}
  // CHECK: %[[D:.*]] = stablehlo.dot_general
  // CHECK: %[[T:.*]] = stablehlo.transpose %[[D]], dims = [1, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>}
  // CHECK: %[[L:.*]] = stablehlo.slice %[[T]] [0:4, 0:4]
  // CHECK: %[[R:.*]] = stablehlo.slice %[[T]] [0:4, 4:8]
  // CHECK-DAG: stablehlo.add %[[A]], %[[L]] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>}
  // CHECK-DAG: stablehlo.add %[[B]], %[[R]] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>}
  // CHECK: stablehlo.return
  // CHECK-DAG: sdy.all_reduce {"x"} %[[W]]#0 out_sharding=<@mesh, [{}, {}]>
  // CHECK-DAG: sdy.reduce_scatter [{"x"}, {}] %[[W]]#1 out_sharding=<@mesh, [{"x"}, {}]>
  %i = sdy.constant dense<0> : tensor<i32>
  %zeros = sdy.constant dense<0.0> : tensor<4x4xf32>
  %shards = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} dense<0.0> : tensor<4x4xf32>
  %0:3 = stablehlo.while(%s = %zeros, %t = %shards, %c = %i) : tensor<4x4xf32>, tensor<4x4xf32>, tensor<i32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, []>]>}
  cond {
    %n = sdy.constant dense<5> : tensor<i32>
    %1 = stablehlo.compare LT, %c, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %2 = stablehlo.dot_general %y, %x, contracting_dims = [0] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>} : (tensor<8x8xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %3 = sdy.all_reduce {"x"} %2 out_sharding=<@mesh, [{}, {}]> : tensor<8x4xf32>
    %4 = stablehlo.transpose %3, dims = [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
    %5 = stablehlo.slice %4 [0:4, 0:4] : (tensor<4x8xf32>) -> tensor<4x4xf32>
    %6 = stablehlo.slice %4 [0:4, 4:8] : (tensor<4x8xf32>) -> tensor<4x4xf32>
    %7 = sdy.all_slice [{"x"}, {}] %6 out_sharding=<@mesh, [{"x"}, {}]> : tensor<4x4xf32>
    %8 = stablehlo.add %s, %5 : tensor<4x4xf32>
    %9 = stablehlo.add %t, %7 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<4x4xf32>
    %one = sdy.constant dense<1> : tensor<i32>
    %10 = stablehlo.add %c, %one : tensor<i32>
    stablehlo.return %8, %9, %10 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<i32>
  }
  %11 = sdy.all_gather [{"x"}, {}] %0#1 out_sharding=<@mesh, [{}, {}]> : tensor<4x4xf32>
  return %0#0, %11 : tensor<4x4xf32>, tensor<4x4xf32>
}

// Another op needs it in each run.
// CHECK-LABEL: func @read_by_another
func.func @read_by_another(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  // CHECK: do {
  // CHECK: sdy.all_reduce
  %i = sdy.constant dense<0> : tensor<i32>
  %zeros = sdy.constant dense<0.0> : tensor<2x4xf32>
  %0:3 = stablehlo.while(%s = %zeros, %t = %zeros, %c = %i) : tensor<2x4xf32>, tensor<2x4xf32>, tensor<i32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>, <@mesh, [{}, {}]>, <@mesh, []>]>}
  cond {
    %n = sdy.constant dense<5> : tensor<i32>
    %1 = stablehlo.compare LT, %c, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %2 = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
    %3 = sdy.all_reduce {"x"} %2 out_sharding=<@mesh, [{}, {}]> : tensor<4x4xf32>
    %4 = stablehlo.slice %3 [0:2, 0:4] : (tensor<4x4xf32>) -> tensor<2x4xf32>
    %5 = stablehlo.slice %3 [2:4, 0:4] : (tensor<4x4xf32>) -> tensor<2x4xf32>
    %6 = stablehlo.tanh %5 : tensor<2x4xf32>
    %7 = stablehlo.add %s, %4 : tensor<2x4xf32>
    %8 = stablehlo.add %t, %6 : tensor<2x4xf32>
    %one = sdy.constant dense<1> : tensor<i32>
    %9 = stablehlo.add %c, %one : tensor<i32>
    stablehlo.return %7, %8, %9 : tensor<2x4xf32>, tensor<2x4xf32>, tensor<i32>
  }
  return %0#0, %0#1 : tensor<2x4xf32>, tensor<2x4xf32>
}

// A run adds two sums to it in parts, and reduces that.
// CHECK-LABEL: func @added_twice
func.func @added_twice(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<4x4xf32> {
  // CHECK: %[[W:.*]]:2 = stablehlo.while(%[[S:[A-Za-z0-9_]*]] =
  // CHECK-SAME: [<@mesh, [{}, {}], unreduced={"x"}>, <@mesh, []>]
  // CHECK: do {
  // CHECK-NOT: sdy.
  // CHECK: %[[D:.*]] = stablehlo.dot_general
  // CHECK: %[[A:.*]] = stablehlo.add %[[S]], %[[D]] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>}
  // CHECK: %[[T:.*]] = stablehlo.transpose %[[A]]
  // CHECK: %[[B:.*]] = stablehlo.add %[[T]], %[[D]]
  // CHECK: stablehlo.return %[[B]]
  // CHECK: %[[R:.*]] = sdy.all_reduce {"x"} %[[W]]#0 out_sharding=<@mesh, [{}, {}]>
  // CHECK: return %[[R]]
  %i = sdy.constant dense<0> : tensor<i32>
  %zeros = sdy.constant dense<0.0> : tensor<4x4xf32>
  %0:2 = stablehlo.while(%s = %zeros, %c = %i) : tensor<4x4xf32>, tensor<i32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>, <@mesh, []>]>}
  cond {
    %n = sdy.constant dense<5> : tensor<i32>
    %1 = stablehlo.compare LT, %c, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %2 = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
    %3 = sdy.replicated_to_unreduced {"x"} %s out_sharding=<@mesh, [{}, {}], unreduced={"x"}> : tensor<4x4xf32>
    %4 = stablehlo.add %3, %2 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>} : tensor<4x4xf32>
    %5 = stablehlo.transpose %4, dims = [1, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %6 = stablehlo.add %5, %2 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>} : tensor<4x4xf32>
    %7 = sdy.all_reduce {"x"} %6 out_sharding=<@mesh, [{}, {}]> : tensor<4x4xf32>
    %one = sdy.constant dense<1> : tensor<i32>
    %8 = stablehlo.add %c, %one : tensor<i32>
    stablehlo.return %7, %8 : tensor<4x4xf32>, tensor<i32>
  }
  return %0#0 : tensor<4x4xf32>
}

// The scattered sum is multiplied by what no run changes: that is gathered once,
// before the loop.
// CHECK-LABEL: func @scaled_by_shards
// CHEAP-LABEL: func @scaled_by_shards
func.func @scaled_by_shards(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %w: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // CHECK: %[[L:.*]]:2 = stablehlo.while(%[[S:[A-Za-z0-9_]*]] =
  // CHECK: do {
  // CHECK: %[[D:.*]] = stablehlo.reduce
  // CHECK: %[[W:.*]] = sdy.all_gather [{"x"}] %arg1 out_sharding=<@mesh, [{}]>
  // CHECK: %[[M:.*]] = stablehlo.multiply %[[D]], %[[W]] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"x"}>]>}
  // CHECK: stablehlo.add %[[S]], %[[M]] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"x"}>]>}
  // CHECK: %[[R:.*]] = sdy.reduce_scatter [{"x"}] %[[L]]#0 out_sharding=<@mesh, [{"x"}]>
  // CHECK: return %[[R]]
  // CHEAP: sdy.all_gather [{"x"}] %arg1
  // CHEAP: stablehlo.while
  // CHEAP-NOT: sdy.{{all_gather|reduce_scatter}}
  // CHEAP: stablehlo.return
  // CHEAP: stablehlo.return
  %i = sdy.constant dense<0> : tensor<i32>
  %zero = sdy.constant dense<0.0> : tensor<f32>
  %zeros = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} dense<0.0> : tensor<4xf32>
  %0:2 = stablehlo.while(%s = %zeros, %c = %i) : tensor<4xf32>, tensor<i32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>, <@mesh, []>]>}
  cond {
    %n = sdy.constant dense<5> : tensor<i32>
    %1 = stablehlo.compare LT, %c, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %2 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"x"}>]>} : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
    %3 = sdy.reduce_scatter [{"x"}] %2 out_sharding=<@mesh, [{"x"}]> : tensor<4xf32>
    %4 = stablehlo.multiply %3, %w {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<4xf32>
    %5 = stablehlo.add %s, %4 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<4xf32>
    %one = sdy.constant dense<1> : tensor<i32>
    %6 = stablehlo.add %c, %one : tensor<i32>
    stablehlo.return %5, %6 : tensor<4xf32>, tensor<i32>
  }
  return %0#0 : tensor<4xf32>
}
