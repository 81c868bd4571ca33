// RUN: sdy-opt %s -split-input-file -sdy-reads-to-gathers -cse -canonicalize | FileCheck %s

#row = affine_map<(i, j) -> (i)>
#both = affine_map<(i, j) -> (i, j)>

// A dim that is read at a loop's own index passes.
// CHECK-LABEL: func @embedding
// CHECK: %[[ROWS:.*]] = linalg.generic {{.*}} ins(%arg1 : tensor<4xi64>) outs(%{{.*}} : tensor<4xindex>)
// CHECK: %[[PLACES:.*]] = tensor.expand_shape %[[ROWS]] {{\[\[}}0, 1]] output_shape [4, 1]
// CHECK: %[[READ:.*]] = tensor.gather %arg0[%[[PLACES]]] gather_dims([0]) : (tensor<8x2xf32>, tensor<4x1xindex>) -> tensor<4x2xf32>
// CHECK: linalg.generic {{.*}} ins(%arg1, %[[READ]] : tensor<4xi64>, tensor<4x2xf32>)
// CHECK-NEXT: ^bb0(%{{.*}}: i64, %[[X:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: math.exp %[[X]]
func.func @embedding(%table: tensor<8x2xf32>, %rows: tensor<4xi64>) -> tensor<4x2xf32> {
  %e = tensor.empty() : tensor<4x2xf32>
  %0 = linalg.generic {indexing_maps = [#row, #both], iterator_types = ["parallel", "parallel"]} ins(%rows : tensor<4xi64>) outs(%e : tensor<4x2xf32>) {
  ^bb0(%row: i64, %out: f32):
    %i = arith.index_cast %row : i64 to index
    %zero = arith.constant 0 : i64
    %isPlace = arith.cmpi sge, %row, %zero : i64
    cf.assert %isPlace, "index must be larger or equal to 0"
    %j = linalg.index 1 : index
    %x = tensor.extract %table[%i, %j] : tensor<8x2xf32>
    %y = math.exp %x : f32
    linalg.yield %y : f32
  } -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// -----

#both = affine_map<(i, j) -> (i, j)>

// One place depends on both loops, so neither passes: a loop is there once. The
// dim that is read at a loop's own index is one of a batch.
// CHECK-LABEL: func @both
// CHECK: %[[PLACES:.*]]:2 = linalg.generic {{.*}} outs(%{{.*}}, %{{.*}} : tensor<4x2xindex>, tensor<4x2xindex>)
// CHECK: tensor.concat dim(2)
// CHECK: tensor.gather %arg0[%{{.*}}] gather_dims([0, 1]) {sdy.batching_dims = array<i64: 1, 1>} : (tensor<8x2xf32>, tensor<4x2x2xindex>) -> tensor<4x2xf32>
func.func @both(%table: tensor<8x2xf32>, %rows: tensor<4x2xindex>) -> tensor<4x2xf32> {
  %e = tensor.empty() : tensor<4x2xf32>
  %0 = linalg.generic {indexing_maps = [#both, #both], iterator_types = ["parallel", "parallel"]} ins(%rows : tensor<4x2xindex>) outs(%e : tensor<4x2xf32>) {
  ^bb0(%row: index, %out: f32):
    %j = linalg.index 1 : index
    %x = tensor.extract %table[%row, %j] : tensor<8x2xf32>
    linalg.yield %x : f32
  } -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// -----

// A place that is read, and a generate; where all dims pass nothing is gathered.
// CHECK-LABEL: func @generate
// CHECK: tensor.gather %arg1
// CHECK: tensor.gather %arg0[%{{.*}}] gather_dims([0]) : (tensor<8x2xf32>, tensor<4x1xindex>) -> tensor<4x2xf32>
// CHECK-NOT: tensor.gather
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}}, %arg2 : tensor<4xindex>, tensor<4x2xf32>, tensor<2x4xf32>)
// CHECK-NOT: tensor.generate
func.func @generate(%table: tensor<8x2xf32>, %places: tensor<4xindex>, %turned: tensor<2x4xf32>) -> tensor<4x2xf32> {
  %0 = tensor.generate {
  ^bb0(%i: index, %j: index):
    %three = arith.constant 3 : index
    %k = arith.subi %three, %i : index
    %at = tensor.extract %places[%k] : tensor<4xindex>
    %x = tensor.extract %table[%at, %j] : tensor<8x2xf32>
    %y = tensor.extract %turned[%j, %i] : tensor<2x4xf32>
    %z = arith.addf %x, %y : f32
    tensor.yield %z : f32
  } : tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// -----

#row = affine_map<(i) -> (i)>

// What the generic writes to says where: it stays.
// CHECK-LABEL: func @written
// CHECK-NOT: tensor.gather
func.func @written(%table: tensor<8xindex>, %start: tensor<4xindex>) -> tensor<4xindex> {
  %0 = linalg.generic {indexing_maps = [#row], iterator_types = ["parallel"]} outs(%start : tensor<4xindex>) {
  ^bb0(%out: index):
    %x = tensor.extract %table[%out] : tensor<8xindex>
    linalg.yield %x : index
  } -> tensor<4xindex>
  return %0 : tensor<4xindex>
}

// -----

// torch-mlir's resizing: the number of an image is an element of a tensor that counts, and is
// added to its length where it is negative. The image passes.
#row = affine_map<(b, i) -> (b, 0)>
#place = affine_map<(b, i) -> (i)>
#all = affine_map<(b, i) -> (b, i)>
// CHECK: #[[READ:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func @numbered
// CHECK: %[[READ_AT:.*]] = tensor.gather %arg0[%{{.*}}] gather_dims([1]) : (tensor<4x8xf32>, tensor<6x1xindex>) -> tensor<6x4xf32>
// CHECK: linalg.generic {indexing_maps = [{{.*}}#[[READ]]
func.func @numbered(%x: tensor<4x8xf32>, %at: tensor<6xi64>) -> tensor<4x6xf32> {
  %zero = arith.constant 0 : i64
  %length = arith.constant 4 : i64
  %0 = tensor.empty() : tensor<4xi64>
  %1 = linalg.generic {indexing_maps = [affine_map<(b) -> (b)>], iterator_types = ["parallel"]} outs(%0 : tensor<4xi64>) {
  ^bb0(%out: i64):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i64
    linalg.yield %j : i64
  } -> tensor<4xi64>
  %2 = tensor.expand_shape %1 [[0, 1]] output_shape [4, 1] : tensor<4xi64> into tensor<4x1xi64>
  %3 = tensor.empty() : tensor<4x6xf32>
  %4 = linalg.generic {indexing_maps = [#row, #place, #all], iterator_types = ["parallel", "parallel"]} ins(%2, %at : tensor<4x1xi64>, tensor<6xi64>) outs(%3 : tensor<4x6xf32>) {
  ^bb0(%in: i64, %p: i64, %out: f32):
    %negative = arith.cmpi slt, %in, %zero : i64
    %from_end = arith.addi %in, %length : i64
    %b = arith.select %negative, %from_end, %in : i64
    %i = arith.index_cast %b : i64 to index
    %j = arith.index_cast %p : i64 to index
    %e = tensor.extract %x[%i, %j] : tensor<4x8xf32>
    linalg.yield %e : f32
  } -> tensor<4x6xf32>
  return %4 : tensor<4x6xf32>
}

// -----

// The same of a constant, whose second loop the other position depends on too: a batch.
// CHECK-LABEL: func @constant
// CHECK: tensor.gather %arg0[%{{.*}}] gather_dims([0, 1]) {sdy.batching_dims = array<i64: 0, 0>}
func.func @constant(%x: tensor<3x8xf32>, %at: tensor<3x2xi64>) -> tensor<3x2xf32> {
  %rows = arith.constant dense<[[0, 0], [1, 1], [2, 2]]> : tensor<3x2xi64>
  %0 = tensor.empty() : tensor<3x2xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(b, i) -> (b, i)>, affine_map<(b, i) -> (b, i)>, affine_map<(b, i) -> (b, i)>], iterator_types = ["parallel", "parallel"]} ins(%rows, %at : tensor<3x2xi64>, tensor<3x2xi64>) outs(%0 : tensor<3x2xf32>) {
  ^bb0(%in: i64, %p: i64, %out: f32):
    %i = arith.index_cast %in : i64 to index
    %j = arith.index_cast %p : i64 to index
    %e = tensor.extract %x[%i, %j] : tensor<3x8xf32>
    linalg.yield %e : f32
  } -> tensor<3x2xf32>
  return %1 : tensor<3x2xf32>
}

// -----

// Neither of these counts: the rows change places, and 200 is no number of eight bits.
// CHECK-LABEL: func @no_count
// CHECK: tensor.gather %arg0[%{{.*}}] gather_dims([0]) : (tensor<3x8xf32>, tensor<3x1xindex>)
// CHECK: tensor.gather %arg1[%{{.*}}] gather_dims([0]) : (tensor<200xf32>, tensor<200x1xindex>)
func.func @no_count(%x: tensor<3x8xf32>, %y: tensor<200xf32>) -> (tensor<3x8xf32>, tensor<200xf32>) {
  %rows = arith.constant dense<[0, 2, 1]> : tensor<3xi64>
  %0 = tensor.empty() : tensor<3x8xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(b, i) -> (b)>, affine_map<(b, i) -> (b, i)>], iterator_types = ["parallel", "parallel"]} ins(%rows : tensor<3xi64>) outs(%0 : tensor<3x8xf32>) {
  ^bb0(%in: i64, %out: f32):
    %i = arith.index_cast %in : i64 to index
    %j = linalg.index 1 : index
    %e = tensor.extract %x[%i, %j] : tensor<3x8xf32>
    linalg.yield %e : f32
  } -> tensor<3x8xf32>
  %2 = tensor.empty() : tensor<200xf32>
  %3 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%2 : tensor<200xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %byte = arith.index_cast %i : index to i8
    %j = arith.index_cast %byte : i8 to index
    %e = tensor.extract %y[%j] : tensor<200xf32>
    linalg.yield %e : f32
  } -> tensor<200xf32>
  return %1, %3 : tensor<3x8xf32>, tensor<200xf32>
}
