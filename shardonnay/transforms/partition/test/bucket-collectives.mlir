// RUN: sdy-opt %s --sdy-bucket-collectives | FileCheck %s
// RUN: sdy-opt %s --sdy-bucket-collectives=device-model=bytes | FileCheck %s --check-prefix=BYTES

sdy.mesh @mesh = <["x"=2, "y"=4]>

// BYTES-NOT: spmd.pack

// CHECK-LABEL: func @gradients
func.func @gradients(%arg0: tensor<4x4xf32>, %arg1: tensor<f32>, %arg2: tensor<8xf32>) -> (tensor<4x4xf32>, tensor<f32>, tensor<8xf32>) {
  // CHECK-NEXT: %[[T:.*]] = stablehlo.tanh %arg2
  // CHECK-NEXT: %[[P:.*]] = spmd.pack %arg0, %arg1, %[[T]] : (tensor<4x4xf32>, tensor<f32>, tensor<8xf32>) -> tensor<25xf32>
  // CHECK-NEXT: %[[R:.*]] = spmd.all_reduce %[[P]] @mesh {"x"} : tensor<25xf32>
  // CHECK-NEXT: %[[U:.*]]:3 = spmd.unpack %[[R]]
  // CHECK-NEXT: return %[[U]]#0, %[[U]]#1, %[[U]]#2
  %0 = spmd.all_reduce %arg0 @mesh {"x"} : tensor<4x4xf32>
  %1 = spmd.all_reduce %arg1 @mesh {"x"} : tensor<f32>
  %2 = stablehlo.tanh %arg2 : tensor<8xf32>
  %3 = spmd.all_reduce %2 @mesh {"x"} : tensor<8xf32>
  return %0, %1, %3 : tensor<4x4xf32>, tensor<f32>, tensor<8xf32>
}

// The second sum needs the first one.
// CHECK-LABEL: func @one_after_the_other
func.func @one_after_the_other(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NOT: spmd.pack
  %0 = spmd.all_reduce %arg0 @mesh {"x"} : tensor<8xf32>
  %1 = stablehlo.tanh %0 : tensor<8xf32>
  %2 = spmd.all_reduce %1 @mesh {"x"} : tensor<8xf32>
  return %2 : tensor<8xf32>
}

// Other axes, another kind, other elements.
// CHECK-LABEL: func @unlike
func.func @unlike(%arg0: tensor<8xf32>, %arg1: tensor<8xbf16>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xbf16>) {
  // CHECK-NOT: spmd.pack
  %0 = spmd.all_reduce %arg0 @mesh {"x"} : tensor<8xf32>
  %1 = spmd.all_reduce %arg0 @mesh {"y"} : tensor<8xf32>
  %2 = spmd.all_reduce max %arg0 @mesh {"x"} : tensor<8xf32>
  %3 = spmd.all_reduce %arg1 @mesh {"x"} : tensor<8xbf16>
  return %0, %1, %2, %3 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xbf16>
}

// Copying a megabyte takes longer than a latency.
// CHECK-LABEL: func @large
func.func @large(%arg0: tensor<1024x1024xf32>, %arg1: tensor<1024x1024xf32>) -> (tensor<1024x1024xf32>, tensor<1024x1024xf32>) {
  // CHECK-NOT: spmd.pack
  %0 = spmd.all_reduce %arg0 @mesh {"x"} : tensor<1024x1024xf32>
  %1 = spmd.all_reduce %arg1 @mesh {"x"} : tensor<1024x1024xf32>
  return %0, %1 : tensor<1024x1024xf32>, tensor<1024x1024xf32>
}
