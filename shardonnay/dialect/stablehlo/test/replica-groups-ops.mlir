// RUN: sdy-opt %s | FileCheck %s
// RUN: sdy-opt -mlir-print-op-generic %s | sdy-opt | FileCheck %s


// CHECK-LABEL: func.func @groups_by_axes
// CHECK: %{{[^ ,:)]+}} = "stablehlo.all_gather"(%{{[^ ,:)]+}}) <{all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "a">, #stablehlo.axis_ref<name = "b", sub_axis_info = (1)2>]>}> : (tensor<4xf32>) -> tensor<16xf32>
// CHECK: %{{[^ ,:)]+}} = "stablehlo.all_to_all"(%{{[^ ,:)]+}}) <{concat_dimension = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "a">]>, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: %{{[^ ,:)]+}} = "stablehlo.collective_broadcast"(%{{[^ ,:)]+}}) <{replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[<name = "a", size = 2>], device_ids=dense<[1, 0]> : tensor<2xi64>>, axes = [#stablehlo.axis_ref<name = "a">]>}> : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: return
sdy.mesh @mesh = <["a"=2, "b"=4]>
func.func @groups_by_axes(%a: tensor<4xf32>) {
  %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "a">, #stablehlo.axis_ref<name = "b", sub_axis_info = (1)2>]>}> : (tensor<4xf32>) -> tensor<16xf32>
  %1 = "stablehlo.all_to_all"(%a) <{replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "a">]>, concat_dimension = 0 : i64, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<4xf32>) -> tensor<4xf32>
  %2 = "stablehlo.collective_broadcast"(%a) <{replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[<name = "a", size = 2>], device_ids=dense<[1, 0]> : tensor<2xi64>>, axes = [#stablehlo.axis_ref<name = "a">]>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @variadic
// CHECK: %{{[^ ,:)]+}}:2 = "stablehlo.all_gather"(%{{[^ ,:)]+}}, %{{[^ ,:)]+}}) <{all_gather_dim = 0 : i64, replica_groups = dense<{{\[\[}}0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>, tensor<4xi32>) -> (tensor<8xf32>, tensor<8xi32>)
// CHECK: %{{[^ ,:)]+}}:2 = "stablehlo.all_to_all"(%{{[^ ,:)]+}}, %{{[^ ,:)]+}}) <{concat_dimension = 0 : i64, replica_groups = dense<{{\[\[}}0, 1]]> : tensor<1x2xi64>, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<4xf32>, tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>)
// CHECK: return
func.func @variadic(%a: tensor<4xf32>, %b: tensor<4xi32>) {
  %1:2 = "stablehlo.all_gather"(%a, %b) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>, tensor<4xi32>) -> (tensor<8xf32>, tensor<8xi32>)
  %2:2 = "stablehlo.all_to_all"(%a, %b) <{concat_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<4xf32>, tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>)
  return
}
