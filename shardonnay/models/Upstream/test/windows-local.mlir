// RUN: sdy-opt %s -split-input-file -sdy-partition-pipeline | FileCheck %s

// Windows that are in a device's own positions: nothing is sent.
sdy.mesh @mesh = <["x"=2, "y"=4]>
// CHECK-LABEL: func.func @main(%arg0: tensor<2x4x8x4xf32>) -> tensor<2x2x4x4xf32>
// CHECK-NEXT: tosa.max_pool2d %arg0 {{.*}} -> tensor<2x2x4x4xf32>
// CHECK-NEXT: return
func.func @main(%a: tensor<2x16x16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}, {"x"}, {}]>}) -> tensor<2x8x8x4xf32> {
  %0 = tosa.max_pool2d %a {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>} : (tensor<2x16x16x4xf32>) -> tensor<2x8x8x4xf32>
  return %0 : tensor<2x8x8x4xf32>
}

// -----

// What neighbours have is fetched; where nothing is, no number is smaller. The
// dim that is not sharded keeps its padding. Nine rows in unequal shards.
sdy.mesh @mesh = <["x"=2]>
// CHECK-LABEL: func.func @main(%arg0: tensor<1x9x9x2xf32>) -> tensor<1x5x9x2xf32>
// CHECK: dense<0xFF800000> : tensor<f32>
// CHECK: "stablehlo.collective_permute"
// CHECK: tosa.max_pool2d %{{.*}} {kernel = array<i64: 3, 3>, pad = array<i64: 0, 0, 1, 1>, stride = array<i64: 2, 1>} : (tensor<1x11x9x2xf32>) -> tensor<1x5x9x2xf32>
func.func @main(%a: tensor<1x17x9x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}, {}]>}) -> (tensor<1x9x9x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}, {}]>}) {
  %0 = tosa.max_pool2d %a {kernel = array<i64: 3, 3>, stride = array<i64: 2, 1>, pad = array<i64: 1, 1, 1, 1>} : (tensor<1x17x9x2xf32>) -> tensor<1x9x9x2xf32>
  return %0 : tensor<1x9x9x2xf32>
}

// -----

// A mean counts what is there: a padded dim is needed whole, the other is not.
sdy.mesh @mesh = <["x"=2]>
// CHECK-LABEL: func.func @main(%arg0: tensor<1x5x8x1024xf32>, %arg1: tensor<1x8x4x2xf32>) -> (tensor<1x4x8x1024xf32>, tensor<1x7x8x2xf32>)
// CHECK: tosa.avg_pool2d {{.*}} : (tensor<1x6x8x1024xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x8x1024xf32>
// CHECK: tosa.avg_pool2d {{.*}} : (tensor<1x8x8x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x7x8x2xf32>
func.func @main(%a: tensor<1x9x8x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}, {}]>}, %b: tensor<1x8x8x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"x"}, {}]>})
    -> (tensor<1x7x8x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}, {}]>}, tensor<1x7x8x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {}]>}) {
  %zp = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %0 = tosa.avg_pool2d %a, %zp, %zp {acc_type = f32, kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0, 1, 1>} : (tensor<1x9x8x1024xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x7x8x1024xf32>
  %1 = tosa.avg_pool2d %b, %zp, %zp {acc_type = f32, kernel = array<i64: 2, 3>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0, 1, 1>} : (tensor<1x8x8x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x7x8x2xf32>
  return %0, %1 : tensor<1x7x8x1024xf32>, tensor<1x7x8x2xf32>
}

// -----

// The padding of a convolution is its zero point.
sdy.mesh @mesh = <["x"=2]>
// CHECK-LABEL: func.func @main(%arg0: tensor<1x32x16x4xf32>, %arg1: tensor<6x3x3x4xf32>, %arg2: tensor<6xf32>, %arg3: tensor<3x3x4x2xf32>, %arg4: tensor<8xf32>) -> (tensor<1x16x14x6xf32>, tensor<1x32x14x8xf32>)
// CHECK: tosa.conv2d {{.*}} {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 1>} : (tensor<1x33x16x4xf32>
// CHECK: tosa.depthwise_conv2d {{.*}} {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x34x16x4xf32>
func.func @main(%x: tensor<1x64x16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}, {}]>}, %w: tensor<6x3x3x4xf32>, %b: tensor<6xf32>, %dw: tensor<3x3x4x2xf32>, %db: tensor<8xf32>)
    -> (tensor<1x32x14x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}, {}]>}, tensor<1x64x14x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}, {}]>}) {
  %zp = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %0 = tosa.conv2d %x, %w, %b, %zp, %zp {acc_type = f32, pad = array<i64: 1, 0, 0, 0>, stride = array<i64: 2, 1>, dilation = array<i64: 1, 1>} : (tensor<1x64x16x4xf32>, tensor<6x3x3x4xf32>, tensor<6xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x32x14x6xf32>
  %1 = tosa.depthwise_conv2d %x, %dw, %db, %zp, %zp {acc_type = f32, pad = array<i64: 1, 1, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>} : (tensor<1x64x16x4xf32>, tensor<3x3x4x2xf32>, tensor<8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x64x14x8xf32>
  return %0, %1 : tensor<1x32x14x6xf32>, tensor<1x64x14x8xf32>
}

// -----

// A kernel of one position: the spatial dims pass.
sdy.mesh @mesh = <["x"=2]>
// CHECK-LABEL: func.func @main(%arg0: tensor<1x8x8x4xf32>
// CHECK-NOT: all_gather
// CHECK: tosa.conv2d {{.*}} -> tensor<1x8x8x6xf32>
func.func @main(%x: tensor<1x16x8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}, {}]>}, %w: tensor<6x1x1x4xf32>, %b: tensor<6xf32>) -> tensor<1x16x8x6xf32> {
  %zp = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %0 = tosa.conv2d %x, %w, %b, %zp, %zp {acc_type = f32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>} : (tensor<1x16x8x4xf32>, tensor<6x1x1x4xf32>, tensor<6xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x16x8x6xf32>
  return %0 : tensor<1x16x8x6xf32>
}

// -----

// A map's constant counts from where the window begins.
sdy.mesh @mesh = <["x"=2]>
// CHECK-LABEL: func.func @main(%arg0: tensor<5xf32>) -> tensor<2xf32>
// CHECK: linalg.generic {{.*}} : tensor<4xf32>) outs(%{{.*}} : tensor<2xf32>)
func.func @main(%a: tensor<9xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (2 * i + 1)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%a : tensor<9xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%x: f32, %out: f32):
    linalg.yield %x : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// What is padded with is known when the program runs.
sdy.mesh @mesh = <["x"=2]>
// CHECK-LABEL: func.func @main(%arg0: tensor<32xf32>, %arg1: tensor<f32>) -> tensor<33xf32>
// CHECK-NOT: all_gather
// CHECK: %[[VALUE:.*]] = tensor.extract %arg1[]
// CHECK: tensor.from_elements %[[VALUE]] : tensor<f32>
// CHECK-NOT: all_gather
func.func @main(%a: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %v: tensor<f32>) -> (tensor<66xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %value = tensor.extract %v[] : tensor<f32>
  %0 = tensor.pad %a low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %value : f32
  } : tensor<64xf32> to tensor<66xf32>
  return %0 : tensor<66xf32>
}
