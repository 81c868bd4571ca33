// RUN: sdy-opt %s -sdy-remove-sharding-groups | FileCheck %s

// CHECK-LABEL: func @groups
// CHECK-NOT: sharding_group
func.func @groups(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  sdy.sharding_group %arg0 group_id=0 : tensor<8xf32>
  return %arg0 : tensor<8xf32>
}
