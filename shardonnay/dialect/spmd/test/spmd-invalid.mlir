// RUN: sdy-opt %s -split-input-file -verify-diagnostics

func.func @unknown_mesh() {
  // expected-error @below {{unknown mesh @mesh, expected the name of an 'sdy.mesh' of the module}}
  %0 = spmd.device_index @mesh {"x"} : tensor<i32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @no_axis() {
  // expected-error @below {{expected at least one axis}}
  %0 = spmd.device_index @mesh {} : tensor<i32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>  // expected-note {{the mesh is declared here}}
func.func @unknown_axis() {
  // expected-error @below {{unknown axis "y", expected one of the mesh}}
  %0 = spmd.device_index @mesh {"y"} : tensor<i32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @dim_out_of_range(%arg0: tensor<8xf32>) {  // expected-note {{the operand is made here}}
  // expected-error @below {{expected a dim of the 1 of the operand, got 1}}
  %0 = spmd.all_slice %arg0 dim=1 @mesh {"x"} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @not_divisible(%arg0: tensor<7xf32>) {  // expected-note {{the operand is made here}}
  // expected-error @below {{expected dim 0 to have a size that the 2 devices of a group divide, got 7}}
  %0 = spmd.reduce_scatter %arg0 dim=0 @mesh {"x"} : (tensor<7xf32>) -> tensor<4xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @gather_type(%arg0: tensor<8xf32>) {  // expected-note {{the operand is made here}}
  // expected-error @below {{expected the result type 'tensor<16xf32>', got 'tensor<8xf32>'}}
  %0 = spmd.all_gather %arg0 dim=0 @mesh {"x"} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @all_to_all_type(%arg0: tensor<8x4xf32>) {  // expected-note {{the operand is made here}}
  // expected-error @below {{expected the result type 'tensor<4x8xf32>', got 'tensor<8x4xf32>'}}
  %0 = spmd.all_to_all %arg0 split_dim=0 concat_dim=1 @mesh {"x"} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @permute_rank(%arg0: tensor<8x4xf32>) {  // expected-note {{the operand is made here}}
  // expected-error @below {{expected axes for 2 dims, and maybe those of parts, got 1 lists}}
  %0 = spmd.collective_permute %arg0 [{"x"}] -> [{}, {"x"}] @mesh : tensor<8x4xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @permute_parts(%arg0: tensor<8x4xf32>) {
  // expected-error @below {{expected as many lists of axes before as after, got 3 and 2}}
  %0 = spmd.collective_permute %arg0 [{"x"}, {}, {"y"}] -> [{"x"}, {}] @mesh : tensor<8x4xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>  // expected-note {{the mesh is declared here}}
func.func @permute_counts(%arg0: tensor<8x4xf32>) {
  // expected-error @below {{expected dim 0 in 2 shards as before, got 1}}
  %0 = spmd.collective_permute %arg0 [{"x"}, {}] -> [{}, {"x"}] @mesh : tensor<8x4xf32>
  return
}

// -----

func.func @permute_mesh(%arg0: tensor<8xf32>) {
  // expected-error @below {{unknown mesh @mesh, expected the name of an 'sdy.mesh' of the module}}
  %0 = spmd.collective_permute %arg0 [{"x"}] -> [{"x"}] @mesh : tensor<8xf32>
  return
}

// -----

func.func @pack_of_two_types(%arg0: tensor<4xf32>, %arg1: tensor<4xbf16>) -> tensor<8xf32> {
  // expected-error @+1 {{expected tensors of 'f32', got 'bf16'}}
  %0 = spmd.pack %arg0, %arg1 : (tensor<4xf32>, tensor<4xbf16>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>  // expected-note {{the mesh is declared here}}
func.func @on_no_device(%arg0: tensor<8xf32>) {
  // expected-error @below {{expected one of the 2 devices of the mesh, got 2}}
  spmd.on_device 2 @mesh(%arg0) else() {
  ^bb0(%b: tensor<8xf32>):
    spmd.return
  } : (tensor<8xf32>) -> ()
  return
}

// -----

func.func @unpack_too_much(%arg0: tensor<7xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected the packed tensor to have the 8 elements of the others in one dim, got 'tensor<7xf32>'}}
  %0:2 = spmd.unpack %arg0 : (tensor<7xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#0 : tensor<4xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @on_device_inputs(%arg0: tensor<8xf32>) {
  // expected-error @below {{expected block arguments of types ('tensor<8xf32>'), got ()}}
  spmd.on_device 1 @mesh(%arg0) else() {
    spmd.return
  } : (tensor<8xf32>) -> ()
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @on_device_others(%arg0: tensor<8xf32>) {
  // expected-error @below {{expected values for the other devices of types ('tensor<8xf32>'), got ()}}
  %0 = spmd.on_device 1 @mesh(%arg0) else() {
  ^bb0(%b: tensor<8xf32>):
    spmd.return %b : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @on_device_returns(%arg0: tensor<8xf32>) {
  // expected-error @below {{expected returned values of types ('tensor<8xf32>'), got ()}}
  %0 = spmd.on_device 1 @mesh() else(%arg0) {
    spmd.return
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @pack_of_unequal_pieces(%arg0: tensor<4xf32>, %arg1: tensor<3xf32>) -> tensor<7xf32> {
  // expected-error @+1 {{expected 2 equal pieces along a dim of 'tensor<3xf32>', got dim 0}}
  %0 = spmd.pack %arg0, %arg1 pieces=2 dims=[0, 0] : (tensor<4xf32>, tensor<3xf32>) -> tensor<7xf32>
  return %0 : tensor<7xf32>
}

// -----

func.func @pack_of_no_pieces(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected at least 1 piece, got 0}}
  %0 = spmd.pack %arg0 pieces=0 dims=[0] : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @unpack_without_dims(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected a dim for each of the 1 tensors, got 0}}
  %0 = spmd.unpack %arg0 pieces=2 dims=[] : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @pieces_without_dims(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected both 'pieces' and 'dims', or neither}}
  %0 = spmd.pack %arg0 {pieces = 2 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
