// RUN: sdy-opt %s -split-input-file -sdy-partition-pipeline | FileCheck %s

// A device's positions are not the tensor's: the index is shifted by the offset.
sdy.mesh @mesh = <["x"=2]>
// CHECK-LABEL: func.func @main() -> tensor<4xindex>
// CHECK: %[[SIZE:.*]] = arith.constant 4 : index
// CHECK: %[[START:.*]] = arith.muli %{{.*}}, %[[SIZE]] : index
// CHECK: linalg.generic
// CHECK: %[[INDEX:.*]] = linalg.index 0
// CHECK: %[[SHIFTED:.*]] = arith.addi %[[INDEX]], %[[START]]
// CHECK: linalg.yield %[[SHIFTED]]
func.func @main() -> (tensor<8xindex> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %e = tensor.empty() : tensor<8xindex>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%e : tensor<8xindex>) {
  ^bb0(%a: index):
    %1 = linalg.index 0 : index
    linalg.yield %1 : index
  } -> tensor<8xindex>
  return %0 : tensor<8xindex>
}

// -----

// Seven rows on two devices, of which the second has three and some padding.
// exp of nothing is one, so what stands behind the end is left out by its index.
sdy.mesh @mesh = <["x"=2]>
// CHECK-LABEL: func.func @main(%arg0: tensor<4xf32>) -> tensor<f32>
// CHECK: linalg.generic
// CHECK: %[[SUM:.*]] = arith.addf
// CHECK: %[[AT:.*]] = arith.addi
// CHECK: %[[SIZE:.*]] = arith.constant 7 : index
// CHECK: %[[COUNTS:.*]] = arith.cmpi ult, %[[AT]], %[[SIZE]]
// CHECK: %[[KEPT:.*]] = arith.select %[[COUNTS]], %[[SUM]], %out
// CHECK: linalg.yield %[[KEPT]]
// CHECK: stablehlo.all_reduce
func.func @main(%x: tensor<7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<f32> {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]} ins(%x : tensor<7xf32>) outs(%zero : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %1 = math.exp %a : f32
    %2 = arith.addf %1, %b : f32
    linalg.yield %2 : f32
  } -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// Each device fetches the two rows behind its own that its windows read.
sdy.mesh @mesh = <["x"=2]>
// CHECK-LABEL: func.func @main(%arg0: tensor<1x5x4xf32>, %arg1: tensor<3x4x6xf32>) -> tensor<1x4x6xf32>
// CHECK: linalg.conv_1d_nwc_wcf ins(%{{.*}}, %arg1 : tensor<1x6x4xf32>, tensor<3x4x6xf32>) outs(%{{.*}} : tensor<1x4x6xf32>)
func.func @main(%x: tensor<1x10x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}, %w: tensor<3x4x6xf32>) -> (tensor<1x8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}) {
  %zero = arith.constant dense<0.0> : tensor<1x8x6xf32>
  %0 = linalg.conv_1d_nwc_wcf ins(%x, %w : tensor<1x10x4xf32>, tensor<3x4x6xf32>) outs(%zero : tensor<1x8x6xf32>) -> tensor<1x8x6xf32>
  return %0 : tensor<1x8x6xf32>
}

// -----

// Where a dim is padded, each device fetches what it holds of the result.
sdy.mesh @mesh = <["x"=2]>
// CHECK-LABEL: func.func @main(%arg0: tensor<4x4xf32>) -> tensor<6x6xf32>
// CHECK: tensor.pad %{{.*}} low[0, 1] high[0, 1]
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<12x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %one = arith.constant 1.0 : f32
  %0 = tensor.pad %x low[1, 1] high[3, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %one : f32
  } : tensor<8x4xf32> to tensor<12x6xf32>
  return %0 : tensor<12x6xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
// CHECK-LABEL: func.func @main(%arg0: tensor<4x4xf32>) -> (tensor<4x2xf32>, tensor<2x4xf32>, tensor<2x2x4xf32>)
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, tensor<4x2x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}) {
  // The dim that is whole has its local size.
  // CHECK: tensor.extract_slice %arg0[0, 1] [4, 2] [1, 1] : tensor<4x4xf32> to tensor<4x2xf32>
  %0 = tensor.extract_slice %x[0, 1] [8, 2] [1, 1] : tensor<8x4xf32> to tensor<8x2xf32>
  // Every second row, from the device's own.
  // CHECK: tensor.extract_slice %{{.*}}[0, 0] [2, 4] [2, 1]
  %1 = tensor.extract_slice %x[1, 0] [4, 4] [2, 1] : tensor<8x4xf32> to tensor<4x4xf32>
  // CHECK: tensor.expand_shape %arg0 {{\[\[}}0, 1], [2]] output_shape [2, 2, 4] : tensor<4x4xf32> into tensor<2x2x4xf32>
  %2 = tensor.expand_shape %x [[0, 1], [2]] output_shape [4, 2, 4] : tensor<8x4xf32> into tensor<4x2x4xf32>
  return %0, %1, %2 : tensor<8x2xf32>, tensor<4x4xf32>, tensor<4x2x4xf32>
}

// -----

// Slices and pads of TOSA name their sizes: local ones.
sdy.mesh @mesh = <["x"=2]>
// CHECK-LABEL: func.func @main(%arg0: tensor<4x4xf32>) -> (tensor<4x2xf32>, tensor<6x4xf32>)
// CHECK-DAG: %[[SIZE:.*]] = tosa.const_shape {values = dense<[4, 2]> : tensor<2xindex>}
// CHECK: tosa.slice %arg0, %{{.*}}, %[[SIZE]]
// CHECK: %[[NONE:.*]] = tosa.const_shape {values = dense<0> : tensor<4xindex>}
// CHECK: tosa.pad %{{.*}}, %[[NONE]], %{{.*}} : (tensor<6x4xf32>
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, tensor<12x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %start = tosa.const_shape {values = dense<[0, 1]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %size = tosa.const_shape {values = dense<[8, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %0 = tosa.slice %x, %start, %size : (tensor<8x4xf32>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<8x2xf32>
  %pads = tosa.const_shape {values = dense<[1, 3, 0, 0]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %value = "tosa.const"() {values = dense<1.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %1 = tosa.pad %x, %pads, %value : (tensor<8x4xf32>, !tosa.shape<4>, tensor<1xf32>) -> tensor<12x4xf32>
  return %0, %1 : tensor<8x2xf32>, tensor<12x4xf32>
}

// -----

// A loop around local values, its bounds as they were.
sdy.mesh @mesh = <["x"=2]>
// CHECK-LABEL: func.func @main(%arg0: tensor<4xf32>, %arg1: index) -> tensor<4xf32>
// CHECK: scf.for %{{.*}} iter_args(%[[VALUE:.*]] = %arg0) -> (tensor<4xf32>)
// CHECK: math.tanh %[[VALUE]] : tensor<4xf32>
func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %n: index) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> (tensor<8xf32>) {
    %1 = math.tanh %v : tensor<8xf32>
    scf.yield %1 : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}

// -----

// Each device transforms its signals, scatters its rows, and has the
// multipliers of its channels.
sdy.mesh @mesh = <["x"=2]>
// CHECK-LABEL: func.func @main(%arg0: tensor<2x8x16xf32>, %arg1: tensor<2x8x4xf32>, %arg2: tensor<2x3xi32>, %arg3: tensor<2x3x4xf32>, %arg4: tensor<5x2xi8>
// CHECK: tosa.rfft2d %arg0 : (tensor<2x8x16xf32>) -> (tensor<2x8x9xf32>, tensor<2x8x9xf32>)
// CHECK: tosa.scatter %arg1, %arg2, %arg3 : (tensor<2x8x4xf32>, tensor<2x3xi32>, tensor<2x3x4xf32>) -> tensor<2x8x4xf32>
// CHECK: tosa.rescale %arg4, {{.*}} : (tensor<5x2xi8>, tensor<2xi32>, tensor<2xi8>, tensor<1xi8>, tensor<1xi16>) -> tensor<5x2xi16>
func.func @main(%r: tensor<4x8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>},
                %v: tensor<4x8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}, %i: tensor<4x3xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                %u: tensor<4x3x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}, %q: tensor<5x4xi8> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
                %m: tensor<4xi32>, %s: tensor<4xi8>, %in: tensor<1xi8>, %out: tensor<1xi16>) -> (tensor<4x8x9xf32>, tensor<4x8x4xf32>, tensor<5x4xi16>) {
  %0:2 = tosa.rfft2d %r : (tensor<4x8x16xf32>) -> (tensor<4x8x9xf32>, tensor<4x8x9xf32>)
  %1 = tosa.scatter %v, %i, %u : (tensor<4x8x4xf32>, tensor<4x3xi32>, tensor<4x3x4xf32>) -> tensor<4x8x4xf32>
  %2 = tosa.rescale %q, %m, %s, %in, %out {rounding_mode = SINGLE_ROUND, scale32 = true, per_channel = true, input_unsigned = false, output_unsigned = false} : (tensor<5x4xi8>, tensor<4xi32>, tensor<4xi8>, tensor<1xi8>, tensor<1xi16>) -> tensor<5x4xi16>
  return %0#0, %1, %2 : tensor<4x8x9xf32>, tensor<4x8x4xf32>, tensor<5x4xi16>
}

// -----

// Positions behind the end take no part in a sum: a named op becomes a generic
// one, whose body says so.
sdy.mesh @mesh = <["x"=2]>
// CHECK-LABEL: func.func @main(%arg0: tensor<4xf32>, %arg1: tensor<2x4xi8>, %arg2: tensor<4x2xi8>)
// CHECK: linalg.generic {{.*}} iterator_types = ["reduction"]} ins({{.*}} : tensor<4xf32>)
// CHECK: %[[EXP:.*]] = math.exp
// CHECK: %[[SUM:.*]] = arith.addf %[[EXP]], %[[SO_FAR:.*]] : f32
// CHECK: arith.select %{{.*}}, %[[SUM]], %[[SO_FAR]] : f32
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]} ins({{.*}} : tensor<2x4xi8>, tensor<4x2xi8>, i32, i32)
func.func @main(%x: tensor<7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %a: tensor<2x7xi8> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %b: tensor<7x2xi8> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<f32>, tensor<2x2xi32>) {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %0 = linalg.reduce ins(%x : tensor<7xf32>) outs(%zero : tensor<f32>) dimensions = [0]
    (%p: f32, %q: f32) {
      %2 = math.exp %p : f32
      %3 = arith.addf %2, %q : f32
      linalg.yield %3 : f32
    }
  %zp = arith.constant 3 : i32
  %none = arith.constant dense<0> : tensor<2x2xi32>
  %1 = linalg.quantized_matmul ins(%a, %b, %zp, %zp : tensor<2x7xi8>, tensor<7x2xi8>, i32, i32) outs(%none : tensor<2x2xi32>) -> tensor<2x2xi32>
  return %0, %1 : tensor<f32>, tensor<2x2xi32>
}

// -----

// A named op that asks for positions, whose body is not written down, becomes a
// generic one; a reshape says its own shape.
sdy.mesh @mesh = <["x"=2]>
// CHECK-LABEL: func.func @main(%arg0: tensor<4x3xf32>) -> tensor<12xf32>
// CHECK: linalg.generic
// CHECK: %[[I:.*]] = linalg.index 0
// CHECK-NEXT: arith.addi %[[I]]
// CHECK: tensor.reshape %{{.*}}(%{{.*}}) : (tensor<4x3xf32>, tensor<1xindex>) -> tensor<12xf32>
func.func @main(%a: tensor<8x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %one = arith.constant 1.0 : f64
  %seed = arith.constant 7 : i32
  %e = tensor.empty() : tensor<8x3xf32>
  %0 = linalg.fill_rng_2d ins(%one, %one, %seed : f64, f64, i32) outs(%e : tensor<8x3xf32>) -> tensor<8x3xf32>
  %1 = arith.addf %0, %a : tensor<8x3xf32>
  %shape = arith.constant dense<24> : tensor<1xindex>
  %2 = tensor.reshape %1(%shape) : (tensor<8x3xf32>, tensor<1xindex>) -> tensor<24xf32>
  return %2 : tensor<24xf32>
}
