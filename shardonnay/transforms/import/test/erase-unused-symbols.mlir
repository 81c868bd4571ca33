// RUN: sdy-opt %s --allow-unregistered-dialect --sdy-erase-unused-symbols | FileCheck %s

// CHECK:       sdy.mesh @mesh
// CHECK-NOT:   @unused
// CHECK:       func.func @main
// CHECK:       func.func private @called
// CHECK-NOT:   @called_by_unused
// CHECK:       func.func private @in_attribute
// CHECK:       func.func private @behind_called
// CHECK-NOT:   @recursive_alone
sdy.mesh @mesh = <["x"=2]>
func.func private @unused() {
  call @called_by_unused() : () -> ()
  return
}
func.func @main() {
  call @called() : () -> ()
  "test.op"() {uses = [@in_attribute, 3]} : () -> ()
  return
}
func.func private @called() {
  call @behind_called() : () -> ()
  return
}
func.func private @called_by_unused() { return }
func.func private @in_attribute() { return }
func.func private @behind_called() { return }
func.func private @recursive_alone() {
  call @recursive_alone() : () -> ()
  return
}
