// RUN: sdy-opt %s -split-input-file -verify-diagnostics --sdy-import-frontend-attributes

// expected-error@+1 {{xla.sdy.use_tuple_args: programs whose arguments are one tuple are not supported; expected one argument for each tensor}}
module attributes {mhlo.frontend_attributes = {xla.sdy.use_tuple_args = "t"}} {
}

// -----

// expected-error@+1 {{xla.sdy.meshes: expected a dictionary of meshes, {mesh = #sdy.mesh<...>} as text, got "3 : i64"}}
module attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "3 : i64"}} {
}

// -----

// expected-error@+1 {{xla.sdy.meshes: expected a mesh, #sdy.mesh<...>, for "mesh", got 3 : i64}}
module attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = 3}"}} {
}

// -----

// expected-error@+1 {{xla.sdy.meshes: the name @f is taken, expected a free one}}
module attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{f = #sdy.mesh<[\22x\22=2]>}"}} {
  // expected-note@+1 {{taken here}}
  func.func private @f()
}

// -----

// expected-error@+1 {{xla.sdy.sharding: expected #sdy.sharding<...> as text, got "#sdy.sharding<": unbalanced '<' character}}
func.func @text(%arg0: tensor<8xf32> {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding<"}}) {
  return
}

// -----

// expected-error@+1 {{xla.sdy.sharding: expected #sdy.sharding<...> as text, got 3 : i64: it is not text}}
func.func @no_text(%arg0: tensor<8xf32> {mhlo.frontend_attributes = {xla.sdy.sharding = 3 : i64}}) {
  return
}

// -----

func.func @target(%arg0: tensor<8xf32>) {
  // expected-error@+1 {{unknown custom call @xla.sdy.Foo, expected FuncResultSharding, ShardingGroup, PropagationBarrier, GlobalToLocalShape or LocalToGlobalShape after xla.sdy.}}
  %0 = stablehlo.custom_call @xla.sdy.Foo(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @identity(%arg0: tensor<8xf32>) {
  // expected-error@+1 {{custom call @xla.sdy.PropagationBarrier has other operands or results than expected, a tensor and the same tensor}}
  %0 = stablehlo.custom_call @xla.sdy.PropagationBarrier(%arg0) {mhlo.frontend_attributes = {xla.sdy.allowed_direction = "1 : i32"}} : (tensor<8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @direction(%arg0: tensor<8xf32>) {
  // expected-error@+1 {{xla.sdy.allowed_direction: expected 0 (none), 1 (forward), 2 (backward) or 3 (both)}}
  %0 = stablehlo.custom_call @xla.sdy.PropagationBarrier(%arg0) {mhlo.frontend_attributes = {xla.sdy.allowed_direction = "7 : i32"}} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @one_sharding(%arg0: tensor<8xf32>) {
  // expected-error@+1 {{custom call @xla.sdy.FuncResultSharding: expected one sharding in xla.sdy.sharding, got 0}}
  %0 = stablehlo.custom_call @xla.sdy.FuncResultSharding(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @group(%arg0: tensor<8xf32>) {
  // expected-error@+1 {{custom call @xla.sdy.ShardingGroup: expected one operand, no use, and xla.sdy.sharding_group_id}}
  %0 = stablehlo.custom_call @xla.sdy.ShardingGroup(%arg0) {has_side_effect = true} : (tensor<8xf32>) -> tuple<>
  return
}

// -----

func.func @boundary(%arg0: tensor<8xf32>) {
  // expected-error@+1 {{custom call @xla.sdy.GlobalToLocalShape: expected xla.sdy.in_shardings and xla.sdy.manual_axes, here or at the call of the body}}
  %0 = stablehlo.custom_call @xla.sdy.GlobalToLocalShape(%arg0) : (tensor<8xf32>) -> tensor<4xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @counts(%arg0: tensor<8xf32>) {
  // expected-error@+1 {{a boundary of a manual computation has 1 operands, 1 results and 2 shardings, expected as many of each}}
  %0 = stablehlo.custom_call @xla.sdy.GlobalToLocalShape(%arg0) {mhlo.frontend_attributes = {xla.sdy.in_shardings = "#sdy.sharding_per_value<[<@mesh, [{}]>, <@mesh, [{}]>]>", xla.sdy.manual_axes = "#sdy<manual_axes{\22x\22}>"}} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @tuple(%arg0: tensor<8xf32>) -> tuple<tensor<8xf32>> {
  // expected-note@+1 {{the tuple}}
  %0 = stablehlo.custom_call @xla.sdy.GlobalToLocalShape(%arg0) {mhlo.frontend_attributes = {xla.sdy.in_shardings = "#sdy.sharding_per_value<[<@mesh, [{}]>]>", xla.sdy.manual_axes = "#sdy<manual_axes{\22x\22}>"}} : (tensor<8xf32>) -> tuple<tensor<8xf32>>
  // expected-error@+1 {{this use of a tuple is not supported, expected its elements to be read one by one by get_tuple_element}}
  return %0 : tuple<tensor<8xf32>>
}
