// What the spec pages call invalid, in today's syntax.

// RUN: sdy-opt %s -split-input-file -sdy-check-strict=strict -verify-diagnostics

sdy.mesh @mesh_xy = <["x"=2, "y"=4, "z"=2]>
// expected-error @below {{argument 0: sharding has 1 dims, expected 2 as in 'tensor<4x8xf32>'}}
func.func private @one_sharding_for_each_dim(tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh_xy, [{"x"}]>})

// -----

// expected-note @below {{the mesh is declared here}}
sdy.mesh @mesh_xy = <["x"=2, "y"=4, "z"=2]>
// expected-error @below {{argument 0: unknown axis "w", expected one of the mesh}}
func.func private @axes_exist(tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh_xy, [{"x"}, {"w"}]>})

// -----

sdy.mesh @mesh_xy = <["x"=2, "y"=4, "z"=2]>  // expected-note {{the mesh is declared here}}
// expected-error @below {{argument 0: axis "x" occurs twice, in dim 0 and in the replicated axes}}
func.func private @axes_appear_once(tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh_xy, [{"x"}, {"y"}], replicated={"x"}>})

// -----

sdy.mesh @mesh = <["a"=2, "b"=2, "c"=2]>  // expected-note {{the mesh is declared here}}
// expected-error @below {{argument 0: replicated axes "c", "a" are not in the order of the mesh}}
func.func private @replicated_in_mesh_order(tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], replicated={"c", "a"}>})

// -----

sdy.mesh @mesh_xy = <["x"=2, "y"=8, "z"=2]>  // expected-note {{the mesh is declared here}}
// expected-error @below {{argument 0: replicated axes "y":(4)2, "x" are not in the order of the mesh}}
func.func private @replicated_sub_axes_in_order(tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh_xy, [{}, {}], replicated={"y":(4)2, "x", "y":(1)2}>})

// -----

sdy.mesh @mesh = <["x"=16]>  // expected-note {{the mesh is declared here}}
// expected-error @below {{argument 0: axes "x":(1)4 and "x":(2)4 overlap, in dim 0 and in dim 1}}
func.func private @sub_axes_do_not_overlap(tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)4}, {"x":(2)4}]>})

// -----

sdy.mesh @mesh = <["x"=16]>  // expected-note {{the mesh is declared here}}
// expected-error @below {{argument 0: neighbouring sub-axes "x":(1)2 and "x":(2)4 can merge: write them as one}}
func.func private @sub_axes_are_big(tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2, "x":(2)4}, {}]>})

// -----

sdy.mesh @mesh = <["x"=16]>  // expected-note {{the mesh is declared here}}
// expected-error @below {{argument 0: neighbouring sub-axes "x":(1)2 and "x":(2)4 can merge: write them as one}}
func.func private @replicated_sub_axes_are_big(tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], replicated={"x":(1)2, "x":(2)4}>})

// -----

// Shardings that a user gives use whole axes.
sdy.mesh @mesh = <["x"=4]>
// expected-error @below {{a program uses whole axes, got "x":(1)2: split the axis in the mesh [C83]}}
func.func private @whole_axes(tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2}]>})

// -----

sdy.mesh @mesh = <["x"=2]>
// expected-error @below {{argument 0: dim 0 has the negative priority -1}}
func.func private @priorities_start_at_0(tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}p-1]>})

// -----

sdy.mesh @mesh = <["x"=2]>
// expected-error @below {{argument 0: dim 0 has a priority, but is closed and without axes: take the priority away}}
func.func private @priority_of_nothing(tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}p1]>})

// -----

// Both dims are fully sharded without their last axis.
sdy.mesh @mesh_xy = <["x"=2, "y"=4, "z"=2]>
// expected-error @+2 {{dim 0 of size 1 is sharded by "x": nothing is left for the last axis to shard, take it out [C80]}}
// expected-error @+1 {{dim 1 of size 4 is sharded by "y", "z": nothing is left for the last axis to shard, take it out [C80]}}
func.func private @fully_cut(tensor<1x4xf32> {sdy.sharding = #sdy.sharding<@mesh_xy, [{"x"}, {"y", "z"}]>})

// -----

sdy.mesh @mesh = <["data"=2, "model"=2]>
sdy.mesh @other = <["data"=2]>
func.func @one_mesh(%arg0: tensor<16xf32>) -> tensor<16xf32> {
  // expected-error @below {{expected all shardings to have one mesh, got}}
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"data"}]>] out_shardings=[<@other, [{"data"}]>] manual_axes={"data"} (%arg1: tensor<8xf32>) {
    sdy.return %arg1 : tensor<8xf32>
  } : (tensor<16xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// -----

sdy.mesh @mesh = <["data"=2, "model"=2]>
func.func @sorted_and_used(%arg0: tensor<16xf32>) -> tensor<16xf32> {
  // C81, C82
  // expected-error @+3 {{manual axes are in the order of the mesh, got "model", "data" [C81]}}
  // expected-error @+2 {{manual axis "model" is not used in the sharding of operand 0: shard a dim, or write it replicated [C82]}}
  // expected-error @+1 {{manual axis "model" is not used in the sharding of result 0: shard a dim, or write it replicated [C82]}}
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"data"}]>] out_shardings=[<@mesh, [{"data"}]>] manual_axes={"model", "data"} (%arg1: tensor<8xf32>) {
    sdy.return %arg1 : tensor<8xf32>
  } : (tensor<16xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// -----

sdy.mesh @mesh = <["data"=2, "model"=2]>
func.func @free_axes_are_minor(%arg0: tensor<16xf32>) -> tensor<16xf32> {
  // expected-error @below {{operand 0, dim 0: manual axis "data" stands behind axis "model", which is not manual: manual axes come first}}
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"model", "data"}]>] out_shardings=[<@mesh, [{"data"}]>] manual_axes={"data"} (%arg1: tensor<8xf32>) {
    sdy.return %arg1 : tensor<8xf32>
  } : (tensor<16xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// -----

// The body is local along the manual axes.
sdy.mesh @mesh = <["data"=2, "model"=2]>
func.func @local_body(%arg0: tensor<16xf32>) -> tensor<16xf32> {
  // expected-error @below {{operand 0: expected the type 'tensor<8xf32>' in the body, got 'tensor<16xf32>'}}
  // expected-note @below {{the value is made here}}
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"data"}]>] out_shardings=[<@mesh, [{}]>] manual_axes={"data"} (%arg1: tensor<16xf32>) {
    sdy.return %arg1 : tensor<16xf32>
  } : (tensor<16xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// -----

sdy.mesh @mesh = <["data"=2, "model"=2]>
func.func @nesting_axes_of_their_own(%arg0: tensor<16xf32>) -> tensor<16xf32> {
  // expected-note @below {{made manual here}}
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"data"}]>] out_shardings=[<@mesh, [{"data"}]>] manual_axes={"data"} (%arg1: tensor<8xf32>) {
    // expected-error @below {{axis "data" is manual already: leave it out here}}
    %1 = sdy.manual_computation(%arg1) in_shardings=[<@mesh, [{}]>] out_shardings=[<@mesh, [{}]>] manual_axes={"data"} (%arg2: tensor<8xf32>) {
      sdy.return %arg2 : tensor<8xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    sdy.return %1 : tensor<8xf32>
  } : (tensor<16xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}
