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

// Of as many calls, those that reach the number first; @g_0 and @g_1 are called
// as one, from the second call of theirs on.
// FULLY-LABEL: func @counted
// FULLY-COUNT-3: call @g_1(
// FULLY-COUNT-4: call @h(
func.func @counted(%arg0: tensor<8xf32>) {
  %0 = call @g(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = call @g_0(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = call @g_1(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  %3 = call @h(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  %4 = call @h_0(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  %5 = call @h(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  %6 = call @h_0(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  return
}
func.func private @g(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  return %arg0 : tensor<8xf32>
}
func.func private @g_0(%arg0: tensor<8xf32>) -> tensor<8xf32> attributes {sdy.original_func_name = "g"} {
  return %arg0 : tensor<8xf32>
}
func.func private @g_1(%arg0: tensor<8xf32>) -> tensor<8xf32> attributes {sdy.original_func_name = "g"} {
  return %arg0 : tensor<8xf32>
}
func.func private @h(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  return %arg0 : tensor<8xf32>
}
func.func private @h_0(%arg0: tensor<8xf32>) -> tensor<8xf32> attributes {sdy.original_func_name = "h"} {
  return %arg0 : tensor<8xf32>
}
