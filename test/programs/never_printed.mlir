func.func @token_ops(%a: tensor<4xf32>, %t: !stablehlo.token) {
  %0 = stablehlo.create_token : !stablehlo.token
  %1 = stablehlo.after_all %t, %0 : !stablehlo.token
  %2:2 = "stablehlo.infeed"(%1) <{infeed_config = "abc", layout = [[0]]}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
  %3 = "stablehlo.outfeed"(%2#0, %2#1) <{outfeed_config = "abc"}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  %4 = "stablehlo.send"(%a, %3) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  %5:2 = "stablehlo.recv"(%4) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
  return
}
// -----
func.func @tuple_ops(%a: tensor<4xf32>, %t: !stablehlo.token) {
  %0 = stablehlo.tuple %a, %t : tuple<tensor<4xf32>, !stablehlo.token>
  %1 = stablehlo.get_tuple_element %0[0] : (tuple<tensor<4xf32>, !stablehlo.token>) -> tensor<4xf32>
  return
}
// -----
func.func @async_ops(%a: tensor<4xf32>) {
  %0 = "stablehlo.async_start"(%a) ({
  ^bb0(%x: tensor<4xf32>):
    %y = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<8xf32>
    stablehlo.return %y : tensor<8xf32>
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<8xf32>>
  %1 = "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<8xf32>>) -> tensor<8xf32>
  return
}
// -----
func.func @device_ops(%a: tensor<4xf32>) {
  %0 = "stablehlo.collective_broadcast"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "stablehlo.cross-replica-sum"(%0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  %2 = stablehlo.replica_id : tensor<ui32>
  return
}
// -----
func.func @region_ops(%a: tensor<4xf32>, %p: tensor<i1>) {
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %a : tensor<4xf32>
  }, {
    stablehlo.return %a : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  %1 = "stablehlo.map"(%a, %0) <{dimensions = array<i64: 0>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %m = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = stablehlo.logistic %1 : tensor<4xf32>
  return
}
// -----
func.func @norm_ops(%x: tensor<2x4xf32>, %s: tensor<4xf32>) {
  %0 = "stablehlo.batch_norm_inference"(%x, %s, %s, %s, %s) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %1:3 = "stablehlo.batch_norm_training"(%x, %s, %s) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>)
  %2:3 = "stablehlo.batch_norm_grad"(%x, %s, %s, %s, %x) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}
// -----
func.func @old_ops(%x: tensor<2x4xf32>, %y: tensor<4x3xf32>, %i: tensor<5xi32>) {
  %0 = stablehlo.broadcast %x, sizes = [3] : (tensor<2x4xf32>) -> tensor<3x2x4xf32>
  %1 = stablehlo.dot %x, %y : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  %2 = stablehlo.einsum %x, %y, config = "ij,jk->ik" : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  %3 = "stablehlo.unary_einsum"(%x) <{einsum_config = "ij->i"}> : (tensor<2x4xf32>) -> tensor<2xf32>
  %4 = "stablehlo.torch_index_select"(%x, %i) <{batch_dims = 0 : i64, dim = 0 : i64}> : (tensor<2x4xf32>, tensor<5xi32>) -> tensor<5x4xf32>
  return
}
// -----
func.func @size_ops(%x: tensor<?x4xf32>, %n: tensor<2xi32>, %c: tensor<f32>, %i: tensor<i32>) {
  %0 = stablehlo.dynamic_pad %x, %c, %n, %n, %n : (tensor<?x4xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
  %1 = stablehlo.set_dimension_size %0, %i, dim = 0 : (tensor<?x?xf32>, tensor<i32>) -> tensor<?x?xf32>
  return
}
// -----
func.func @quantised_ops(%x: tensor<4xf32>) {
  %0 = stablehlo.uniform_quantize %x : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 1.000000e+00:2>>
  %1 = stablehlo.uniform_dequantize %0 : (tensor<4x!quant.uniform<i8:f32, 1.000000e+00:2>>) -> tensor<4xf32>
  return
}
// -----
func.func @chlo_functions(%x: tensor<4xf32>, %z: tensor<4xcomplex<f32>>) {
  %0 = chlo.conj %z : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
  %1 = chlo.is_inf %x : tensor<4xf32> -> tensor<4xi1>
  %2 = chlo.is_neg_inf %x : tensor<4xf32> -> tensor<4xi1>
  %3 = chlo.is_pos_inf %x : tensor<4xf32> -> tensor<4xi1>
  %4 = chlo.tan %x : tensor<4xf32> -> tensor<4xf32>
  %5 = chlo._asin_acos_kernel %z : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
  return
}
// -----
func.func @chlo_broadcasting(%x: tensor<4xf32>, %y: tensor<2x4xf32>, %i: tensor<4xi32>, %j: tensor<2x4xi32>, %p: tensor<4xi1>) {
  %0 = chlo.broadcast_add %x, %y : (tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = chlo.broadcast_atan2 %x, %y : (tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %2 = chlo.broadcast_divide %x, %y : (tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %3 = chlo.broadcast_maximum %x, %y : (tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %4 = chlo.broadcast_minimum %x, %y : (tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %5 = chlo.broadcast_multiply %x, %y : (tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %6 = chlo.broadcast_next_after %x, %y : (tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %7 = chlo.broadcast_polygamma %x, %y : (tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %8 = chlo.broadcast_power %x, %y : (tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %9 = chlo.broadcast_remainder %x, %y : (tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %10 = chlo.broadcast_subtract %x, %y : (tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %11 = chlo.broadcast_zeta %x, %y : (tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %12 = chlo.broadcast_and %i, %j : (tensor<4xi32>, tensor<2x4xi32>) -> tensor<2x4xi32>
  %13 = chlo.broadcast_or %i, %j : (tensor<4xi32>, tensor<2x4xi32>) -> tensor<2x4xi32>
  %14 = chlo.broadcast_xor %i, %j : (tensor<4xi32>, tensor<2x4xi32>) -> tensor<2x4xi32>
  %15 = chlo.broadcast_shift_left %i, %j : (tensor<4xi32>, tensor<2x4xi32>) -> tensor<2x4xi32>
  %16 = chlo.broadcast_shift_right_arithmetic %i, %j : (tensor<4xi32>, tensor<2x4xi32>) -> tensor<2x4xi32>
  %17 = chlo.broadcast_shift_right_logical %i, %j : (tensor<4xi32>, tensor<2x4xi32>) -> tensor<2x4xi32>
  %18 = chlo.broadcast_complex %x, %y : (tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xcomplex<f32>>
  %19 = chlo.broadcast_compare %x, %y {comparison_direction = #chlo<comparison_direction EQ>} : (tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xi1>
  %20 = chlo.broadcast_select %p, %x, %y : (tensor<4xi1>, tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}
// -----
func.func @chlo_constants(%x: tensor<4xf32>) {
  %0 = "chlo.constant"() <{value = dense<1.000000e+00> : tensor<4xf32>}> : () -> tensor<4xf32>
  %1 = "chlo.constant_like"(%x) <{value = 2.000000e+00 : f32}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}
// -----
func.func @chlo_scan(%x: tensor<4x3xf32>, %c: tensor<3xf32>) {
  %0:2 = chlo.scan(%x) inits (%c) dimension=0 {
  ^bb0(%e: tensor<3xf32>, %a: tensor<3xf32>):
    %s = stablehlo.add %e, %a : tensor<3xf32>
    stablehlo.return %s, %s : tensor<3xf32>, tensor<3xf32>
  } : (tensor<4x3xf32>, tensor<3xf32>) -> (tensor<4x3xf32>, tensor<3xf32>)
  return
}
