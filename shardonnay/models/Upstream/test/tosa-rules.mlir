// RUN: sdy-opt %s -sdy-populate-op-sharding-rules | FileCheck %s

// CHECK-LABEL: func @elementwise
func.func @elementwise(%a: tensor<8x16xf32>, %b: tensor<1x16xf32>) -> tensor<8x16xf32> {
  // A dim that is repeated has a factor of its own.
  // CHECK: tosa.add {{.*}}<([i, j], [k, j])->([i, j]) {i=8, j=16, k=1}>
  %0 = tosa.add %a, %b : (tensor<8x16xf32>, tensor<1x16xf32>) -> tensor<8x16xf32>
  %shift = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  // CHECK: tosa.mul {{.*}}<([i, j], [i, j], [k])->([i, j]) {i=8, j=16, k=1}>
  %1 = tosa.mul %0, %0, %shift : (tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xi8>) -> tensor<8x16xf32>
  // CHECK: tosa.clamp {{.*}}<([i, j])->([i, j]) {i=8, j=16}>
  %2 = tosa.clamp %1 {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  // CHECK: tosa.tanh {{.*}}<([i, j])->([i, j]) {i=8, j=16}>
  %3 = tosa.tanh %2 : (tensor<8x16xf32>) -> tensor<8x16xf32>
  // CHECK: tosa.cast {{.*}}<([i, j])->([i, j]) {i=8, j=16}>
  %4 = tosa.cast %3 : (tensor<8x16xf32>) -> tensor<8x16xi32>
  return %3 : tensor<8x16xf32>
}

// CHECK-LABEL: func @matmul
func.func @matmul(%a: tensor<2x8x4xf32>, %b: tensor<2x4x16xf32>) -> tensor<2x8x16xf32> {
  %zp = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  // CHECK: tosa.matmul {{.*}}<([i, j, l], [i, l, k], [m], [n])->([i, j, k]) {i=2, j=8, k=16, l=4, m=1, n=1} reduction={l}>
  %0 = tosa.matmul %a, %b, %zp, %zp : (tensor<2x8x4xf32>, tensor<2x4x16xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x8x16xf32>
  return %0 : tensor<2x8x16xf32>
}

// A part of a sum would have zero points of elements that are not there.
// CHECK-LABEL: func @zero_points
func.func @zero_points(%a: tensor<2x8x4xi8>, %b: tensor<2x4x16xi8>) -> tensor<2x8x16xi32> {
  %zp = "tosa.const"() {values = dense<3> : tensor<1xi8>} : () -> tensor<1xi8>
  // CHECK: tosa.matmul {{.*}} need_replication={l}>
  %0 = tosa.matmul %a, %b, %zp, %zp : (tensor<2x8x4xi8>, tensor<2x4x16xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<2x8x16xi32>
  return %0 : tensor<2x8x16xi32>
}

// CHECK-LABEL: func @convolutions
func.func @convolutions(%x: tensor<2x16x16x4xf32>, %w: tensor<6x3x3x4xf32>, %b: tensor<6xf32>, %dw: tensor<3x3x4x2xf32>, %db: tensor<8xf32>) -> tensor<2x14x14x6xf32> {
  %zp = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  // CHECK: tosa.conv2d {{.*}}<([i, j, k, o], [l, m, n, o], [l], [p], [q])->([i, j, k, l]) {i=2, j=14, k=14, l=6, m=3, n=3, o=4, p=1, q=1} reduction={o} need_replication={m, n}{{.*}}>
  %0 = tosa.conv2d %x, %w, %b, %zp, %zp {acc_type = f32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>} : (tensor<2x16x16x4xf32>, tensor<6x3x3x4xf32>, tensor<6xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x14x14x6xf32>
  // The channels of the result are those of the operand times the multiplier.
  // CHECK: tosa.depthwise_conv2d {{.*}}<([i, j, k, l], [n, o, l, m], [lm], [p], [q])->([i, j, k, lm]) {i=2, j=14, k=14, l=4, m=2, n=3, o=3, p=1, q=1} need_replication={n, o}{{.*}}>
  %1 = tosa.depthwise_conv2d %x, %dw, %db, %zp, %zp {acc_type = f32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>} : (tensor<2x16x16x4xf32>, tensor<3x3x4x2xf32>, tensor<8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x14x14x8xf32>
  // CHECK: tosa.max_pool2d {{.*}}<([i, j, k, l])->([i, j, k, l]) {i=2, j=8, k=8, l=4}{{.*}}>
  %2 = tosa.max_pool2d %x {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>} : (tensor<2x16x16x4xf32>) -> tensor<2x8x8x4xf32>
  return %0 : tensor<2x14x14x6xf32>
}

// Of numbers of one bit the maximum is what "and" makes, and a sum wraps.
// CHECK-LABEL: func @booleans
func.func @booleans(%x: tensor<8x16xi1>) -> tensor<8x1xi1> {
  // CHECK: tosa.reduce_max {{.*}} need_replication={j}>
  %0 = tosa.reduce_max %x {axis = 1 : i32} : (tensor<8x16xi1>) -> tensor<8x1xi1>
  // CHECK: tosa.reduce_min {{.*}} need_replication={j}>
  %1 = tosa.reduce_min %x {axis = 1 : i32} : (tensor<8x16xi1>) -> tensor<8x1xi1>
  // CHECK: tosa.reduce_sum {{.*}} need_replication={j}>
  %2 = tosa.reduce_sum %x {axis = 1 : i32} : (tensor<8x16xi1>) -> tensor<8x1xi1>
  // CHECK: tosa.reduce_any {{.*}} reduction={j}>
  %3 = tosa.reduce_any %x {axis = 1 : i32} : (tensor<8x16xi1>) -> tensor<8x1xi1>
  return %3 : tensor<8x1xi1>
}

// CHECK-LABEL: func @reductions
func.func @reductions(%x: tensor<8x16xf32>) -> tensor<8x1xf32> {
  // CHECK: tosa.reduce_sum {{.*}}<([i, j])->([i, k]) {i=8, j=16, k=1} reduction={j}>
  %0 = tosa.reduce_sum %x {axis = 1 : i32} : (tensor<8x16xf32>) -> tensor<8x1xf32>
  // CHECK: tosa.reduce_max {{.*}} reduction={j}>
  %1 = tosa.reduce_max %x {axis = 1 : i32} : (tensor<8x16xf32>) -> tensor<8x1xf32>
  // CHECK: tosa.reduce_max {{.*}} need_replication={j}>
  %2 = tosa.reduce_max %x {axis = 1 : i32, nan_mode = IGNORE} : (tensor<8x16xf32>) -> tensor<8x1xf32>
  // CHECK: tosa.reduce_product {{.*}} need_replication={j}>
  %3 = tosa.reduce_product %x {axis = 1 : i32} : (tensor<8x16xf32>) -> tensor<8x1xf32>
  // CHECK: tosa.argmax {{.*}}<([i, j])->([i]) {i=8, j=16} need_replication={j}>
  %4 = tosa.argmax %x {axis = 1 : i32} : (tensor<8x16xf32>) -> tensor<8xi32>
  return %0 : tensor<8x1xf32>
}

// CHECK-LABEL: func @shapes
func.func @shapes(%x: tensor<8x16xf32>) -> tensor<16x8xf32> {
  // CHECK: tosa.transpose {{.*}}<([j, i])->([i, j]) {i=16, j=8}>
  %1 = tosa.transpose %x {perms = array<i32: 1, 0>} : (tensor<8x16xf32>) -> tensor<16x8xf32>
  // CHECK: tosa.concat {{.*}}<([i, j], [i, j])->([i, j]) {i=8, j=32} need_replication={j}>
  %2 = tosa.concat %x, %x {axis = 1 : i32} : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x32xf32>
  return %1 : tensor<16x8xf32>
}

// CHECK-LABEL: func @rows_at_places
func.func @rows_at_places(%v: tensor<2x8x4xf32>, %i: tensor<2x3xi32>, %u: tensor<2x3x4xf32>) -> tensor<2x8x4xf32> {
  // CHECK: tosa.scatter {{.*}}<([i, j, k], [i, l], [i, l, k])->([i, j, k]) {i=2, j=8, k=4, l=3} need_replication={j, l}>
  %0 = tosa.scatter %v, %i, %u : (tensor<2x8x4xf32>, tensor<2x3xi32>, tensor<2x3x4xf32>) -> tensor<2x8x4xf32>
  return %0 : tensor<2x8x4xf32>
}

// CHECK-LABEL: func @transforms
func.func @transforms(%r: tensor<4x8x16xf32>, %i: tensor<4x8x16xf32>) {
  // CHECK: tosa.fft2d {{.*}}<([i, j, k], [i, j, k])->([i, j, k], [i, j, k]) {i=4, j=8, k=16} need_replication={j, k}>
  %0:2 = tosa.fft2d %r, %i {inverse = false} : (tensor<4x8x16xf32>, tensor<4x8x16xf32>) -> (tensor<4x8x16xf32>, tensor<4x8x16xf32>)
  // CHECK: tosa.rfft2d {{.*}}<([i, j, k])->([i, j, l], [i, j, l]) {i=4, j=8, k=16, l=9} need_replication={j, k, l}>
  %1:2 = tosa.rfft2d %r : (tensor<4x8x16xf32>) -> (tensor<4x8x9xf32>, tensor<4x8x9xf32>)
  return
}

// CHECK-LABEL: func @rescale
func.func @rescale(%x: tensor<4x8x3xi8>) -> tensor<4x8x3xi16> {
  %m = "tosa.const"() {values = dense<[1, 2, 3]> : tensor<3xi32>} : () -> tensor<3xi32>
  %s = "tosa.const"() {values = dense<[30, 30, 30]> : tensor<3xi8>} : () -> tensor<3xi8>
  %one = "tosa.const"() {values = dense<1> : tensor<1xi32>} : () -> tensor<1xi32>
  %shift = "tosa.const"() {values = dense<30> : tensor<1xi8>} : () -> tensor<1xi8>
  %in = "tosa.const"() {values = dense<5> : tensor<1xi8>} : () -> tensor<1xi8>
  %out = "tosa.const"() {values = dense<0> : tensor<1xi16>} : () -> tensor<1xi16>
  // The multipliers are those of the last dim.
  // CHECK: tosa.rescale {{.*}}<([i, j, k], [k], [k], [l], [m])->([i, j, k]) {i=4, j=8, k=3, l=1, m=1}>
  %0 = tosa.rescale %x, %m, %s, %in, %out {rounding_mode = SINGLE_ROUND, scale32 = true, per_channel = true, input_unsigned = false, output_unsigned = false} : (tensor<4x8x3xi8>, tensor<3xi32>, tensor<3xi8>, tensor<1xi8>, tensor<1xi16>) -> tensor<4x8x3xi16>
  // CHECK: tosa.rescale {{.*}}<([i, j, k], [l], [m], [n], [o])->([i, j, k]) {i=4, j=8, k=3, l=1, m=1, n=1, o=1}>
  %1 = tosa.rescale %x, %one, %shift, %in, %out {rounding_mode = SINGLE_ROUND, scale32 = true, per_channel = false, input_unsigned = false, output_unsigned = false} : (tensor<4x8x3xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>, tensor<1xi16>) -> tensor<4x8x3xi16>
  return %0 : tensor<4x8x3xi16>
}
