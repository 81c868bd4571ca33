// RUN: sdy-opt %s -split-input-file -sdy-partition-pipeline=device-model=bytes 2>/dev/null | FileCheck %s

// Each device searches its part from the maximum of those before it.
#both = affine_map<(i, j) -> (i, j)>
#rows = affine_map<(i, j) -> (i)>
sdy.mesh @mesh = <["x"=2]>
// CHECK-LABEL: func.func @main(%arg0: tensor<4x32xf32>, %arg1: tensor<4xf32>, %arg2: tensor<4xi64>)
// CHECK: %[[DEVICE:.*]] = arith.index_cast
// CHECK: %[[PART:.*]]:2 = linalg.generic {{.*}} ins(%arg0 : {{.*}}) outs(%arg1, %arg2
// CHECK: %[[ROW:.*]] = tensor.expand_shape %[[PART]]#0
// CHECK: %[[MAXIMA:.*]] = "stablehlo.all_gather"(%[[ROW]])
// CHECK: %[[MAXIMUM:.*]] = linalg.generic {{.*}} ins(%[[MAXIMA]] : {{.*}}) outs(%arg1
// CHECK: %[[BEFORE:.*]] = linalg.generic {{.*}} ins(%[[MAXIMA]] : {{.*}}) outs(%arg1
// CHECK: arith.cmpi ult, %{{.*}}, %[[DEVICE]]
// CHECK: %[[NOWHERE:.*]] = arith.constant dense<-1>
// CHECK: %[[PLACE:.*]]:2 = linalg.generic {{.*}} ins(%arg0 : {{.*}}) outs(%[[BEFORE]], %[[NOWHERE]]
// CHECK: %[[PLACES:.*]] = "stablehlo.all_gather"
// CHECK: %[[FIRST:.*]] = linalg.generic {{.*}} ins(%[[PLACES]] : {{.*}}) outs(%arg2
// CHECK: return %[[MAXIMUM]], %[[FIRST]]
func.func @main(%x: tensor<4x63xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %v: tensor<4xf32>, %p: tensor<4xi64>) -> (tensor<4xf32>, tensor<4xi64>) {
  %0:2 = linalg.generic {indexing_maps = [#both, #rows, #rows], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x63xf32>) outs(%v, %p : tensor<4xf32>, tensor<4xi64>) {
  ^bb0(%in: f32, %max: f32, %place: i64):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i64
    %m = arith.maximumf %in, %max : f32
    %isGreater = arith.cmpf ogt, %in, %max : f32
    %at = arith.select %isGreater, %k, %place : i64
    linalg.yield %m, %at : f32, i64
  } -> (tensor<4xf32>, tensor<4xi64>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xi64>
}

// -----

// Each device begins with one; what is there counts once.
sdy.mesh @mesh = <["x"=2]>
// CHECK-LABEL: func.func @main(%arg0: tensor<32xf32>, %arg1: tensor<f32>)
// CHECK: %[[ONE:.*]] = arith.constant dense<1.0{{.*}}> : tensor<f32>
// CHECK: linalg.reduce {{.*}} ins(%arg0 : {{.*}}) outs(%[[ONE]] :
// CHECK: %[[PARTS:.*]] = "stablehlo.all_gather"
// CHECK: %[[ALL:.*]] = linalg.generic {{.*}} ins(%[[PARTS]] : {{.*}}) outs(%arg1
// CHECK: return %[[ALL]]
func.func @main(%x: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %start: tensor<f32>) -> tensor<f32> {
  %0 = linalg.reduce { arith.mulf } ins(%x : tensor<64xf32>) outs(%start : tensor<f32>) dimensions = [0]
  return %0 : tensor<f32>
}

// -----

// Which of several equal elements is selected depends on all before: a
// position of two reduced dims is not known to go up from device to device.
sdy.mesh @mesh = <["x"=2]>
// CHECK-LABEL: func.func @main(%arg0: tensor<4x32xi32>
// CHECK: "stablehlo.all_gather"(%arg0)
// CHECK: linalg.generic
// CHECK-NOT: all_gather
func.func @main(%x: tensor<4x64xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %v: tensor<i32>, %p: tensor<i64>) -> (tensor<i32>, tensor<i64>) {
  %0:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]} ins(%x : tensor<4x64xi32>) outs(%v, %p : tensor<i32>, tensor<i64>) {
  ^bb0(%in: i32, %max: i32, %place: i64):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i64
    %m = arith.maxsi %in, %max : i32
    %isGreater = arith.cmpi sgt, %in, %max : i32
    %at = arith.select %isGreater, %k, %place : i64
    linalg.yield %m, %at : i32, i64
  } -> (tensor<i32>, tensor<i64>)
  return %0#0, %0#1 : tensor<i32>, tensor<i64>
}
