// The programs of spec/representation.md that are valid, in today's syntax: what was transcribed is listed in
// docs/design/representation.md.

// RUN: sdy-opt %s -split-input-file | sdy-opt -split-input-file | FileCheck %s

// Basic structure: the local shape would be tensor<2x1xf32>.
sdy.mesh @mesh_xy = <["x"=2, "y"=4, "z"=2]>
// CHECK-LABEL: func private @basic
// CHECK-SAME: #sdy.sharding<@mesh_xy, [{"x"}, {"z", "y"}]>
func.func private @basic(tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh_xy, [{"x"}, {"z", "y"}]>})

// Open and closed dims.
// CHECK-LABEL: func private @open
// CHECK-SAME: <@mesh_xy, [{"x", ?}, {"z", "y"}]>
func.func private @open(tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh_xy, [{"x", ?}, {"z", "y"}]>})

// Explicitly replicated axes.
// CHECK-LABEL: func private @replicated
// CHECK-SAME: <@mesh_xy, [{"x", ?}, {"z"}], replicated={"y"}>
func.func private @replicated(tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh_xy, [{"x", ?}, {"z"}], replicated={"y"}>})

// -----

// Four devices as an array of two by two.
// CHECK: sdy.mesh @mesh_xy = <["x"=2, "y"=2]>
sdy.mesh @mesh_xy = <["x"=2, "y"=2]>
// CHECK: sdy.mesh @mesh_abcd = <["a"=2, "b"=2, "c"=2, "d"=2]>
sdy.mesh @mesh_abcd = <["a"=2, "b"=2, "c"=2, "d"=2]>
// CHECK-LABEL: func private @order
// CHECK-SAME: replicated={"a", "c"}
func.func private @order(tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh_abcd, [{}, {}], replicated={"a", "c"}>})

// -----

// Axis splitting: a reshape without communication.
sdy.mesh @mesh_xy = <["x"=4]>
// CHECK-LABEL: func @reshape
func.func @reshape(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh_xy, [{"x"}]>}) -> tensor<2x4xf32> {
  // CHECK: stablehlo.reshape %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh_xy, [{"x":(1)2}, {"x":(2)2}]>]>}
  %0 = stablehlo.reshape %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh_xy, [{"x":(1)2}, {"x":(2)2}]>]>}
      : (tensor<8xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

// Only some sub-axes are used; others may be replicated explicitly.
sdy.mesh @mesh_xy = <["x"=2, "y"=8, "z"=2]>
// CHECK-LABEL: func private @sub_axes
// CHECK-SAME: <@mesh_xy, [{"x"}, {"y":(2)2}]>
// CHECK-SAME: <@mesh_xy, [{"x"}, {"y":(2)2}], replicated={"y":(1)2}>
// CHECK-SAME: replicated={"x", "y":(1)2, "y":(4)2}
func.func private @sub_axes(
    tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh_xy, [{"x"}, {"y":(2)2}]>},
    tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh_xy, [{"x"}, {"y":(2)2}], replicated={"y":(1)2}>},
    tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh_xy, [{}, {}], replicated={"x", "y":(1)2, "y":(4)2}>})

// -----

// The same layout, on a mesh and on a splitting of it.
sdy.mesh @mesh_full = <["devices"=8]>
sdy.mesh @mesh_xy = <["x"=4, "y"=2]>
// CHECK-LABEL: func private @equivalent
// CHECK-SAME: <@mesh_xy, [{"x"}, {"y"}]>
// CHECK-SAME: <@mesh_full, [{"devices":(1)4}, {"devices":(4)2}]>
func.func private @equivalent(
    tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh_xy, [{"x"}, {"y"}]>},
    tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh_full, [{"devices":(1)4}, {"devices":(4)2}]>})

// -----

// Several meshes: other names, and another order of the devices.
sdy.mesh @mesh_0 = <["a"=4, "b"=2]>
sdy.mesh @mesh_1 = <["x"=2, "y"=2, "z"=2]>
// CHECK: sdy.mesh @mesh_2 = <["devices"=8], device_ids=[0, 4, 1, 5, 2, 6, 3, 7]>
sdy.mesh @mesh_2 = <["devices"=8], device_ids=[0, 4, 1, 5, 2, 6, 3, 7]>
// CHECK-LABEL: func private @meshes
func.func private @meshes(tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh_0, [{}, {"b"}]>},
                          tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh_1, [{}, {"z"}]>},
                          tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh_2, [{}, {"devices"}]>})

// -----

// Priorities, with a gap: y is implicitly of p0.
sdy.mesh @mesh_xy = <["w"=6, "x"=2, "y"=4, "z"=2]>
// CHECK-LABEL: func private @priorities
// CHECK-SAME: <@mesh_xy, [{"x"}p1, {"y"}, {"z", ?}p2]>
func.func private @priorities(tensor<4x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh_xy, [{"x"}p1, {"y"}, {"z", ?}p2]>})

// -----

// Uneven shards.
sdy.mesh @mesh_xy = <["x"=8, "y"=2, "z"=3]>
// CHECK-LABEL: func private @uneven
// CHECK-SAME: <@mesh_xy, [{"x"}, {"y"}, {"z"}]>
func.func private @uneven(tensor<7x3x8xf32> {sdy.sharding = #sdy.sharding<@mesh_xy, [{"x"}, {"y"}, {"z"}]>})
