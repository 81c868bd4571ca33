// RUN: sdy-opt %s --sdy-split-all-reduces=device-model=gpu-cluster | FileCheck %s
// RUN: sdy-opt %s --sdy-split-all-reduces | FileCheck %s --check-prefix=ONE-SPEED

sdy.mesh @mesh = <["node"=4, "gpu"=8]>

// CHECK-LABEL: func @large
// ONE-SPEED-LABEL: func @large
func.func @large(%arg0: tensor<8192x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"node", "gpu"}>}) -> tensor<8192x1024xf32> {
  // CHECK-NEXT: %[[A:.*]] = sdy.reduce_scatter [{"gpu"}, {}] %arg0 out_sharding=<@mesh, [{"gpu"}, {}], unreduced={"node"}>
  // CHECK-NEXT: %[[B:.*]] = sdy.all_reduce {"node"} %[[A]] out_sharding=<@mesh, [{"gpu"}, {}]>
  // CHECK-NEXT: %[[C:.*]] = sdy.all_gather [{"gpu"}, {}] %[[B]] out_sharding=<@mesh, [{}, {}]>
  // CHECK-NEXT: return %[[C]]
  // ONE-SPEED-NEXT: sdy.all_reduce {"node", "gpu"}
  %0 = sdy.all_reduce {"node", "gpu"} %arg0 out_sharding=<@mesh, [{}, {}]> : tensor<8192x1024xf32>
  return %0 : tensor<8192x1024xf32>
}

// The fast axis does not divide it.
// CHECK-LABEL: func @indivisible
func.func @indivisible(%arg0: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"node", "gpu"}>}) -> tensor<6xf32> {
  // CHECK-NEXT: sdy.all_reduce {"node", "gpu"}
  %0 = sdy.all_reduce {"node", "gpu"} %arg0 out_sharding=<@mesh, [{}]> : tensor<6xf32>
  return %0 : tensor<6xf32>
}

// Two that follow each other are one sum.
// CHECK-LABEL: func @by_two
func.func @by_two(%arg0: tensor<1024x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"node", "gpu"}>}) -> tensor<1024x64xf32> {
  // CHECK-NEXT: sdy.reduce_scatter [{"gpu"}, {}] %arg0
  // CHECK-NEXT: sdy.all_reduce {"node"}
  // CHECK-NEXT: %[[R:.*]] = sdy.all_gather [{"gpu"}, {}]
  // CHECK-NEXT: return %[[R]]
  %0 = sdy.all_reduce {"gpu"} %arg0 out_sharding=<@mesh, [{}, {}], unreduced={"node"}> : tensor<1024x64xf32>
  %1 = sdy.all_reduce {"node"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<1024x64xf32>
  return %1 : tensor<1024x64xf32>
}
