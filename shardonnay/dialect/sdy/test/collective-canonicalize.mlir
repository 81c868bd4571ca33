// RUN: sdy-opt %s -canonicalize | FileCheck %s
// RUN: sdy-opt %s -canonicalize=enable-patterns=sdy-collective | FileCheck %s
// RUN: sdy-opt %s -canonicalize=enable-patterns=sdy-reshard | FileCheck %s --check-prefix=OTHER

sdy.mesh @mesh = <["x"=2, "y"=4]>

// OTHER-LABEL: func @idle
// OTHER-COUNT-6: sdy.
// CHECK-LABEL: func @idle
// CHECK-SAME: (%[[X:.*]]: tensor<8x8xf32>
// CHECK-NEXT: return %[[X]]
func.func @idle(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {?}]>}) -> tensor<8x8xf32> {
  %0 = sdy.all_gather [{}, {}] %arg0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  %1 = sdy.all_slice [{}, {}] %0 out_sharding=<@mesh, [{"x"}, {}], replicated={"y"}> : tensor<8x8xf32>
  %2 = sdy.reduce_scatter [{}, {}] %1 out_sharding=<@mesh, [{"x"}, {}], replicated={"y"}> : tensor<8x8xf32>
  %3 = sdy.all_reduce {} %2 out_sharding=<@mesh, [{"x"}, {}], replicated={"y"}> : tensor<8x8xf32>
  %4 = sdy.collective_permute %3 out_sharding=<@mesh, [{"x", ?}, {}], replicated={"y"}> : tensor<8x8xf32>
  %5 = sdy.sharded_to_unreduced [{}, {}] %4 out_sharding=<@mesh, [{"x"}, {}], replicated={"y"}> : tensor<8x8xf32>
  return %5 : tensor<8x8xf32>
}

// What was replicated must not come back.
// CHECK-LABEL: func @idle_but_replicated
// CHECK: all_gather
// CHECK: all_reduce
func.func @idle_but_replicated(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}], replicated={"y"}>}) -> tensor<8x8xf32> {
  %0 = sdy.all_gather [{}, {}] %arg0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  %1 = sdy.all_reduce {"y"} %0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// Another order of the devices moves data.
sdy.mesh @plain = <["x"=2]>
sdy.mesh @reversed = <["x"=2], device_ids=[1, 0]>
// CHECK-LABEL: func @other_order
// CHECK: collective_permute
func.func @other_order(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@plain, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.collective_permute %arg0 out_sharding=<@reversed, [{"x"}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// The gather stays for its other use.
// CHECK-LABEL: func @slice_of_gather
// CHECK-SAME: (%[[X:.*]]: tensor<8x8xf32>
// CHECK: %[[G:.*]] = sdy.all_gather [{"x"}, {"y"}] %[[X]]
// CHECK: return %[[G]], %[[X]]
func.func @slice_of_gather(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = sdy.all_gather [{"x"}, {"y"}] %arg0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %1 = sdy.all_slice [{"x"}, {"y"}] %0 out_sharding=<@mesh, [{"x"}, {"y"}]> : tensor<8x8xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}

// CHECK-LABEL: func @slice_of_other_gather
// CHECK: all_gather
// CHECK: all_slice
func.func @slice_of_other_gather(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.all_gather [{"x"}, {}] %arg0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %1 = sdy.all_slice [{}, {"x"}] %0 out_sharding=<@mesh, [{}, {"x"}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// CHECK-LABEL: func @reduce_of_replicated
// CHECK-SAME: (%[[X:.*]]: tensor<8x8xf32>
// CHECK-NEXT: return %[[X]]
func.func @reduce_of_replicated(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.replicated_to_unreduced {"y"} %arg0 out_sharding=<@mesh, [{"x"}, {}], unreduced={"y"}> : tensor<8x8xf32>
  %1 = sdy.all_reduce {"y"} %0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// CHECK-LABEL: func @reduce_of_part
// CHECK: replicated_to_unreduced
// CHECK: all_reduce
func.func @reduce_of_part(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.replicated_to_unreduced {"y"} %arg0 out_sharding=<@mesh, [{"x"}, {}], unreduced={"y"}> : tensor<8x8xf32>
  %1 = sdy.all_reduce {"y":(1)2} %0 out_sharding=<@mesh, [{"x"}, {}], unreduced={"y":(2)2}> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// CHECK-LABEL: func @slice_of_reduce
// CHECK-SAME: (%[[X:.*]]: tensor<8x8xf32>
// CHECK-NEXT: %[[R:.*]] = sdy.reduce_scatter max [{"y"}, {"x"}] %[[X]] out_sharding=<@mesh, [{"y"}, {"x"}]> : tensor<8x8xf32>
// CHECK-NEXT: return %[[R]]
func.func @slice_of_reduce(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced=max{"x", "y"}>}) -> tensor<8x8xf32> {
  %0 = sdy.all_reduce max {"x", "y"} %arg0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %1 = sdy.all_slice [{"y"}, {"x"}] %0 out_sharding=<@mesh, [{"y"}, {"x"}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// CHECK-LABEL: func @reduce_with_other_use
// CHECK: all_reduce
// CHECK: all_slice
func.func @reduce_with_other_use(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"x"}>}) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = sdy.all_reduce {"x"} %arg0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %1 = sdy.all_slice [{"x"}, {}] %0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}

// CHECK-LABEL: func @merge_moves
// CHECK-SAME: (%[[X:.*]]: tensor<8x8x8x8xf32>
// CHECK-NEXT: sdy.all_to_all [{"x"}: 0->1, {"y"}: 2->3] %[[X]] out_sharding=<@mesh, [{}, {"x"}, {}, {"y"}]> : tensor<8x8x8x8xf32>
// CHECK-NEXT: return
func.func @merge_moves(%arg0: tensor<8x8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {"y"}, {}]>}) -> tensor<8x8x8x8xf32> {
  %0 = sdy.all_to_all [{"y"}: 2->3] %arg0 out_sharding=<@mesh, [{"x"}, {}, {}, {"y"}]> : tensor<8x8x8x8xf32>
  %1 = sdy.all_to_all [{"x"}: 0->1] %0 out_sharding=<@mesh, [{}, {"x"}, {}, {"y"}]> : tensor<8x8x8x8xf32>
  return %1 : tensor<8x8x8x8xf32>
}

// CHECK-LABEL: func @moves_that_meet
// CHECK-COUNT-2: all_to_all
func.func @moves_that_meet(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.all_to_all [{"x"}: 0->1] %arg0 out_sharding=<@mesh, [{}, {"x"}]> : tensor<8x8xf32>
  %1 = sdy.all_to_all [{"x"}: 1->0] %0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// What is sliced further is scattered first.
// CHECK-LABEL: func @slice_beyond_reduce
// CHECK-NEXT: %[[S:.*]] = sdy.reduce_scatter [{"x"}, {}] %arg0 out_sharding=<@mesh, [{"x"}, {}]>
// CHECK-NEXT: %[[R:.*]] = sdy.all_slice [{}, {"y"}] %[[S]] out_sharding=<@mesh, [{"x"}, {"y"}]>
// CHECK-NEXT: return %[[R]]
func.func @slice_beyond_reduce(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"x"}>}) -> tensor<8x8xf32> {
  %0 = sdy.all_reduce {"x"} %arg0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %1 = sdy.all_slice [{"x"}, {"y"}] %0 out_sharding=<@mesh, [{"x"}, {"y"}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// Not what is sliced before.
// CHECK-LABEL: func @slice_before_reduced_axis
// CHECK-NEXT: sdy.all_reduce
// CHECK-NEXT: sdy.all_slice
func.func @slice_before_reduced_axis(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"x"}>}) -> tensor<8x8xf32> {
  %0 = sdy.all_reduce {"x"} %arg0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %1 = sdy.all_slice [{"y", "x"}, {}] %0 out_sharding=<@mesh, [{"y", "x"}, {}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
