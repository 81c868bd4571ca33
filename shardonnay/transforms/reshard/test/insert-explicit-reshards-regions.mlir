// RUN: sdy-opt %s --pass-pipeline='builtin.module(func.func(sdy-insert-explicit-reshards{enable-full-version=true}))' | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=4]>

// What flows into the class gets its sharding: before the loop, and at the end
// of its body. What decides is known to every device.
// CHECK-LABEL: func @carries
// CHECK: %[[INIT:.*]] = sdy.reshard %arg0 <@mesh, [{"x"}]>
// CHECK: stablehlo.while(%[[ARG:.*]] = %[[INIT]])
// CHECK: %[[SUM:.*]] = stablehlo.reduce
// CHECK: %[[WHOLE:.*]] = sdy.reshard %[[SUM]] <@mesh, []>
// CHECK: stablehlo.compare LT, %[[WHOLE]]
// CHECK: %[[NEXT:.*]] = stablehlo.sine %{{.*}}
// CHECK: %[[BACK:.*]] = sdy.reshard %[[NEXT]] <@mesh, [{"x"}]>
// CHECK: stablehlo.return %[[BACK]]
func.func @carries(%arg0: tensor<8xf32>, %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %c = sdy.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.while(%iter = %arg0) : tensor<8xf32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
  cond {
    %1 = stablehlo.reduce(%iter init: %c) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
    %2 = stablehlo.compare LT, %1, %c : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  } do {
    %1 = sdy.reshard %iter <@mesh, [{"y"}]> : tensor<8xf32>
    %2 = stablehlo.sine %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : tensor<8xf32>
    %3 = sdy.reshard %2 <@mesh, [{"y"}]> : tensor<8xf32>
    stablehlo.return %3 : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}

// What a loop uses from outside is resharded once, in a branch where it is used.
// CHECK-LABEL: func @captures
// CHECK: %[[ONCE:.*]] = sdy.reshard %arg1
// CHECK: stablehlo.while
// CHECK-NOT: sdy.reshard %arg1
// CHECK: stablehlo.add %{{.*}}, %[[ONCE]]
// CHECK: "stablehlo.if"
// CHECK: %[[HERE:.*]] = sdy.reshard %arg2
// CHECK: stablehlo.add %{{.*}}, %[[HERE]]
func.func @captures(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}, %arg2: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}, %arg3: tensor<i1>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.while(%iter = %arg0) : tensor<8xf32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
  cond {
    stablehlo.return %arg3 : tensor<i1>
  } do {
    %1 = stablehlo.add %iter, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
    stablehlo.return %1 : tensor<8xf32>
  }
  %1 = "stablehlo.if"(%arg3) ({
    %2 = stablehlo.add %0, %arg2 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
    stablehlo.return %2 : tensor<8xf32>
  }, {
    stablehlo.return %0 : tensor<8xf32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<i1>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// Inside, manual axes are not mentioned.
// CHECK-LABEL: func @manual
// CHECK: %[[IN:.*]] = sdy.reshard %arg0 <@mesh, [{"x", "y"}]>
// CHECK: sdy.manual_computation(%[[IN]])
// CHECK: %[[WHOLE:.*]] = sdy.reshard %arg1 <@mesh, [{}]> : tensor<16xf32>
// CHECK: sdy.return %[[WHOLE]]
func.func @manual(%arg0: tensor<32xf32>) -> (tensor<32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x", "y"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%arg1: tensor<16xf32>) {
    sdy.return %arg1 : tensor<16xf32>
  } : (tensor<32xf32>) -> tensor<32xf32>
  return %0 : tensor<32xf32>
}

// Nothing shards the dot's operands, so that idle axes may: but manual ones are
// not there to be used.
// CHECK-LABEL: func @idle_axes_in_manual
// CHECK: sdy.reshard {{.*}} <@mesh, [{"y"}, {}]> : tensor<2048x4096xf32>
// CHECK: stablehlo.dot_general {{.*}}sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>
func.func @idle_axes_in_manual(%arg0: tensor<4096x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                               %arg1: tensor<4096x4096xf32>)
    -> (tensor<4096x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = sdy.manual_computation(%arg0, %arg1)
      in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{}, {}], replicated={"x"}>]
      out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%arg2: tensor<2048x4096xf32>, %arg3: tensor<4096x4096xf32>) {
    %1 = stablehlo.dot_general %arg2, %arg3, contracting_dims = [1] x [0]
        : (tensor<2048x4096xf32>, tensor<4096x4096xf32>) -> tensor<2048x4096xf32>
    sdy.return %1 : tensor<2048x4096xf32>
  } : (tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %0 : tensor<4096x4096xf32>
}

// Nor in a loop in it, though an equal op outside may use them.
// CHECK-LABEL: func @idle_axes_in_a_loop_in_manual
// CHECK: stablehlo.dot_general {{.*}}sdy.sharding_per_value<[<@mesh, [{"x", "y"}, {}]>]>
// CHECK: sdy.manual_computation
// CHECK: stablehlo.dot_general {{.*}}sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>
func.func @idle_axes_in_a_loop_in_manual(%arg0: tensor<4096x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>},
                                         %arg1: tensor<8192x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<4096x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>},
        tensor<8192x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.dot_general %arg0, %arg0, contracting_dims = [1] x [0]
      : (tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %1 = sdy.manual_computation(%arg1) in_shardings=[<@mesh, [{"x"}, {}]>]
      out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%arg2: tensor<4096x4096xf32>) {
    %2 = stablehlo.constant dense<true> : tensor<i1>
    %3 = stablehlo.while(%iterArg = %arg2) : tensor<4096x4096xf32>
      attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>}
    cond {
      stablehlo.return %2 : tensor<i1>
    } do {
      %4 = stablehlo.dot_general %iterArg, %iterArg, contracting_dims = [1] x [0]
          : (tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
      stablehlo.return %4 : tensor<4096x4096xf32>
    }
    sdy.return %3 : tensor<4096x4096xf32>
  } : (tensor<8192x4096xf32>) -> tensor<8192x4096xf32>
  return %0, %1 : tensor<4096x4096xf32>, tensor<8192x4096xf32>
}

// What a loop carries is in parts where all that flows into it is said to be,
// through a loop in it too: one reduction, behind both.
// CHECK-LABEL: func @carried_in_parts
// CHECK-COUNT-2: stablehlo.while{{.*}} attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"x"}>]>}
// CHECK: %[[ADDED:.*]] = stablehlo.add %{{.*}}, %{{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"x"}>]>}
// CHECK-NOT: <@mesh, [{}]>
// CHECK: return
// CHECK: %[[WHOLE:.*]] = sdy.reshard %{{.*}} <@mesh, [{}]>
// CHECK: return %[[WHOLE]]
func.func @carried_in_parts(%arg0: tensor<8xf32>, %arg1: tensor<i1>, %arg2: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  %c = sdy.constant dense<0.0> : tensor<f32>
  %parts = sdy.reshard %arg0 <@mesh, [{}], unreduced={"x"}> : tensor<8xf32>
  %0 = stablehlo.while(%outer = %parts) : tensor<8xf32>
  cond {
    stablehlo.return %arg1 : tensor<i1>
  } do {
    %1 = stablehlo.while(%inner = %outer) : tensor<8xf32>
    cond {
      stablehlo.return %arg1 : tensor<i1>
    } do {
      %2 = stablehlo.reduce(%arg2 init: %c) applies stablehlo.add across dimensions = [0] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
      %3 = sdy.reshard %2 <@mesh, [{}], unreduced={"x"}> : tensor<8xf32>
      %4 = stablehlo.add %inner, %3 : tensor<8xf32>
      %5 = sdy.reshard %4 <@mesh, [{}], unreduced={"x"}> : tensor<8xf32>
      stablehlo.return %5 : tensor<8xf32>
    }
    stablehlo.return %1 : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}

// A branch that returns a whole value: all do.
// CHECK-LABEL: func @one_in_parts
// CHECK: %[[WHOLE:.*]] = sdy.reshard %{{.*}} <@mesh, [{}]>
// CHECK: stablehlo.return %[[WHOLE]]
// CHECK-NOT: unreduced
// CHECK: return
func.func @one_in_parts(%arg0: tensor<8xf32>, %arg1: tensor<i1>, %arg2: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8xf32> {
  %c = sdy.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.if"(%arg1) ({
    %2 = stablehlo.reduce(%arg2 init: %c) applies stablehlo.add across dimensions = [0] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
    %3 = sdy.reshard %2 <@mesh, [{}], unreduced={"x"}> : tensor<8xf32>
    stablehlo.return %3 : tensor<8xf32>
  }, {
    stablehlo.return %arg0 : tensor<8xf32>
  }) : (tensor<i1>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
