// RUN: sdy-opt %s --pass-pipeline='builtin.module(func.func(sdy-insert-explicit-reshards))' | FileCheck %s

// Unreduced axes of the two ends of a value differ: that is said, whatever the dims do.

sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @other = <["all"=8]>

// CHECK-LABEL: func @result_is_whole
// CHECK: %[[A:.*]] = sdy.all_reduce {"y"} %arg0 out_sharding=<@mesh, [{"x"}, {}]>
// CHECK: return %[[A]]
func.func @result_is_whole(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}], unreduced={"y"}>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  return %a : tensor<8x8xf32>
}

// CHECK-LABEL: func @result_without_sharding
// CHECK: sdy.all_reduce max {"x", "y"} %arg0 out_sharding=<@mesh, [{}, {}]>
func.func @result_without_sharding(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced=max{"x", "y"}>}) -> tensor<8x8xf32> {
  return %a : tensor<8x8xf32>
}

// CHECK-LABEL: func @result_of_unused_axes
// CHECK: %[[A:.*]] = sdy.all_reduce {"x"} %arg0 out_sharding=<@mesh, [{}, {}]>
// CHECK: %[[B:.*]] = sdy.replicated_to_unreduced {"y"} %[[A]] out_sharding=<@mesh, [{}, {}], unreduced={"y"}>
// CHECK: return %[[B]]
func.func @result_of_unused_axes(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"x"}>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"y"}>}) {
  return %a : tensor<8x8xf32>
}

// CHECK-LABEL: func @result_of_cut_dim
// CHECK: sdy.sharded_to_unreduced [{"y"}, {}] %arg0 out_sharding=<@mesh, [{"x"}, {}], unreduced={"y"}>
func.func @result_of_cut_dim(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}], unreduced={"y"}>}) {
  return %a : tensor<8x8xf32>
}

// Before the major axis can be in parts, it has to be off its dim.
// CHECK-LABEL: func @result_of_major_axis
// CHECK: %[[A:.*]] = sdy.reshard %arg0 <@mesh, [{}, {}]>
// CHECK: sdy.replicated_to_unreduced {"x"} %[[A]] out_sharding=<@mesh, [{}, {}], unreduced={"x"}>
func.func @result_of_major_axis(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}], unreduced={"x"}>}) {
  return %a : tensor<8x8xf32>
}

// CHECK-LABEL: func @other_mesh
// CHECK: %[[A:.*]] = sdy.all_reduce {"y"} %arg0 out_sharding=<@mesh, [{}, {}]>
// CHECK: %[[B:.*]] = sdy.reshard %[[A]] <@other, [{}, {}]>
// CHECK: sdy.replicated_to_unreduced {"all"} %[[B]] out_sharding=<@other, [{}, {}], unreduced={"all"}>
func.func @other_mesh(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"y"}>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@other, [{}, {}], unreduced={"all"}>}) {
  return %a : tensor<8x8xf32>
}

// A linear op passes on what its operand and its result have in common.
// CHECK-LABEL: func @linear
// CHECK: %[[A:.*]] = sdy.all_reduce {"x"} %arg0 out_sharding=<@mesh, [{}, {}], unreduced={"y"}>
// CHECK: stablehlo.negate %[[A]] {{.*}}unreduced={"y"}
func.func @linear(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"x", "y"}>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"y"}>}) {
  %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"y"}>]>} : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// Every device would add the whole operand.
// CHECK-LABEL: func @sum_with_whole
// CHECK: %[[A:.*]] = sdy.all_reduce {"y"} %arg0 out_sharding=<@mesh, [{}, {}]>
// CHECK: %[[OWNED:.*]] = sdy.replicated_to_unreduced {"x"} %[[A]] out_sharding=<@mesh, [{}, {}], unreduced={"x"}>
// CHECK: stablehlo.add %[[OWNED]], %arg1 {{.*}}unreduced={"x"}
func.func @sum_with_whole(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"y"}>}, %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"x"}>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"x"}>}) {
  %0 = stablehlo.add %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>} : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// What is not linear is computed whole.
// CHECK-LABEL: func @not_linear
// CHECK: %[[A:.*]] = sdy.all_reduce {"y"} %arg0 out_sharding=<@mesh, [{}, {}]>
// CHECK: %[[EXP:.*]] = stablehlo.exponential %[[A]] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>}
// CHECK: %[[R:.*]] = sdy.replicated_to_unreduced {"y"} %[[EXP]] out_sharding=<@mesh, [{}, {}], unreduced={"y"}>
// CHECK: return %[[R]]
func.func @not_linear(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"y"}>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"y"}>}) {
  %0 = stablehlo.exponential %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"y"}>]>} : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// A contraction makes the parts itself.
// CHECK-LABEL: func @contraction
// CHECK: %[[DOT:.*]] = stablehlo.dot %arg0, %arg1 {{.*}}unreduced={"y"}
// CHECK: sdy.all_reduce {"y"} %[[DOT]] out_sharding=<@mesh, [{}, {}]>
func.func @contraction(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}, %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %0 = stablehlo.dot %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"y"}>]>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// What a custom call passes on, its user knows.
// CHECK-LABEL: func @opaque
// CHECK: stablehlo.custom_call @f(%arg0) {{.*}}unreduced={"y"}
func.func @opaque(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"y"}>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"y"}>}) {
  %0 = stablehlo.custom_call @f(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"y"}>]>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// CHECK-LABEL: func @loop
// CHECK: %[[LOOP:.*]] = stablehlo.while(%[[ITER:.*]] = %arg0)
// CHECK: %[[A:.*]] = sdy.all_reduce {"y"} %[[ITER]]
// CHECK: %[[TANH:.*]] = stablehlo.tanh %[[A]]
// CHECK: %[[PARTS:.*]] = sdy.replicated_to_unreduced {"y"} %[[TANH]]
// CHECK: stablehlo.return %[[PARTS]]
// CHECK: sdy.all_reduce {"y"} %[[LOOP]]
func.func @loop(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"y"}>}, %p: tensor<i1>) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %0 = stablehlo.while(%i = %a) : tensor<8x8xf32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"y"}>]>}
  cond {
    stablehlo.return %p : tensor<i1>
  } do {
    %1 = stablehlo.tanh %i {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : tensor<8x8xf32>
    stablehlo.return %1 : tensor<8x8xf32>
  }
  return %0 : tensor<8x8xf32>
}

// CHECK-LABEL: func @manual
// CHECK: %[[A:.*]] = sdy.all_reduce {"y"} %arg0
// CHECK: sdy.manual_computation(%[[A]])
// CHECK: %[[PARTS:.*]] = sdy.replicated_to_unreduced {"y"} %{{.*}} out_sharding=<@mesh, [{}, {}], unreduced={"y"}> : tensor<4x8xf32>
// CHECK: sdy.return %[[PARTS]]
func.func @manual(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"y"}>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}], unreduced={"y"}>}) {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}], unreduced={"y"}>] manual_axes={"x"} (%b: tensor<4x8xf32>) {
    sdy.return %b : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// CHECK-LABEL: func @call
// CHECK: %[[A:.*]] = sdy.all_reduce {"y"} %arg0
// CHECK: call @callee(%[[A]])
// CHECK: sdy.reshard %[[A]] <@mesh, [{}, {"x"}]>
func.func @call(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"y"}>}) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = call @callee(%a) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = sdy.reshard %a <@mesh, [{}, {"x"}]> : tensor<8x8xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}
func.func private @callee(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  return %a : tensor<8x8xf32>
}
