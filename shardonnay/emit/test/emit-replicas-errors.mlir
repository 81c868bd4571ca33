// RUN: sdy-opt %s -split-input-file -verify-diagnostics --sdy-emit-stablehlo="replica-count=2 partition-count=4"

// expected-error @below {{has 2 devices, but there are 2 replicas of 4 partitions; expected as many partitions as devices, or replicas times partitions}}
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = spmd.all_reduce %a @mesh {"x"} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

sdy.mesh @mesh = <["x"=8]>
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'stablehlo.collective_permute' is between devices that differ in replica and partition, or not the same in all of them, which no op can state: exchange along one of them, or use one replica}}
  %0 = "stablehlo.collective_permute"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 5]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<4xi32>) -> tensor<4xi32> {
  // expected-error @below {{expected groups of one size that list their devices, to place them among replicas, got dense<}}
  %0 = "stablehlo.all_reduce"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2], [3, -1, -1]]> : tensor<2x3xi64>, use_global_device_ids}> ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    %1 = stablehlo.add %x, %y : tensor<i32>
    stablehlo.return %1 : tensor<i32>
  }) : (tensor<4xi32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}
