// RUN: sdy-opt %s -split-input-file -sdy-erase-unused-results | FileCheck %s

#both = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>
sdy.mesh @mesh = <["x"=4]>

// The maximum without its position; the sharding of what stays, stays.
// CHECK-LABEL: func @maximum
// CHECK: %[[MAX:.*]] = linalg.generic
// CHECK-SAME: iterator_types = ["reduction", "parallel"]
// CHECK-SAME: outs(%arg1 : tensor<4xf32>) attrs = {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
// CHECK-NEXT: ^bb0(%[[IN:.*]]: f32, %[[OUT:.*]]: f32):
// CHECK-NEXT: %[[NEXT:.*]] = arith.maximumf %[[IN]], %[[OUT]]
// CHECK-NEXT: linalg.yield %[[NEXT]] : f32
// CHECK: return %[[MAX]]
func.func @maximum(%x: tensor<8x4xf32>, %low: tensor<4xf32>, %first: tensor<4xi64>) -> tensor<4xf32> {
  %0:2 = linalg.generic {indexing_maps = [#both, #column, #column], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<8x4xf32>) outs(%low, %first : tensor<4xf32>, tensor<4xi64>) attrs = {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>, <@mesh, [{}]>]>} {
  ^bb0(%in: f32, %out: f32, %at: i64):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i64
    %max = arith.maximumf %in, %out : f32
    %more = arith.cmpf ogt, %in, %out : f32
    %k = arith.select %more, %j, %at : i64
    linalg.yield %max, %k : f32, i64
  } -> (tensor<4xf32>, tensor<4xi64>)
  return %0#0 : tensor<4xf32>
}

// The position needs the maximum.
// CHECK-LABEL: func @position
// CHECK: linalg.yield %{{.*}}, %{{.*}} : f32, i64
func.func @position(%x: tensor<8x4xf32>, %low: tensor<4xf32>, %first: tensor<4xi64>) -> tensor<4xi64> {
  %0:2 = linalg.generic {indexing_maps = [#both, #column, #column], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<8x4xf32>) outs(%low, %first : tensor<4xf32>, tensor<4xi64>) {
  ^bb0(%in: f32, %out: f32, %at: i64):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i64
    %max = arith.maximumf %in, %out : f32
    %more = arith.cmpf ogt, %in, %out : f32
    %k = scf.if %more -> i64 {
      scf.yield %j : i64
    } else {
      scf.yield %at : i64
    }
    linalg.yield %max, %k : f32, i64
  } -> (tensor<4xf32>, tensor<4xi64>)
  return %0#1 : tensor<4xi64>
}

// The second result alone says how long the loop is.
// CHECK-LABEL: func @length
// CHECK: linalg.yield %{{.*}}, %{{.*}} : i64, i64
func.func @length(%sum: tensor<i64>, %e: tensor<8xi64>) -> tensor<i64> {
  %0:2 = linalg.generic {indexing_maps = [affine_map<(i) -> ()>, affine_map<(i) -> (i)>], iterator_types = ["reduction"]} outs(%sum, %e : tensor<i64>, tensor<8xi64>) {
  ^bb0(%out: i64, %each: i64):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i64
    %next = arith.addi %out, %j : i64
    linalg.yield %next, %j : i64, i64
  } -> (tensor<i64>, tensor<8xi64>)
  return %0#0 : tensor<i64>
}
