// RUN: sdy-opt %s -pass-pipeline="builtin.module(func.func(sdy-guard-divisions))" | FileCheck %s

// CHECK-LABEL: func @guarded
func.func @guarded(%a: tensor<4xi32>, %b: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) {
  // CHECK: %[[ZERO:.*]] = arith.constant dense<0> : tensor<4xi32>
  // CHECK: %[[IS_ZERO:.*]] = arith.cmpi eq, %arg1, %[[ZERO]]
  // CHECK: %[[ONE:.*]] = arith.constant dense<1> : tensor<4xi32>
  // CHECK: %[[DIVISOR:.*]] = arith.select %[[IS_ZERO]], %[[ONE]], %arg1
  // CHECK: arith.divsi %arg0, %[[DIVISOR]]
  %0 = arith.divsi %a, %b : tensor<4xi32>
  // CHECK: %[[DIVISOR:.*]] = arith.select
  // CHECK: tosa.intdiv %arg0, %[[DIVISOR]]
  %1 = tosa.intdiv %a, %b : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK: linalg.generic
  // CHECK: %[[DIVISOR:.*]] = arith.select {{.*}} : i32
  // CHECK: arith.remui %{{.*}}, %[[DIVISOR]] : i32
  %2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%a : tensor<4xi32>) outs(%b : tensor<4xi32>) {
  ^bb0(%x: i32, %y: i32):
    %3 = arith.remui %x, %y : i32
    linalg.yield %3 : i32
  } -> tensor<4xi32>
  return %0, %1, %2 : tensor<4xi32>, tensor<4xi32>, tensor<4xi32>
}

// The body of a named op is not written down.
// CHECK-LABEL: func @named
func.func @named(%a: tensor<4xi32>, %b: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK: %[[DIVISOR:.*]] = arith.select {{.*}} : tensor<4xi1>, tensor<4xi32>
  // CHECK: linalg.div ins(%arg0, %[[DIVISOR]] :
  %e = tensor.empty() : tensor<4xi32>
  %0 = linalg.div ins(%a, %b : tensor<4xi32>, tensor<4xi32>) outs(%e : tensor<4xi32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// A constant is what it is.
// CHECK-LABEL: func @constant
func.func @constant(%a: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: arith.constant dense<3>
  // CHECK-NEXT: arith.divsi
  %three = arith.constant dense<3> : tensor<4xi32>
  %0 = arith.divsi %a, %three : tensor<4xi32>
  return %0 : tensor<4xi32>
}
