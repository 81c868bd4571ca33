// RUN: sdy-opt %s --sdy-emit-stablehlo | FileCheck %s

// The engine's permutes wait for all devices, also for those that take another branch: along y each gathers.
sdy.mesh @mesh = <["x"=2, "y"=4]>
// CHECK-LABEL: func @branch
func.func @branch(%a: tensor<4xf32>, %p: tensor<i1>) -> tensor<4xf32> {
  // CHECK: "stablehlo.if"
  // CHECK-NOT: collective_permute
  // CHECK: "stablehlo.all_gather"{{.*}}replica_groups = dense<{{\[\[}}0, 1, 2, 3], [4, 5, 6, 7]]>{{.*}} -> tensor<4x4xf32>
  // CHECK-NOT: spmd.divergent
  %0 = "stablehlo.if"(%p) ({
    %1 = spmd.fetch_window %a dim=0 global_size=16 start=-4 step=4 size=4 @mesh {"y"} periodic : (tensor<4xf32>) -> tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }, {
    stablehlo.return %a : tensor<4xf32>
  }) {spmd.divergent} : (tensor<i1>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func @taken_by_all
func.func @taken_by_all(%a: tensor<4xf32>, %p: tensor<i1>) -> tensor<4xf32> {
  // CHECK: "stablehlo.if"
  // CHECK: "stablehlo.collective_permute"
  %0 = "stablehlo.if"(%p) ({
    %1 = spmd.fetch_window %a dim=0 global_size=16 start=-4 step=4 size=4 @mesh {"y"} periodic : (tensor<4xf32>) -> tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }, {
    stablehlo.return %a : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
