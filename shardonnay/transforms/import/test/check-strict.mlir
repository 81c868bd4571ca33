// RUN: sdy-opt %s -sdy-check-strict -split-input-file -verify-diagnostics

sdy.mesh @mesh = <["x"=2, "y"=4]>
// C80
// expected-warning @below {{dim 0 of size 1 is sharded by "x": nothing is left for the last axis to shard, take it out [C80], and 2 more of the kind}}
func.func @cut_to_pieces(%arg0: tensor<1xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<1xf32> {
  %0 = sdy.sharding_constraint %arg0 <@mesh, [{"y"}]> : tensor<1xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"x", "y"}]> : tensor<1xf32>
  return %1 : tensor<1xf32>
}

// -----

// What is uneven, and what is sharded to single elements by the last axis, is fine; so is what has no size.
sdy.mesh @mesh = <["x"=2, "y"=4, "one"=1]>
func.func @fine(%arg0: tensor<3x5x1xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}, {"one"}]>},
                %arg1: tensor<7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}]>},
                %arg2: tensor<?xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
                %arg3: tensor<3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "one"}]>}) {
  return
}

// -----

// An axis of size 1 shards nothing: it need not be used.
sdy.mesh @mesh = <["x"=2, "one"=1]>
func.func @manual_along_one(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x", "one"} (%arg1: tensor<4x8xf32>) {
    sdy.return %arg1 : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

// What no dim uses is replicated, as JAX's P() has it; so it is in a scalar's, and where other axes are automatic.
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @manual_closed(%arg0: tensor<8x8xf32>, %arg1: tensor<f32>) -> tensor<8x8xf32> {
  %0 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, []>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x", "y"} (%arg2: tensor<4x8xf32>, %arg3: tensor<f32>) {
    sdy.return %arg2 : tensor<4x8xf32>
  } : (tensor<8x8xf32>, tensor<f32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
func.func @manual_open(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{?}, {?}]>] out_shardings=[<@mesh, [{?}, {?}]>] manual_axes={"x"} (%arg1: tensor<8x8xf32>) {
    sdy.return %arg1 : tensor<8x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @manual(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // C81
  // expected-warning @+1 {{manual axes are in the order of the mesh, got "y", "x" [C81]}}
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}, {?}]>] out_shardings=[<@mesh, [{"x"}, {}], replicated={"y"}>] manual_axes={"y", "x"} (%arg1: tensor<4x8xf32>) {
    sdy.return %arg1 : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
// C83
// expected-warning @below {{a program uses whole axes, got "y":(1)2: split the axis in the mesh [C83]}}
func.func private @sub_axis() -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], replicated={"y":(1)2}>})

// -----

sdy.mesh @mesh = <["x"=2]>
sdy.mesh @other = <["z"=2]>
func.func @two_meshes(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // C84
  // expected-warning @below {{the shardings of a manual computation are on one mesh, got two [C84]}}
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@other, [{"z"}]>] manual_axes={} (%arg1: tensor<8xf32>) {
    sdy.return %arg1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
// C86
// expected-warning @below {{only tensors have dims to shard, got memref<8xf32> [C86]}}
func.func private @memref(memref<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})

// -----

// C87
// expected-warning @below {{origins are text for each axis, as in {x = "input: 0"} [C87]}}
func.func private @origins(tensor<8xf32> {sdy.sharding_origins = {x = 3}}, tensor<8xf32> {sdy.sharding_origins = [{x = "self"}]})
