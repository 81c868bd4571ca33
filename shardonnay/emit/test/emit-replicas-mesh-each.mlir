// RUN: sdy-opt %s --sdy-emit-stablehlo="replica-count=2 partition-count=4" | FileCheck %s

// Every replica has the mesh.
sdy.mesh @mesh = <["x"=4]>

// CHECK-LABEL: func @given
// CHECK: "stablehlo.all_gather"{{.*}}replica_groups = dense<{{\[\[}}0, 2], [1, 3], [4, 6], [5, 7]]>
// CHECK: "stablehlo.collective_permute"{{.*}}source_target_pairs = dense<{{\[\[}}0, 3]]>
// CHECK: stablehlo.partition_id
// CHECK-NOT: stablehlo.replica_id
func.func @given(%a: tensor<4xf32>) -> (tensor<8xf32>, tensor<4xf32>, tensor<ui32>) {
  %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}> : (tensor<4xf32>) -> tensor<8xf32>
  %1 = "stablehlo.collective_permute"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 3]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  %2 = stablehlo.partition_id : tensor<ui32>
  return %0, %1, %2 : tensor<8xf32>, tensor<4xf32>, tensor<ui32>
}
