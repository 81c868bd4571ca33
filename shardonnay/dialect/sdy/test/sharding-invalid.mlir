// RUN: sdy-opt %s -split-input-file -verify-diagnostics -allow-unregistered-dialect

// C7
// expected-error @below {{'func.func' op argument 0: unknown mesh @mesh, expected the name of an 'sdy.mesh' of the module}}
func.func @unknown_mesh(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>
// C17
// expected-error @below {{result 0: sharding has 2 dims, expected 1 as in 'tensor<8xf32>'}}
func.func private @rank() -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>})

// -----

// expected-note @below {{the mesh is declared here}}
sdy.mesh @mesh = <["x"=2]>
// C8
// expected-error @below {{argument 0: unknown axis "y", expected one of the mesh #sdy.mesh<["x"=2]>}}
func.func private @unknown_axis(tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>})

// -----

sdy.mesh @mesh = <["x"=2]>  // expected-note {{the mesh is declared here}}
// C13
// expected-error @below {{argument 0: axis "x" occurs twice, in dim 0 and in dim 1}}
func.func private @duplicate(tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"x"}]>})

// -----

sdy.mesh @mesh = <["x"=8]>  // expected-note {{the mesh is declared here}}
// C14
// expected-error @below {{argument 0: axes "x" and "x":(1)2 overlap, in dim 0 and in the replicated axes}}
func.func private @full_and_part(tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}], replicated={"x":(1)2}>})

// -----

sdy.mesh @mesh = <["x"=8]>  // expected-note {{the mesh is declared here}}
// C14
// expected-error @below {{argument 0: axes "x":(1)4 and "x":(2)2 overlap, in dim 0 and in dim 1}}
func.func private @parts_overlap(tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)4}, {"x":(2)2}]>})

// -----

sdy.mesh @mesh = <["x"=6]>  // expected-note {{the mesh is declared here}}
// C91
// expected-error @below {{argument 0: axes "x":(1)2 and "x":(3)2 do not nest: no splitting of the axis has both, in dim 0 and in dim 1}}
func.func private @parts_do_not_nest(tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2}, {"x":(3)2}]>})

// -----

sdy.mesh @mesh = <["x"=8]>  // expected-note {{the mesh is declared here}}
// C15
// expected-error @below {{argument 0: neighbouring sub-axes "x":(1)2 and "x":(2)2 can merge: write them as one}}
func.func private @can_merge(tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2, "x":(2)2}]>})

// -----

// expected-note @below {{the mesh is declared here}}
sdy.mesh @mesh = <["x"=8]>
// C12
// expected-error @below {{argument 0: sub-axis "x":(1)8 is the whole axis: write "x"}}
func.func private @whole(tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)8}]>})

// -----

// expected-note @below {{the mesh is declared here}}
sdy.mesh @mesh = <["x"=8]>
// C11
// expected-error @below {{argument 0: sub-axis "x":(2)3: expected its pre-size times its size to divide the size 8 of the axis}}
func.func private @does_not_divide(tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(2)3}]>})

// -----

// expected-note @below {{the mesh is declared here}}
sdy.mesh @mesh = <["x"=?]>
// C11
// expected-error @below {{argument 0: sub-axis "x":(1)2: the axis has no size, expected it whole}}
func.func private @no_size(tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2}]>})

// -----

sdy.mesh @mesh = <["x"=8]>
// C9
// expected-error @below {{expected a sub-axis pre-size of at least 1, got 0}}
func.func private @pre_size(tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(0)2}]>})

// -----

sdy.mesh @mesh = <["x"=8]>
// C10
// expected-error @below {{expected a sub-axis size greater than 1, got 1}}
func.func private @size_one(tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(2)1}]>})

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>  // expected-note {{the mesh is declared here}}
// C16
// expected-error @below {{argument 0: replicated axes "y", "x" are not in the order of the mesh #sdy.mesh<["x"=2, "y"=2]>}}
func.func private @replicated_order(tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], replicated={"y", "x"}>})

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>  // expected-note {{the mesh is declared here}}
// C16
// expected-error @below {{argument 0: unreduced axes "y", "x" are not in the order of the mesh #sdy.mesh<["x"=2, "y"=2]>}}
func.func private @unreduced_order(tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"y", "x"}>})

// -----

sdy.mesh @mesh = <["x"=2]>
// C22
// expected-error @below {{argument 0: dim 0 has a priority, but is closed and without axes: take the priority away}}
func.func private @useless_priority(tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}p1]>})

// -----

sdy.mesh @mesh = <["x"=2]>
// C21
// expected-error @below {{expected a priority 'p<number>'}}
func.func private @bad_priority(tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}q1]>})

// -----

sdy.mesh @mesh = <[], device_ids=[0]>  // expected-note {{the mesh is declared here}}
// C20
// expected-error @below {{argument 0: expected a sharding without dims and axes on a mesh of one device, got #sdy.sharding<@mesh, [{}]>}}
func.func private @maximal(tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>})

// -----

sdy.mesh @mesh = <["x"=2]>
// C19
// expected-error @below {{argument 0: only ranked tensors can be sharded, got 'tensor<*xf32>'}}
func.func private @unranked(tensor<*xf32> {sdy.sharding = #sdy.sharding<@mesh, []>})

// -----

sdy.mesh @mesh = <["x"=2]>
// C18
// expected-error @below {{argument 0: expected a sharding without dims and axes for a value of type '!test.token'}}
func.func private @no_tensor(!test.token {sdy.sharding = #sdy.sharding<@mesh, [{}]>})

// -----

// C24
// expected-error @below {{argument 0: expected 'sdy.sharding' to be an '#sdy.sharding', got 3 : i32}}
func.func private @wrong_attribute(tensor<8xf32> {sdy.sharding = 3 : i32})

// -----

func.func @wrong_op_attribute() {
  // C24
  // expected-error @below {{expected 'sdy.sharding' to be an '#sdy.sharding_per_value', got "x"}}
  "test.op"() {sdy.sharding = "x"} : () -> ()
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @count(%arg0: tensor<8xf32>) {
  // C24
  // expected-error @below {{expected 1 result shardings, got 2}}
  "test.op"() {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>, <@mesh, [{}]>]>} : () -> tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @no_result(%arg0: tensor<8xf32>) {
  // C18
  // expected-error @below {{sharding: expected a sharding without dims and axes for a value of type 'none'}}
  "test.op"() {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : () -> ()
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>
// C25
// expected-error @below {{expected replicated axes, got none: leave the list out}}
func.func private @no_replicated(tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], replicated={}>})

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>
// C25
// expected-error @below {{the unreduced axes are given twice}}
func.func private @unreduced_twice(tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}, unreduced={"y"}>})

// -----

sdy.mesh @mesh = <["x"=2]>
// C21
// expected-error @below {{argument 0: dim 0 has the negative priority -1}}
func.func private @negative_priority(tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}p-1]>})

// -----

sdy.mesh @mesh = <["x"=2]>
// expected-error @below {{expected a priority 'p<number>'}}
func.func private @twice_negative(tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}p--9223372036854775808]>})

// -----

// C24
func.func @op_sharding_kind(%a: tensor<8xf32>) {
  // expected-error@+1 {{expected 'sdy.op_sharding' to be an '#sdy.sharding', got 3 : i64}}
  %0 = stablehlo.negate %a {sdy.op_sharding = 3} : tensor<8xf32>
  return
}

// -----

// expected-note@+1 {{the mesh is declared here}}
sdy.mesh @mesh = <["x"=2]>
func.func @op_sharding_axis(%a: tensor<8xf32>) {
  // expected-error@+1 {{op sharding: unknown axis "z", expected one of the mesh #sdy.mesh<["x"=2]>}}
  %0 = stablehlo.negate %a {sdy.op_sharding = #sdy.sharding<@mesh, [{"z"}]>} : tensor<8xf32>
  return
}

// -----

// C90
sdy.mesh @mesh = <["x"=2]>
func.func @op_sharding_partial(%a: tensor<8xf32>) {
  // expected-error@+1 {{op sharding: factors have no partial values, expected no unreduced axes}}
  %0 = stablehlo.negate %a {sdy.op_sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>} : tensor<8xf32>
  return
}

// -----

// In a type, which knows no symbols: what can be said without the mesh.
// C17
// expected-error @below {{sharding has 2 dims, expected 1 as in 'tensor<8xf32>'}}
func.func private @rank_in_a_type(tensor<8xf32, #sdy.sharding<@mesh, [{"x"}, {}]>>)

// -----

// C13
// expected-error @below {{axis "x" occurs twice, in dim 0 and in dim 1}}
func.func private @twice_in_a_type(tensor<8x8xf32, #sdy.sharding<@mesh, [{"x"}, {"x"}]>>)

// -----

// C22
// expected-error @below {{dim 0 has a priority, but is closed and without axes: take the priority away}}
func.func private @priority_in_a_type(tensor<8xf32, #sdy.sharding<@mesh, [{}p1]>>)

// -----

// The mesh stands in it.
// C8
// expected-error @below {{unknown axis "z", expected one of the mesh #sdy.mesh<["x"=2]>}}
func.func private @axis_in_a_type(tensor<8xf32, #sdy.sharding<mesh<["x"=2]>, [{"z"}]>>)

// -----

// C20
// expected-error @below {{expected a sharding without dims and axes on a mesh of one device}}
func.func private @device_in_a_type(tensor<8xf32, #sdy.sharding<mesh<[], device_ids=[0]>, [{}]>>)
