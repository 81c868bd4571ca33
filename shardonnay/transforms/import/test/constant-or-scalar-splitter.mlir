// RUN: sdy-opt %s -sdy-constant-or-scalar-splitter | FileCheck %s

sdy.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func @each_use
// CHECK-NEXT:  %[[C0:.*]] = sdy.constant dense<1.000000e+00> : tensor<8xf32>
// CHECK-NEXT:  %[[C1:.*]] = sdy.constant dense<1.000000e+00> : tensor<8xf32>
// CHECK-NEXT:  %[[C2:.*]] = sdy.constant dense<1.000000e+00> : tensor<8xf32>
// CHECK-NEXT:  %[[ABS:.*]] = stablehlo.subtract %arg0, %[[C0]]
// CHECK-NEXT:  %[[MUL:.*]] = stablehlo.multiply %[[ABS]], %[[C1]]
// CHECK-NEXT:  return %[[C2]], %[[MUL]]
func.func @each_use(%arg0: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %c = stablehlo.constant dense<1.0> : tensor<8xf32>
  %0 = stablehlo.subtract %arg0, %c : tensor<8xf32>
  %1 = stablehlo.multiply %0, %c : tensor<8xf32>
  return %c, %1 : tensor<8xf32>, tensor<8xf32>
}

// One use's expression is copied whole; what it shares inside stays shared.
// CHECK-LABEL: func @expression
// CHECK-NEXT:  %[[I0:.*]] = stablehlo.iota dim = 0
// CHECK-NEXT:  %[[I1:.*]] = stablehlo.iota dim = 0
// CHECK-NEXT:  %[[S0:.*]] = stablehlo.add %[[I0]], %[[I0]]
// CHECK-NEXT:  %[[S1:.*]] = stablehlo.add %[[I1]], %[[I1]]
// CHECK-NEXT:  %[[R0:.*]] = stablehlo.reshape %[[S0]]
// CHECK-NEXT:  %[[R1:.*]] = stablehlo.reshape %[[S1]]
// CHECK-NEXT:  stablehlo.subtract %arg0, %[[R0]]
// CHECK-NEXT:  stablehlo.multiply %arg0, %[[R1]]
func.func @expression(%arg0: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %i = stablehlo.iota dim = 0 : tensor<8xf32>
  %s = stablehlo.add %i, %i : tensor<8xf32>
  %r = stablehlo.reshape %s : (tensor<8xf32>) -> tensor<2x4xf32>
  %0 = stablehlo.subtract %arg0, %r : tensor<2x4xf32>
  %1 = stablehlo.multiply %arg0, %r : tensor<2x4xf32>
  return %0, %1 : tensor<2x4xf32>, tensor<2x4xf32>
}

// Scalars are not copied, tensors made of them are; but what is computed from
// one of a scalar that is no constant is an ordinary value.
// CHECK-LABEL: func @scalars
// CHECK-NEXT:  %[[C:.*]] = sdy.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:  %[[S:.*]] = stablehlo.add %[[C]], %[[C]] : tensor<f32>
// CHECK-NEXT:  %[[C0:.*]] = stablehlo.broadcast_in_dim %[[S]]
// CHECK-NEXT:  %[[C1:.*]] = stablehlo.broadcast_in_dim %[[S]]
// CHECK-NEXT:  %[[A0:.*]] = stablehlo.broadcast_in_dim %arg0
// CHECK-NEXT:  %[[A1:.*]] = stablehlo.broadcast_in_dim %arg0
// CHECK-NEXT:  %[[CA:.*]] = stablehlo.multiply %[[C0]], %[[A0]]
// CHECK-NEXT:  %[[X:.*]] = stablehlo.subtract %[[CA]], %[[C1]]
// CHECK-NEXT:  %[[Y:.*]] = stablehlo.subtract %[[CA]], %[[A1]]
func.func @scalars(%arg0: tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %c = stablehlo.constant dense<1.0> : tensor<f32>
  %s = stablehlo.add %c, %c : tensor<f32>
  %cs = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<8xf32>
  %as = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<8xf32>
  %ca = stablehlo.multiply %cs, %as : tensor<8xf32>
  %x = stablehlo.subtract %ca, %cs : tensor<8xf32>
  %y = stablehlo.subtract %ca, %as : tensor<8xf32>
  return %x, %y : tensor<8xf32>, tensor<8xf32>
}

// A constraint is a use; a sharding and a group's membership go with each copy.
// CHECK-LABEL: func @shardings
// CHECK-NEXT:  %[[C0:.*]] = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} dense<1.000000e+00>
// CHECK-NEXT:  sdy.sharding_group %[[C0]] group_id=0
// CHECK-NEXT:  %[[C1:.*]] = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} dense<1.000000e+00>
// CHECK-NEXT:  sdy.sharding_group %[[C1]] group_id=0
// CHECK-NEXT:  sdy.sharding_constraint %[[C0]]
// CHECK-NEXT:  return %[[C1]]
func.func @shardings() -> tensor<8xf32> {
  %c = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} dense<1.0> : tensor<8xf32>
  sdy.sharding_group %c group_id=0 : tensor<8xf32>
  %0 = sdy.sharding_constraint %c <@mesh, [{"x"}]> : tensor<8xf32>
  return %c : tensor<8xf32>
}

// The last use takes an original only where nothing else is left that uses it:
// a scalar's part stays the scalar's.
// CHECK-LABEL: func @last_use
// CHECK-NEXT:  %[[C0:.*]] = sdy.constant dense<1.000000e+00>
// CHECK-NEXT:  %[[C1:.*]] = sdy.constant dense<1.000000e+00>
// CHECK-NEXT:  %[[S:.*]] = stablehlo.reshape %[[C1]]
// CHECK-NEXT:  %[[N:.*]] = stablehlo.negate %[[C0]]
// CHECK-NEXT:  return %[[N]], %[[S]]
func.func @last_use() -> (tensor<1xf32>, tensor<f32>) {
  %c = stablehlo.constant dense<[1.0]> : tensor<1xf32>
  %s = stablehlo.reshape %c : (tensor<1xf32>) -> tensor<f32>
  %n = stablehlo.negate %c : tensor<1xf32>
  return %n, %s : tensor<1xf32>, tensor<f32>
}

// The regions of an op with a sharding rule stay as they are.
// CHECK-LABEL: func @reducer
// CHECK:       stablehlo.constant dense<2.000000e+00> : tensor<f32>
func.func @reducer(%arg0: tensor<8xf32>) -> tensor<f32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce"(%arg0, %c) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %two = stablehlo.constant dense<2.0> : tensor<f32>
    %m = stablehlo.maximum %a, %b : tensor<f32>
    %s = stablehlo.maximum %m, %two : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// A call whose callee makes constants of constants is one expression, for each
// use with a callee of its own.
// CHECK-LABEL: func @calls
func.func @calls(%a: tensor<8xf32>) -> tensor<8xf32> {
  %c = stablehlo.constant dense<1.0> : tensor<8xf32>
  // CHECK-DAG: call @outer_{{[0-9]+}}(%{{.*}}) : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  // CHECK-DAG: call @outer_{{[0-9]+}}(%{{.*}}) : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %0:2 = func.call @outer(%c) : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %1 = stablehlo.add %0#0, %a : tensor<8xf32>
  %2 = stablehlo.multiply %0#1, %1 : tensor<8xf32>
  // CHECK: call @not_constant(%arg0,
  %3 = func.call @not_constant(%a, %2) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %3 : tensor<8xf32>
}
func.func private @outer(%s: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = stablehlo.tanh %s : tensor<8xf32>
  %1 = func.call @inner(%0) : (tensor<8xf32>) -> tensor<8xf32>
  return %1, %0 : tensor<8xf32>, tensor<8xf32>
}
func.func private @inner(%s: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.sine %s : tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @not_constant(%s: tensor<8xf32>, %t: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.sine %s : tensor<8xf32>
  return %0 : tensor<8xf32>
}
// CHECK: func.func private @inner_{{[0-9]+}}({{.*}} attributes {sdy.original_func_name = "inner"}
