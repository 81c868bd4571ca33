// RUN: sdy-opt %s -split-input-file -verify-diagnostics -allow-unregistered-dialect

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=8]>
// expected-note @below {{the operand is made here}}
func.func @no_sharding(%arg0: tensor<64x64xf32>) {
  // C54
  // expected-error @below {{expected an operand with a sharding}}
  %0 = sdy.all_gather [{"y"}, {}] %arg0 out_sharding=<@mesh, [{}, {}]> : tensor<64x64xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=8]>
sdy.mesh @other = <["x"=4]>
// expected-note @below {{the operand is made here}}
func.func @other_mesh(%arg0: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // C55
  // expected-error @below {{expected the mesh of the operand, @mesh, got @other}}
  %0 = sdy.all_gather [{"x"}, {}] %arg0 out_sharding=<@other, [{}, {}]> : tensor<64x64xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=8]>
func.func @lists(%arg0: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // C56
  // expected-error @below {{expected axes for each of 2 dims, got 1 lists}}
  %0 = sdy.all_gather [{"x"}] %arg0 out_sharding=<@mesh, [{}, {}]> : tensor<64x64xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=8]>
func.func @gather_major(%arg0: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}) {  // expected-note {{the operand is made here}}
  // C57
  // expected-error @below {{dim 0: expected the axes #sdy<axis_ref_list{"y", "x"}>, got #sdy<axis_ref_list{"x", "y"}>}}
  %0 = sdy.all_gather [{"x"}, {}] %arg0 out_sharding=<@mesh, [{"y"}, {}]> : tensor<64x64xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=8]>
func.func @gather_loses_unreduced(%arg0: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}], unreduced={"y"}>}) {  // expected-note {{the operand is made here}}
  // C58
  // expected-error @below {{expected the unreduced axes #sdy<axis_ref_list{"y"}> in the result, got #sdy<axis_ref_list{}>}}
  %0 = sdy.all_gather [{"x"}, {}] %arg0 out_sharding=<@mesh, [{}, {}]> : tensor<64x64xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=8]>
func.func @slice(%arg0: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {  // expected-note {{the operand is made here}}
  // C57
  // expected-error @below {{dim 1: expected the axes #sdy<axis_ref_list{"y"}>, got #sdy<axis_ref_list{"z"}>}}
  %0 = sdy.all_slice [{}, {"y"}] %arg0 out_sharding=<@mesh, [{"x"}, {"z"}]> : tensor<64x64xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=8]>
func.func @slice_kind(%arg0: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced=max{"x"}>}) {  // expected-note {{the operand is made here}}
  // C59
  // expected-error @below {{expected the kind max of unreduced axes, got sum}}
  %0 = sdy.all_slice [{}, {"y"}] %arg0 out_sharding=<@mesh, [{}, {"y"}], unreduced={"x"}> : tensor<64x64xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=8]>
func.func @permute(%arg0: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {  // expected-note {{the operand is made here}}
  // C60
  // expected-error @below {{dim 0: expected 2 shards as in the operand, got 4}}
  %0 = sdy.collective_permute %arg0 out_sharding=<@mesh, [{"y"}, {}]> : tensor<64x64xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=8]>
func.func @move_none(%arg0: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // C62
  // expected-error @below {{expected at least one move of axes}}
  %0 = sdy.all_to_all [] %arg0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<64x64xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=8]>
func.func @move_no_axes(%arg0: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // C62
  // expected-error @below {{expected axes in each move}}
  %0 = sdy.all_to_all [{}: 0->1] %arg0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<64x64xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=8]>
func.func @move_range(%arg0: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // C63
  // expected-error @below {{expected dims from 0 to 1, got 2}}
  %0 = sdy.all_to_all [{"x"}: 0->2] %arg0 out_sharding=<@mesh, [{}, {"x"}]> : tensor<64x64xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=8]>
func.func @move_twice(%arg0: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}) {
  // C63
  // expected-error @below {{dim 0 occurs twice in the moves}}
  %0 = sdy.all_to_all [{"x"}: 0->1, {"y"}: 0->1] %arg0 out_sharding=<@mesh, [{}, {"x", "y"}]> : tensor<64x64xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=8]>
func.func @move_major(%arg0: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}) {  // expected-note {{the operand is made here}}
  // C65
  // expected-error @below {{dim 0: expected axes that end in #sdy<axis_ref_list{"x"}>, got #sdy<axis_ref_list{"x", "y"}>}}
  %0 = sdy.all_to_all [{"x"}: 0->1] %arg0 out_sharding=<@mesh, [{"y"}, {"x"}]> : tensor<64x64xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=8]>
func.func @move_result(%arg0: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {  // expected-note {{the operand is made here}}
  // C57
  // expected-error @below {{dim 1: expected the axes #sdy<axis_ref_list{"x"}>, got #sdy<axis_ref_list{}>}}
  %0 = sdy.all_to_all [{"x"}: 0->1] %arg0 out_sharding=<@mesh, [{}, {}]> : tensor<64x64xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=8]>
func.func @reduce_cut(%arg0: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {  // expected-note {{the operand is made here}}
  // C66
  // expected-error @below {{reduces along axes that shard a dim of the operand or are replicated in it}}
  %0 = sdy.all_reduce {"x"} %arg0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<64x64xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=8]>
func.func @reduce_replicated(%arg0: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], replicated={"x"}>}) {  // expected-note {{the operand is made here}}
  // C66
  // expected-error @below {{reduces along axes that shard a dim of the operand or are replicated in it}}
  %0 = sdy.all_reduce {"x"} %arg0 out_sharding=<@mesh, [{}, {}]> : tensor<64x64xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=8]>
func.func @reduce_kind(%arg0: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced=max{"x"}>}) {  // expected-note {{the operand is made here}}
  // C59
  // expected-error @below {{expected the kind max of the operand's unreduced axes, got sum}}
  %0 = sdy.all_reduce {"x"} %arg0 out_sharding=<@mesh, [{}, {}]> : tensor<64x64xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=8]>
func.func @reduce_stays(%arg0: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"x"}>}) {  // expected-note {{the operand is made here}}
  // C58
  // expected-error @below {{expected the unreduced axes #sdy<axis_ref_list{}> in the result, got #sdy<axis_ref_list{"x"}>}}
  %0 = sdy.all_reduce {"x"} %arg0 out_sharding=<@mesh, [{}, {}], unreduced={"x"}> : tensor<64x64xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=8]>
func.func @scatter(%arg0: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"x"}>}) {  // expected-note {{the operand is made here}}
  // C57
  // expected-error @below {{dim 0: expected the axes #sdy<axis_ref_list{"x"}>, got #sdy<axis_ref_list{}>}}
  %0 = sdy.reduce_scatter [{"x"}, {}] %arg0 out_sharding=<@mesh, [{}, {}]> : tensor<64x64xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=8]>
func.func @sharded_to_unreduced(%arg0: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {  // expected-note {{the operand is made here}}
  // C58
  // expected-error @below {{expected the unreduced axes #sdy<axis_ref_list{"x"}> in the result, got #sdy<axis_ref_list{}>}}
  %0 = sdy.sharded_to_unreduced [{"x"}, {}] %arg0 out_sharding=<@mesh, [{}, {}]> : tensor<64x64xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=8]>
func.func @replicated_to_unreduced(%arg0: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {  // expected-note {{the operand is made here}}
  // C68
  // expected-error @below {{axes shard a dim of the operand, expected replicated ones}}
  %0 = sdy.replicated_to_unreduced {"x"} %arg0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<64x64xf32>
  return
}

// -----

// expected-note @below {{the mesh is declared here}}
sdy.mesh @mesh = <["x"=2]>
func.func @operand_is_later() {
  // C8
  // expected-error @below {{operand: unknown axis "q"}}
  %0 = sdy.all_gather [{"q"}] %1 out_sharding=<@mesh, [{}]> : tensor<8xf32>
  %1 = "test.op"() {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"q"}]>]>} : () -> tensor<8xf32>
  return
}

// -----

func.func private @no_kind() attributes {
  // expected-error @below {{expected 'sum', 'max' or 'min'}}
  a = #sdy.reduction_kind<mean>}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @same = <["x"=2, "y"=4]>
func.func @permute_to_the_same(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {  // expected-note {{the operand is made here}}
  // C61
  // expected-error @below {{expected the mesh of the operand, @mesh, or one with another order of the devices, got @same with the same order}}
  %0 = sdy.collective_permute %arg0 out_sharding=<@same, [{"x"}]> : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @moves_unsorted(%arg0: tensor<8x8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {"y"}, {}]>}) {
  // C64
  // expected-error @below {{expected moves in the order of their source dims, got dim 0 behind dim 2}}
  %0 = sdy.all_to_all [{"y"}: 2->3, {"x"}: 0->1] %arg0 out_sharding=<@mesh, [{}, {"x"}, {}, {"y"}]> : tensor<8x8x8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>  // expected-note {{the mesh is declared here}}
func.func @reduce_unsorted(%arg0: tensor<8xf32>) {
  // C67
  // expected-error @below {{reduction axes "y", "x" are not in the order of the mesh #sdy.mesh<["x"=2, "y"=4]>}}
  %0 = sdy.all_reduce {"y", "x"} %arg0 out_sharding=<@mesh, [{}]> : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @to_unreduced_none(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  // C68
  // expected-error @below {{expected at least one axis to make unreduced}}
  %0 = sdy.replicated_to_unreduced {} %arg0 out_sharding=<@mesh, [{}]> : tensor<8xf32>
  return
}

// -----

// expected-note @below {{the mesh is declared here}}
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @to_unreduced_whole(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  // C12
  // expected-error @below {{sub-axis "y":(1)4 is the whole axis: write "y"}}
  %0 = sdy.replicated_to_unreduced {"y":(1)4} %arg0 out_sharding=<@mesh, [{}], unreduced={"y"}> : tensor<8xf32>
  return
}

// -----

// expected-note @below {{the mesh is declared here}}
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @gather_unknown(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // C8
  // expected-error @below {{unknown axis "q", expected one of the mesh #sdy.mesh<["x"=2, "y"=4]>}}
  %0 = sdy.all_gather [{"q"}] %arg0 out_sharding=<@mesh, [{}]> : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @to_unreduced_of_a_kind(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced=max{"x"}>}) {  // expected-note {{the operand is made here}}
  // C59
  // expected-error @below {{expected the kind max of unreduced axes, got sum}}
  %0 = sdy.replicated_to_unreduced {"y"} %arg0 out_sharding=<@mesh, [{}], unreduced={"x", "y"}> : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @sharded_to_unreduced_of_a_kind(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}], unreduced={"x"}>}) {  // expected-note {{the operand is made here}}
  // C59
  // expected-error @below {{expected the kind sum of unreduced axes, got max}}
  %0 = sdy.sharded_to_unreduced [{"y"}] %arg0 out_sharding=<@mesh, [{}], unreduced=max{"x", "y"}> : tensor<8xf32>
  return
}
