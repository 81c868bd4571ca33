// RUN: sdy-opt %s --sdy-defer-reductions | FileCheck %s

sdy.mesh @mesh = <["d"=2]>

// What keeps the order of numbers passes a maximum on.
// CHECK-LABEL: func @arith
func.func @arith(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced=max{"d"}>}, %arg1: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: arith.maximumf %arg0, %arg1 {{.*}}unreduced=max{"d"}
  // CHECK-NEXT: arith.minimumf {{.*}}unreduced=max{"d"}
  // CHECK-NEXT: math.tanh {{.*}}unreduced=max{"d"}
  // CHECK-NEXT: sdy.reshard
  // CHECK-NEXT: arith.addf
  %0 = sdy.reshard %arg0 <@mesh, [{}]> : tensor<8xf32>
  %1 = arith.maximumf %0, %arg1 : tensor<8xf32>
  %2 = arith.minimumf %arg1, %1 : tensor<8xf32>
  %3 = math.tanh %2 : tensor<8xf32>
  %4 = arith.addf %3, %arg1 : tensor<8xf32>
  return %4 : tensor<8xf32>
}

// CHECK-LABEL: func @tosa
func.func @tosa(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced=min{"d"}>}, %arg1: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: tosa.maximum %arg1, %arg0 {{.*}}unreduced=min{"d"}
  // CHECK-NEXT: tosa.floor {{.*}}unreduced=min{"d"}
  // CHECK-NEXT: sdy.reshard
  // CHECK-NEXT: tosa.add
  %0 = sdy.reshard %arg0 <@mesh, [{}]> : tensor<8xf32>
  %1 = tosa.maximum %arg1, %0 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %2 = tosa.floor %1 : (tensor<8xf32>) -> tensor<8xf32>
  %3 = tosa.add %2, %arg1 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %3 : tensor<8xf32>
}

// One device alone adds a whole value to a sum that meets another.
// CHECK-LABEL: func @owner
func.func @owner(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"d"}>}, %arg1: tensor<8xf32>, %arg2: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"d"}>}) -> tensor<8xf32> {
  // CHECK-NEXT: %[[W:.*]] = sdy.replicated_to_unreduced {"d"} %arg1
  // CHECK-NEXT: arith.addf %arg0, %[[W]]
  // CHECK-NEXT: arith.subf
  // CHECK-NEXT: sdy.reshard
  %0 = sdy.reshard %arg0 <@mesh, [{}]> : tensor<8xf32>
  %1 = sdy.reshard %arg2 <@mesh, [{}]> : tensor<8xf32>
  %2 = arith.addf %0, %arg1 : tensor<8xf32>
  %3 = arith.subf %2, %1 : tensor<8xf32>
  return %3 : tensor<8xf32>
}
