// RUN: sdy-opt %s --sdy-defer-reductions | FileCheck %s

// Maxima and minima pass through ops that keep the order of numbers.

sdy.mesh @mesh = <["d"=2, "m"=4]>

// CHECK-LABEL: func @monotone
func.func @monotone(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced=max{"d"}>}, %arg1: tensor<8x16xf32>) -> tensor<8x16xbf16> {
  // CHECK-NEXT: stablehlo.maximum %arg0, %arg1 {{.*}}unreduced=max{"d"}
  // CHECK-NEXT: stablehlo.minimum {{.*}}unreduced=max{"d"}
  // CHECK-NEXT: stablehlo.tanh {{.*}}unreduced=max{"d"}
  // CHECK-NEXT: stablehlo.convert {{.*}}unreduced=max{"d"}
  // CHECK-NEXT: sdy.reshard
  %0 = sdy.reshard %arg0 <@mesh, [{}, {}]> : tensor<8x16xf32>
  %1 = stablehlo.maximum %0, %arg1 : tensor<8x16xf32>
  %2 = stablehlo.minimum %arg1, %1 : tensor<8x16xf32>
  %3 = stablehlo.tanh %2 : tensor<8x16xf32>
  %4 = stablehlo.convert %3 : (tensor<8x16xf32>) -> tensor<8x16xbf16>
  return %4 : tensor<8x16xbf16>
}

// CHECK-LABEL: func @known_numbers
func.func @known_numbers(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced=min{"d"}>}) -> tensor<8xf32> {
  // CHECK: stablehlo.multiply {{.*}}unreduced=min{"d"}
  // CHECK: stablehlo.subtract {{.*}}unreduced=min{"d"}
  // CHECK: sdy.reshard
  // CHECK: stablehlo.multiply
  %half = sdy.constant dense<0.5> : tensor<8xf32>
  %minus = sdy.constant dense<-1.0> : tensor<8xf32>
  %0 = sdy.reshard %arg0 <@mesh, [{}]> : tensor<8xf32>
  %1 = stablehlo.multiply %half, %0 : tensor<8xf32>
  %2 = stablehlo.subtract %1, %half : tensor<8xf32>
  %3 = stablehlo.multiply %2, %minus : tensor<8xf32>
  return %3 : tensor<8xf32>
}

// If it is -inf and the other part +inf, their sum is NaN, and that of the
// larger one and +inf is not.
// CHECK-LABEL: func @may_be_infinite
func.func @may_be_infinite(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced=max{"d"}>}, %arg1: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: sdy.reshard
  // CHECK: stablehlo.add
  %0 = sdy.reshard %arg0 <@mesh, [{}]> : tensor<8xf32>
  %1 = stablehlo.add %0, %arg1 : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// A float of as many bits costs as much to reduce; a sum of integers wraps
// around.
// CHECK-LABEL: func @wraps_around
func.func @wraps_around(%arg0: tensor<8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced=max{"d"}>}, %arg1: tensor<8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced=max{"d"}>}) -> (tensor<8xf32>, tensor<8xi32>) {
  // CHECK: stablehlo.convert {{.*}}unreduced=max{"d"}
  // CHECK: sdy.reshard
  // CHECK: sdy.reshard %arg1
  // CHECK: stablehlo.add
  %one = sdy.constant dense<1> : tensor<8xi32>
  %0 = sdy.reshard %arg0 <@mesh, [{}]> : tensor<8xi32>
  %1 = stablehlo.convert %0 : (tensor<8xi32>) -> tensor<8xf32>
  %2 = sdy.reshard %arg1 <@mesh, [{}]> : tensor<8xi32>
  %3 = stablehlo.add %2, %one : tensor<8xi32>
  return %1, %3 : tensor<8xf32>, tensor<8xi32>
}

// The sign is read as a bit of the number.
// CHECK-LABEL: func @loses_its_sign
func.func @loses_its_sign(%arg0: tensor<8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced=max{"d"}>}) -> tensor<8xui32> {
  // CHECK: sdy.reshard
  // CHECK: stablehlo.convert
  %0 = sdy.reshard %arg0 <@mesh, [{}]> : tensor<8xi32>
  %1 = stablehlo.convert %0 : (tensor<8xi32>) -> tensor<8xui32>
  return %1 : tensor<8xui32>
}

// min(max(a, b), max(c, d)) is not max(min(a, c), min(b, d)).
// CHECK-LABEL: func @minimum_of_two_maxima
func.func @minimum_of_two_maxima(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced=max{"d"}>}, %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced=max{"d"}>}) -> tensor<8xf32> {
  // CHECK: sdy.reshard
  // CHECK: sdy.reshard
  // CHECK: stablehlo.minimum
  %0 = sdy.reshard %arg0 <@mesh, [{}]> : tensor<8xf32>
  %1 = sdy.reshard %arg1 <@mesh, [{}]> : tensor<8xf32>
  %2 = stablehlo.minimum %0, %1 : tensor<8xf32>
  return %2 : tensor<8xf32>
}
