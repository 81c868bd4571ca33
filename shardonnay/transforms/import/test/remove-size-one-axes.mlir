// RUN: sdy-opt %s -split-input-file -sdy-remove-size-one-axes | FileCheck %s

// CHECK: sdy.mesh @mesh = <["one"=1, "x"=8, "other_one"=1, "y"=2]>
sdy.mesh @mesh = <["one"=1, "x"=8, "other_one"=1, "y"=2]>

// CHECK-LABEL: func @shardings
// CHECK-SAME: %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}p1, {"y"}], replicated={"x"}>}
// CHECK-SAME: -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>})
func.func @shardings(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"one", ?}p1, {"y"}], replicated={"x", "other_one"}>})
    -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"one"}p2, {"x"}], unreduced={"other_one"}>}) {
  // What stands between parts of an axis goes, so the parts merge.
  // CHECK: sdy.sharding_constraint %arg0 <@mesh, [{"x":(1)4}, {}]>
  %0 = sdy.sharding_constraint %arg0 <@mesh, [{"x":(1)2, "one", "x":(2)2}, {"other_one"}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

// A mesh that stands in the sharding stays there.
// CHECK-LABEL: func @inlined
// CHECK-SAME: %arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["one"=1, "x"=8]>, [{"x"}]>}
func.func @inlined(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["one"=1, "x"=8]>, [{"one", "x"}]>}) -> tensor<8xf32> {
  return %arg0 : tensor<8xf32>
}

// -----

// What has no size may become more than 1.
// CHECK-LABEL: func @unknown
// CHECK-SAME: #sdy.sharding<@mesh, [{"x"}]>
sdy.mesh @mesh = <["x"=?, "y"=1]>
func.func @unknown(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}]>}) {
  return
}
