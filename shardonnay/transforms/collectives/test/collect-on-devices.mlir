// RUN: sdy-opt %s --sdy-collect-on-devices | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=4]>

// CHECK-LABEL: func @from_the_host
func.func @from_the_host(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<8x8xf32> {
  // CHECK-NEXT: %[[A:.*]] = stablehlo.custom_call @annotate_device_placement(%arg0) {{.*}}"device"}, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>
  // CHECK-NEXT: %[[B:.*]] = sdy.all_gather [{"x"}, {}] %[[A]] out_sharding=<@mesh, [{}, {"y"}]>
  // CHECK-NEXT: %[[C:.*]] = sdy.all_gather [{}, {"y"}] %[[B]] out_sharding=<@mesh, [{}, {}]>
  // CHECK-NEXT: return %[[C]]
  %0 = sdy.all_gather [{"x"}, {}] %arg0 out_sharding=<@mesh, [{}, {"y"}]> : tensor<8x8xf32>
  %1 = sdy.all_gather [{}, {"y"}] %0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %2 = stablehlo.custom_call @annotate_device_placement(%1) {has_side_effect = true, mhlo.frontend_attributes = {_xla_buffer_placement = "device"}} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}

// CHECK-LABEL: func @to_the_host
func.func @to_the_host(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<8x8xf32> {
  // CHECK-NEXT: %[[A:.*]] = sdy.all_gather [{"x"}, {}] %arg0
  // CHECK-NEXT: %[[B:.*]] = sdy.all_gather [{}, {"y"}] %[[A]]
  // CHECK-NEXT: %[[C:.*]] = stablehlo.custom_call @annotate_device_placement(%[[B]])
  // CHECK-NEXT: %[[D:.*]] = stablehlo.custom_call @MoveToHost(%[[C]])
  // CHECK-NEXT: return %[[D]]
  %0 = stablehlo.custom_call @annotate_device_placement(%arg0) {has_side_effect = true, mhlo.frontend_attributes = {_xla_buffer_placement = "pinned_host"}, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.custom_call @MoveToHost(%0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = sdy.all_gather [{"x"}, {}] %1 out_sharding=<@mesh, [{}, {"y"}]> : tensor<8x8xf32>
  %3 = sdy.all_gather [{}, {"y"}] %2 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  return %3 : tensor<8x8xf32>
}

// What else reads the moved value has it as it was.
// CHECK-LABEL: func @to_the_host_twice
func.func @to_the_host_twice(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<8x8xf32>, tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) {
  // CHECK-NEXT: %[[A:.*]] = stablehlo.custom_call @MoveToHost(%arg0)
  // CHECK-NEXT: %[[B:.*]] = sdy.all_gather [{"x"}, {"y"}] %arg0
  // CHECK-NEXT: %[[C:.*]] = stablehlo.custom_call @MoveToHost(%[[B]])
  // CHECK-NEXT: return %[[C]], %[[A]]
  %0 = stablehlo.custom_call @MoveToHost(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = sdy.all_gather [{"x"}, {"y"}] %0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  return %1, %0 : tensor<8x8xf32>, tensor<8x8xf32>
}

// Less is moved.
// CHECK-LABEL: func @slice_from_the_host
func.func @slice_from_the_host(%arg0: tensor<8x8xf32>) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // CHECK-NEXT: %[[A:.*]] = sdy.all_slice [{"x"}, {}] %arg0
  // CHECK-NEXT: stablehlo.custom_call @MoveToDevice(%[[A]])
  %0 = sdy.all_slice [{"x"}, {}] %arg0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  %1 = stablehlo.custom_call @MoveToDevice(%0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// Another reader has the whole value on the host.
// CHECK-LABEL: func @also_read_on_the_host
func.func @also_read_on_the_host(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  // CHECK-NEXT: %[[A:.*]] = sdy.all_gather
  // CHECK-NEXT: stablehlo.custom_call @MoveToDevice(%[[A]])
  %0 = sdy.all_gather [{"x"}, {}] %arg0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %1 = stablehlo.custom_call @MoveToDevice(%0) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}
