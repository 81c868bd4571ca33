// RUN: sdy-opt %s -sdy-partition-to-local | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=4]>

// The initial value counts once, on the first device.
// CHECK-LABEL: func.func @sum
func.func @sum(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %s: tensor<f32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // CHECK: %[[ZERO:.*]] = stablehlo.constant dense<-0.000000e+00> : tensor<f32>
  // CHECK: %[[INDEX:.*]] = spmd.device_index @mesh {"y"}
  // CHECK: %[[FIRST:.*]] = stablehlo.compare EQ, %[[INDEX]]
  // CHECK: %[[INIT:.*]] = stablehlo.select %[[FIRST]], %arg1, %{{.*}} : tensor<i1>, tensor<f32>
  // CHECK: %[[PART:.*]] = stablehlo.reduce(%arg0 init: %[[ZERO]]) applies stablehlo.add across dimensions = [1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK: %[[INITS:.*]] = stablehlo.broadcast_in_dim %[[INIT]]
  // CHECK: %[[SUM:.*]] = stablehlo.add %[[PART]], %[[INITS]]
  // CHECK: spmd.all_reduce %[[SUM]] @mesh {"y"}
  %0 = stablehlo.reduce(%a init: %s) applies stablehlo.add across dimensions = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}], unreduced={"y"}>]>} : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = sdy.all_reduce {"y"} %0 out_sharding=<@mesh, [{"x"}]> : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// CHECK-LABEL: func.func @sum_from_zero
func.func @sum_from_zero(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // CHECK: %[[ZERO:.*]] = sdy.constant dense<0.0
  // CHECK-NEXT: %[[PART:.*]] = stablehlo.reduce(%arg0 init: %[[ZERO]])
  // CHECK-NEXT: spmd.all_reduce %[[PART]]
  %s = sdy.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %s) applies stablehlo.add across dimensions = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}], unreduced={"y"}>]>} : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = sdy.all_reduce {"y"} %0 out_sharding=<@mesh, [{"x"}]> : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// Every device may take part of a maximum in its initial value.
// CHECK-LABEL: func.func @maximum
func.func @maximum(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %s: tensor<f32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // CHECK: %[[PART:.*]] = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.maximum
  // CHECK: %[[INITS:.*]] = stablehlo.broadcast_in_dim %arg1
  // CHECK: %[[MAX:.*]] = stablehlo.maximum %[[PART]], %[[INITS]]
  // CHECK: spmd.all_reduce max %[[MAX]] @mesh {"y"}
  %0 = stablehlo.reduce(%a init: %s) applies stablehlo.maximum across dimensions = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}], unreduced=max{"y"}>]>} : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = sdy.all_reduce max {"y"} %0 out_sharding=<@mesh, [{"x"}]> : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// CHECK-LABEL: func.func @maximum_from_its_neutral_element
func.func @maximum_from_its_neutral_element(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // CHECK: %[[PART:.*]] = stablehlo.reduce(%arg0 init: %{{.*}}) applies stablehlo.maximum
  // CHECK-NEXT: spmd.all_reduce max %[[PART]]
  %s = sdy.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %s) applies stablehlo.maximum across dimensions = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}], unreduced=max{"y"}>]>} : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = sdy.all_reduce max {"y"} %0 out_sharding=<@mesh, [{"x"}]> : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// No dim that is reduced is sharded; engines drop the initial value of some of these too.
// CHECK-LABEL: func.func @apart
func.func @apart(%a: tensor<8x2xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %s: tensor<i32>) -> (tensor<8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // CHECK: %[[ONE:.*]] = stablehlo.constant dense<1> : tensor<i32>
  // CHECK: %[[PART:.*]] = stablehlo.reduce(%arg0 init: %[[ONE]]) applies stablehlo.multiply
  // CHECK: %[[INITS:.*]] = stablehlo.broadcast_in_dim %arg1
  // CHECK: %[[PRODUCT:.*]] = stablehlo.multiply %[[PART]], %[[INITS]]
  // CHECK: return %[[PRODUCT]]
  %0 = stablehlo.reduce(%a init: %s) applies stablehlo.multiply across dimensions = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<8x2xi32>, tensor<i32>) -> tensor<8xi32>
  return %0 : tensor<8xi32>
}

// CHECK-LABEL: func.func @from_one
func.func @from_one(%a: tensor<8x2xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // CHECK: %[[PART:.*]] = stablehlo.reduce(%arg0 init: %{{.*}}) applies stablehlo.multiply
  // CHECK-NEXT: return %[[PART]]
  %s = sdy.constant dense<1> : tensor<i32>
  %0 = stablehlo.reduce(%a init: %s) applies stablehlo.multiply across dimensions = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<8x2xi32>, tensor<i32>) -> tensor<8xi32>
  return %0 : tensor<8xi32>
}
