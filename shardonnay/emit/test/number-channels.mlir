// RUN: sdy-opt %s --sdy-number-channels | FileCheck %s
// RUN: sdy-opt %s --sdy-convert-global-to-local | FileCheck %s --check-prefix=LOCAL

// Each collective has a number of its own, in order, above those of transfers.
// CHECK-LABEL: func @main
// CHECK: "stablehlo.send"{{.*}}channel_handle<handle = 3, type = 2>
// CHECK: "stablehlo.all_gather"{{.*}}channel_handle<handle = 4, type = 1>
// CHECK: "stablehlo.collective_permute"{{.*}}channel_handle<handle = 5, type = 1>
// CHECK: stablehlo.while
// CHECK: "stablehlo.all_reduce"{{.*}}channel_handle<handle = 6, type = 1>
// CHECK: "stablehlo.all_gather"(%arg0) <{all_gather_dim = 0 : i64, replica_groups
// LOCAL: "stablehlo.all_gather"{{.*}}channel_handle<handle = 4, type = 1>
func.func @main(%a: tensor<8xf32>, %t: !stablehlo.token) -> (tensor<8xf32>, tensor<16xf32>, tensor<8xf32>, tensor<16xf32>, !stablehlo.token) {
  %s = "stablehlo.send"(%a, %t) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 2>, is_host_transfer = true}> : (tensor<8xf32>, !stablehlo.token) -> !stablehlo.token
  %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> : (tensor<8xf32>) -> tensor<16xf32>
  %1 = "stablehlo.collective_permute"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<8xf32>) -> tensor<8xf32>
  %2 = stablehlo.while(%i = %1) : tensor<8xf32>
  cond {
    %3 = stablehlo.constant dense<false> : tensor<i1>
    stablehlo.return %3 : tensor<i1>
  } do {
    %3 = "stablehlo.all_reduce"(%i) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %4 = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %4 : tensor<f32>
    }) : (tensor<8xf32>) -> tensor<8xf32>
    stablehlo.return %3 : tensor<8xf32>
  }
  // Between replicas: without a channel.
  %5 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<8xf32>) -> tensor<16xf32>
  return %1, %0, %2, %5, %s : tensor<8xf32>, tensor<16xf32>, tensor<8xf32>, tensor<16xf32>, !stablehlo.token
}
