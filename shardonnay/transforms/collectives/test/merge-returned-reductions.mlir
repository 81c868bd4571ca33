// RUN: sdy-opt %s --sdy-merge-returned-reductions --split-input-file | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>

// CHECK-LABEL: func @sum
func.func @sum(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  // CHECK-NEXT: %[[M:.*]] = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{}, {}], unreduced={"x"}>] manual_axes={"x"} (%[[P:.*]]: tensor<8x8xf32>) {
  // CHECK-NEXT:   sdy.return %[[P]]
  // CHECK:      sdy.reduce_scatter [{"x"}, {}] %[[M]] out_sharding=<@mesh, [{"x"}, {}]>
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{}, {}]>] manual_axes={"x"} (%arg1: tensor<8x8xf32>) {
    %2 = "stablehlo.all_reduce"(%arg1) <{replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %3 = stablehlo.add %l, %r : tensor<f32>
      stablehlo.return %3 : tensor<f32>
    }) : (tensor<8x8xf32>) -> tensor<8x8xf32>
    sdy.return %2 : tensor<8x8xf32>
  } : (tensor<16x8xf32>) -> tensor<8x8xf32>
  %1 = sdy.all_slice [{"x"}, {}] %0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// What is replicated explicitly along the axis is partial then.
// CHECK-LABEL: func @maximum_on_replicated
func.func @maximum_on_replicated(%arg0: tensor<16x8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xi32> {
  // CHECK-NEXT: out_shardings=[<@mesh, [{}, {}], unreduced=max{"x"}>]
  // CHECK:      sdy.reduce_scatter max [{"x"}, {}]
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{}, {}], replicated={"x"}>] manual_axes={"x"} (%arg1: tensor<8x8xi32>) {
    %2 = "stablehlo.all_reduce"(%arg1) <{replica_groups = dense<[[1, 3], [2, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%l: tensor<i32>, %r: tensor<i32>):
      %3 = stablehlo.maximum %l, %r : tensor<i32>
      stablehlo.return %3 : tensor<i32>
    }) : (tensor<8x8xi32>) -> tensor<8x8xi32>
    sdy.return %2 : tensor<8x8xi32>
  } : (tensor<16x8xi32>) -> tensor<8x8xi32>
  %1 = sdy.all_slice [{"x"}, {}] %0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xi32>
  return %1 : tensor<8x8xi32>
}

// Along another axis its own reduction is the cheaper one behind the slice.
// CHECK-LABEL: func @sliced_along_another
func.func @sliced_along_another(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  // CHECK:      %[[M:.*]] = sdy.manual_computation
  // CHECK:      %[[S:.*]] = sdy.all_slice [{"y"}, {}] %[[M]] out_sharding=<@mesh, [{"y"}, {}], unreduced={"x"}>
  // CHECK-NEXT: sdy.all_reduce {"x"} %[[S]]
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{}, {}]>] manual_axes={"x"} (%arg1: tensor<8x8xf32>) {
    %2 = "stablehlo.all_reduce"(%arg1) <{replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %3 = stablehlo.add %l, %r : tensor<f32>
      stablehlo.return %3 : tensor<f32>
    }) : (tensor<8x8xf32>) -> tensor<8x8xf32>
    sdy.return %2 : tensor<8x8xf32>
  } : (tensor<16x8xf32>) -> tensor<8x8xf32>
  %1 = sdy.all_slice [{"y"}, {}] %0 out_sharding=<@mesh, [{"y"}, {}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// CHECK-LABEL: func @other_groups
func.func @other_groups(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  // CHECK: stablehlo.all_reduce
  // CHECK: sdy.all_slice
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{}, {}]>] manual_axes={"x"} (%arg1: tensor<8x8xf32>) {
    %2 = "stablehlo.all_reduce"(%arg1) <{replica_groups = dense<[[0, 3], [1, 2]]> : tensor<2x2xi64>}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %3 = stablehlo.add %l, %r : tensor<f32>
      stablehlo.return %3 : tensor<f32>
    }) : (tensor<8x8xf32>) -> tensor<8x8xf32>
    sdy.return %2 : tensor<8x8xf32>
  } : (tensor<16x8xf32>) -> tensor<8x8xf32>
  %1 = sdy.all_slice [{"x"}, {}] %0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// The groups are along an axis that is not manual.
// CHECK-LABEL: func @free_axis
func.func @free_axis(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  // CHECK: stablehlo.all_reduce
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{}, {}]>] manual_axes={"x"} (%arg1: tensor<8x8xf32>) {
    %2 = "stablehlo.all_reduce"(%arg1) <{replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %3 = stablehlo.add %l, %r : tensor<f32>
      stablehlo.return %3 : tensor<f32>
    }) : (tensor<8x8xf32>) -> tensor<8x8xf32>
    sdy.return %2 : tensor<8x8xf32>
  } : (tensor<16x8xf32>) -> tensor<8x8xf32>
  %1 = sdy.all_slice [{"y"}, {}] %0 out_sharding=<@mesh, [{"y"}, {}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// Whoever else reads what is reduced needs it so: inside, and outside.
// CHECK-LABEL: func @read_elsewhere
func.func @read_elsewhere(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  // CHECK-COUNT-2: stablehlo.all_reduce
  // CHECK-COUNT-2: sdy.all_slice
  %0:3 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{}, {}]>, <@mesh, [{}, {}]>, <@mesh, [{}, {}]>] manual_axes={"x"} (%arg1: tensor<8x8xf32>) {
    %2 = "stablehlo.all_reduce"(%arg1) <{replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %3 = stablehlo.add %l, %r : tensor<f32>
      stablehlo.return %3 : tensor<f32>
    }) : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %4 = stablehlo.negate %2 : tensor<8x8xf32>
    %5 = "stablehlo.all_reduce"(%4) <{replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %3 = stablehlo.add %l, %r : tensor<f32>
      stablehlo.return %3 : tensor<f32>
    }) : (tensor<8x8xf32>) -> tensor<8x8xf32>
    sdy.return %2, %4, %5 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  } : (tensor<16x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>)
  %1 = sdy.all_slice [{"x"}, {}] %0#0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  %6 = sdy.all_slice [{"x"}, {}] %0#2 out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return %1, %6, %0#2 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

// The numbers of the devices are not their positions in the mesh.
sdy.mesh @ordered = <["x"=2], device_ids=[1, 0]>

// CHECK-LABEL: func @order_of_devices
func.func @order_of_devices(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@ordered, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  // CHECK: stablehlo.all_reduce
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@ordered, [{"x"}, {}]>] out_shardings=[<@ordered, [{}, {}]>] manual_axes={"x"} (%arg1: tensor<8x8xf32>) {
    %2 = "stablehlo.all_reduce"(%arg1) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %3 = stablehlo.add %l, %r : tensor<f32>
      stablehlo.return %3 : tensor<f32>
    }) : (tensor<8x8xf32>) -> tensor<8x8xf32>
    sdy.return %2 : tensor<8x8xf32>
  } : (tensor<16x8xf32>) -> tensor<8x8xf32>
  %1 = sdy.all_slice [{"x"}, {}] %0 out_sharding=<@ordered, [{"x"}, {}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// -----

// An axis of one device is part of no sum: nothing of it is left to reduce.
sdy.mesh @single = <["one"=1, "x"=2]>

// CHECK-LABEL: func @axis_of_one_device
func.func @axis_of_one_device(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@single, [{"x"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@single, [{"x"}, {}]>}) {
  // CHECK: out_shardings=[<@single, [{}, {}], unreduced={"x"}>]
  // CHECK: sdy.reduce_scatter [{"x"}, {}] %{{.*}} out_sharding=<@single, [{"x"}, {}]>
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@single, [{"x"}, {}]>] out_shardings=[<@single, [{}, {}]>] manual_axes={"one", "x"} (%arg1: tensor<8x8xf32>) {
    %2 = "stablehlo.all_reduce"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[<name = "one", size = 1>, <name = "x", size = 2>]>, axes = [#stablehlo.axis_ref<name = "one">, #stablehlo.axis_ref<name = "x">]>, use_global_device_ids}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %3 = stablehlo.add %l, %r : tensor<f32>
      stablehlo.return %3 : tensor<f32>
    }) : (tensor<8x8xf32>) -> tensor<8x8xf32>
    sdy.return %2 : tensor<8x8xf32>
  } : (tensor<16x8xf32>) -> tensor<8x8xf32>
  %1 = sdy.all_slice [{"x"}, {}] %0 out_sharding=<@single, [{"x"}, {}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
