// RUN: sdy-opt %s -split-input-file -sdy-check-memory=memory-limit=64 -verify-diagnostics | FileCheck %s
// RUN: sdy-opt %s -split-input-file -sdy-check-memory="memory-limit=64 warns=true" 2>&1 -o /dev/null | FileCheck %s --check-prefix=WARN
// WARN: warning: sdy-check-memory: 96 bytes are alive per device at 'stablehlo.multiply', the least that was reached; expected at most 64 (of the device model): shard the largest

// CHECK-LABEL: @at_the_limit
func.func @at_the_limit(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.add %x, %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// expected-note@+1 {{32 bytes are this 'tensor<8xf32>'}}
func.func @above(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-note@+1 {{32 bytes are this 'tensor<8xf32>'}}
  %0 = stablehlo.add %x, %x : tensor<8xf32>
  // expected-error@+2 {{sdy-check-memory: 96 bytes are alive per device at 'stablehlo.multiply', the least that was reached; expected at most 64 (memory-limit): shard the largest values over more axes, or use more devices}}
  // expected-note@+1 {{32 bytes are this 'tensor<8xf32>'}}
  %1 = stablehlo.multiply %0, %x : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

// expected-error@+1 {{sdy-check-memory: 80 bytes are alive per device in the arguments alone}}
module {
  // expected-note@+1 {{80 bytes are this 'tensor<20xf32>'}}
  func.func @arguments(%x: tensor<20xf32>) {
    return
  }
}

// -----

// The body holds its argument, the sum and the next state.
func.func @loop(%x: tensor<6xf32>) -> tensor<6xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  // expected-note@+1 {{24 bytes are this 'tensor<6xf32>'}}
  %0:2 = stablehlo.while(%i = %zero, %state = %x) : tensor<i32>, tensor<6xf32>
   cond {
    %n = stablehlo.constant dense<3> : tensor<i32>
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
    // expected-note@+1 {{24 bytes are this 'tensor<6xf32>'}}
    %1 = stablehlo.add %state, %state : tensor<6xf32>
    // expected-note@+2 {{24 bytes are this 'tensor<6xf32>'}}
    // expected-error@+1 {{sdy-check-memory: 104 bytes are alive per device at 'stablehlo.multiply'}}
    %2 = stablehlo.multiply %1, %state : tensor<6xf32>
    stablehlo.return %next, %2 : tensor<i32>, tensor<6xf32>
  }
  return %0#1 : tensor<6xf32>
}
