// RUN: sdy-opt %s -sdy-populate-op-sharding-rules | FileCheck %s

// CHECK-LABEL: func @bits
func.func @bits(%s: tensor<2xui64>) {
  // CHECK: <([i])->([i], [j, k]) {i=2, j=4, k=6} need_replication={i} blocked_propagation={i}>
  %0:2 = stablehlo.rng_bit_generator %s, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4x6xui32>)
  return
}
