// RUN: sdy-opt %s -split-input-file -verify-diagnostics -sdy-apply-op-shardings

sdy.mesh @mesh = <["x"=2]>
func.func @number(%a: tensor<8x32xf32>, %b: tensor<32x8xf32>) -> tensor<8x8xf32> {
  // expected-error@+1 {{has an op sharding of 2 factors, expected 3, one for each of its rule ([i, k], [k, j])->([i, j]) {i=8, j=8, k=32} reduction={k}}}
  %0 = stablehlo.dot %a, %b {sdy.op_sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}
      : (tensor<8x32xf32>, tensor<32x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @no_rule(%a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{has an op sharding, but no factors that it could shard; expected an op with a sharding rule}}
  %0 = stablehlo.custom_call @f(%a) {sdy.op_sharding = #sdy.sharding<@mesh, [{"x"}]>} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @whole(%a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{shards factor i, which it needs whole; expected no axes}}
  %0 = "stablehlo.sort"(%a) <{dimension = 0 : i64}> ({
  ^bb0(%b: tensor<f32>, %c: tensor<f32>):
    %1 = stablehlo.compare LT, %b, %c : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) {sdy.op_sharding = #sdy.sharding<@mesh, [{"x"}]>} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @divide(%a: tensor<3x4xf32>) -> tensor<12xf32> {
  // expected-error@+1 {{shards factor i of size 3 into 2, expected a number that divides it}}
  %0 = stablehlo.reshape %a {sdy.op_sharding = #sdy.sharding<@mesh, [{"x"}, {}]>} : (tensor<3x4xf32>) -> tensor<12xf32>
  return %0 : tensor<12xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @result(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error@+1 {{has an op sharding that leaves result 0 with #sdy.sharding<@mesh, [{"x"}, {}]>, but the result has the sharding #sdy.sharding<@mesh, [{}, {"x"}]>; take one of them away}}
  %0 = stablehlo.negate %a {sdy.op_sharding = #sdy.sharding<@mesh, [{"x"}, {}]>, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=4]>
func.func @behind(%a: tensor<4x4xf32>) -> tensor<16xf32> {
  // expected-error@+1 {{has an op sharding by which it can't be computed: an axis shards two factors, reductions of different kinds are sharded, or a factor is sharded behind one that is not wholly; expected one that each operand and result can state}}
  %0 = stablehlo.reshape %a {sdy.op_sharding = #sdy.sharding<@mesh, [{"x":(1)2}, {"x":(2)2}]>} : (tensor<4x4xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}
