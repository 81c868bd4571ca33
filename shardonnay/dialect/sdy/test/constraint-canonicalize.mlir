// RUN: sdy-opt %s -canonicalize | FileCheck %s
// RUN: sdy-opt %s -canonicalize=enable-patterns=sdy-reshard | FileCheck %s
// RUN: sdy-opt %s -canonicalize=enable-patterns=sdy-collective | FileCheck %s --check-prefix=OTHER

sdy.mesh @mesh = <["x"=2, "y"=4]>

// OTHER-LABEL: func @reshard_of_reshard
// OTHER-COUNT-3: sdy.reshard
// CHECK-LABEL: func @reshard_of_reshard
// CHECK-SAME: (%[[X:.*]]: tensor<8xf32>)
// CHECK-NEXT: %[[R:.*]] = sdy.reshard %[[X]] <@mesh, [{}]> : tensor<8xf32>
// CHECK-NEXT: return %[[R]]
func.func @reshard_of_reshard(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.reshard %arg0 <@mesh, [{"x"}]> : tensor<8xf32>
  %1 = sdy.reshard %0 <@mesh, [{"y"}]> : tensor<8xf32>
  %2 = sdy.reshard %1 <@mesh, [{}]> : tensor<8xf32>
  return %2 : tensor<8xf32>
}

// CHECK-LABEL: func @other_use
// CHECK-COUNT-2: sdy.reshard
func.func @other_use(%arg0: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = sdy.reshard %arg0 <@mesh, [{"x"}]> : tensor<8xf32>
  %1 = sdy.reshard %0 <@mesh, [{"y"}]> : tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// A chain of constraints says what each use wants.
// CHECK-LABEL: func @constraints
// CHECK-COUNT-2: sdy.sharding_constraint
func.func @constraints(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.sharding_constraint %arg0 <@mesh, [{"x"}]> : tensor<8xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}]> : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// Equal reshards of one value are one.
// CHECK-LABEL: func @equal
// CHECK-NEXT: %[[R:.*]] = sdy.reshard %arg0 <@mesh, [{"y"}]>
// CHECK-NEXT: return %[[R]], %[[R]]
func.func @equal(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = sdy.reshard %arg0 <@mesh, [{"y"}]> : tensor<8xf32>
  %1 = sdy.reshard %arg0 <@mesh, [{"y"}]> : tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// So are those of a value and of its transpose, or reshape.
// CHECK-LABEL: func @equal_behind_transpose
// CHECK-NEXT: %[[R:.*]] = sdy.reshard %arg0 <@mesh, [{"y"}, {}]>
// CHECK-NEXT: %[[T:.*]] = stablehlo.transpose %[[R]], dims = [1, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>}
// CHECK-NEXT: return %[[R]], %[[T]]
func.func @equal_behind_transpose(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x4xf32>, tensor<4x8xf32>) {
  %0 = sdy.reshard %arg0 <@mesh, [{"y"}, {}]> : tensor<8x4xf32>
  %1 = stablehlo.transpose %arg0, dims = [1, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : (tensor<8x4xf32>) -> tensor<4x8xf32>
  %2 = sdy.reshard %1 <@mesh, [{}, {"y"}]> : tensor<4x8xf32>
  return %0, %2 : tensor<8x4xf32>, tensor<4x8xf32>
}

// CHECK-LABEL: func @equal_behind_reshape
// CHECK-NEXT: %[[R:.*]] = sdy.reshard %arg0 <@mesh, [{"y"}, {}]>
// CHECK-NEXT: %[[T:.*]] = stablehlo.reshape %[[R]] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>}
// CHECK-NEXT: return %[[R]], %[[T]]
func.func @equal_behind_reshape(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x4xf32>, tensor<32xf32>) {
  %0 = sdy.reshard %arg0 <@mesh, [{"y"}, {}]> : tensor<8x4xf32>
  %1 = stablehlo.reshape %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<8x4xf32>) -> tensor<32xf32>
  %2 = sdy.reshard %1 <@mesh, [{"y"}]> : tensor<32xf32>
  return %0, %2 : tensor<8x4xf32>, tensor<32xf32>
}

// Not what is sharded in another way behind it.
// CHECK-LABEL: func @other_behind_transpose
// CHECK-COUNT-2: sdy.reshard
func.func @other_behind_transpose(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x4xf32>, tensor<4x8xf32>) {
  %0 = sdy.reshard %arg0 <@mesh, [{"y"}, {}]> : tensor<8x4xf32>
  %1 = stablehlo.transpose %arg0, dims = [1, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : (tensor<8x4xf32>) -> tensor<4x8xf32>
  %2 = sdy.reshard %1 <@mesh, [{"y"}, {}]> : tensor<4x8xf32>
  return %0, %2 : tensor<8x4xf32>, tensor<4x8xf32>
}
