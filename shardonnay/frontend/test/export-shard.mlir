// RUN: sdy-opt %s -split-input-file -sdy-export-shard | FileCheck %s
// RUN: sdy-opt %s -split-input-file -sdy-export-shard | mlir-opt -split-input-file -o /dev/null
// What it wrote, read and written again, is the same.
// RUN: sdy-opt %s -split-input-file -sdy-export-shard -o %t.once
// RUN: sdy-opt %t.once -split-input-file -sdy-import-shard -sdy-export-shard | diff %t.once -

// CHECK: shard.grid @mesh(shape = 2x4)
// CHECK-LABEL: func.func @values(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32>
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @values(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) {
  // CHECK-NEXT: %[[ROWS:.*]] = shard.sharding @mesh split_axes = {{\[\[}}0]] : !shard.sharding
  // CHECK-NEXT: %[[BOTH:.*]] = shard.sharding @mesh split_axes = {{\[\[}}1, 0]] : !shard.sharding
  // CHECK-NEXT: %[[WHOLE:.*]] = shard.sharding @mesh split_axes = {{\[\[}}]] : !shard.sharding
  // CHECK-NEXT: %[[COLUMNS:.*]] = shard.sharding @mesh split_axes = {{\[\[}}], [1]] : !shard.sharding
  // CHECK-NEXT: %[[A:.*]] = shard.shard %arg0 to %[[ROWS]] : tensor<8x8xf32>
  // CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[A]], %[[A]] : tensor<8x8xf32>
  // CHECK-NEXT: %[[B:.*]] = shard.shard %[[SUM]] to %[[BOTH]] : tensor<8x8xf32>
  // CHECK-NEXT: %[[C:.*]] = shard.shard %[[B]] to %[[WHOLE]] annotate_for_users : tensor<8x8xf32>
  // CHECK-NEXT: %[[D:.*]] = shard.shard %[[C]] to %[[COLUMNS]] annotate_for_users : tensor<8x8xf32>
  // CHECK-NEXT: return %[[D]]
  %0 = arith.addf %a, %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y", "x"}, {}]>]>} : tensor<8x8xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{}, {}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// -----

// The grid has each part of an axis that is used. Shards that do not divide
// have their offsets.
// CHECK: shard.grid @mesh(shape = 2x2x3)
// CHECK-LABEL: func.func @parts
sdy.mesh @mesh = <["x"=4, "y"=3]>
func.func @parts(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2}, {"x":(2)2}]>},
                 %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) {
  // CHECK-NEXT: shard.sharding @mesh split_axes = {{\[\[}}0], [1]] : !shard.sharding
  // CHECK-NEXT: shard.sharding @mesh split_axes = {{\[\[}}0, 1], [2]] sharded_dims_offsets = [0, 2, 4, 6, 8, 0, 3, 6, 8] : !shard.sharding
  return
}

// -----

// What another stage says of values: reshards, collectives, split constants.
// CHECK-LABEL: func.func @stages
sdy.mesh @mesh = <["x"=2]>
func.func @stages(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  // CHECK: shard.shard %{{.*}} to %[[WHOLE:.*]] annotate_for_users
  // CHECK: shard.shard %{{.*}} to %[[X:.*]] annotate_for_users
  // CHECK: arith.constant dense<1.000000e+00> : tensor<8xf32>
  %0 = sdy.all_gather [{"x"}] %a out_sharding=<@mesh, [{}]> : tensor<8xf32>
  %1 = sdy.reshard %0 <@mesh, [{"x"}]> {sdy.cause = "why"} : tensor<8xf32>
  %2 = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} dense<1.0> : tensor<8xf32>
  %3 = arith.addf %1, %2 : tensor<8xf32>
  return %3 : tensor<8xf32>
}

// -----

// Without a size there are no offsets.
// CHECK: shard.grid @mesh(shape = ?x2)
// CHECK-LABEL: func.func @unknown
sdy.mesh @mesh = <["x"=?, "y"=2]>
func.func @unknown(%a: tensor<7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // CHECK-NEXT: shard.sharding @mesh split_axes = {{\[\[}}0]] : !shard.sharding
  return
}
