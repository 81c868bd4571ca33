// RUN: sdy-opt %s --sdy-emit-stablehlo="replica-count=2 partition-count=4" | FileCheck %s --check-prefix=ALL
// RUN: sdy-opt %s --sdy-emit-stablehlo="replica-count=8 partition-count=1" | FileCheck %s --check-prefix=REPLICAS

// ALL: module attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 2 : i32}
// REPLICAS: module attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 8 : i32}
sdy.mesh @mesh = <["x"=2, "y"=4]>

// Device r * 4 + p.
// ALL-LABEL: func @index
// ALL-NEXT: %[[R:.*]] = stablehlo.replica_id
// ALL-NEXT: %[[R32:.*]] = stablehlo.convert %[[R]]
// ALL-NEXT: %[[FOUR:.*]] = stablehlo.constant dense<4> : tensor<i32>
// ALL-NEXT: %[[BASE:.*]] = stablehlo.multiply %[[R32]], %[[FOUR]]
// ALL-NEXT: %[[P:.*]] = stablehlo.partition_id
// ALL-NEXT: %[[P32:.*]] = stablehlo.convert %[[P]]
// ALL-NEXT: %[[DEVICE:.*]] = stablehlo.add %[[BASE]], %[[P32]]
// REPLICAS-LABEL: func @index
// REPLICAS-NEXT: stablehlo.replica_id
// REPLICAS-NOT: partition_id
func.func @index() -> tensor<i32> {
  %0 = spmd.device_index @mesh {"x"} : tensor<i32>
  return %0 : tensor<i32>
}

// Flattened ids.
// ALL-LABEL: func @all_reduce
// ALL: channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>
// ALL-SAME: replica_groups = dense<{{\[\[}}0, 4], [1, 5], [2, 6], [3, 7]]>
// ALL-SAME: use_global_device_ids
// REPLICAS: replica_groups = dense<{{\[\[}}0, 4], [1, 5], [2, 6], [3, 7]]>
func.func @all_reduce(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = spmd.all_reduce %a @mesh {"x"} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Inside of a replica: partitions, with a channel.
// ALL-LABEL: func @all_to_all_inside
// ALL: "stablehlo.all_to_all"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>
// ALL-SAME: replica_groups = dense<{{\[\[}}0, 1, 2, 3]]> : tensor<1x4xi64>
// REPLICAS-LABEL: func @all_to_all_inside
// REPLICAS: "stablehlo.all_to_all"(%arg0) <{concat_dimension = 1
// REPLICAS-SAME: replica_groups = dense<{{\[\[}}0, 1, 2, 3], [4, 5, 6, 7]]>
func.func @all_to_all_inside(%a: tensor<8x2xf32>) -> tensor<2x8xf32> {
  %0 = spmd.all_to_all %a split_dim=0 concat_dim=1 @mesh {"y"} : (tensor<8x2xf32>) -> tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}

// Between replicas, without one.
// ALL-LABEL: func @all_to_all_across
// ALL: "stablehlo.all_to_all"(%arg0) <{concat_dimension = 1
// ALL-SAME: replica_groups = dense<{{\[\[}}0, 1]]> : tensor<1x2xi64>
func.func @all_to_all_across(%a: tensor<8x2xf32>) -> tensor<4x4xf32> {
  %0 = spmd.all_to_all %a split_dim=0 concat_dim=1 @mesh {"x"} : (tensor<8x2xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// Both: everything to everyone, who takes their part.
// ALL-LABEL: func @all_to_all_both
// ALL: %[[SPLIT:.*]] = stablehlo.reshape %arg0 : (tensor<8x2xf32>) -> tensor<8x1x2xf32>
// ALL: %[[ALL:.*]] = "stablehlo.all_gather"(%[[SPLIT]]) <{all_gather_dim = 2
// ALL-SAME: (tensor<8x1x2xf32>) -> tensor<8x1x16xf32>
// ALL: %[[OWN:.*]] = stablehlo.dynamic_slice %[[ALL]], {{.*}} sizes = [1, 1, 16]
// ALL: stablehlo.reshape %[[OWN]] : (tensor<1x1x16xf32>) -> tensor<1x16xf32>
func.func @all_to_all_both(%a: tensor<8x2xf32>) -> tensor<1x16xf32> {
  %0 = spmd.all_to_all %a split_dim=0 concat_dim=1 @mesh {"x", "y"} : (tensor<8x2xf32>) -> tensor<1x16xf32>
  return %0 : tensor<1x16xf32>
}

// ALL-LABEL: func @permute_both
// ALL: "stablehlo.all_gather"
// ALL: dense<[0, 1, 4, 5, 2, 3, 6, 7]> : tensor<8xi32>
// ALL: stablehlo.dynamic_slice {{.*}} sizes = [1, 4, 2]
func.func @permute_both(%a: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %0 = spmd.collective_permute %a [{"x"}, {}] -> [{"y":(1)2}, {}] @mesh : tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}
