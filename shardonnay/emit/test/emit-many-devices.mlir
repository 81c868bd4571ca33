// RUN: sdy-opt %s --sdy-emit-stablehlo | FileCheck %s
// RUN: sdy-opt %s --sdy-emit-stablehlo | sdy-opt | FileCheck %s

// The long groups of many devices are printed once; what is short stands where
// it is used.

// CHECK:     #groups = dense<"0x{{[0-9A-F]*}}"> : tensor<8x16xi64>
// CHECK:     #groups1 = dense<"0x{{[0-9A-F]*}}"> : tensor<16x8xi64>
// CHECK-NOT: #groups2
sdy.mesh @mesh = <["x"=16, "y"=8]>

// CHECK-LABEL: func.func @all_reduce(
func.func @all_reduce(%a: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK: replica_groups = #groups,
  %0 = spmd.all_reduce %a @mesh {"x"} : tensor<4xi32>
  // CHECK: replica_groups = #groups1,
  %1 = spmd.all_reduce %0 @mesh {"y"} : tensor<4xi32>
  // CHECK: replica_groups = #groups,
  %2 = spmd.all_reduce max %1 @mesh {"x"} : tensor<4xi32>
  // CHECK: stablehlo.constant dense<{{\[\[}}1, 2], [3, 4]]> : tensor<2x2xi64>
  %c = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>
  return %2 : tensor<4xi32>
}
