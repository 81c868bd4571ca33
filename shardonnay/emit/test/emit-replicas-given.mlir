// RUN: sdy-opt %s --sdy-emit-stablehlo="replica-count=2 partition-count=4" | FileCheck %s --check-prefixes=BOTH,ALL
// RUN: sdy-opt %s --sdy-emit-stablehlo="replica-count=8 partition-count=1" | FileCheck %s --check-prefixes=BOTH,REPLICAS

// What the program itself says of devices is meant for one replica of 8 partitions.
sdy.mesh @mesh = <["x"=2, "y"=4]>

// BOTH-LABEL: func @ids
// ALL-NEXT: stablehlo.replica_id
// ALL: stablehlo.partition_id
// ALL: %[[ID:.*]] = stablehlo.add
// ALL-NEXT: %[[UNSIGNED:.*]] = stablehlo.convert %[[ID]] : (tensor<i32>) -> tensor<ui32>
// REPLICAS-NEXT: stablehlo.replica_id
// REPLICAS-NOT: partition_id
// REPLICAS: %[[UNSIGNED:.*]] = stablehlo.convert {{.*}} -> tensor<ui32>
// BOTH-NEXT: %[[ZERO:.*]] = stablehlo.constant dense<0> : tensor<ui32>
// BOTH-NEXT: return %[[UNSIGNED]], %[[ZERO]]
func.func @ids() -> (tensor<ui32>, tensor<ui32>) {
  %0 = stablehlo.partition_id : tensor<ui32>
  %1 = stablehlo.replica_id : tensor<ui32>
  return %0, %1 : tensor<ui32>, tensor<ui32>
}

// Flattened ids are what they were.
// BOTH-LABEL: func @gather
// BOTH: "stablehlo.all_gather"{{.*}}replica_groups = dense<{{\[\[}}0, 4], [1, 5], [2, 6], [3, 7]]>
func.func @gather(%a: tensor<4xf32>) -> tensor<8xf32> {
  %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64>, use_global_device_ids}> : (tensor<4xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Between replicas, without a channel.
// BOTH-LABEL: func @exchange
// ALL: "stablehlo.all_to_all"(%arg0) <{concat_dimension = 0 : i64, replica_groups = dense<{{\[\[}}0, 1]]> : tensor<1x2xi64>
// REPLICAS: "stablehlo.all_to_all"(%arg0) <{concat_dimension = 0 : i64, replica_groups = dense<{{\[\[}}0, 4], [1, 5], [2, 6], [3, 7]]>
func.func @exchange(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.all_to_all"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, concat_dimension = 0 : i64, replica_groups = dense<[[0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64>, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Between partitions, the same in all replicas.
// BOTH-LABEL: func @permute
// ALL: "stablehlo.collective_permute"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<{{\[\[}}0, 1], [2, 3]]>
// REPLICAS: "stablehlo.collective_permute"(%arg0) <{source_target_pairs = dense<{{\[\[}}0, 1], [4, 5], [2, 3], [6, 7]]>
func.func @permute(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.collective_permute"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [4, 5], [2, 3], [6, 7]]> : tensor<4x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
