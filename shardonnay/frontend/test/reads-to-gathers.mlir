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
