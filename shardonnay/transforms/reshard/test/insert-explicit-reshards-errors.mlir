// RUN: sdy-opt %s -allow-unregistered-dialect --sdy-insert-explicit-reshards=enable-full-version=true -split-input-file -verify-diagnostics

sdy.mesh @mesh = <["d"=2, "m"=4]>

// expected-note @+1 {{operand 0 is sharded}}
func.func @no_rule(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"m"}]>}) -> tensor<8xf32> {
  // expected-warning @+1 {{op 'test.unknown' cannot be computed sharded, it has no sharding rule: gathers 384 bytes per device; give it one (sdy.sharding_rule), or replicate its operands}}
  %0 = "test.unknown"(%arg0) : (tensor<8x16xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["d"=2, "m"=4]>

// expected-note @+1 {{operand 0 is sharded}}
func.func @windowed(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"m"}]>}) -> tensor<8xf32> {
  // expected-warning @+1 {{op 'test.roll' cannot be computed sharded along dim 0 of operand 0: gathers 24 bytes per device; shard a dim that the op passes through, or replicate the operand where it is made}}
  %0 = "test.roll"(%arg0) {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8} permutation={i}, custom>} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func private @callee(tensor<8xf32>) -> tensor<8xf32> // expected-note {{declared here}}

func.func @calls(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{calls a function without a body, expected one of the module: give it a body, or inline it}}
  %0 = func.call @callee(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @dynamic(%arg0: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @+1 {{has the dynamic shape 'tensor<?xf32>', expected static shapes; refine the shapes first}}
  %0 = "test.same"(%arg0) : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

sdy.mesh @mesh = <["d"=2, "m"=4]>

func.func @captures(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"m"}]>}) {  // expected-note {{the tensor is made here}}
  // expected-error @+1 {{uses a tensor of the function in its region, expected to take it as an operand; only operands can be resharded}}
  "test.region"() ({
    "test.use"(%arg0) : (tensor<8xf32>) -> ()
  }) : () -> ()
  return
}

// -----

sdy.mesh @mesh = <["d"=2, "m"=4]>

// Rows could be ordered apart; that they are gathered was cheaper, and nothing
// is said. Of one dim there is no other way.
// expected-note @+1 {{operand 0 is sharded}}
func.func @gathered_for_its_price(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"m"}]>}, %arg1: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"m"}]>}) -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"m"}]>}, tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"m"}]>}) {
  %0 = "stablehlo.sort"(%arg0) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %2 = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"m"}]>]>} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  // expected-warning @+1 {{op 'stablehlo.sort' cannot be computed sharded along dim 0 of operand 0: gathers 48 bytes per device}}
  %1 = "stablehlo.sort"(%arg1) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %2 = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"m"}]>]>} : (tensor<16xf32>) -> tensor<16xf32>
  return %0, %1 : tensor<8x16xf32>, tensor<16xf32>
}

// -----

sdy.mesh @mesh = <["d"=2, "m"=4]>

// The gather stands at the product, which only the sort uses: it is there for
// the sort all the same. What is whole from the start is no gather.
func.func @gathered_where_it_is_made(%arg0: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"m"}]>}, %arg1: tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>) {
  // expected-note @+1 {{operand 0 is sharded}}
  %0 = stablehlo.multiply %arg0, %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"m"}]>]>} : tensor<16xf32>
  // expected-warning @+1 {{op 'stablehlo.sort' cannot be computed sharded along dim 0 of operand 0: gathers 48 bytes per device}}
  %1 = "stablehlo.sort"(%0) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %4 = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %4 : tensor<i1>
  }) : (tensor<16xf32>) -> tensor<16xf32>
  %2 = stablehlo.multiply %arg1, %arg1 : tensor<16xf32>
  %3 = "stablehlo.sort"(%2) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %4 = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %4 : tensor<i1>
  }) : (tensor<16xf32>) -> tensor<16xf32>
  return %1, %3 : tensor<16xf32>, tensor<16xf32>
}
