// RUN: sdy-opt %s --sdy-bucket-collectives | FileCheck %s
// RUN: sdy-opt %s --sdy-bucket-collectives=device-model=bytes | FileCheck %s --check-prefix=BYTES
// RUN: sdy-opt %s --sdy-bucket-collectives=memory-limit=1500 | FileCheck %s --check-prefix=LIMIT

sdy.mesh @mesh = <["x"=2, "y"=4]>

// BYTES-NOT: spmd.pack

// CHECK-LABEL: func @gradients
func.func @gradients(%arg0: tensor<4x4xf32>, %arg1: tensor<f32>, %arg2: tensor<8xf32>) -> (tensor<4x4xf32>, tensor<f32>, tensor<8xf32>) {
  // CHECK-NEXT: %[[T:.*]] = stablehlo.tanh %arg2
  // CHECK-NEXT: %[[P:.*]] = spmd.pack %arg0, %arg1, %[[T]] : (tensor<4x4xf32>, tensor<f32>, tensor<8xf32>) -> tensor<25xf32>
  // CHECK-NEXT: %[[R:.*]] = spmd.all_reduce %[[P]] @mesh {"x"} {sdy.cause = "sums up 3 tensors at once"} : tensor<25xf32>
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

// With 1,500 bytes, two of the three have room.
// LIMIT-LABEL: func @weights
// LIMIT: spmd.pack %arg1, %{{.*}} : (tensor<2x8xf32>, tensor<1x2xf32>) -> tensor<18xf32>
// LIMIT: spmd.all_gather %arg3

// The weights of a step are gathered at once, where the first is needed: also one that is reshaped first.
// CHECK-LABEL: func @weights
func.func @weights(%x: tensor<4x8xf32>, %w: tensor<2x8xf32>, %b: tensor<2xf32>, %v: tensor<8x2xf32>) -> tensor<4x8xf32> {
  // CHECK-NEXT: %[[B:.*]] = stablehlo.reshape %arg2
  // CHECK-NEXT: %[[P:.*]] = spmd.pack %arg1, %[[B]], %arg3 : (tensor<2x8xf32>, tensor<1x2xf32>, tensor<8x2xf32>) -> tensor<34xf32>
  // CHECK-NEXT: %[[G:.*]] = spmd.all_gather %[[P]] dim=0 @mesh {"y"} {sdy.cause = "gathers 3 tensors at once; the first one is needed"} : (tensor<34xf32>) -> tensor<136xf32>
  // CHECK-NEXT: %[[U:.*]]:3 = spmd.unpack %[[G]] pieces=4 dims=[0, 1, 1] : (tensor<136xf32>) -> (tensor<8x8xf32>, tensor<1x8xf32>, tensor<8x8xf32>)
  // CHECK-NEXT: stablehlo.dot_general %arg0, %[[U]]#0
  %0 = spmd.all_gather %w dim=0 @mesh {"y"} {sdy.cause = "is needed"} : (tensor<2x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %2 = stablehlo.reshape %b : (tensor<2xf32>) -> tensor<1x2xf32>
  %3 = spmd.all_gather %2 dim=1 @mesh {"y"} : (tensor<1x2xf32>) -> tensor<1x8xf32>
  %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<1x8xf32>) -> tensor<4x8xf32>
  %5 = stablehlo.add %1, %4 : tensor<4x8xf32>
  %6 = spmd.all_gather %v dim=1 @mesh {"y"} : (tensor<8x2xf32>) -> tensor<8x8xf32>
  %7 = stablehlo.dot_general %5, %6, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  return %7 : tensor<4x8xf32>
}

// Each device is to have its shard of both.
// CHECK-LABEL: func @scattered
func.func @scattered(%arg0: tensor<8x3xf32>, %arg1: tensor<2x4xf32>) -> (tensor<2x3xf32>, tensor<2x1xf32>) {
  // CHECK-NEXT: %[[P:.*]] = spmd.pack %arg0, %arg1 pieces=4 dims=[0, 1] : (tensor<8x3xf32>, tensor<2x4xf32>) -> tensor<32xf32>
  // CHECK-NEXT: %[[R:.*]] = spmd.reduce_scatter max %[[P]] dim=0 @mesh {"y"} {sdy.cause = "sums up and scatters 2 tensors at once; the first one sums rows"} : (tensor<32xf32>) -> tensor<8xf32>
  // CHECK-NEXT: spmd.unpack %[[R]] : (tensor<8xf32>) -> (tensor<2x3xf32>, tensor<2x1xf32>)
  %0 = spmd.reduce_scatter max %arg0 dim=0 @mesh {"y"} {sdy.cause = "sums rows"} : (tensor<8x3xf32>) -> tensor<2x3xf32>
  %1 = spmd.reduce_scatter max %arg1 dim=1 @mesh {"y"} : (tensor<2x4xf32>) -> tensor<2x1xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<2x1xf32>
}

// The gradients' sums wait for the last one, and so does what only turns one around.
// CHECK-LABEL: func @turned
func.func @turned(%arg0: tensor<8x3xf32>, %arg1: tensor<8x4xf32>) -> (tensor<3x2xf32>, tensor<2x4xf32>) {
  // CHECK-NEXT: %[[T:.*]] = stablehlo.tanh %arg1
  // CHECK-NEXT: spmd.pack %arg0, %[[T]]
  // CHECK-NEXT: spmd.reduce_scatter
  // CHECK-NEXT: %[[U:.*]]:2 = spmd.unpack
  // CHECK-NEXT: %[[A:.*]] = stablehlo.transpose %[[U]]#0
  // CHECK-NEXT: stablehlo.add %[[A]], %[[A]]
  %0 = spmd.reduce_scatter %arg0 dim=0 @mesh {"y"} : (tensor<8x3xf32>) -> tensor<2x3xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %2 = stablehlo.tanh %arg1 : tensor<8x4xf32>
  %3 = spmd.reduce_scatter %2 dim=0 @mesh {"y"} : (tensor<8x4xf32>) -> tensor<2x4xf32>
  %4 = stablehlo.add %1, %1 : tensor<3x2xf32>
  return %4, %3 : tensor<3x2xf32>, tensor<2x4xf32>
}

// Two dims each: what is gathered along x is there for both before either is gathered along y.
// CHECK-LABEL: func @two_dims
func.func @two_dims(%arg0: tensor<2x2xi8>, %arg1: tensor<3x2xi8>) -> (tensor<4x8xi8>, tensor<6x8xi8>) {
  // CHECK: spmd.all_gather %{{.*}} dim=0 @mesh {"x"} {{.*}} : (tensor<10xi8>) -> tensor<20xi8>
  // CHECK: spmd.all_gather %{{.*}} dim=0 @mesh {"y"} {{.*}} : (tensor<20xi8>) -> tensor<80xi8>
  // CHECK-NOT: spmd.all_gather
  %0 = spmd.all_gather %arg0 dim=0 @mesh {"x"} : (tensor<2x2xi8>) -> tensor<4x2xi8>
  %1 = spmd.all_gather %0 dim=1 @mesh {"y"} : (tensor<4x2xi8>) -> tensor<4x8xi8>
  %2 = spmd.all_gather %arg1 dim=0 @mesh {"x"} : (tensor<3x2xi8>) -> tensor<6x2xi8>
  %3 = spmd.all_gather %2 dim=1 @mesh {"y"} : (tensor<6x2xi8>) -> tensor<6x8xi8>
  return %1, %3 : tensor<4x8xi8>, tensor<6x8xi8>
}

// What is only moved may be of any type of as many bits: the two results of an argmax, each a row of a device.
// CHECK-LABEL: func @rows
func.func @rows(%arg0: tensor<1x3xf32>, %arg1: tensor<1x3xi32>, %arg2: tensor<1x3xi8>, %arg3: tensor<1x3xcomplex<f32>>) -> (tensor<4x3xf32>, tensor<4x3xi32>, tensor<4x3xi8>, tensor<4x3xcomplex<f32>>) {
  // CHECK-NEXT: %[[P:.*]] = spmd.pack %arg0, %arg1 : (tensor<1x3xf32>, tensor<1x3xi32>) -> tensor<6xi32>
  // CHECK-NEXT: %[[G:.*]] = spmd.all_gather %[[P]] dim=0 @mesh {"y"} {sdy.cause = "gathers 2 tensors at once"} : (tensor<6xi32>) -> tensor<24xi32>
  // CHECK-NEXT: %[[U:.*]]:2 = spmd.unpack %[[G]] pieces=4 dims=[0, 0] : (tensor<24xi32>) -> (tensor<4x3xf32>, tensor<4x3xi32>)
  // CHECK-NEXT: spmd.all_gather %arg2
  // CHECK-NEXT: spmd.all_gather %arg3
  %0 = spmd.all_gather %arg0 dim=0 @mesh {"y"} : (tensor<1x3xf32>) -> tensor<4x3xf32>
  %1 = spmd.all_gather %arg1 dim=0 @mesh {"y"} : (tensor<1x3xi32>) -> tensor<4x3xi32>
  %2 = spmd.all_gather %arg2 dim=0 @mesh {"y"} : (tensor<1x3xi8>) -> tensor<4x3xi8>
  %3 = spmd.all_gather %arg3 dim=0 @mesh {"y"} : (tensor<1x3xcomplex<f32>>) -> tensor<4x3xcomplex<f32>>
  return %0, %1, %2, %3 : tensor<4x3xf32>, tensor<4x3xi32>, tensor<4x3xi8>, tensor<4x3xcomplex<f32>>
}

// The shards that go to a device stand together, and those that come from one.
// CHECK-LABEL: func @exchanged
func.func @exchanged(%arg0: tensor<8x3xf32>, %arg1: tensor<2x4xi32>) -> (tensor<2x12xf32>, tensor<8x1xi32>) {
  // CHECK-NEXT: %[[P:.*]] = spmd.pack %arg0, %arg1 pieces=4 dims=[0, 1] : (tensor<8x3xf32>, tensor<2x4xi32>) -> tensor<32xi32>
  // CHECK-NEXT: %[[R:.*]] = spmd.all_to_all %[[P]] split_dim=0 concat_dim=0 @mesh {"y"} {sdy.cause = "exchanges shards of 2 tensors at once"} : (tensor<32xi32>) -> tensor<32xi32>
  // CHECK-NEXT: spmd.unpack %[[R]] pieces=4 dims=[1, 0] : (tensor<32xi32>) -> (tensor<2x12xf32>, tensor<8x1xi32>)
  %0 = spmd.all_to_all %arg0 split_dim=0 concat_dim=1 @mesh {"y"} : (tensor<8x3xf32>) -> tensor<2x12xf32>
  %1 = spmd.all_to_all %arg1 split_dim=1 concat_dim=0 @mesh {"y"} : (tensor<2x4xi32>) -> tensor<8x1xi32>
  return %0, %1 : tensor<2x12xf32>, tensor<8x1xi32>
}

// The second is made of the first, and one has nothing in it.
// CHECK-LABEL: func @dependent
func.func @dependent(%arg0: tensor<8xf32>, %arg1: tensor<0x8xf32>) -> (tensor<128xf32>, tensor<0x32xf32>) {
  // CHECK-NOT: spmd.pack
  %0 = spmd.all_gather %arg0 dim=0 @mesh {"y"} : (tensor<8xf32>) -> tensor<32xf32>
  %1 = spmd.all_gather %arg1 dim=1 @mesh {"y"} : (tensor<0x8xf32>) -> tensor<0x32xf32>
  %2 = spmd.all_gather %0 dim=0 @mesh {"y"} : (tensor<32xf32>) -> tensor<128xf32>
  return %2, %1 : tensor<128xf32>, tensor<0x32xf32>
}

// What a sum is made of on the way stays where it is: it takes more memory than what it is made of, or has an effect.
// CHECK-LABEL: func @stays
func.func @stays(%arg0: tensor<8xf32>, %arg1: tensor<f32>) -> (tensor<32xf32>, tensor<32xf32>, tensor<32xf32>) {
  // CHECK-NOT: spmd.pack
  %0 = spmd.all_gather %arg0 dim=0 @mesh {"y"} : (tensor<8xf32>) -> tensor<32xf32>
  %1 = stablehlo.add %0, %0 : tensor<32xf32>
  %2 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<8xf32>
  %3 = spmd.all_gather %2 dim=0 @mesh {"y"} : (tensor<8xf32>) -> tensor<32xf32>
  %4 = stablehlo.add %3, %3 : tensor<32xf32>
  %5 = stablehlo.custom_call @effect(%arg0) {has_side_effect = true} : (tensor<8xf32>) -> tensor<8xf32>
  %6 = spmd.all_gather %5 dim=0 @mesh {"y"} : (tensor<8xf32>) -> tensor<32xf32>
  return %1, %4, %6 : tensor<32xf32>, tensor<32xf32>, tensor<32xf32>
}

// A body has its own.
// CHECK-LABEL: func @in_a_loop
func.func @in_a_loop(%arg0: tensor<8xf32>, %arg1: tensor<8xf32>, %n: tensor<i32>) -> tensor<8xf32> {
  // CHECK: do {
  // CHECK: spmd.pack
  // CHECK: stablehlo.return
  %0:2 = stablehlo.while(%i = %n, %a = %arg0) : tensor<i32>, tensor<8xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = spmd.all_reduce %a @mesh {"x"} : tensor<8xf32>
    %2 = spmd.all_reduce %arg1 @mesh {"x"} : tensor<8xf32>
    %3 = stablehlo.add %1, %2 : tensor<8xf32>
    stablehlo.return %i, %3 : tensor<i32>, tensor<8xf32>
  }
  return %0#1 : tensor<8xf32>
}

// The window of all of %arg0 is fetched by the same gather, which is there once
// if it stays alone.
// CHECK-LABEL: func @gathers_a_window_too
func.func @gathers_a_window_too(%arg0: tensor<2xf32>, %arg1: tensor<2xf32>, %arg2: tensor<2xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<7xf32>) {
  // CHECK-NEXT: spmd.all_gather %arg0
  // CHECK-NEXT: spmd.pack %arg1, %arg2
  %0 = spmd.all_gather %arg0 dim=0 @mesh {"y"} : (tensor<2xf32>) -> tensor<8xf32>
  %1 = spmd.all_gather %arg1 dim=0 @mesh {"y"} : (tensor<2xf32>) -> tensor<8xf32>
  %2 = spmd.all_gather %arg2 dim=0 @mesh {"y"} : (tensor<2xf32>) -> tensor<8xf32>
  %3 = spmd.fetch_window %arg0 dim=0 global_size=8 start=0 step=0 size=7 @mesh {"y"} : (tensor<2xf32>) -> tensor<7xf32>
  return %0, %1, %2, %3 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<7xf32>
}
