// RUN: sdy-opt %s -split-input-file -verify-diagnostics -sdy-inline-private-functions -allow-unregistered-dialect

func.func @main(%arg0: tensor<8xf32>) {
  call @f(%arg0) : (tensor<8xf32>) -> ()
  return
}
// expected-note @below {{the function that calls itself}}
func.func private @f(%arg0: tensor<8xf32>) {
  call @g(%arg0) : (tensor<8xf32>) -> ()
  return
}
func.func private @g(%arg0: tensor<8xf32>) {
  // expected-error @below {{recursive call of @f: calls are inlined, expected no recursion; write it as a loop}}
  call @f(%arg0) : (tensor<8xf32>) -> ()
  return
}

// -----

func.func @main(%arg0: tensor<8xf32>) {
  // expected-error @below {{cannot inline @f: expected a function of one block}}
  call @f(%arg0) : (tensor<8xf32>) -> ()
  return
}
// expected-note @below {{defined here}}
func.func private @f(%arg0: tensor<8xf32>) {
  "test.branch"()[^bb1] : () -> ()
^bb1:
  return
}
