// RUN: sdy-opt %s | FileCheck %s
// RUN: sdy-opt -mlir-print-op-generic %s | sdy-opt | FileCheck %s

// CHECK-LABEL: func.func @barrier
func.func @barrier(%x: tensor<4xf32>, %t: !stablehlo.token) {
  // CHECK: stablehlo.optimization_barrier %{{[^ ]+}}, %{{[^ ]+}} : tensor<4xf32>, !stablehlo.token
  %0:2 = stablehlo.optimization_barrier %x, %t : tensor<4xf32>, !stablehlo.token
  // CHECK: stablehlo.optimization_barrier {a = "b"} %{{[^ ]+}} : tensor<4xf32>
  %1 = stablehlo.optimization_barrier {a = "b"} %x : tensor<4xf32>
  // CHECK: stablehlo.optimization_barrier()
  stablehlo.optimization_barrier()
  return
}
