// RUN: sdy-opt %s --sdy-fold-all-reduces | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=4]>

// CHECK-LABEL: func @two_all_reduces
func.func @two_all_reduces(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"x", "y"}>}) -> tensor<8x8xf32> {
  // CHECK-NEXT: %[[R:.*]] = sdy.all_reduce {"x", "y"} %arg0 out_sharding=<@mesh, [{}, {}]>
  // CHECK-NEXT: return %[[R]]
  %0 = sdy.all_reduce {"x"} %arg0 out_sharding=<@mesh, [{}, {}], unreduced={"y"}> : tensor<8x8xf32>
  %1 = sdy.all_reduce {"y"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// CHECK-LABEL: func @sliced
func.func @sliced(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"x"}>}) -> tensor<8x8xf32> {
  // CHECK-NEXT: %[[R:.*]] = sdy.reduce_scatter [{"x"}, {}] %arg0 out_sharding=<@mesh, [{"x"}, {}]>
  // CHECK-NEXT: return %[[R]]
  %0 = sdy.all_reduce {"x"} %arg0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %1 = sdy.all_slice [{"x"}, {}] %0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// The slice comes first where its axis is not summed over: less is reduced.
// CHECK-LABEL: func @sliced_along_another_axis
func.func @sliced_along_another_axis(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"x"}>}) -> tensor<8x8xf32> {
  // CHECK-NEXT: %[[S:.*]] = sdy.all_slice [{"y"}, {}] %arg0 out_sharding=<@mesh, [{"y"}, {}], unreduced={"x"}>
  // CHECK-NEXT: %[[R:.*]] = sdy.all_reduce {"x"} %[[S]] out_sharding=<@mesh, [{"y"}, {}]>
  // CHECK-NEXT: return %[[R]]
  %0 = sdy.all_reduce {"x"} %arg0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %1 = sdy.all_slice [{"y"}, {}] %0 out_sharding=<@mesh, [{"y"}, {}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// CHECK-LABEL: func @scattered_and_gathered
func.func @scattered_and_gathered(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"x"}>}) -> tensor<8x8xf32> {
  // CHECK-NEXT: %[[R:.*]] = sdy.all_reduce {"x"} %arg0 out_sharding=<@mesh, [{}, {}]>
  // CHECK-NEXT: return %[[R]]
  %0 = sdy.reduce_scatter [{"x"}, {}] %arg0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  %1 = sdy.all_gather [{"x"}, {}] %0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// The whole sum is needed, too: nothing becomes cheaper.
// CHECK-LABEL: func @sum_used_twice
func.func @sum_used_twice(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"x"}>}) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  // CHECK-NEXT: %[[R:.*]] = sdy.all_reduce {"x"} %arg0
  // CHECK-NEXT: %[[S:.*]] = sdy.all_slice [{"x"}, {}] %[[R]]
  // CHECK-NEXT: return %[[R]], %[[S]]
  %0 = sdy.all_reduce {"x"} %arg0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %1 = sdy.all_slice [{"x"}, {}] %0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}

// Nothing states that the operand is partial: only who wrote this knows.
// CHECK-LABEL: func @not_stated
func.func @not_stated(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> tensor<8x8xf32> {
  // CHECK-NEXT: sdy.all_reduce {"x"}
  // CHECK-NEXT: sdy.all_reduce {"y"}
  %0 = sdy.all_reduce {"x"} %arg0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %1 = sdy.all_reduce {"y"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// CHECK-LABEL: func @in_parts_again
func.func @in_parts_again(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"x", "y"}>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"x", "y"}>}) {
  // CHECK-NEXT: return %arg0
  %0 = sdy.all_reduce {"x", "y"} %arg0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %1 = sdy.replicated_to_unreduced {"x", "y"} %0 out_sharding=<@mesh, [{}, {}], unreduced={"x", "y"}> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// CHECK-LABEL: func @scattered_and_in_parts_again
func.func @scattered_and_in_parts_again(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"x"}>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"x"}>}) {
  // CHECK-NEXT: return %arg0
  %0 = sdy.reduce_scatter [{"x"}, {}] %arg0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  %1 = sdy.sharded_to_unreduced [{"x"}, {}] %0 out_sharding=<@mesh, [{}, {}], unreduced={"x"}> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// A sum that another op reads, too, is reduced for that.
// CHECK-LABEL: func @in_parts_and_whole
func.func @in_parts_and_whole(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"x"}>}) -> (tensor<8x8xf32>, tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"x"}>}) {
  // CHECK-NEXT: %[[R:.*]] = sdy.all_reduce {"x"} %arg0
  // CHECK-NEXT: return %[[R]], %arg0
  %0 = sdy.all_reduce {"x"} %arg0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %1 = sdy.replicated_to_unreduced {"x"} %0 out_sharding=<@mesh, [{}, {}], unreduced={"x"}> : tensor<8x8xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}

// Parts along another axis are others.
// CHECK-LABEL: func @in_other_parts
func.func @in_other_parts(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"x"}>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"y"}>}) {
  // CHECK: sdy.all_reduce {"x"} %arg0
  // CHECK: sdy.replicated_to_unreduced {"y"}
  %0 = sdy.all_reduce {"x"} %arg0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %1 = sdy.replicated_to_unreduced {"y"} %0 out_sharding=<@mesh, [{}, {}], unreduced={"y"}> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
