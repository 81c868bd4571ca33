// RUN: sdy-opt %s -sdy-aggressive-propagate | FileCheck %s --check-prefixes=CHECK,AGGRESSIVE
// RUN: sdy-opt %s -sdy-aggressive-propagate=propagation-strategy=basic | FileCheck %s --check-prefixes=CHECK,BASIC
// RUN: sdy-opt %s -sdy-aggressive-propagate=propagation-strategy=basic-then-aggressive | FileCheck %s --check-prefixes=CHECK,BOTH

sdy.mesh @mesh = <["x"=2, "y"=2]>

// Equal tensors: the first has its way.
// CHECK-LABEL: func @first_of_equals
func.func @first_of_equals(
    %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> tensor<8x8xf32> {
  // AGGRESSIVE: dot_general {{.*}}<@mesh, [{"x", ?}, {?}]>
  // BASIC-NOT: per_value
  // BOTH: dot_general {{.*}}<@mesh, [{"x", ?}, {?}]>
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0]
      : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  // CHECK: return
  return %0 : tensor<8x8xf32>
}

// The larger tensor has its way.
// CHECK-LABEL: func @larger_wins
func.func @larger_wins(
    %arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %arg1: tensor<4x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> tensor<8x16xf32> {
  // AGGRESSIVE: dot_general {{.*}}<@mesh, [{?}, {"x", ?}]>
  // BASIC-NOT: per_value
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0]
      : (tensor<8x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
  // CHECK: return
  return %0 : tensor<8x16xf32>
}

// Operands of an element-wise op exchange nothing past a result that refuses.
// CHECK-LABEL: func @closed_result
// CHECK-SAME: %arg1: tensor<8xf32>)
func.func @closed_result(
    %arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
    %arg1: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.add %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// The order of visits is part of the meaning: basic goes on past the conflict
// to the end before anything is resolved.
// CHECK-LABEL: func @strategies_in_turn
func.func @strategies_in_turn(
    %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
    %arg2: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> tensor<8x8xf32> {
  // AGGRESSIVE: dot_general {{.*}}<@mesh, [{"x", ?}, {?}]>
  // BASIC: dot_general {{.*}}<@mesh, [{?}, {"x", ?}]>
  // BOTH: dot_general {{.*}}<@mesh, [{?}, {"x", ?}]>
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0]
      : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.add %0, %arg2 : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
