// RUN: sdy-opt %s --sdy-accumulate-in-loops | FileCheck %s

sdy.mesh @mesh = <["x"=2]>

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

// Pieces are summed up: parts of the whole are carried, and scattered behind.
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

// A sum that starts from something is not one of parts.
// CHECK-LABEL: func @starts_from_something
func.func @starts_from_something(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %start: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK: do {
  // CHECK: sdy.all_reduce
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
