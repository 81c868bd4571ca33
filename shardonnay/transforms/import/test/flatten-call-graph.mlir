// RUN: sdy-opt %s -split-input-file -verify-diagnostics -sdy-flatten-call-graph | FileCheck %s

// Calls of copies are flattened as well.
// CHECK-LABEL: func @main
// CHECK: call @f(
// CHECK-NEXT: call @f_1(
// CHECK: func.func private @f(
// CHECK-NOT: original_func_name
// CHECK: call @g(
// CHECK: func.func private @g(
// CHECK: func.func private @g_0(%arg0: tensor<8xf32>) -> tensor<8xf32> attributes {sdy.original_func_name = "g"}
// CHECK: func.func private @f_1(%arg0: tensor<8xf32>) -> tensor<8xf32> attributes {sdy.original_func_name = "f"}
// CHECK: call @g_0(
func.func @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @f(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = call @f(%0) : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
func.func private @f(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @g(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @g(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  return %arg0 : tensor<8xf32>
}

// -----

// expected-note @below {{the function that calls itself}}
func.func private @f() {
  // expected-error @below {{recursive call of @f: expected no recursion; write it as a loop}}
  call @f() : () -> ()
  return
}
