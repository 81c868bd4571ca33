// RUN: sdy-opt %s -split-input-file -verify-diagnostics -transform-interpreter -allow-unregistered-dialect | FileCheck %s

// A script edits the program beside it: how an op is computed, how values are sharded.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @is_dot(%op: !transform.any_op {transform.readonly}) -> !transform.any_op {
    transform.match.operation_name %op ["stablehlo.dot"] : !transform.any_op
    transform.yield %op : !transform.any_op
  }
  transform.named_sequence @__transform_main(%module: !transform.any_op) {
    %dot = transform.collect_matching @is_dot in %module : (!transform.any_op) -> !transform.any_op
    transform.sdy.set_op_sharding %dot <@mesh, [{"x"}, {}, {"y"}]> : !transform.any_op
    %weight = transform.get_operand %dot[1] : (!transform.any_op) -> !transform.any_value
    transform.sdy.set_sharding %weight <@mesh, [{"y"}, {}]> : !transform.any_value
    %result = transform.get_result %dot[0] : (!transform.any_op) -> !transform.any_value
    transform.sdy.set_sharding %result <@mesh, [{"x"}, {}], unreduced={"y"}> : !transform.any_value
    transform.yield
  }
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  // CHECK: func.func @f(%arg0: tensor<8x16xf32>, %arg1: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>})
  func.func @f(%a: tensor<8x16xf32>, %b: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> tensor<8x8xf32> {
    // CHECK: stablehlo.dot
    // CHECK-SAME: sdy.op_sharding = #sdy.sharding<@mesh, [{"x"}, {}, {"y"}]>
    // CHECK-SAME: sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}], unreduced={"y"}>]>
    %0 = stablehlo.dot %a, %b : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
  }
}

// -----

// What has no sharding of its own; what there is no mesh for.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @is_constraint(%op: !transform.any_op {transform.readonly}) -> !transform.any_op {
    transform.match.operation_name %op ["sdy.sharding_constraint"] : !transform.any_op
    transform.yield %op : !transform.any_op
  }
  transform.named_sequence @__transform_main(%module: !transform.any_op) {
    %op = transform.collect_matching @is_constraint in %module : (!transform.any_op) -> !transform.any_op
    %value = transform.get_result %op[0] : (!transform.any_op) -> !transform.any_value
    // expected-error@+1 {{sets the sharding of a value that has none of its own; expected a tensor that is an argument of a function, or the result of an op other than sdy's}}
    transform.sdy.set_sharding %value <@mesh, [{"x"}]> : !transform.any_value
    transform.yield
  }
  sdy.mesh @mesh = <["x"=2]>
  func.func @f(%a: tensor<8xf32>) -> tensor<8xf32> {
    // expected-note@+1 {{the value is this one}}
    %0 = sdy.sharding_constraint %a <@mesh, [{}]> : tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @is_exp(%op: !transform.any_op {transform.readonly}) -> !transform.any_op {
    transform.match.operation_name %op ["math.exp"] : !transform.any_op
    transform.yield %op : !transform.any_op
  }
  transform.named_sequence @__transform_main(%module: !transform.any_op) {
    %op = transform.collect_matching @is_exp in %module : (!transform.any_op) -> !transform.any_op
    %value = transform.get_result %op[0] : (!transform.any_op) -> !transform.any_value
    // expected-error@+1 {{dims, expected 1 as in}}
    transform.sdy.set_sharding %value <@mesh, [{"x"}, {}]> : !transform.any_value
    transform.yield
  }
  sdy.mesh @mesh = <["x"=2]>
  func.func @f(%a: tensor<8xf32>) -> tensor<8xf32> {
    %0 = math.exp %a : tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}
