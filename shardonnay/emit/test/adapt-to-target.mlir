// RUN: sdy-opt %s --sdy-emit-stablehlo | FileCheck %s

// Everything to everyone, who reduce it.
// CHECK-LABEL: func @bitwise
func.func @bitwise(%a: tensor<3xi32>) -> tensor<3xi32> {
  // CHECK-NEXT: %[[ROW:.*]] = stablehlo.reshape %arg0 : (tensor<3xi32>) -> tensor<1x3xi32>
  // CHECK-NEXT: %[[ROWS:.*]] = "stablehlo.all_gather"(%[[ROW]]) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<{{\[\[}}0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}>
  // CHECK-NEXT: %[[NEUTRAL:.*]] = stablehlo.constant dense<-1> : tensor<i32>
  // CHECK-NEXT: %[[R:.*]] = stablehlo.reduce(%[[ROWS]] init: %[[NEUTRAL]]) applies stablehlo.and across dimensions = [0]
  // CHECK-NEXT: return %[[R]]
  %0 = "stablehlo.all_reduce"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
  ^bb0(%l: tensor<i32>, %r: tensor<i32>):
    %1 = stablehlo.and %l, %r : tensor<i32>
    stablehlo.return %1 : tensor<i32>
  }) : (tensor<3xi32>) -> tensor<3xi32>
  return %0 : tensor<3xi32>
}

// One by one, and each a gather.
// CHECK-LABEL: func @several
func.func @several(%a: tensor<3xi8>, %b: tensor<i8>) -> (tensor<3xi8>, tensor<i8>) {
  // CHECK:      "stablehlo.all_gather"
  // CHECK:      %[[A:.*]] = stablehlo.reduce({{.*}} applies stablehlo.xor
  // CHECK:      "stablehlo.all_gather"
  // CHECK:      %[[B:.*]] = stablehlo.reduce({{.*}} applies stablehlo.xor
  // CHECK-NEXT: return %[[A]], %[[B]]
  %0:2 = "stablehlo.all_reduce"(%a, %b) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
  ^bb0(%l: tensor<i8>, %r: tensor<i8>):
    %1 = stablehlo.xor %l, %r : tensor<i8>
    stablehlo.return %1 : tensor<i8>
  }) : (tensor<3xi8>, tensor<i8>) -> (tensor<3xi8>, tensor<i8>)
  return %0#0, %0#1 : tensor<3xi8>, tensor<i8>
}

// What the target has stays, and what has no other form.
// CHECK-LABEL: func @stay
func.func @stay(%a: tensor<3xi1>, %b: tensor<3xi32>) -> (tensor<3xi1>, tensor<3xi32>) {
  // CHECK-COUNT-2: stablehlo.all_reduce
  // CHECK-NOT: all_gather
  %0 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}> ({
  ^bb0(%l: tensor<i1>, %r: tensor<i1>):
    %1 = stablehlo.and %l, %r : tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<3xi1>) -> tensor<3xi1>
  %2 = "stablehlo.all_reduce"(%b) <{replica_groups = dense<[[0, 1, 2], [3, -1, -1]]> : tensor<2x3xi64>}> ({
  ^bb0(%l: tensor<i32>, %r: tensor<i32>):
    %3 = stablehlo.or %l, %r : tensor<i32>
    stablehlo.return %3 : tensor<i32>
  }) : (tensor<3xi32>) -> tensor<3xi32>
  return %0, %2 : tensor<3xi1>, tensor<3xi32>
}

// Its users may ask for another layout, of which XLA's CPU transform knows none.
// CHECK-LABEL: func @fft
func.func @fft(%a: tensor<3x6xcomplex<f32>>, %b: tensor<8xf32>) -> (tensor<3x6xcomplex<f32>>, tensor<5xcomplex<f32>>) {
  // CHECK-NEXT: %[[A:.*]] = stablehlo.fft %arg0
  // CHECK-NEXT: %[[HELD:.*]] = stablehlo.custom_call @LayoutConstraint(%[[A]]) {operand_layouts = [dense<[1, 0]> : tensor<2xindex>], result_layouts = [dense<[1, 0]> : tensor<2xindex>]}
  // CHECK-NEXT: %[[B:.*]] = stablehlo.fft %arg1
  // CHECK-NEXT: return %[[HELD]], %[[B]]
  %0 = stablehlo.fft %a, type = FFT, length = [6] : (tensor<3x6xcomplex<f32>>) -> tensor<3x6xcomplex<f32>>
  %1 = stablehlo.fft %b, type = RFFT, length = [8] : (tensor<8xf32>) -> tensor<5xcomplex<f32>>
  return %0, %1 : tensor<3x6xcomplex<f32>>, tensor<5xcomplex<f32>>
}

// XLA's CPU sorts along a dim counted from the back now and then only.
// CHECK-LABEL: func @sort
func.func @sort(%a: tensor<2x3xi1>) -> tensor<2x3xi1> {
  // CHECK: "stablehlo.sort"(%arg0) <{dimension = 0 : i64}>
  %0 = "stablehlo.sort"(%a) <{dimension = -2 : i64}> ({
  ^bb0(%l: tensor<i1>, %r: tensor<i1>):
    %1 = stablehlo.compare LT, %l, %r : (tensor<i1>, tensor<i1>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<2x3xi1>) -> tensor<2x3xi1>
  return %0 : tensor<2x3xi1>
}
