// RUN: sdy-opt %s --pass-pipeline='builtin.module(func.func(sdy-mark-partial-results))' | FileCheck %s

// As other tools write what their reshard step makes: the collective says it, not the result.

sdy.mesh @mesh = <["x"=2, "y"=4]>

// CHECK-LABEL: func @collective_behind
// CHECK: %[[DOT:.*]] = stablehlo.dot %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}], unreduced={"y"}>]>}
// CHECK: %[[SUM:.*]] = sdy.all_reduce {"y"} %[[DOT]] out_sharding=<@mesh, [{"x"}, {}]>
// CHECK: return %[[SUM]]
func.func @collective_behind(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %b: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.dot %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  %1 = sdy.all_reduce {"y"} %0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// Maxima are not added.
// CHECK-LABEL: func @kind
// CHECK: stablehlo.reduce{{.*}}unreduced=max{"y"}
// CHECK: sdy.all_reduce max {"y"}
// CHECK: sdy.reduce_scatter max [{"y"}]
func.func @kind(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) -> (tensor<8xf32>, tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
  %m = sdy.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %m) applies stablehlo.maximum across dimensions = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = sdy.all_reduce {"y"} %0 out_sharding=<@mesh, [{}]> : tensor<8xf32>
  %2 = sdy.reduce_scatter [{"y"}] %0 out_sharding=<@mesh, [{"y"}]> : tensor<8xf32>
  return %1, %2 : tensor<8xf32>, tensor<8xf32>
}

// Else the result is what its sharding says.
// CHECK-LABEL: func @nothing_behind
// CHECK: %[[DOT:.*]] = stablehlo.dot {{.*}}unreduced={"y"}
// CHECK: %[[SUM:.*]] = sdy.all_reduce {"y"} %[[DOT]] out_sharding=<@mesh, [{}, {}]>
// CHECK: return %[[SUM]], %[[SUM]]
func.func @nothing_behind(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}, %b: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = stablehlo.dot %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  return %0, %0 : tensor<8x8xf32>, tensor<8x8xf32>
}

// No sharding is that of a replicated value.
// CHECK-LABEL: func @without_sharding
// CHECK: %[[DOT:.*]] = stablehlo.dot %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"y"}>]>}
// CHECK: sdy.all_reduce {"y"} %[[DOT]] out_sharding=<@mesh, [{}, {}]>
func.func @without_sharding(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}, %b: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.dot %a, %b : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  %1 = sdy.all_reduce {"y"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// What is marked stays.
// CHECK-LABEL: func @marked
// CHECK: %[[DOT:.*]] = stablehlo.dot {{.*}}unreduced={"y"}
// CHECK-NEXT: return %[[DOT]]
func.func @marked(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}, %b: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"y"}>}) {
  %0 = stablehlo.dot %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"y"}>]>} : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// What is whole is not summed: a reduction of two tensors has no parts that an all_reduce combines.
// CHECK-LABEL: func @whole
// CHECK: %[[BEST:.*]]:2 = stablehlo.reduce
// CHECK-NOT: sdy.all_reduce
// CHECK: %[[SLICE:.*]] = sdy.all_slice [{"x"}] %[[BEST]]#0 out_sharding=<@mesh, [{"x"}]>
// CHECK: return %[[SLICE]], %[[BEST]]#1
func.func @whole(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}, %i: tensor<8x16xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) -> (tensor<8xf32>, tensor<8xi32>) {
  %m = sdy.constant dense<0xFF800000> : tensor<f32>
  %z = sdy.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.reduce(%a init: %m), (%i init: %z) across dimensions = [1] : (tensor<8x16xf32>, tensor<8x16xi32>, tensor<f32>, tensor<i32>) -> (tensor<8xf32>, tensor<8xi32>)
   reducer(%p: tensor<f32>, %q: tensor<f32>) (%r: tensor<i32>, %s: tensor<i32>)  {
    %3 = stablehlo.compare GE, %p, %q, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %4 = stablehlo.select %3, %p, %q : tensor<i1>, tensor<f32>
    %5 = stablehlo.select %3, %r, %s : tensor<i1>, tensor<i32>
    stablehlo.return %4, %5 : tensor<f32>, tensor<i32>
  }
  %1 = sdy.reduce_scatter [{"x"}] %0#0 out_sharding=<@mesh, [{"x"}]> : tensor<8xf32>
  %2 = sdy.all_reduce {"y"} %0#1 out_sharding=<@mesh, [{}]> : tensor<8xi32>
  return %1, %2 : tensor<8xf32>, tensor<8xi32>
}
