// RUN: sdy-opt-toy %s -sdy-op-priority-propagate | FileCheck %s

// Of two ops with one rule, the class (ShardingRuleOpInterface::
// getPropagationClass) decides which is asked first, and in which direction.

sdy.mesh @mesh = <["x"=2, "y"=2]>

// The order. `toy.either` (Compute, the default) would take "y" from %arg1 and
// `toy.forward` (PassThroughForward) brings "x" from %arg0: it comes first, and
// the common group has one sharding.
// CHECK-LABEL: func @order
// CHECK: toy.either {{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}]>]>}
// CHECK: toy.forward {{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}]>]>}
func.func @order(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
  %0 = toy.either %arg1 : tensor<8xf32>
  sdy.sharding_group %0 group_id=0 : tensor<8xf32>
  %1 = toy.forward %arg0 : tensor<8xf32>
  sdy.sharding_group %1 group_id=0 : tensor<8xf32>
  return
}

// The direction. %0 could have "x" from the result of `toy.forward`, which goes
// forward only until the last level, or "y" from %arg0 through `toy.either`,
// which is of an earlier one.
// CHECK-LABEL: func @direction
// CHECK: toy.either {{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y", ?}]>]>}
// CHECK: toy.forward {{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
func.func @direction(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
  %0 = toy.either %arg0 : tensor<8xf32>
  %1 = toy.forward %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
  return
}
