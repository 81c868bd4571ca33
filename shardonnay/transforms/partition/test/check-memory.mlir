// RUN: sdy-opt %s -split-input-file -sdy-check-memory=memory-limit=64 -verify-diagnostics | FileCheck %s
// RUN: sdy-opt %s -split-input-file -sdy-check-memory="memory-limit=64 warns=true" 2>&1 -o /dev/null | FileCheck %s --check-prefix=WARN
// WARN: warning: sdy-check-memory: 80 bytes are alive per device at 'stablehlo.dot', the least of the plans tried; expected at most 64 (of the device model): shard the largest

// CHECK-LABEL: @at_the_limit
func.func @at_the_limit(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.add %x, %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// expected-note@+1 {{16 bytes are this 'tensor<2x2xf32>'}}
func.func @above(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  // expected-note@+1 {{16 bytes are this 'tensor<2x2xf32>'}}
  %0 = stablehlo.dot %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  // expected-note@+1 {{16 bytes are this 'tensor<2x2xf32>'}}
  %1 = stablehlo.dot %0, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  // expected-error@+1 {{sdy-check-memory: 80 bytes are alive per device at 'stablehlo.dot', the least of the plans tried; expected at most 64 (memory-limit): shard the largest values over more axes, or use more devices}}
  %2 = stablehlo.dot %1, %0 : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %3 = stablehlo.dot %2, %1 : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %3 : tensor<2x2xf32>
}

// -----

// The argument and the result of 32 bytes each, alone: the chain is in no memory.
func.func @chain(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.add %x, %x : tensor<8xf32>
  %1 = stablehlo.tanh %0 : tensor<8xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<8xf32>
  return %2 : tensor<8xf32>
}

// -----

// Of the broadcast value only its sum is there, and a transpose is no copy.
func.func @reduced(%x: tensor<2x2xf32>) -> tensor<2xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.broadcast_in_dim %x, dims = [0, 1] : (tensor<2x2xf32>) -> tensor<2x2x64xf32>
  %1 = stablehlo.exponential %0 : tensor<2x2x64xf32>
  %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<2x2x64xf32>, tensor<f32>) -> tensor<2x2xf32>
  %3 = stablehlo.transpose %2, dims = [1, 0] : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %ones = stablehlo.constant dense<1.0> : tensor<2xf32>
  %4 = stablehlo.dot_general %3, %ones, contracting_dims = [0] x [0] : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %4 : tensor<2xf32>
}

// -----

// The result is where the argument was.
func.func @donated(%x: tensor<16xf32> {tf.aliasing_output = 0 : i32}) -> tensor<16xf32> {
  %0 = stablehlo.add %x, %x : tensor<16xf32>
  return %0 : tensor<16xf32>
}

// -----

// expected-note@+1 {{48 bytes are this 'tensor<12xf32>'}}
func.func @arguments_and_results(%x: tensor<12xf32>) -> tensor<12xf32> {
  // expected-note@+2 {{48 bytes are this 'tensor<12xf32>'}}
  // expected-error@+1 {{sdy-check-memory: 144 bytes are alive per device at 'stablehlo.concatenate', 96 of them arguments and results, so that the plan was made without a limit; expected at most 64}}
  %0 = stablehlo.concatenate %x, dim = 0 : (tensor<12xf32>) -> tensor<12xf32>
  %1 = stablehlo.reverse %0, dims = [0] : tensor<12xf32>
  return %1 : tensor<12xf32>
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

// Argument and result outside; the body holds its state and the reversed one, where
// the next is written.
// expected-note@+1 {{24 bytes are this 'tensor<6xf32>'}}
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
    // expected-note@+2 {{24 bytes are this 'tensor<6xf32>'}}
    // expected-error@+1 {{sdy-check-memory: 76 bytes are alive per device at 'stablehlo.reverse'}}
    %1 = stablehlo.reverse %state, dims = [0] : tensor<6xf32>
    %2 = stablehlo.multiply %1, %state : tensor<6xf32>
    stablehlo.return %next, %2 : tensor<i32>, tensor<6xf32>
  }
  return %0#1 : tensor<6xf32>
}

// -----

// What a loop leaves as it was takes no place of its own: 20 bytes are the loop's.
// expected-note@+1 {{64 bytes are this 'tensor<4x4xf32>'}}
func.func @unchanged(%w: tensor<4x4xf32>, %x: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  // expected-note@+1 {{16 bytes are this 'tensor<1x4xf32>'}}
  %0:3 = stablehlo.while(%i = %zero, %state = %x, %weights = %w) : tensor<i32>, tensor<1x4xf32>, tensor<4x4xf32>
   cond {
    %n = stablehlo.constant dense<3> : tensor<i32>
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
    // expected-note@+2 {{16 bytes are this 'tensor<1x4xf32>'}}
    // expected-error@+1 {{sdy-check-memory: 116 bytes are alive per device at 'stablehlo.dot', 96 of them arguments and results}}
    %1 = stablehlo.dot %state, %weights : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
    stablehlo.return %next, %1, %weights : tensor<i32>, tensor<1x4xf32>, tensor<4x4xf32>
  }
  return %0#1 : tensor<1x4xf32>
}

// -----

// Of the host's memory nothing counts: arguments and results of 128 bytes each.
func.func @on_the_host(%x: tensor<32xf32> {mhlo.memory_kind = "pinned_host"}) -> (tensor<32xf32> {mhlo.memory_kind = "unpinned_host"}) {
  return %x : tensor<32xf32>
}

// -----

// A buffer of 128 bytes, written and read in loops, of which 8 are moved at once.
func.func @buffer_on_the_host(%x: tensor<2xf32>) -> tensor<2xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<16x2xf32>
  %i = stablehlo.constant dense<0> : tensor<i32>
  %0:3 = stablehlo.while(%j = %i, %y = %x, %buffer = %zero) : tensor<i32>, tensor<2xf32>, tensor<16x2xf32>
  cond {
    %n = stablehlo.constant dense<16> : tensor<i32>
    %2 = stablehlo.compare LT, %j, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %2 = stablehlo.custom_call @MoveToHost(%y) : (tensor<2xf32>) -> tensor<2xf32>
    %3 = stablehlo.reshape %2 : (tensor<2xf32>) -> tensor<1x2xf32>
    %4 = stablehlo.dynamic_update_slice %buffer, %3, %j, %i : (tensor<16x2xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<16x2xf32>
    %5 = stablehlo.tanh %y : tensor<2xf32>
    %6 = stablehlo.add %j, %one : tensor<i32>
    stablehlo.return %6, %5, %4 : tensor<i32>, tensor<2xf32>, tensor<16x2xf32>
  }
  %1:3 = stablehlo.while(%j = %i, %y = %0#1, %buffer = %0#2) : tensor<i32>, tensor<2xf32>, tensor<16x2xf32>
  cond {
    %n = stablehlo.constant dense<16> : tensor<i32>
    %2 = stablehlo.compare LT, %j, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %2 = stablehlo.dynamic_slice %buffer, %j, %i, sizes = [1, 2] : (tensor<16x2xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
    %3 = stablehlo.reshape %2 : (tensor<1x2xf32>) -> tensor<2xf32>
    %4 = stablehlo.optimization_barrier %3 : tensor<2xf32>
    %5 = stablehlo.custom_call @MoveToDevice(%4) : (tensor<2xf32>) -> tensor<2xf32>
    %6 = stablehlo.multiply %y, %5 : tensor<2xf32>
    %7 = stablehlo.add %j, %one : tensor<i32>
    stablehlo.return %7, %6, %buffer : tensor<i32>, tensor<2xf32>, tensor<16x2xf32>
  }
  return %1#1 : tensor<2xf32>
}

// -----

// What is computed of an argument on the host is on the device, where no move stands too.
func.func @computed_of_what_is_on_the_host(%x: tensor<4x4xf32> {mhlo.memory_kind = "pinned_host"}) -> tensor<4x4xf32> {
  // expected-note@+2 {{64 bytes are this 'tensor<4x4xf32>'}}
  // expected-error@+1 {{128 bytes are alive per device at 'stablehlo.dot'}}
  %0 = stablehlo.dot %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = stablehlo.dot %0, %0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}
