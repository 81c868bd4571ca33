// Many bytes and many devices. What more bytes than 64 bits count are is refused in check-supported-errors.mlir.
// RUN: sdy-opt %s -split-input-file --sdy-partition-pipeline | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=3]>

// CHECK-LABEL: func.func @bytes(
// CHECK-SAME: %arg0: tensor<1152921504606846976xi8>, %arg1: tensor<768614336404564651xi8>) -> (tensor<2305843009213693952xi8>, tensor<384307168202282326xi8>)
// CHECK: stablehlo.constant dense<[0, 384307168202282326, 768614336404564652, 2, 384307168202282328, 768614336404564654]> : tensor<6xi64>
// CHECK: stablehlo.dynamic_slice {{.*}} sizes = [384307168202282326] : (tensor<1152921504606846980xi8>, tensor<i64>)
func.func @bytes(%a: tensor<2305843009213693952xi8> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<2305843009213693952xi8> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>})
    -> (tensor<2305843009213693952xi8> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<2305843009213693952xi8> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "x"}]>}) {
  %0 = stablehlo.add %a, %b : tensor<2305843009213693952xi8>
  %1 = stablehlo.multiply %0, %a : tensor<2305843009213693952xi8>
  return %0, %1 : tensor<2305843009213693952xi8>, tensor<2305843009213693952xi8>
}

// -----

sdy.mesh @mesh = <["fsdp"=32, "tensor"=8]>

// CHECK-LABEL: func.func @saved_activations(%arg0: tensor<96x8x4096x1536xbf16>)
func.func @saved_activations(%a: tensor<96x256x4096x12288xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"fsdp"}, {}, {"tensor"}]>}) -> tensor<96x256x4096x12288xbf16> {
  // CHECK-NEXT: stablehlo.add %arg0, %arg0 : tensor<96x8x4096x1536xbf16>
  %0 = stablehlo.add %a, %a : tensor<96x256x4096x12288xbf16>
  return %0 : tensor<96x256x4096x12288xbf16>
}

// -----

sdy.mesh @mesh = <["data"=2048, "fsdp"=64, "tensor"=8]>

// CHECK: mhlo.num_partitions = 1048576
// CHECK-LABEL: func.func @devices(%arg0: tensor<4x16xf32>, %arg1: tensor<16x4xf32>)
func.func @devices(%a: tensor<524288x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data", "fsdp"}, {}]>}, %b: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"tensor"}]>})
    -> (tensor<524288x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data", "fsdp"}, {"tensor"}]>}) {
  // CHECK-NEXT: stablehlo.dot_general {{.*}} -> tensor<4x4xf32>
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<524288x16xf32>, tensor<16x32xf32>) -> tensor<524288x32xf32>
  return %0 : tensor<524288x32xf32>
}
