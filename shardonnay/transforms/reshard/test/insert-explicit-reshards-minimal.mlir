// RUN: sdy-opt %s --pass-pipeline='builtin.module(func.func(sdy-insert-explicit-reshards))' | FileCheck %s
// RUN: sdy-opt %s --pass-pipeline='builtin.module(func.func(sdy-insert-explicit-reshards{avoid-reshards-on-calls=true}))' | FileCheck %s --check-prefix=AVOID

sdy.mesh @mesh = <["a"=4, "b"=2]>

// What another partitioner sees to.
// CHECK-LABEL: func @left_alone
// CHECK-NOT: sdy.reshard
// CHECK: return
func.func @left_alone(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}, %b: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"a"}]>}) -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"a"}]>}) {
  %0 = stablehlo.add %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {}]>]>} : tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// CHECK-LABEL: func @partial
func.func @partial(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"a"}]>}, %w: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}) -> tensor<8x8xf32> {
  // CHECK: %[[SUM:.*]] = stablehlo.dot
  %0 = stablehlo.dot %a, %w {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"a"}>]>} : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  // CHECK: %[[REDUCED:.*]] = sdy.all_reduce {"a"} %[[SUM]] out_sharding=<@mesh, [{}, {}]>
  // CHECK: stablehlo.tanh %[[REDUCED]]
  %1 = stablehlo.tanh %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// CHECK-LABEL: func @joined
func.func @joined(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"a"}]>}, %b: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"b"}]>}) -> tensor<16x16xf32> {
  // CHECK: %[[B:.*]] = sdy.reshard %arg1 <@mesh, [{}, {"a"}]>
  // CHECK: stablehlo.concatenate %arg0, %[[B]]
  %0 = stablehlo.concatenate %a, %b, dim = 0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"a"}]>]>} : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}

// CHECK-LABEL: func @calls
// AVOID-LABEL: func @calls
func.func @calls(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}) -> tensor<8x16xf32> {
  // CHECK: %[[A:.*]] = sdy.reshard %arg0 <@mesh, [{}, {"a"}]>
  // CHECK: call @callee(%[[A]])
  // AVOID-NEXT: call @callee(%arg0)
  %0 = call @callee(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"a"}]>]>} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
func.func private @callee(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"a"}]>}) -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"a"}]>}) {
  return %a : tensor<8x16xf32>
}

// A result that is wanted where it is contracted is made as its operand is sharded, unless it is larger.
// CHECK-LABEL: func @wanted_where_contracted
// CHECK: %[[DOT:.*]] = stablehlo.dot %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"b"}, {}]>]>}
// CHECK: sdy.reshard %[[DOT]] <@mesh, [{"a"}, {}]>
func.func @wanted_where_contracted(%a: tensor<8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}, {"a"}]>}, %w: tensor<64x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.dot %a, %w {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {}]>]>} : (tensor<8x64xf32>, tensor<64x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// CHECK-LABEL: func @larger_result
// CHECK-NOT: sdy.reshard
// CHECK: return
func.func @larger_result(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}, {"a"}]>}, %w: tensor<8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}) -> tensor<8x64xf32> {
  %0 = stablehlo.dot %a, %w {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {}]>]>} : (tensor<8x8xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
  return %0 : tensor<8x64xf32>
}
