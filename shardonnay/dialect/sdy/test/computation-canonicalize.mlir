// RUN: sdy-opt %s -canonicalize -allow-unregistered-dialect | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=4, "one"=1]>

// CHECK-LABEL: func @unused_input
// CHECK-SAME: (%[[A:.*]]: tensor<8xf32>, %[[B:.*]]: tensor<8xf32>)
// CHECK: sdy.manual_computation(%[[B]]) in_shardings=[<@mesh, [{"x"}], replicated={"y"}>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%[[C:.*]]: tensor<4xf32>) {
// CHECK-NEXT: sdy.return %[[C]]
// CHECK: } : (tensor<8xf32>) -> tensor<8xf32>
func.func @unused_input(%arg0: tensor<8xf32>, %arg1: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{"x"}]>, <@mesh, [{"x"}], replicated={"y"}>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%arg2: tensor<4xf32>, %arg3: tensor<4xf32>) {
    sdy.return %arg3 : tensor<4xf32>
  } : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// What the shardings say of free axes stays.
// CHECK-LABEL: func @one_device
// CHECK-SAME: (%[[A:.*]]: tensor<8xf32>, %[[B:.*]]: tensor<8xf32>, %[[T:.*]]: !test.token)
// CHECK-NEXT: %[[IN:.*]] = sdy.sharding_constraint %[[A]] <@mesh, [{"one", "x"}]> : tensor<8xf32>
// CHECK-NEXT: %[[OP:.*]] = "test.op"(%[[IN]], %[[B]], %[[T]])
// CHECK-NEXT: %[[OUT:.*]] = sdy.sharding_constraint %[[OP]] <@mesh, [{"y", ?}]> : tensor<8xf32>
// CHECK-NEXT: return %[[OUT]]
func.func @one_device(%arg0: tensor<8xf32>, %arg1: tensor<8xf32>, %arg2: !test.token) -> tensor<8xf32> {
  %0 = sdy.manual_computation(%arg0, %arg1, %arg2) in_shardings=[<@mesh, [{"one", "x"}]>, <@mesh, [{?}]>, <@mesh, []>] out_shardings=[<@mesh, [{"y", ?}]>] manual_axes={"one"} (%arg3: tensor<8xf32>, %arg4: tensor<8xf32>, %arg5: !test.token) {
    %1 = "test.op"(%arg3, %arg4, %arg5) : (tensor<8xf32>, tensor<8xf32>, !test.token) -> tensor<8xf32>
    sdy.return %1 : tensor<8xf32>
  } : (tensor<8xf32>, tensor<8xf32>, !test.token) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// A closed sharding that is there already is not asked for again.
// CHECK-LABEL: func @known
// CHECK-NEXT: %[[OP:.*]] = stablehlo.negate %arg0
// CHECK-NEXT: return %[[OP]]
func.func @known(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"one"} (%arg1: tensor<8xf32>) {
    %1 = stablehlo.negate %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
    sdy.return %1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func @empty
// CHECK-NEXT: return
func.func @empty(%arg0: tensor<8xf32>) {
  sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[] manual_axes={"x"} (%arg1: tensor<4xf32>) {
    sdy.return
  } : (tensor<8xf32>) -> ()
  return
}

// CHECK-LABEL: func @with_effects
// CHECK: sdy.manual_computation()
// CHECK-NEXT: test.effect
func.func @with_effects() {
  sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={"x"} () {
    "test.effect"() : () -> ()
    sdy.return
  } : () -> ()
  return
}

// CHECK-LABEL: func @along_no_axis
// CHECK-NEXT: test.effect
// CHECK-NEXT: return
func.func @along_no_axis() {
  sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={} () {
    "test.effect"() : () -> ()
    sdy.return
  } : () -> ()
  return
}
