// RUN: sdy-opt %s -split-input-file -verify-diagnostics -sdy-check-supported -allow-unregistered-dialect

// expected-error @below {{expected one replica, got 2: make the replicas a mesh axis}}
module attributes {mhlo.num_replicas = 2 : i32} {
  func.func @main() {
    return
  }
}

// -----

// expected-error @below {{expected a public function with a body, got none}}
module {}

// -----

// expected-error @below {{expected a public function with a body, got none}}
module {
  // expected-note @below {{a module within the module: partition each by itself}}
  module {
    func.func @main() {
      return
    }
  }
}

// -----

func.func @main() -> tensor<ui32> {
  // expected-error @below {{'stablehlo.partition_id' speaks of single devices, of which there are none yet: move it into a manual computation}}
  %0 = stablehlo.partition_id : tensor<ui32>
  return %0 : tensor<ui32>
}

// -----

func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{'stablehlo.all_reduce' speaks of single devices}}
  %0 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @main(%t: !stablehlo.token) -> tensor<8xf32> {
  // expected-error @below {{'stablehlo.infeed' has an effect, which every device would have: give it a sharding on one device}}
  %0:2 = "stablehlo.infeed"(%t) <{infeed_config = ""}> : (!stablehlo.token) -> (tensor<8xf32>, !stablehlo.token)
  return %0#0 : tensor<8xf32>
}

// -----

// expected-note @below {{the first one}}
func.func @a() {
  return
}
// expected-error @below {{expected one public function, got another one, @b: partition each in a module of its own}}
func.func @b() {
  return
}

// -----

func.func @main(%arg0: tensor<i32>) {
  // expected-error @below {{'test.case' has regions and cannot be partitioned yet: unroll the loop, or compute both branches and select}}
  "test.case"(%arg0) ({
    "test.yield"() : () -> ()
  }) : (tensor<i32>) -> ()
  return
}

// -----

func.func private @external()
func.func @main() {
  // expected-error @below {{call of a function that was not inlined: expected private functions with a body}}
  call @external() : () -> ()
  return
}

// -----

// expected-error @below {{expected a function of one block: branches between blocks cannot be partitioned yet}}
func.func @main() {
  "test.branch"()[^bb1] : () -> ()
^bb1:
  return
}

// -----

// expected-error @below {{expected static shapes, got 'tensor<?xf32>'; lower the program for arguments of known shapes}}
func.func @main(%arg0: tensor<?xf32>, %arg1: tensor<8xf32>) {
  %0 = "test.op"(%arg0) : (tensor<?xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @main(%arg1: tensor<8xf32>) {
  // expected-error @below {{expected static shapes, got 'tensor<?xf32, "at most 8">', whose size depends on data; compute on as many elements as there may be, and mask those that there are not}}
  %0 = "test.op"(%arg1) : (tensor<8xf32>) -> tensor<?xf32, "at most 8">
  return
}

// -----

func.func @main(%arg1: tensor<8xf32>) {
  // expected-error @below {{expected static shapes, got 'tensor<*xf32>'; lower the program for arguments of known shapes}}
  %0 = "test.op"(%arg1) : (tensor<8xf32>) -> tensor<*xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>
sdy.mesh @other = <["y"=4]>
// expected-note @below {{the first mesh in use}}
func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // expected-error @below {{expected all meshes of 2 devices, as #sdy.mesh<["x"=2]> has, got #sdy.mesh<["y"=4]>}}
  %0 = sdy.sharding_constraint %arg0 <@other, [{"y"}]> : tensor<8xf32>
  return
}

// -----

// expected-error @below {{expected a mesh of at most 1048576 devices, got 2147483648}}
sdy.mesh @mesh = <["x"=2, "y"=1073741824]>
func.func @main() {
  return
}

// -----

// The product wraps around to 0.
// expected-error @below {{expected less than 2^62 bytes, got 'tensor<4294967296x4294967296xf32>'}}
func.func @main(%arg0: tensor<4294967296x4294967296xf32>) {
  return
}

// -----

// expected-error @below {{expected less than 2^62 bytes, got 'tensor<0x4611686018427387904xf32>'}}
func.func @main(%arg0: tensor<0x4611686018427387904xf32>) {
  return
}

// -----

// As much as fits, and one element of twice the size.
// expected-error @below {{expected less than 2^62 bytes, got 'tensor<2x2305843009213693952xi8>'}}
func.func @main(%arg0: tensor<2305843009213693952xi8>, %arg1: tensor<2x2305843009213693952xi8>) {
  return
}

// -----

func.func @main(%arg0: tensor<8xf32>, %arg1: tensor<f32>) -> tensor<f32> {
  // expected-note @below {{the value from outside}}
  %c = stablehlo.constant dense<2.0> : tensor<f32>
  // expected-error @below {{expected regions that use no tensor from outside: make the value an operand, or compute it inside}}
  %0 = "stablehlo.reduce"(%arg0, %arg1) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %c : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

func.func @effect(%x: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' has an effect, which every device would have: give it a sharding on one device, or move it into a manual computation}}
  stablehlo.custom_call @print(%x) {has_side_effect = true} : (tensor<4xf32>) -> ()
  return
}

// -----

// expected-error @+1 {{expected tensors, got 'memref<8xf32>'; partition the program before it is bufferized}}
func.func @main(%a: memref<8xf32>, %b: memref<8xf32>) {
  linalg.add ins(%a, %a : memref<8xf32>, memref<8xf32>) outs(%b : memref<8xf32>)
  return
}
