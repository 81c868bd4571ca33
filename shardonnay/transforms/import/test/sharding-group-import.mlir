// RUN: sdy-opt %s -sdy-sharding-group-import | FileCheck %s

// CHECK-LABEL: func @groups
// CHECK-NEXT:  sdy.sharding_group %arg0 group_id=0
// CHECK-NEXT:  sdy.sharding_group %arg3 group_id=1
// CHECK-NEXT:  sdy.sharding_group %arg1 group_id=0
// CHECK-NEXT:  sdy.sharding_group %arg2 group_id=0
// CHECK-NEXT:  return
func.func @groups(%arg0: tensor<8xf32>, %arg1: tensor<8xi32>, %arg2: tensor<8xf32>, %arg3: tensor<8xf32>) {
  sdy.sharding_group %arg0 group_id=5 : tensor<8xf32>
  sdy.sharding_group %arg3 group_id=2 : tensor<8xf32>
  sdy.sharding_group %arg1 group_id=5 : tensor<8xi32>
  sdy.sharding_group %arg2 group_id=7 : tensor<8xf32>
  sdy.sharding_group %arg0 group_id=9 : tensor<8xf32>
  sdy.sharding_group %arg2 group_id=9 : tensor<8xf32>
  return
}
