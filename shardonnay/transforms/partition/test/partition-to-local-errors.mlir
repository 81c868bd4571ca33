// RUN: sdy-opt %s -allow-unregistered-dialect -split-input-file -verify-diagnostics --sdy-partition-to-local

sdy.mesh @mesh = <["x"=2, "y"=4]>

func.func @uneven_part_of_a_dim(
    %a: tensor<2x10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) {  // expected-note {{operand 0 is made here}}
  // expected-error @below {{axes {"y"} of size 4 do not divide a factor of size 10 that is a part of a dim; expected a reshard before}}
  %0 = stablehlo.reshape %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", "y"}]>]>} : (tensor<2x10xf32>) -> tensor<20xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>

func.func @disagree(
    %a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},  // expected-note {{operand 0 is made here}}
    %b: tensor<8xf32>) {  // expected-note {{operand 1 is made here}}
  // expected-error @below {{operand 0 and operand 1 disagree on a factor of size 8: sharded by {"x"} and by {}; run sdy-insert-explicit-reshards first}}
  %0 = stablehlo.add %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>

func.func @lost_sum(
    %a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>},
    %b: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) {
  // expected-error @below {{result 0 is unreduced over {}, expected {"y"}}}
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>

func.func @no_rule(
    %a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {  // expected-note {{the operand is made here}}
  // expected-error @below {{has no sharding rule, but operand 0 is sharded by {"x"}; expected all its tensors to be replicated}}
  %0 = "test.op"(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>

func.func @whole(
    %a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {  // expected-note {{operand 0 is made here}}
  // expected-error @below {{a factor of size 8 that the op needs whole is sharded by {"x"}; expected a reshard before}}
  %0 = "test.op"(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>,
      sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8} need_replication={i}>} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>

func.func @returned(
    %a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {  // expected-note {{the operand is made here}}
  // expected-error @below {{operand 0 is not sharded as result 0 of the function; expected a reshard before}}
  return %a : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>

func.func @reshard(
    %a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // expected-error @below {{has no form on local types yet; rewrite it by other collectives}}
  %0 = sdy.reshard %a <@mesh, [{"y"}]> : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @other = <["z"=8]>

func.func @two_meshes(
    %a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
    // expected-error @below {{shardings on two meshes, @mesh and @other; a program is partitioned over one mesh: write all shardings on the same one}}
    %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@other, [{"z"}]>}) {
  %0 = stablehlo.negate %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>

func.func @not_linear(
    %a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"y"}>}) {  // expected-note {{operand 0 is made here}}
  // expected-error @below {{operand 0 is unreduced over {"y"}, which the op does not pass on; expected a reshard before}}
  %0 = stablehlo.exponential %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"y"}>]>} : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>

func.func @captured(
    %a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {  // expected-note {{this is one of them}}
  // expected-error @below {{has a region that reads tensors from outside, which can't be partitioned yet: make them operands}}
  "test.op"() ({
    "test.use"(%a) : (tensor<8xf32>) -> ()
  }) : () -> ()
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>

func.func @source(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {  // expected-note {{the operand is made here}}
  // expected-error @below {{operand 0 is not sharded as the values that it flows to; expected a reshard before}}
  %0 = stablehlo.optimization_barrier %arg0 : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>

func.func @no_neutral_element(
    %a: tensor<10x!quant.uniform<i8:f32, 0.5>> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {  // expected-note {{the operand is made here}}
  // expected-error @below {{reduces a dim of size 10 that axes {"y"} do not divide, of elements '!quant.uniform<i8:f32, 5.000000e-01>' that have no neutral one; shard it by axes that divide it}}
  %0 = "test.op"(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [], unreduced={"y"}>]>,
      sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([]) {i=10} reduction={i}>} : (tensor<10x!quant.uniform<i8:f32, 0.5>>) -> tensor<!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>

func.func @constant_in_parts() -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) {
  // expected-error @+1 {{a constant other than zeros can't be unreduced; expected a reshard}}
  %0 = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"x"}>]>} dense<1.0> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=8]>
sdy.mesh @single = <[], device_ids=[3]>

func.func @single_device(%a: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{is on device 3 alone; run sdy-resolve-single-device-sharding first}}
  %0 = stablehlo.sine %a {sdy.sharding = #sdy.sharding_per_value<[<@single, []>]>} : tensor<f32>
  return %0 : tensor<f32>
}

// -----

sdy.mesh @mesh = <["x"=4]>

// Each device needs what comes before and behind: it is no scan.
func.func @sum_around(%a: tensor<16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %z = sdy.constant dense<0.0> : tensor<f32>
  // expected-warning @below {{op 'stablehlo.reduce_window' cannot be computed sharded along dim 0: a window is all of its 16 positions, and gathers 192 bytes per device; shard another dim}}
  %0 = "stablehlo.reduce_window"(%a, %z) <{window_dimensions = array<i64: 16, 1>, padding = dense<[[8, 7], [0, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%b: tensor<f32>, %c: tensor<f32>):
    %1 = stablehlo.add %b, %c : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<16x4xf32>, tensor<f32>) -> tensor<16x4xf32>
  return %0 : tensor<16x4xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>

// What a device holds of the result is no longer what it holds of the argument.
func.func @donation(
    // expected-remark @below {{argument 0 is not donated to result 0: a device holds 'tensor<8xf32>' of it and 'tensor<4xf32>' of the result}}
    %a: tensor<8xf32> {tf.aliasing_output = 0 : i32},
    // expected-remark @below {{argument 1 is not donated: there is no result 1}}
    %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>, tf.aliasing_output = 1 : i32})
    -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  return %b : tensor<8xf32>
}

// -----

func.func @inline_mesh(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{a sharding has its mesh written inline; expected a mesh symbol: run sdy-lift-inlined-meshes first}}
  %0 = sdy.reshard %x <mesh<["a"=2]>, [{"a"}]> : tensor<4xf32>
  return %0 : tensor<4xf32>
}
