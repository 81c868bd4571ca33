// RUN: sdy-opt %s -sdy-pre-order-funcs | FileCheck %s

// CHECK: func @main
// CHECK: func private @f
// CHECK: func private @g
func.func private @g() {
  return
}
func.func private @f() {
  call @g() : () -> ()
  return
}
func.func @main() {
  call @g() : () -> ()
  call @f() : () -> ()
  return
}
