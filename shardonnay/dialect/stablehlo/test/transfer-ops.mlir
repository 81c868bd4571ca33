// RUN: sdy-opt %s | FileCheck %s
// RUN: sdy-opt -mlir-print-op-generic %s | sdy-opt | FileCheck %s

// CHECK-LABEL: func.func @tokens
// CHECK: %{{[^ ,:)]+}} = stablehlo.create_token : !stablehlo.token
// CHECK: %{{[^ ,:)]+}} = stablehlo.after_all %{{[^ ,:)]+}}, %{{[^ ,:)]+}} {foo} : !stablehlo.token
// CHECK: %{{[^ ,:)]+}} = stablehlo.after_all  : !stablehlo.token
// CHECK: return
func.func @tokens(%t: !stablehlo.token) {
  %0 = stablehlo.create_token : !stablehlo.token
  %1 = stablehlo.after_all %t, %0 {foo} : !stablehlo.token
  %2 = stablehlo.after_all : !stablehlo.token
  return
}

// CHECK-LABEL: func.func @host
// CHECK: %{{[^ ,:)]+}}:3 = "stablehlo.infeed"(%{{[^ ,:)]+}}) <{infeed_config = "abc", layout = {{\[\[}}0], [0]]}> : (!stablehlo.token) -> (tensor<4xf32>, tensor<4xf32>, !stablehlo.token)
// CHECK: %{{[^ ,:)]+}} = "stablehlo.infeed"(%{{[^ ,:)]+}}) <{infeed_config = ""}> : (!stablehlo.token) -> !stablehlo.token
// CHECK: %{{[^ ,:)]+}} = "stablehlo.outfeed"(%{{[^ ,:)]+}}, %{{[^ ,:)]+}}) <{outfeed_config = ""}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
// CHECK: %{{[^ ,:)]+}} = "stablehlo.send"(%{{[^ ,:)]+}}, %{{[^ ,:)]+}}) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
// CHECK: %{{[^ ,:)]+}}:2 = "stablehlo.recv"(%{{[^ ,:)]+}}) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 3>, is_host_transfer = true}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
// CHECK: return
func.func @host(%a: tensor<4xf32>, %t: !stablehlo.token) {
  %0:3 = "stablehlo.infeed"(%t) <{infeed_config = "abc", layout = [[0], [0]]}> : (!stablehlo.token) -> (tensor<4xf32>, tensor<4xf32>, !stablehlo.token)
  %1 = "stablehlo.infeed"(%t) : (!stablehlo.token) -> !stablehlo.token
  %2 = "stablehlo.outfeed"(%a, %t) : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  %3 = "stablehlo.send"(%a, %t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  %4:2 = "stablehlo.recv"(%t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 3>, is_host_transfer = true}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
  return
}

// CHECK-LABEL: func.func @devices
// CHECK: %{{[^ ,:)]+}} = "stablehlo.send"(%{{[^ ,:)]+}}, %{{[^ ,:)]+}}) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, is_host_transfer = false, source_target_pairs = dense<{{\[\[}}0, 1], [1, 2]]> : tensor<2x2xi64>}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
// CHECK: %{{[^ ,:)]+}}:2 = "stablehlo.recv"(%{{[^ ,:)]+}}) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
// CHECK: return
func.func @devices(%a: tensor<4xf32>, %t: !stablehlo.token) {
  %0 = "stablehlo.send"(%a, %t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, is_host_transfer = false, source_target_pairs = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  %1:2 = "stablehlo.recv"(%t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
  return
}

// CHECK-LABEL: func.func @async
// CHECK: %{{[^ ,:)]+}} = "stablehlo.async_start"(%{{[^ ,:)]+}}) ({
// CHECK: ^bb0(%{{[^ ,:)]+}}: tensor<4xf32>):
// CHECK: %{{[^ ,:)]+}} = "stablehlo.all_gather"(%{{[^ ,:)]+}}) <{all_gather_dim = 0 : i64, replica_groups = dense<{{\[\[}}0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<8xf32>
// CHECK: stablehlo.return %{{[^ ,:)]+}} : tensor<8xf32>
// CHECK: }) : (tensor<4xf32>) -> !stablehlo.future<tensor<8xf32>>
// CHECK: %{{[^ ,:)]+}} = "stablehlo.async_done"(%{{[^ ,:)]+}}) : (!stablehlo.future<tensor<8xf32>>) -> tensor<8xf32>
// CHECK: return
func.func @async(%a: tensor<4xf32>) {
  %0 = "stablehlo.async_start"(%a) ({
  ^bb0(%x: tensor<4xf32>):
    %y = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0,1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<8xf32>
    stablehlo.return %y : tensor<8xf32>
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<8xf32>>
  %1 = "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<8xf32>>) -> tensor<8xf32>
  return
}

// CHECK-LABEL: func.func @broadcast
// CHECK: %{{[^ ,:)]+}} = "stablehlo.collective_broadcast"(%{{[^ ,:)]+}}) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<{{\[\[}}0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: %{{[^ ,:)]+}} = "stablehlo.cross-replica-sum"(%{{[^ ,:)]+}}) <{replica_groups = dense<{{\[\[}}0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: return
func.func @broadcast(%a: tensor<4xf32>) {
  %0 = "stablehlo.collective_broadcast"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "stablehlo.cross-replica-sum"(%0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}
