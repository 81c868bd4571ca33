// RUN: sdy-opt %s --allow-unregistered-dialect | FileCheck %s
// RUN: sdy-opt -mlir-print-op-generic %s --allow-unregistered-dialect | sdy-opt --allow-unregistered-dialect | FileCheck %s

// CHECK-LABEL: func.func @ops
func.func @ops(%x: tensor<4xf32>, %i: tensor<4xi32>) {
  // CHECK: mhlo.copy %{{[^ ]+}} : tensor<4xf32>
  %0 = mhlo.copy %x : tensor<4xf32>
  // CHECK: mhlo.copy %{{[^ ]+}} {cross_program_prefetch_index = 0 : i32} : tensor<4xi32>
  %1 = mhlo.copy %i {cross_program_prefetch_index = 0 : i32} : tensor<4xi32>
  // CHECK: mhlo.erf %{{[^ ]+}} : tensor<4xf32>
  %2 = mhlo.erf %x : tensor<4xf32>
  // CHECK: "mhlo.unknown"(%{{[^ ]+}}) {mhlo.kind = #mhlo.kind<"a", [1]>} : (tensor<4xf32>) -> tensor<4xf32>
  %3 = "mhlo.unknown"(%x) {mhlo.kind = #mhlo.kind<"a", [1]>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}
