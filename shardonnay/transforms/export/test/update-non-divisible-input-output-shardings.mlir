// RUN: sdy-opt %s -sdy-update-non-divisible-input-output-shardings=keep-given=true | FileCheck %s
// RUN: sdy-opt %s -sdy-update-non-divisible-input-output-shardings | FileCheck %s --check-prefix=ALL

sdy.mesh @mesh = <["x"=4, "y"=2]>

// CHECK-LABEL: func @chosen
// CHECK-SAME: %arg0: tensor<6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2, ?}, {"y", ?}]>}
// CHECK-SAME: %arg1: tensor<2x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", ?}, {?}]>}
// CHECK-SAME: %arg2: tensor<1x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"y"}]>}
// CHECK-SAME: -> (tensor<6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", ?}, {?}]>})
func.func @chosen(
    %arg0: tensor<6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {"y", ?}]>},
    %arg1: tensor<2x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "x", ?}, {?}]>},
    %arg2: tensor<1x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {"y"}]>})
    -> (tensor<6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "x", ?}, {?}]>}) {
  return %arg0 : tensor<6x8xf32>
}

// Closed dims are the user's.
// CHECK-LABEL: func @closed
// CHECK-SAME: [{"x"}]
// ALL-LABEL: func @closed
// ALL-SAME: [{"x":(1)2}]
func.func @closed(%arg0: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  return
}

// Of an open dim, so are the axes that propagation put on record.
// ALL-LABEL: func @given
// ALL-SAME: sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2, ?}]>
// ALL-SAME: sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2, ?}]>
// CHECK-LABEL: func @given
// CHECK-SAME: sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}]>
// CHECK-SAME: sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}]>
func.func @given(
    %arg0: tensor<6xf32> {sdy.given_sharding = #sdy.sharding<@mesh, [{"x", ?}]>,
                          sdy.sharding = #sdy.sharding<@mesh, [{"x", "y", ?}]>})
    -> (tensor<6xf32> {sdy.given_sharding = #sdy.sharding<@mesh, [{"x", ?}]>,
                       sdy.sharding = #sdy.sharding<@mesh, [{"x", "y", ?}]>}) {
  return %arg0 : tensor<6xf32>
}

sdy.mesh @mesh_6_4 = <["m"=2, "f"=4]>

// Six rows inside: f would divide them into shards of two, outside into others.
// CHECK-LABEL: func @manual_boundary
// CHECK: in_shardings=[<@mesh_6_4, [{"m", "f":(1)2}]>] out_shardings=[<@mesh_6_4, [{"m", ?}]>]
func.func @manual_boundary(%arg0: tensor<12xf32>) -> tensor<12xf32> {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh_6_4, [{"m", "f"}]>] out_shardings=[<@mesh_6_4, [{"m", ?}]>] manual_axes={"m"} (%arg1: tensor<6xf32>) {
    sdy.return %arg1 : tensor<6xf32>
  } : (tensor<12xf32>) -> tensor<12xf32>
  return %0 : tensor<12xf32>
}
