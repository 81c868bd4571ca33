// RUN: sdy-opt %s --sdy-reassociate-reductions | FileCheck %s

sdy.mesh @mesh = <["x"=2]>

// Which ops add up their operands, the ops say.
// CHECK-LABEL: func @arith
func.func @arith(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}, %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) -> tensor<8xf32> {
  // CHECK-NEXT: %[[S:.*]] = arith.addf %arg0, %arg1
  // CHECK-NEXT: %[[R:.*]] = sdy.all_reduce {"x"} %[[S]]
  // CHECK-NEXT: return %[[R]]
  %0 = sdy.all_reduce {"x"} %arg0 out_sharding=<@mesh, [{}]> : tensor<8xf32>
  %1 = sdy.all_reduce {"x"} %arg1 out_sharding=<@mesh, [{}]> : tensor<8xf32>
  %2 = arith.addf %0, %1 : tensor<8xf32>
  return %2 : tensor<8xf32>
}

// CHECK-LABEL: func @tosa
func.func @tosa(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}, %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) -> tensor<8xf32> {
  // CHECK-NEXT: %[[S:.*]] = tosa.add %arg0, %arg1
  // CHECK-NEXT: %[[R:.*]] = sdy.all_reduce {"x"} %[[S]]
  // CHECK-NEXT: return %[[R]]
  %0 = sdy.all_reduce {"x"} %arg0 out_sharding=<@mesh, [{}]> : tensor<8xf32>
  %1 = sdy.all_reduce {"x"} %arg1 out_sharding=<@mesh, [{}]> : tensor<8xf32>
  %2 = tosa.add %0, %1 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}

// CHECK-LABEL: func @linalg
func.func @linalg(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}, %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) -> tensor<8xf32> {
  // CHECK-NEXT: %[[E:.*]] = tensor.empty
  // CHECK-NEXT: %[[S:.*]] = linalg.add {{.*}}ins(%arg0, %arg1 : {{.*}}outs(%[[E]]
  // CHECK-NEXT: %[[R:.*]] = sdy.all_reduce {"x"} %[[S]]
  // CHECK-NEXT: return %[[R]]
  %0 = sdy.all_reduce {"x"} %arg0 out_sharding=<@mesh, [{}]> : tensor<8xf32>
  %1 = sdy.all_reduce {"x"} %arg1 out_sharding=<@mesh, [{}]> : tensor<8xf32>
  %2 = tensor.empty() : tensor<8xf32>
  %3 = linalg.add ins(%0, %1 : tensor<8xf32>, tensor<8xf32>) outs(%2 : tensor<8xf32>) -> tensor<8xf32>
  return %3 : tensor<8xf32>
}

// CHECK-LABEL: func @linalg_product
func.func @linalg_product(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}, %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) -> tensor<8xf32> {
  // CHECK: sdy.all_reduce {"x"} %arg0
  // CHECK: sdy.all_reduce {"x"} %arg1
  // CHECK: linalg.mul
  %0 = sdy.all_reduce {"x"} %arg0 out_sharding=<@mesh, [{}]> : tensor<8xf32>
  %1 = sdy.all_reduce {"x"} %arg1 out_sharding=<@mesh, [{}]> : tensor<8xf32>
  %2 = tensor.empty() : tensor<8xf32>
  %3 = linalg.mul ins(%0, %1 : tensor<8xf32>, tensor<8xf32>) outs(%2 : tensor<8xf32>) -> tensor<8xf32>
  return %3 : tensor<8xf32>
}

// CHECK-LABEL: func @linalg_generic
func.func @linalg_generic(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}, %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}, %arg2: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: linalg.generic {{.*}} ins(%arg0, %arg1, %arg2 :
  // CHECK: sdy.all_reduce {"x"}
  // CHECK-NEXT: return
  %0 = sdy.all_reduce {"x"} %arg0 out_sharding=<@mesh, [{}]> : tensor<8xf32>
  %1 = sdy.all_reduce {"x"} %arg1 out_sharding=<@mesh, [{}]> : tensor<8xf32>
  %2 = tensor.empty() : tensor<8xf32>
  %3 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%0, %1, %arg2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) outs(%2 : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %4 = arith.subf %a, %b : f32
    %5 = arith.mulf %4, %c : f32
    linalg.yield %5 : f32
  } -> tensor<8xf32>
  return %3 : tensor<8xf32>
}

// The sum is added to a number on each device.
// CHECK-LABEL: func @linalg_adds_a_number
func.func @linalg_adds_a_number(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}, %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) -> tensor<8xf32> {
  // CHECK: sdy.all_reduce {"x"} %arg0
  // CHECK: sdy.all_reduce {"x"} %arg1
  // CHECK: linalg.generic
  %0 = sdy.all_reduce {"x"} %arg0 out_sharding=<@mesh, [{}]> : tensor<8xf32>
  %1 = sdy.all_reduce {"x"} %arg1 out_sharding=<@mesh, [{}]> : tensor<8xf32>
  %2 = tensor.empty() : tensor<8xf32>
  %3 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%0, %1 : tensor<8xf32>, tensor<8xf32>) outs(%2 : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %one = arith.constant 1.0 : f32
    %4 = arith.addf %a, %b : f32
    %5 = arith.addf %4, %one : f32
    linalg.yield %5 : f32
  } -> tensor<8xf32>
  return %3 : tensor<8xf32>
}
