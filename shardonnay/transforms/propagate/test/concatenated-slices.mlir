// RUN: sdy-opt %s --sdy-user-priority-propagate | FileCheck %s

sdy.mesh @mesh = <["a"=2]>

// Equal ops, but the operands of one are slices: along these, axes pass.
// CHECK-LABEL: func @main
func.func @main(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %z: tensor<8x8xf32>) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}, tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}) {
  // CHECK: stablehlo.concatenate %arg0, %arg1, dim = 0 {{.*}}{"a", ?}
  // CHECK: stablehlo.slice {{.*}}{"a", ?}
  // CHECK: stablehlo.slice {{.*}}{"a", ?}
  %0 = stablehlo.concatenate %x, %y, dim = 0 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.slice %z [4:8, 0:8] : (tensor<8x8xf32>) -> tensor<4x8xf32>
  %2 = stablehlo.slice %z [0:4, 0:8] : (tensor<8x8xf32>) -> tensor<4x8xf32>
  %3 = stablehlo.concatenate %1, %2, dim = 0 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  return %0, %3 : tensor<8x8xf32>, tensor<8x8xf32>
}
