// RUN: sdy-opt %s -split-input-file -verify-diagnostics --sdy-unify-meshes | FileCheck %s

// CHECK: sdy.mesh @m = <["x"=2, "y"=4]>
// CHECK: sdy.mesh @m_0 = <["x"=2, "y"=4], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>
sdy.mesh @m = <["x"=2, "y"=4]>
sdy.mesh @n = <["z"=4, "w"=2]>
sdy.mesh @transposed = <["p"=4, "q"=2], device_ids=[0, 4, 1, 5, 2, 6, 3, 7]>
sdy.mesh @reversed = <["z"=4, "w"=2], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>

// CHECK-LABEL: func @nested
// CHECK-SAME: %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x", "y":(1)2}, {}], unreduced={"y":(2)2}>}
func.func @nested(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@n, [{"z"}, {}], unreduced={"w"}>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) {
  // CHECK-NEXT: stablehlo.negate {{.*}}<@m, [{"x"}, {"y"}]>
  // CHECK-NEXT: stablehlo.negate {{.*}}<@m, [{"y":(2)2}, {"x", "y":(1)2}]>
  // CHECK-NEXT: stablehlo.negate {{.*}}<@m, [{"y"}, {"x"}]>
  // Inside, the order of the devices is not seen.
  // CHECK-NEXT: stablehlo.negate {{.*}}<@m, [{"x", "y":(1)2}, {"y":(2)2}]>
  %0 = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {"y"}]>]>} : tensor<8x8xf32>
  %1 = stablehlo.negate %0 {sdy.sharding = #sdy.sharding_per_value<[<@n, [{"w"}, {"z"}]>]>} : tensor<8x8xf32>
  %2 = stablehlo.negate %1 {sdy.sharding = #sdy.sharding_per_value<[<@transposed, [{"p"}, {"q"}]>]>} : tensor<8x8xf32>
  %3 = stablehlo.negate %2 {sdy.sharding = #sdy.sharding_per_value<[<@reversed, [{"z"}, {"w"}]>]>} : tensor<8x8xf32>
  return %3 : tensor<8x8xf32>
}

// CHECK-LABEL: func @boundary
// CHECK-SAME: %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m_0, [{"x", "y":(1)2}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m_0, [{}, {"y":(2)2}]>}) {
func.func @boundary(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@reversed, [{"z"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@reversed, [{}, {"w"}]>}) {
  // CHECK-NEXT: %[[IN:.*]] = sdy.reshard %arg0 <@m, [{"x", "y":(1)2}, {}]>
  // CHECK-NEXT: %[[NEG:.*]] = stablehlo.negate %[[IN]]
  // CHECK-NEXT: %[[OUT:.*]] = sdy.reshard %[[NEG]] <@m, [{}, {"y":(2)2}]>
  // CHECK-NEXT: %[[THERE:.*]] = sdy.reshard %[[OUT]] <@m_0, [{}, {"y":(2)2}]>
  // CHECK-NEXT: return %[[THERE]]
  %0 = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {"y"}]>]>} : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// The body knows its devices: axes that are the program's under other names.
// CHECK-LABEL: func @manual
func.func @manual(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  // CHECK: sdy.manual_computation(%arg0) in_shardings=[<@m, [{"y"}, {"x"}]>] out_shardings=[<@m, [{"y"}, {"x"}]>] manual_axes={"y"} (%arg1: tensor<2x8xf32>)
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@transposed, [{"p"}, {"q"}]>] out_shardings=[<@transposed, [{"p"}, {"q"}]>] manual_axes={"p"} (%arg1: tensor<2x8xf32>) {
    sdy.return %arg1 : tensor<2x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=3]>
sdy.mesh @n = <["z"=3, "w"=2]>

// CHECK-LABEL: func @unrelated
// CHECK-SAME: sdy.sharding<@n, [{"z"}]>
// expected-warning @below {{sharding #sdy.sharding<@n, [{"z"}]> has no form in the axes of mesh @m, over which the program is partitioned: the value is replicated there; use axes that nest in each other}}
func.func @unrelated(%arg0: tensor<6xf32> {sdy.sharding = #sdy.sharding<@n, [{"z"}]>}) -> (tensor<6xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>}) {
  // CHECK-NEXT: %[[IN:.*]] = sdy.reshard %arg0 <@m, [{}]>
  // CHECK-NEXT: stablehlo.negate %[[IN]]
  %0 = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}]>]>} : tensor<6xf32>
  // CHECK-NEXT: stablehlo.negate {{.*}}<@m, [{}]>
  // expected-warning @below {{sharding #sdy.sharding<@n, [{"w"}]> has no form in the axes of mesh @m}}
  %1 = stablehlo.negate %0 {sdy.sharding = #sdy.sharding_per_value<[<@n, [{"w"}]>]>} : tensor<6xf32>
  return %1 : tensor<6xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=4]>
sdy.mesh @n = <["z"=4, "w"=2]>
func.func @manual_between(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>}) {
  // expected-error @below {{manual axis "z" is no axis of mesh @m, over which the program is partitioned; expected one of its axes}}
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@n, [{"z"}]>] out_shardings=[<@n, [{"z"}]>] manual_axes={"z"} (%arg1: tensor<2xf32>) {
    sdy.return %arg1 : tensor<2xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Most shardings are on @n: it is the first from now on, whatever the later
// stages count. Axes that do not nest are the other's together.
// CHECK: sdy.mesh @n
// CHECK-NEXT: sdy.mesh @m
sdy.mesh @m = <["x"=3, "y"=5]>
sdy.mesh @n = <["z"=5, "w"=3]>

// CHECK-LABEL: func @most
// CHECK-SAME: %arg0: tensor<15xf32> {sdy.sharding = #sdy.sharding<@n, [{"z", "w"}]>}
func.func @most(%arg0: tensor<15xf32> {sdy.sharding = #sdy.sharding<@m, [{"x", "y"}]>}) -> tensor<15xf32> {
  // CHECK-NEXT: stablehlo.negate %arg0 {{.*}}<@n, [{"z"}]>
  %0 = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@n, [{"z"}]>]>} : tensor<15xf32>
  %1 = stablehlo.negate %0 {sdy.sharding = #sdy.sharding_per_value<[<@n, [{"w"}]>]>} : tensor<15xf32>
  return %1 : tensor<15xf32>
}
