// RUN: sdy-opt %s -sdy-populate-op-sharding-rules | FileCheck %s

// CHECK-LABEL: func @bits
func.func @bits(%s: tensor<2xui64>) {
  // CHECK: <([i])->([i], [j, k]) {i=2, j=4, k=6} need_replication={i} blocked_propagation={i}>
  %0:2 = stablehlo.rng_bit_generator %s, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4x6xui32>)
  return
}

// CHECK-LABEL: func @numbers
func.func @numbers(%a: tensor<f32>, %b: tensor<f32>, %n: tensor<2xi64>) {
  // CHECK: <([], [], [k])->([i, j]) {i=4, j=6, k=2} need_replication={k}>
  %0 = stablehlo.rng %a, %b, %n, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<4x6xf32>
  return
}
