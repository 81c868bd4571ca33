// RUN: sdy-opt %s --canonicalize | FileCheck %s

// The branch of a constant index stands for the op.
// CHECK-LABEL: @second
// CHECK-NOT: stablehlo.case
// CHECK: %[[SUM:.*]] = stablehlo.add %arg0, %arg0
// CHECK: return %[[SUM]], %arg0
func.func @second(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %c = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = "stablehlo.case"(%c) ({
    stablehlo.return %x, %x : tensor<4xf32>, tensor<4xf32>
  }, {
    %1 = stablehlo.add %x, %x : tensor<4xf32>
    stablehlo.return %1, %x : tensor<4xf32>, tensor<4xf32>
  }, {
    %1 = stablehlo.negate %x : tensor<4xf32>
    stablehlo.return %x, %1 : tensor<4xf32>, tensor<4xf32>
  }) : (tensor<i32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}

// Out of range, on either side, the last branch runs.
// CHECK-LABEL: @out_of_range
// CHECK-NOT: stablehlo.case
// CHECK: %[[ONCE:.*]] = stablehlo.negate %arg0
// CHECK: %[[TWICE:.*]] = stablehlo.negate %[[ONCE]]
// CHECK: return %[[TWICE]]
func.func @out_of_range(%x: tensor<4xf32>) -> tensor<4xf32> {
  %below = stablehlo.constant dense<-1> : tensor<i32>
  %beyond = stablehlo.constant dense<2> : tensor<i32>
  %0 = "stablehlo.case"(%below) ({
    stablehlo.return %x : tensor<4xf32>
  }, {
    %2 = stablehlo.negate %x : tensor<4xf32>
    stablehlo.return %2 : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  %1 = "stablehlo.case"(%beyond) ({
    stablehlo.return %x : tensor<4xf32>
  }, {
    %2 = stablehlo.negate %0 : tensor<4xf32>
    stablehlo.return %2 : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// One inside another.
// CHECK-LABEL: @nested
// CHECK-NOT: stablehlo.if
// CHECK: %[[SUM:.*]] = stablehlo.add %arg0, %arg0
// CHECK: return %[[SUM]]
func.func @nested(%x: tensor<4xf32>) -> tensor<4xf32> {
  %true = stablehlo.constant dense<true> : tensor<i1>
  %false = stablehlo.constant dense<false> : tensor<i1>
  %0 = "stablehlo.if"(%true) ({
    %1 = "stablehlo.if"(%false) ({
      stablehlo.return %x : tensor<4xf32>
    }, {
      %2 = stablehlo.add %x, %x : tensor<4xf32>
      stablehlo.return %2 : tensor<4xf32>
    }) : (tensor<i1>) -> tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }, {
    stablehlo.return %x : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @unknown
// CHECK: stablehlo.case
func.func @unknown(%i: tensor<i32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.case"(%i) ({
    stablehlo.return %x : tensor<4xf32>
  }, {
    %1 = stablehlo.negate %x : tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// A branch may know its sizes better than the result does.
// CHECK-LABEL: @other_type
// CHECK: stablehlo.case
func.func @other_type(%x: tensor<4xf32>) -> tensor<?xf32> {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %0 = "stablehlo.case"(%c) ({
    stablehlo.return %x : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
