// RUN: sdy-opt %s --sdy-optimize-collectives | FileCheck %s
// RUN: sdy-opt %s --sdy-optimize-collectives=max-rounds=0 | FileCheck %s --check-prefix=NONE

sdy.mesh @mesh = <["x"=2, "y"=4]>

// The slice passes the tanh, meets the add, and then the sums: one
// reduce_scatter of one of them is left.
// CHECK-LABEL: func @one_opens_the_way_for_another
// NONE-LABEL: func @one_opens_the_way_for_another
func.func @one_opens_the_way_for_another(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"x"}>}, %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"x"}>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // CHECK-NEXT: %[[A:.*]] = stablehlo.add %arg0, %arg1 {{.*}}unreduced={"x"}
  // CHECK-NEXT: %[[S:.*]] = sdy.reduce_scatter [{"x"}, {}] %[[A]] out_sharding=<@mesh, [{"x"}, {}]>
  // CHECK-NEXT: %[[T:.*]] = stablehlo.tanh %[[S]]
  // CHECK-NEXT: return %[[T]]
  // NONE-COUNT-2: sdy.all_reduce
  // NONE: sdy.all_slice
  %0 = sdy.all_reduce {"x"} %arg0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %1 = sdy.all_reduce {"x"} %arg1 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %2 = stablehlo.add %0, %1 : tensor<8x8xf32>
  %3 = stablehlo.tanh %2 : tensor<8x8xf32>
  %4 = sdy.all_slice [{"x"}, {}] %3 out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return %4 : tensor<8x8xf32>
}
