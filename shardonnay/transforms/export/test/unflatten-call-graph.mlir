// RUN: sdy-opt %s -sdy-unflatten-call-graph | FileCheck %s
// RUN: sdy-opt %s -sdy-unflatten-call-graph=dedup-functions-fully=true | FileCheck %s --check-prefix=FULLY

sdy.mesh @mesh = <["x"=2]>

// The first of those that are sharded alike; @f_0 is called most. @f, of which
// the others are copies, need not say so.
// CHECK-LABEL: func @main
// CHECK-NEXT: call @f(
// CHECK-NEXT: call @f_0(
// CHECK-NEXT: call @f(
// CHECK-NEXT: call @f_0(
// CHECK-NEXT: call @f_0(
// CHECK-NOT: original_func_name
// CHECK-NOT: func private @f_1
// FULLY-LABEL: func @main
// FULLY-COUNT-5: call @f_0(
// FULLY-NOT: func private @f(
func.func @main(%arg0: tensor<8xf32>) {
  %0 = call @f(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = call @f_0(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = call @f_1(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  %3 = call @f_0(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  %4 = call @f_0(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  return
}
func.func private @f(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  return %arg0 : tensor<8xf32>
}
func.func private @f_0(%arg0: tensor<8xf32>) -> tensor<8xf32> attributes {sdy.original_func_name = "f"} {
  return %arg0 : tensor<8xf32>
}
func.func private @f_1(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> attributes {sdy.original_func_name = "f"} {
  return %arg0 : tensor<8xf32>
}
