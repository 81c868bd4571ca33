// RUN: sdy-opt %s -split-input-file --sdy-emit-stablehlo | FileCheck %s

// CHECK: module attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32}
// CHECK-NOT: sdy.mesh
sdy.mesh @mesh = <["x"=2, "y"=4]> {stablehlo.mesh = {axes = []}}

// CHECK-LABEL: func.func @all_reduce(
func.func @all_reduce(%a: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: "stablehlo.all_reduce"(%arg0) <{
  // CHECK-SAME:   channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>
  // CHECK-SAME:   replica_groups = dense<{{\[\[}}0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64>
  // CHECK-SAME:   use_global_device_ids
  // CHECK:        stablehlo.maximum {{.*}} : tensor<i32>
  // CHECK:      (tensor<4xi32>) -> tensor<4xi32>
  %0 = spmd.all_reduce max %a @mesh {"x"} : tensor<4xi32>
  return %0 : tensor<4xi32>
}

// CHECK-LABEL: func.func @reduce_scatter(
func.func @reduce_scatter(%a: tensor<4x8xbf16>) -> tensor<4x2xbf16> {
  // CHECK-NEXT: "stablehlo.reduce_scatter"(%arg0) <{
  // CHECK-SAME:   replica_groups = dense<{{\[\[}}0, 1, 2, 3], [4, 5, 6, 7]]>
  // CHECK-SAME:   scatter_dimension = 1 : i64
  // CHECK-SAME:   use_global_device_ids
  // CHECK:        stablehlo.add {{.*}} : tensor<bf16>
  %0 = spmd.reduce_scatter %a dim=1 @mesh {"y"} : (tensor<4x8xbf16>) -> tensor<4x2xbf16>
  return %0 : tensor<4x2xbf16>
}

// The members of a group stand in the order of the axes: minor axis first here.
// CHECK-LABEL: func.func @all_gather(
func.func @all_gather(%a: tensor<1x3xi1>) -> tensor<8x3xi1> {
  // CHECK-NEXT: "stablehlo.all_gather"(%arg0) <{all_gather_dim = 0 : i64
  // CHECK-SAME:   replica_groups = dense<{{\[\[}}0, 4, 1, 5, 2, 6, 3, 7]]>
  // CHECK-SAME:   use_global_device_ids
  %0 = spmd.all_gather %a dim=0 @mesh {"y", "x"} : (tensor<1x3xi1>) -> tensor<8x3xi1>
  return %0 : tensor<8x3xi1>
}

// PJRT's CPU client mixes up integers of two bits: they go in bytes.
// CHECK-LABEL: func.func @two_bits(
func.func @two_bits(%a: tensor<1x3xui2>, %b: tensor<4xi2>) -> (tensor<4x3xui2>, tensor<4xi2>) {
  // CHECK-NEXT: %[[BYTES:.*]] = stablehlo.convert %arg0 : (tensor<1x3xui2>) -> tensor<1x3xui8>
  // CHECK-NEXT: %[[ALL:.*]] = "stablehlo.all_gather"(%[[BYTES]]) {{.*}} : (tensor<1x3xui8>) -> tensor<4x3xui8>
  // CHECK-NEXT: stablehlo.convert %[[ALL]] : (tensor<4x3xui8>) -> tensor<4x3xui2>
  %0 = spmd.all_gather %a dim=0 @mesh {"y"} : (tensor<1x3xui2>) -> tensor<4x3xui2>
  // CHECK:      "stablehlo.all_reduce"
  // CHECK:      (tensor<4xi8>) -> tensor<4xi8>
  // CHECK-NEXT: stablehlo.convert %{{.*}} : (tensor<4xi8>) -> tensor<4xi2>
  %1 = spmd.all_reduce sum %b @mesh {"x"} : tensor<4xi2>
  return %0, %1 : tensor<4x3xui2>, tensor<4xi2>
}

// CHECK-LABEL: func.func @all_to_all(
func.func @all_to_all(%a: tensor<4x2xf32>) -> tensor<2x4xf32> {
  // CHECK-NEXT: "stablehlo.all_to_all"(%arg0) <{
  // CHECK-SAME:   concat_dimension = 1 : i64
  // CHECK-SAME:   replica_groups = dense<{{\[\[}}0, 2], [1, 3], [4, 6], [5, 7]]>
  // CHECK-SAME:   split_count = 2 : i64, split_dimension = 0 : i64
  // CHECK-NOT:    use_global_device_ids
  %0 = spmd.all_to_all %a split_dim=0 concat_dim=1 @mesh {"y":(1)2} : (tensor<4x2xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// Devices 0 and 7 have what they get: x and the major half of y are equal there.
// CHECK-LABEL: func.func @collective_permute(
func.func @collective_permute(%a: tensor<4x2xf32>) -> tensor<4x2xf32> {
  // CHECK-NEXT: "stablehlo.collective_permute"(%arg0) <{
  // CHECK-SAME:   source_target_pairs = dense<{{\[\[}}0, 0], [1, 1], [2, 4], [3, 5], [4, 2], [5, 3], [6, 6], [7, 7]]>
  %0 = spmd.collective_permute %a [{"x"}, {}] -> [{"y":(1)2}, {}] @mesh : tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// CHECK-LABEL: func.func @all_slice(
func.func @all_slice(%a: tensor<5x12xf32>) -> tensor<5x3xf32> {
  // CHECK-DAG:  %[[ID:.*]] = stablehlo.partition_id : tensor<ui32>
  // CHECK-DAG:  %[[POSITION:.*]] = stablehlo.convert %[[ID]] : (tensor<ui32>) -> tensor<i32>
  // CHECK-DAG:  %[[FOUR:.*]] = stablehlo.constant dense<4> : tensor<i32>
  // CHECK-DAG:  %[[Y:.*]] = stablehlo.remainder %[[POSITION]], %[[FOUR]] : tensor<i32>
  // CHECK-DAG:  %[[THREE:.*]] = stablehlo.constant dense<3> : tensor<i32>
  // CHECK-DAG:  %[[START:.*]] = stablehlo.multiply %[[Y]], %[[THREE]] : tensor<i32>
  // CHECK-DAG:  %[[ZERO:.*]] = stablehlo.constant dense<0> : tensor<i32>
  // CHECK:      stablehlo.dynamic_slice %arg0, %[[ZERO]], %[[START]], sizes = [5, 3]
  %0 = spmd.all_slice %a dim=1 @mesh {"y"} : (tensor<5x12xf32>) -> tensor<5x3xf32>
  return %0 : tensor<5x3xf32>
}

// CHECK-LABEL: func.func @device_index(
func.func @device_index() -> (tensor<i32>, tensor<i32>) {
  // All axes in the mesh's order: the position itself.
  // CHECK:      %[[ALL:.*]] = stablehlo.convert
  // CHECK-NEXT: stablehlo.partition_id
  %0 = spmd.device_index @mesh {"x", "y"} : tensor<i32>
  // CHECK:      %[[MAJOR:.*]] = stablehlo.multiply
  // CHECK:      %[[MINOR:.*]] = stablehlo.divide
  // CHECK-NEXT: %[[SUM:.*]] = stablehlo.add %[[MAJOR]], %[[MINOR]]
  %1 = spmd.device_index @mesh {"y", "x"} : tensor<i32>
  // CHECK-NEXT: return %[[ALL]], %[[SUM]]
  return %0, %1 : tensor<i32>, tensor<i32>
}

// CHECK-LABEL: func.func @constant(
func.func @constant() -> tensor<2xf32> {
  // CHECK-NEXT: stablehlo.constant dense<1.000000e+00> : tensor<2xf32>
  %0 = sdy.constant dense<1.0> : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// Groups name devices, and a device looks up where it stands.
sdy.mesh @mesh = <["x"=2, "y"=2], device_ids=[0, 2, 1, 3]>

// CHECK-LABEL: func.func @permuted(
func.func @permuted(%a: tensor<2xf32>) -> (tensor<4xf32>, tensor<i32>) {
  // CHECK: replica_groups = dense<{{\[\[}}0, 2], [1, 3]]>
  %0 = spmd.all_gather %a dim=0 @mesh {"y"} : (tensor<2xf32>) -> tensor<4xf32>
  // CHECK: %[[TABLE:.*]] = stablehlo.constant dense<[0, 2, 1, 3]> : tensor<4xi32>
  // CHECK: stablehlo.dynamic_slice %[[TABLE]]
  %1 = spmd.device_index @mesh {"y"} : tensor<i32>
  return %0, %1 : tensor<4xf32>, tensor<i32>
}

// -----

sdy.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func.func @empty(
func.func @empty(%a: tensor<0x4xf32>) -> (tensor<0x8xf32>, tensor<0x4xf32>) {
  // CHECK-NEXT: stablehlo.constant dense<> : tensor<0x8xf32>
  %0 = spmd.all_gather %a dim=1 @mesh {"x"} : (tensor<0x4xf32>) -> tensor<0x8xf32>
  // CHECK-NEXT: stablehlo.constant dense<> : tensor<0x4xf32>
  %1 = spmd.all_reduce sum %a @mesh {"x"} : tensor<0x4xf32>
  return %0, %1 : tensor<0x8xf32>, tensor<0x4xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>

// Two local shards: those of the second dim first come to stand one after the other.
// CHECK-LABEL: func.func @pack_pieces(
func.func @pack_pieces(%a: tensor<3x4xf32>, %b: tensor<1x2xf32>) -> tensor<7xf32> {
  // CHECK: %[[A0:.*]] = stablehlo.reshape %arg0 : (tensor<3x4xf32>) -> tensor<3x2x2xf32>
  // CHECK: %[[A1:.*]] = stablehlo.transpose %[[A0]], dims = [1, 0, 2]
  // CHECK: %[[A:.*]] = stablehlo.reshape %[[A1]] : (tensor<2x3x2xf32>) -> tensor<2x6xf32>
  // CHECK: %[[B:.*]] = stablehlo.reshape %arg1 : (tensor<1x2xf32>) -> tensor<2x1xf32>
  // CHECK: %[[C:.*]] = stablehlo.concatenate %[[A]], %[[B]], dim = 1
  // CHECK: stablehlo.reshape %[[C]] : (tensor<2x7xf32>) -> tensor<14xf32>
  %0 = spmd.pack %a, %b pieces=2 dims=[1, 1] : (tensor<3x4xf32>, tensor<1x2xf32>) -> tensor<14xf32>
  %1 = spmd.reduce_scatter %0 dim=0 @mesh {"x"} : (tensor<14xf32>) -> tensor<7xf32>
  return %1 : tensor<7xf32>
}

// CHECK-LABEL: func.func @pack_bits(
func.func @pack_bits(%a: tensor<3xf32>, %b: tensor<2xi32>) -> (tensor<3xf32>, tensor<2xi32>) {
  // CHECK: %[[A:.*]] = stablehlo.bitcast_convert %arg0 : (tensor<3xf32>) -> tensor<3xi32>
  // CHECK: %[[P:.*]] = stablehlo.concatenate %[[A]], %arg1, dim = 0
  %0 = spmd.pack %a, %b : (tensor<3xf32>, tensor<2xi32>) -> tensor<5xi32>
  // CHECK: %[[C:.*]] = stablehlo.slice %[[P]] [0:3]
  // CHECK: %[[D:.*]] = stablehlo.bitcast_convert %[[C]] : (tensor<3xi32>) -> tensor<3xf32>
  // CHECK: return %[[D]]
  %1:2 = spmd.unpack %0 : (tensor<5xi32>) -> (tensor<3xf32>, tensor<2xi32>)
  return %1#0, %1#1 : tensor<3xf32>, tensor<2xi32>
}

// CHECK-LABEL: func.func @unpack_pieces(
func.func @unpack_pieces(%a: tensor<7xf32>) -> (tensor<3x4xf32>, tensor<2xf32>) {
  // CHECK: %[[G:.*]] = "stablehlo.all_gather"(%arg0)
  %0 = spmd.all_gather %a dim=0 @mesh {"x"} : (tensor<7xf32>) -> tensor<14xf32>
  // CHECK: %[[R:.*]] = stablehlo.reshape %[[G]] : (tensor<14xf32>) -> tensor<2x7xf32>
  // CHECK: %[[A0:.*]] = stablehlo.slice %[[R]] [0:2, 0:6]
  // CHECK: %[[A1:.*]] = stablehlo.reshape %[[A0]] : (tensor<2x6xf32>) -> tensor<2x3x2xf32>
  // CHECK: %[[A2:.*]] = stablehlo.transpose %[[A1]], dims = [1, 0, 2]
  // CHECK: %[[A:.*]] = stablehlo.reshape %[[A2]] : (tensor<3x2x2xf32>) -> tensor<3x4xf32>
  // CHECK: %[[B0:.*]] = stablehlo.slice %[[R]] [0:2, 6:7]
  // CHECK: %[[B:.*]] = stablehlo.reshape %[[B0]] : (tensor<2x1xf32>) -> tensor<2xf32>
  // CHECK: return %[[A]], %[[B]]
  %1:2 = spmd.unpack %0 pieces=2 dims=[1, 0] : (tensor<14xf32>) -> (tensor<3x4xf32>, tensor<2xf32>)
  return %1#0, %1#1 : tensor<3x4xf32>, tensor<2xf32>
}

// CHECK-LABEL: func.func @pack(
func.func @pack(%a: tensor<2x3xf32>, %b: tensor<f32>) -> (tensor<2x3xf32>, tensor<f32>) {
  // CHECK: %[[A:.*]] = stablehlo.reshape %arg0 : (tensor<2x3xf32>) -> tensor<6xf32>
  // CHECK: %[[B:.*]] = stablehlo.reshape %arg1 : (tensor<f32>) -> tensor<1xf32>
  // CHECK: %[[P:.*]] = stablehlo.concatenate %[[A]], %[[B]], dim = 0
  %0 = spmd.pack %a, %b : (tensor<2x3xf32>, tensor<f32>) -> tensor<7xf32>
  // CHECK: %[[R:.*]] = "stablehlo.all_reduce"(%[[P]])
  %1 = spmd.all_reduce %0 @mesh {"x"} : tensor<7xf32>
  // CHECK: %[[C:.*]] = stablehlo.slice %[[R]] [0:6]
  // CHECK: %[[D:.*]] = stablehlo.reshape %[[C]] : (tensor<6xf32>) -> tensor<2x3xf32>
  // CHECK: %[[E:.*]] = stablehlo.slice %[[R]] [6:7]
  // CHECK: %[[F:.*]] = stablehlo.reshape %[[E]] : (tensor<1xf32>) -> tensor<f32>
  // CHECK: return %[[D]], %[[F]]
  %2:2 = spmd.unpack %1 : (tensor<7xf32>) -> (tensor<2x3xf32>, tensor<f32>)
  return %2#0, %2#1 : tensor<2x3xf32>, tensor<f32>
}

// -----

// CHECK-LABEL: func.func @made_again(
func.func @made_again(%a: tensor<f32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: stablehlo.broadcast_in_dim %arg0
  // CHECK-NEXT: %[[BEHIND:.*]]:2 = stablehlo.optimization_barrier %arg0, %arg1
  // CHECK-NEXT: stablehlo.broadcast_in_dim %[[BEHIND]]#0
  %0 = stablehlo.broadcast_in_dim %a, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %1 = spmd.barrier %a after %b : (tensor<f32>, tensor<4xf32>) -> tensor<f32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<4xf32>
  return %0, %2 : tensor<4xf32>, tensor<4xf32>
}
