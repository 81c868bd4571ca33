// RUN: sdy-opt %s --sdy-reshard-to-collectives | FileCheck %s
// RUN: sdy-opt %s --sdy-reshard-to-collectives=keep-redundant-reshards | FileCheck %s --check-prefix=KEEP

sdy.mesh @mesh = <["x"=2, "y"=4]>

// CHECK-LABEL: func @slice
func.func @slice(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK: %[[R:.*]] = sdy.all_slice [{}, {"y"}] %arg0 out_sharding=<@mesh, [{}, {"y"}]>
  // CHECK-NEXT: return %[[R]]
  %0 = sdy.reshard %arg0 <@mesh, [{}, {"y"}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// CHECK-LABEL: func @gather
func.func @gather(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}) -> tensor<8x8xf32> {
  // CHECK: %[[R:.*]] = sdy.all_gather [{"y"}, {}] %arg0 out_sharding=<@mesh, [{"x"}, {}]>
  // CHECK-NEXT: return %[[R]]
  %0 = sdy.reshard %arg0 <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// CHECK-LABEL: func @move
func.func @move(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> tensor<8x8xf32> {
  // CHECK: %[[R:.*]] = sdy.all_to_all [{"y"}: 0->1] %arg0 out_sharding=<@mesh, [{}, {"y"}]>
  // CHECK-NEXT: return %[[R]]
  %0 = sdy.reshard %arg0 <@mesh, [{}, {"y"}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// CHECK-LABEL: func @sum
func.func @sum(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}], unreduced={"y"}>}) -> tensor<8x8xf32> {
  // CHECK: %[[R:.*]] = sdy.all_reduce {"y"} %arg0 out_sharding=<@mesh, [{"x"}, {}]>
  // CHECK-NEXT: return %[[R]]
  %0 = sdy.reshard %arg0 <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// CHECK-LABEL: func @max
func.func @max(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}], unreduced=max{"y"}>}) -> tensor<8x8xf32> {
  // CHECK: sdy.all_reduce max {"y"} %arg0 out_sharding=<@mesh, [{"x"}, {}]>
  %0 = sdy.reshard %arg0 <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// CHECK-LABEL: func @scatter
func.func @scatter(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}], unreduced={"y"}>}) -> tensor<8x8xf32> {
  // CHECK: %[[R:.*]] = sdy.reduce_scatter [{}, {"y"}] %arg0 out_sharding=<@mesh, [{"x"}, {"y"}]>
  // CHECK-NEXT: return %[[R]]
  %0 = sdy.reshard %arg0 <@mesh, [{"x"}, {"y"}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// CHECK-LABEL: func @sub_axis
func.func @sub_axis(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> tensor<8x8xf32> {
  // CHECK: %[[R:.*]] = sdy.all_to_all [{"y":(2)2}: 0->1] %arg0 out_sharding=<@mesh, [{"y":(1)2}, {"y":(2)2}]>
  // CHECK-NEXT: return %[[R]]
  %0 = sdy.reshard %arg0 <@mesh, [{"y":(1)2}, {"y":(2)2}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// CHECK-LABEL: func @no_change
func.func @no_change(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> tensor<8x8xf32> {
  // CHECK-NEXT: return %arg0
  %0 = sdy.reshard %arg0 <@mesh, [{"y"}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// Axes of equal counts change places in one step.
// CHECK-LABEL: func @permute
func.func @permute(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y":(1)2}]>}) -> tensor<8x8xf32> {
  // CHECK: %[[R:.*]] = sdy.collective_permute %arg0 out_sharding=<@mesh, [{"y":(1)2}, {"x"}]>
  // CHECK-NEXT: return %[[R]]
  %0 = sdy.reshard %arg0 <@mesh, [{"y":(1)2}, {"x"}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

sdy.mesh @reversed = <["x"=2, "y"=4], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>
sdy.mesh @other = <["z"=4, "w"=2]>

// Only the order of the devices differs.
// CHECK-LABEL: func @other_order
func.func @other_order(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  // CHECK-NEXT: %[[MOVED:.*]] = sdy.collective_permute %arg0 out_sharding=<@reversed, [{"x"}, {}]>
  // CHECK-NEXT: %[[R:.*]] = sdy.all_to_all [{"x"}: 0->1] %[[MOVED]] out_sharding=<@reversed, [{}, {"x"}]>
  // CHECK-NEXT: return %[[R]]
  %0 = sdy.reshard %arg0 <@reversed, [{}, {"x"}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// It is permuted where a device has least of it.
// CHECK-LABEL: func @other_order_of_less
func.func @other_order_of_less(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  // CHECK-NEXT: %[[SLICE:.*]] = sdy.all_slice [{}, {"y"}] %arg0 out_sharding=<@mesh, [{"x"}, {"y"}]>
  // CHECK-NEXT: %[[LESS:.*]] = sdy.collective_permute %[[SLICE]] out_sharding=<@reversed, [{"x"}, {"y"}]>
  %0 = sdy.reshard %arg0 <@reversed, [{"x"}, {"y"}]> : tensor<8x8xf32>
  %1 = sdy.reshard %0 <@reversed, [{"x", "y":(1)2}, {}]> : tensor<8x8xf32>
  // CHECK: %[[PERMUTED:.*]] = sdy.collective_permute %{{.*}} out_sharding=<@mesh, [{"x", "y":(1)2}, {}]>
  // CHECK-NEXT: %[[MORE:.*]] = sdy.all_gather [{"y":(1)2}, {}] %[[PERMUTED]] out_sharding=<@mesh, [{"x"}, {}]>
  // CHECK-NEXT: return %[[LESS]], %[[MORE]]
  %2 = sdy.reshard %1 <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return %0, %2 : tensor<8x8xf32>, tensor<8x8xf32>
}

// One of the steps is a permute anyway.
// CHECK-LABEL: func @other_order_on_the_way
func.func @other_order_on_the_way(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<8x8xf32> {
  // CHECK-NEXT: %[[MOVED:.*]] = sdy.all_to_all [{"y":(2)2}: 1->0] %arg0 out_sharding=<@mesh,
  // CHECK-NEXT: sdy.collective_permute %[[MOVED]] out_sharding=<@reversed, [{"y"}, {"x"}]>
  // CHECK-NEXT: return
  %0 = sdy.reshard %arg0 <@reversed, [{"y"}, {"x"}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// Other axes and another order are one permute.
// CHECK-LABEL: func @other_axes_and_order
func.func @other_axes_and_order(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y":(1)2}]>}) -> tensor<8x8xf32> {
  // CHECK-NEXT: %[[R:.*]] = sdy.collective_permute %arg0 out_sharding=<@reversed, [{"y":(1)2}, {"x"}]>
  // CHECK-NEXT: return %[[R]]
  %0 = sdy.reshard %arg0 <@reversed, [{"y":(1)2}, {"x"}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// Through the whole value, of which a shard is taken.
// CHECK-LABEL: func @other_axes
func.func @other_axes(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  // CHECK-NEXT: %[[WHOLE:.*]] = sdy.all_gather [{"x"}, {}] %arg0 out_sharding=<@mesh, [{}, {}]>
  // CHECK-NEXT: %[[R:.*]] = sdy.reshard %[[WHOLE]] <@other, [{"z"}, {}]>
  // CHECK-NEXT: return %[[R]]
  %0 = sdy.reshard %arg0 <@other, [{"z"}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// A collective's operand and result are on one mesh, whole ones too.
// CHECK-LABEL: func @whole_on_other_axes
func.func @whole_on_other_axes(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  // CHECK-NEXT: %[[WHOLE:.*]] = sdy.all_gather [{"x"}, {}] %arg0 out_sharding=<@mesh, [{}, {}]>
  // CHECK-NEXT: %[[THERE:.*]] = sdy.reshard %[[WHOLE]] <@other, [{}, {}]>
  // CHECK-NEXT: %[[PIECE:.*]] = sdy.all_slice [{"z"}, {}] %[[THERE]] out_sharding=<@other, [{"z"}, {}]>
  // CHECK-NEXT: return %[[PIECE]]
  %0 = sdy.reshard %arg0 <@other, [{}, {}]> : tensor<8x8xf32>
  %1 = sdy.reshard %0 <@other, [{"z"}, {}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// CHECK-LABEL: func @partial_on_other_axes
func.func @partial_on_other_axes(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  // CHECK-NEXT: %[[WHOLE:.*]] = sdy.all_gather [{"x"}, {}] %arg0 out_sharding=<@mesh, [{}, {}]>
  // CHECK-NEXT: %[[PIECE:.*]] = sdy.reshard %[[WHOLE]] <@other, [{"w"}, {}]>
  // CHECK-NEXT: %[[OWN:.*]] = sdy.replicated_to_unreduced {"z"} %[[PIECE]] out_sharding=<@other, [{"w"}, {}], unreduced={"z"}>
  // CHECK-NEXT: return %[[OWN]]
  %0 = sdy.reshard %arg0 <@other, [{"w"}, {}], unreduced={"z"}> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// CHECK-LABEL: func @redundant
// KEEP-LABEL: func @redundant
func.func @redundant(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  // CHECK-NEXT: return %arg0
  // KEEP-NEXT: sdy.reshard
  %0 = sdy.reshard %arg0 <@mesh, [{"x"}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// One device's, and nothing on the others.
// CHECK-LABEL: func @owner
func.func @owner(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x16xf32> {
  // CHECK-NEXT: %[[A:.*]] = sdy.all_to_all [{"x"}: 0->1] %arg0 out_sharding=<@mesh, [{}, {"x"}]>
  // CHECK-NEXT: %[[B:.*]] = sdy.replicated_to_unreduced {"y"} %[[A]] out_sharding=<@mesh, [{}, {"x"}], unreduced={"y"}>
  // CHECK-NEXT: return %[[B]]
  %0 = sdy.reshard %arg0 <@mesh, [{}, {"x"}], unreduced={"y"}> : tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// Local shards are summands in the layout that they have.
// CHECK-LABEL: func @pieces_are_parts
func.func @pieces_are_parts(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}) -> tensor<8x16xf32> {
  // CHECK-NEXT: %[[A:.*]] = sdy.sharded_to_unreduced [{"y"}, {}] %arg0 out_sharding=<@mesh, [{"x"}, {}], unreduced={"y"}>
  // CHECK-NEXT: return %[[A]]
  %0 = sdy.reshard %arg0 <@mesh, [{"x"}, {}], unreduced={"y"}> : tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// The sizes of axes do not matter, nor does it that nine axes can stand in many
// orders.
sdy.mesh @large = <["x"=128, "y"=64]>

// CHECK-LABEL: func @large_axes
func.func @large_axes(%arg0: tensor<8192x8192x8192xf32> {sdy.sharding = #sdy.sharding<@large, [{"x"}, {"y"}, {}]>}) -> tensor<8192x8192x8192xf32> {
  // CHECK-NEXT: sdy.all_to_all [{"x"}: 0->2] {{.*}} {sdy.cause = "as asked"}
  // CHECK-NEXT: sdy.all_to_all [{"y"}: 1->0]
  %0 = sdy.reshard %arg0 <@large, [{"y"}, {}, {"x"}]> {sdy.cause = "as asked"} : tensor<8192x8192x8192xf32>
  return %0 : tensor<8192x8192x8192xf32>
}

sdy.mesh @many = <["a"=2, "b"=2, "c"=2, "d"=2, "e"=2, "f"=2, "g"=2, "h"=2, "i"=2]>

// CHECK-LABEL: func @many_axes
func.func @many_axes(%arg0: tensor<4096x4096x4096xf32> {sdy.sharding = #sdy.sharding<@many, [{"a", "b", "c"}, {"d", "e", "f"}, {"g", "h", "i"}]>}) -> tensor<4096x4096x4096xf32> {
  // CHECK-NEXT: sdy.all_to_all [{"c"}: 0->1]
  // CHECK-NEXT: sdy.collective_permute
  // CHECK-NEXT: sdy.all_gather [{}, {}, {"f"}]
  // CHECK-NEXT: return
  %0 = sdy.reshard %arg0 <@many, [{"d", "a"}, {"g", "h", "b", "e"}, {"c", "i"}]> : tensor<4096x4096x4096xf32>
  return %0 : tensor<4096x4096x4096xf32>
}

// Where there is more to look at than the budget allows, the plan says so.
sdy.mesh @deep = <["a"=4, "b"=8, "c"=2, "d"=16, "e"=16]>

// CHECK-LABEL: func @budget_spent
func.func @budget_spent(%arg0: tensor<4096x30720x7680x7680xbf16> {sdy.sharding = #sdy.sharding<@deep, [{"e", "c"}, {}, {"a"}, {"d", "b"}]>}) -> tensor<4096x30720x7680x7680xbf16> {
  // CHECK-NEXT: {sdy.cause = "as asked; not proven cheapest, as the search was given up: it costs {{.*}}, and at least {{.*}} are needed"}
  %0 = sdy.reshard %arg0 <@deep, [{"e", "a", "b"}, {"d", "c"}, {}, {}]> {sdy.cause = "as asked"} : tensor<4096x30720x7680x7680xbf16>
  return %0 : tensor<4096x30720x7680x7680xbf16>
}

// Between two exchanges, of y and of x, rows would move to neighbours: shards of
// 3 rows do not make up halves of 10.
sdy.mesh @small = <["x"=2, "y"=2]>

// CHECK-LABEL: func @uneven
func.func @uneven(%arg0: tensor<10x7xf32> {sdy.sharding = #sdy.sharding<@small, [{"x", "y"}, {}]>}) -> tensor<10x7xf32> {
  // CHECK-NEXT: %[[A:.*]] = sdy.all_to_all [{"x", "y"}: 0->1] %arg0 out_sharding=<@small, [{}, {"x", "y"}]>
  // CHECK-NEXT: sdy.collective_permute %[[A]] out_sharding=<@small, [{}, {"y", "x"}]>
  %0 = sdy.reshard %arg0 <@small, [{}, {"y", "x"}]> : tensor<10x7xf32>
  return %0 : tensor<10x7xf32>
}

// CHECK-LABEL: func @even
func.func @even(%arg0: tensor<12x8xf32> {sdy.sharding = #sdy.sharding<@small, [{"x", "y"}, {}]>}) -> tensor<12x8xf32> {
  // CHECK-NEXT: sdy.all_to_all [{"y"}: 0->1]
  // CHECK-NEXT: sdy.all_to_all [{"x"}: 0->1]
  %0 = sdy.reshard %arg0 <@small, [{}, {"y", "x"}]> : tensor<12x8xf32>
  return %0 : tensor<12x8xf32>
}

// A barrier is its operand, in the sharding that it says.
// CHECK-LABEL: func @barrier
func.func @barrier(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK-NEXT: %[[A:.*]] = sdy.all_gather [{"x"}] %arg0 out_sharding=<@mesh, [{}]>
  // CHECK-NEXT: %[[B:.*]] = sdy.all_slice [{"y"}] %arg0 out_sharding=<@mesh, [{"x", "y"}]>
  // CHECK-NEXT: return %[[A]], %[[B]]
  %0 = sdy.propagation_barrier %arg0 allowed_direction=NONE : tensor<8xf32>
  %1 = sdy.reshard %0 <@mesh, [{}]> : tensor<8xf32>
  %2 = sdy.propagation_barrier %arg0 allowed_direction=NONE {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", "y"}]>]>} : tensor<8xf32>
  return %1, %2 : tensor<8xf32>, tensor<8xf32>
}

// An argument without a sharding is whole on every device.
// CHECK-LABEL: func @whole_argument_with_owner
func.func @whole_argument_with_owner(%arg0: tensor<8xf32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"y"}>}) {
  // CHECK-NEXT: %[[R:.*]] = sdy.replicated_to_unreduced {"y"} %arg0 out_sharding=<@mesh, [{}], unreduced={"y"}>
  // CHECK-NEXT: return %[[R]]
  %0 = sdy.reshard %arg0 <@mesh, [{}]> : tensor<8xf32>
  %1 = sdy.replicated_to_unreduced {"y"} %0 out_sharding=<@mesh, [{}], unreduced={"y"}> : tensor<8xf32>
  return %1 : tensor<8xf32>
}

sdy.mesh @maximal = <[], device_ids=[1]>

// Nothing is sent where there is no shape.
// CHECK-LABEL: func @tokens
// CHECK-NEXT: stablehlo.after_all %arg0, %arg0
func.func @tokens(%arg0: !stablehlo.token) -> !stablehlo.token {
  %0 = sdy.reshard %arg0 <@maximal, []> : !stablehlo.token
  %1 = sdy.reshard %arg0 <@mesh, []> : !stablehlo.token
  %2 = stablehlo.after_all %0, %1 : !stablehlo.token
  return %2 : !stablehlo.token
}
