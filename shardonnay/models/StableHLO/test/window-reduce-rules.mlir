// RUN: sdy-opt %s -split-input-file -sdy-populate-op-sharding-rules | FileCheck %s

// CHECK-LABEL: func.func @window
// CHECK: #sdy.op_sharding_rule<([i, j], [])->([i, j]) {i=4, j=5} permutation={j}>
func.func @window(%a0: tensor<4x6xf32>, %c0: tensor<f32>) {
  %0 = "stablehlo.reduce_window"(%a0, %c0) <{window_dimensions = array<i64: 1, 2>}> ({
  ^bb0(%x0: tensor<f32>,%y0: tensor<f32>):
   %z0 = stablehlo.add %x0, %y0 : tensor<f32>
    "stablehlo.return"(%z0) : (tensor<f32>) -> ()
  }) : (tensor<4x6xf32>, tensor<f32>) -> (tensor<4x5xf32>)
  return
}

// -----

// CHECK-LABEL: func.func @strides
// CHECK: #sdy.op_sharding_rule<([i, j], [])->([i, j]) {i=4, j=3} permutation={j}>
func.func @strides(%a0: tensor<4x6xf32>, %c0: tensor<f32>) {
  %0 = "stablehlo.reduce_window"(%a0, %c0) <{window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>}> ({
  ^bb0(%x0: tensor<f32>,%y0: tensor<f32>):
   %z0 = stablehlo.add %x0, %y0 : tensor<f32>
    "stablehlo.return"(%z0) : (tensor<f32>) -> ()
  }) : (tensor<4x6xf32>, tensor<f32>) -> (tensor<4x3xf32>)
  return
}

// -----

// CHECK-LABEL: func.func @both_dims
// CHECK: #sdy.op_sharding_rule<([i, j], [])->([i, j]) {i=2, j=3} permutation={i, j}>
func.func @both_dims(%a0: tensor<4x6xf32>, %c0: tensor<f32>) {
  %0 = "stablehlo.reduce_window"(%a0, %c0) <{window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 2, 2>}> ({
  ^bb0(%x0: tensor<f32>,%y0: tensor<f32>):
   %z0 = stablehlo.add %x0, %y0 : tensor<f32>
    "stablehlo.return"(%z0) : (tensor<f32>) -> ()
  }) : (tensor<4x6xf32>, tensor<f32>) -> (tensor<2x3xf32>)
  return
}

// -----

// CHECK-LABEL: func.func @pad
// CHECK: #sdy.op_sharding_rule<([i, j], [])->([i, j]) {i=4, j=6} permutation={j}>
func.func @pad(%a0: tensor<4x6xf32>) {
  %c0 = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%a0, %c0) <{window_dimensions = array<i64: 1, 3>, padding = dense<[[0,0],[1,1]]> : tensor<2x2xi64>}> ({
  ^bb0(%x0: tensor<f32>,%y0: tensor<f32>):
   %z0 = stablehlo.add %x0, %y0 : tensor<f32>
    "stablehlo.return"(%z0) : (tensor<f32>) -> ()
  }) : (tensor<4x6xf32>, tensor<f32>) -> (tensor<4x6xf32>)
  return
}

// -----

// Whether an init that may not be neutral counts outside is not the same everywhere.
// CHECK-LABEL: func.func @pad_with_any
// CHECK: #sdy.op_sharding_rule<([i, j], [])->([i, j]) {i=4, j=6} need_replication={j}>
func.func @pad_with_any(%a0: tensor<4x6xf32>, %c0: tensor<f32>) {
  %0 = "stablehlo.reduce_window"(%a0, %c0) <{window_dimensions = array<i64: 1, 3>, padding = dense<[[0,0],[1,1]]> : tensor<2x2xi64>}> ({
  ^bb0(%x0: tensor<f32>,%y0: tensor<f32>):
   %z0 = stablehlo.add %x0, %y0 : tensor<f32>
    "stablehlo.return"(%z0) : (tensor<f32>) -> ()
  }) : (tensor<4x6xf32>, tensor<f32>) -> (tensor<4x6xf32>)
  return
}

// -----

// CHECK-LABEL: func.func @pad_with_three
// CHECK: #sdy.op_sharding_rule<([i, j], [])->([i, j]) {i=4, j=6} need_replication={j}>
func.func @pad_with_three(%a0: tensor<4x6xf32>) {
  %c0 = stablehlo.constant dense<3.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%a0, %c0) <{window_dimensions = array<i64: 1, 3>, padding = dense<[[0,0],[0,2]]> : tensor<2x2xi64>}> ({
  ^bb0(%x0: tensor<f32>,%y0: tensor<f32>):
   %z0 = stablehlo.add %x0, %y0 : tensor<f32>
    "stablehlo.return"(%z0) : (tensor<f32>) -> ()
  }) : (tensor<4x6xf32>, tensor<f32>) -> (tensor<4x6xf32>)
  return
}

// -----

// A body of two ops: its init is taken to be neutral.
// CHECK-LABEL: func.func @pad_of_any_body
// CHECK: #sdy.op_sharding_rule<([i, j], [])->([i, j]) {i=4, j=6} permutation={j}>
func.func @pad_of_any_body(%a0: tensor<4x6xf32>, %c0: tensor<f32>) {
  %0 = "stablehlo.reduce_window"(%a0, %c0) <{window_dimensions = array<i64: 1, 3>, padding = dense<[[0,0],[1,1]]> : tensor<2x2xi64>}> ({
  ^bb0(%x0: tensor<f32>,%y0: tensor<f32>):
   %s0 = stablehlo.abs %y0 : tensor<f32>
   %z0 = stablehlo.maximum %x0, %s0 : tensor<f32>
    "stablehlo.return"(%z0) : (tensor<f32>) -> ()
  }) : (tensor<4x6xf32>, tensor<f32>) -> (tensor<4x6xf32>)
  return
}

// -----

// CHECK-LABEL: func.func @cumulative
// CHECK: #sdy.op_sharding_rule<([i, j], [])->([i, j]) {i=4, j=6} permutation={j}>
func.func @cumulative(%a0: tensor<4x6xf32>) {
  %c0 = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%a0, %c0) <{window_dimensions = array<i64: 1, 6>, padding = dense<[[0,0],[5,0]]> : tensor<2x2xi64>}> ({
  ^bb0(%x0: tensor<f32>,%y0: tensor<f32>):
   %z0 = stablehlo.add %x0, %y0 : tensor<f32>
    "stablehlo.return"(%z0) : (tensor<f32>) -> ()
  }) : (tensor<4x6xf32>, tensor<f32>) -> (tensor<4x6xf32>)
  return
}

// -----

// CHECK-LABEL: func.func @base_dilated
// CHECK: #sdy.op_sharding_rule<([i, j], [])->([i, j]) {i=4, j=11} permutation={j}>
func.func @base_dilated(%a0: tensor<4x6xf32>, %c0: tensor<f32>) {
  %0 = "stablehlo.reduce_window"(%a0, %c0) <{window_dimensions = array<i64: 1, 1>, base_dilations = array<i64: 1, 2>}> ({
  ^bb0(%x0: tensor<f32>,%y0: tensor<f32>):
   %z0 = stablehlo.add %x0, %y0 : tensor<f32>
    "stablehlo.return"(%z0) : (tensor<f32>) -> ()
  }) : (tensor<4x6xf32>, tensor<f32>) -> (tensor<4x11xf32>)
  return
}

// -----

// CHECK-LABEL: func.func @trivial
// CHECK: #sdy.op_sharding_rule<([i, j], [])->([i, j]) {i=4, j=6}>
func.func @trivial(%a0: tensor<4x6xf32>, %c0: tensor<f32>) {
  %0 = "stablehlo.reduce_window"(%a0, %c0) <{window_dimensions = array<i64: 1, 1>, window_dilations = array<i64: 1, 2>}> ({
  ^bb0(%x0: tensor<f32>,%y0: tensor<f32>):
   %z0 = stablehlo.add %x0, %y0 : tensor<f32>
    "stablehlo.return"(%z0) : (tensor<f32>) -> ()
  }) : (tensor<4x6xf32>, tensor<f32>) -> (tensor<4x6xf32>)
  return
}

// -----

// CHECK-LABEL: func.func @variadic
// CHECK: #sdy.op_sharding_rule<([i, j], [i, j], [], [])->([i, j], [i, j]) {i=4, j=6}>
func.func @variadic(%a0: tensor<4x6xf32>, %c0: tensor<f32>,%a1: tensor<4x6xf32>, %c1: tensor<f32>) {
  %0:2 = "stablehlo.reduce_window"(%a0,%a1, %c0,%c1) <{window_dimensions = array<i64: 1, 1>}> ({
  ^bb0(%x0: tensor<f32>,%x1: tensor<f32>,%y0: tensor<f32>,%y1: tensor<f32>):
   %z0 = stablehlo.add %x0, %y0 : tensor<f32>
%z1 = stablehlo.add %x1, %y1 : tensor<f32>
    "stablehlo.return"(%z0,%z1) : (tensor<f32>,tensor<f32>) -> ()
  }) : (tensor<4x6xf32>,tensor<4x6xf32>, tensor<f32>,tensor<f32>) -> (tensor<4x6xf32>,tensor<4x6xf32>)
  return
}

// -----

// CHECK-LABEL: func.func @all
// CHECK: #sdy.op_sharding_rule<([i, j], [])->([i, j]) {i=4, j=1} permutation={j}>
func.func @all(%a0: tensor<4x6xf32>, %c0: tensor<f32>) {
  %0 = "stablehlo.reduce_window"(%a0, %c0) <{window_dimensions = array<i64: 1, 6>}> ({
  ^bb0(%x0: tensor<f32>,%y0: tensor<f32>):
   %z0 = stablehlo.add %x0, %y0 : tensor<f32>
    "stablehlo.return"(%z0) : (tensor<f32>) -> ()
  }) : (tensor<4x6xf32>, tensor<f32>) -> (tensor<4x1xf32>)
  return
}

// -----

// CHECK-LABEL: func.func @padded_trivial
// CHECK: #sdy.op_sharding_rule<([i, j], [])->([i, j]) {i=4, j=7} permutation={j}>
func.func @padded_trivial(%a0: tensor<4x6xf32>) {
  %c0 = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%a0, %c0) <{window_dimensions = array<i64: 1, 1>, padding = dense<[[0,0],[1,0]]> : tensor<2x2xi64>}> ({
  ^bb0(%x0: tensor<f32>,%y0: tensor<f32>):
   %z0 = stablehlo.add %x0, %y0 : tensor<f32>
    "stablehlo.return"(%z0) : (tensor<f32>) -> ()
  }) : (tensor<4x6xf32>, tensor<f32>) -> (tensor<4x7xf32>)
  return
}

// -----

// CHECK-LABEL: func.func @select
// CHECK: #sdy.op_sharding_rule<([i, k], [i, j], [])->([i, k]) {i=4, j=3, k=6} need_replication={j} permutation={k}>
func.func @select(%a: tensor<4x6xf32>, %s: tensor<4x3xf32>, %c: tensor<f32>) {
    %3 = "stablehlo.select_and_scatter"(%a, %s, %c) <{window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<4x3xf32>, tensor<f32>) -> tensor<4x6xf32>
  return
}

// -----

// CHECK-LABEL: func.func @select_trivial
// CHECK: #sdy.op_sharding_rule<([i, j], [i, j], [])->([i, j]) {i=4, j=6}>
func.func @select_trivial(%a: tensor<4x6xf32>, %s: tensor<4x6xf32>, %c: tensor<f32>) {
    %3 = "stablehlo.select_and_scatter"(%a, %s, %c) <{window_dimensions = array<i64: 1, 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
  return
}

// -----

// CHECK-LABEL: func.func @select_padded
// CHECK: #sdy.op_sharding_rule<([i, k], [i, j], [])->([i, k]) {i=4, j=6, k=6} need_replication={j} permutation={k}>
func.func @select_padded(%a: tensor<4x6xf32>, %s: tensor<4x6xf32>, %c: tensor<f32>) {
    %3 = "stablehlo.select_and_scatter"(%a, %s, %c) <{window_dimensions = array<i64: 1, 3>, padding = dense<[[0,0],[1,1]]> : tensor<2x2xi64>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
  return
}

// -----

// CHECK-LABEL: func.func @select_both
// CHECK: #sdy.op_sharding_rule<([j, l], [i, k], [])->([j, l]) {i=2, j=4, k=3, l=6} need_replication={i, k} permutation={j, l}>
func.func @select_both(%a: tensor<4x6xf32>, %s: tensor<2x3xf32>, %c: tensor<f32>) {
    %3 = "stablehlo.select_and_scatter"(%a, %s, %c) <{window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 2, 2>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<2x3xf32>, tensor<f32>) -> tensor<4x6xf32>
  return
}
