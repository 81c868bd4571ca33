// RUN: sdy-opt %s -split-input-file -sdy-partition-pipeline 2>/dev/null | FileCheck %s

// A device's positions are shifted to those of the tensor.
sdy.mesh @mesh = <["x"=2]>
// CHECK-LABEL: func.func @main(%arg0: tensor<4x3xf32>) -> tensor<4x3xf32>
// CHECK: %[[START:.*]] = arith.muli
// CHECK: tensor.generate
// CHECK-NEXT: ^bb0(%[[I:.*]]: index, %[[J:.*]]: index):
// CHECK-NEXT: %[[AT:.*]] = arith.addi %[[I]], %[[START]]
// CHECK-NEXT: arith.addi %[[AT]], %[[J]]
func.func @main(%a: tensor<7x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<7x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = tensor.generate {
  ^bb0(%i: index, %j: index):
    %s = arith.addi %i, %j : index
    %t = arith.index_cast %s : index to i32
    %u = arith.sitofp %t : i32 to f32
    tensor.yield %u : f32
  } : tensor<7x3xf32>
  %1 = arith.addf %a, %0 : tensor<7x3xf32>
  return %1 : tensor<7x3xf32>
}

// -----

// Sizes are those of the type; what has them is not gathered.
sdy.mesh @mesh = <["x"=2]>
// CHECK-LABEL: func.func @main(%arg0: tensor<4x3xf32>, %arg1: index) -> (tensor<4x3xf32>, index, index)
// CHECK-NOT: all_gather
// CHECK: %[[SIZE:.*]] = arith.constant 8 : index
// CHECK: %[[SIZES:.*]] = tensor.from_elements %[[SIZE]], %{{.*}} : tensor<2xindex>
// CHECK: %[[ANY:.*]] = tensor.extract %[[SIZES]][%arg1]
// CHECK-NOT: all_gather
// CHECK: return %{{.*}}, %[[SIZE]], %[[ANY]]
func.func @main(%a: tensor<8x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %j: index) -> (tensor<8x3xf32>, index, index) {
  %c = arith.constant 0 : index
  %d = tensor.dim %a, %c : tensor<8x3xf32>
  %e = tensor.dim %a, %j : tensor<8x3xf32>
  %0 = arith.negf %a : tensor<8x3xf32>
  return %0, %d, %e : tensor<8x3xf32>, index, index
}

// -----

// The places and the dims that hold none are shared out.
sdy.mesh @mesh = <["x"=2, "y"=2]>
// CHECK-LABEL: func.func @main(%arg0: tensor<8x2x2xf32>, %arg1: tensor<3x1xindex>) -> (tensor<3x2x2xf32>, tensor<3x1x2x2xf32>)
// CHECK-NOT: all_gather
// CHECK: tensor.gather %arg0[%arg1] gather_dims([0]) : (tensor<8x2x2xf32>, tensor<3x1xindex>) -> tensor<3x2x2xf32>
// CHECK: tensor.gather %arg0[%arg1] gather_dims([0]) : (tensor<8x2x2xf32>, tensor<3x1xindex>) -> tensor<3x1x2x2xf32>
func.func @main(%a: tensor<8x4x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}, {}]>}, %i: tensor<6x1xindex> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<6x4x2xf32>, tensor<6x1x4x2xf32>) {
  %0 = tensor.gather %a[%i] gather_dims([0]) : (tensor<8x4x2xf32>, tensor<6x1xindex>) -> tensor<6x4x2xf32>
  %1 = tensor.gather %a[%i] gather_dims([0]) : (tensor<8x4x2xf32>, tensor<6x1xindex>) -> tensor<6x1x4x2xf32>
  return %0, %1 : tensor<6x4x2xf32>, tensor<6x1x4x2xf32>
}

// -----

// Whole tiles are shared out.
sdy.mesh @mesh = <["x"=2, "y"=4]>
// CHECK-LABEL: func.func @main(%arg0: tensor<8x8xf32>, %arg1: tensor<2x1x2x8xf32>) -> (tensor<2x4x2x4xf32>, tensor<4x8xf32>)
// CHECK-NOT: all_gather
// CHECK: linalg.pack %arg0 outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [2, 4] into %{{.*}} : tensor<8x8xf32> -> tensor<2x4x2x4xf32>
// CHECK: linalg.unpack %arg1 {{.*}} inner_tiles = [2, 8] {{.*}} -> tensor<4x8xf32>
// CHECK-NOT: all_gather
func.func @main(%a: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %b: tensor<4x4x2x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}, {}, {}]>}) -> (tensor<8x8x2x4xf32>, tensor<8x32xf32>) {
  %e = tensor.empty() : tensor<8x8x2x4xf32>
  %0 = linalg.pack %a outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [2, 4] into %e : tensor<16x32xf32> -> tensor<8x8x2x4xf32>
  %f = tensor.empty() : tensor<8x32xf32>
  %1 = linalg.unpack %b inner_dims_pos = [0, 1] inner_tiles = [2, 8] into %f : tensor<4x4x2x8xf32> -> tensor<8x32xf32>
  return %0, %1 : tensor<8x8x2x4xf32>, tensor<8x32xf32>
}

// -----

// A last tile that is partly full, and fewer tiles than devices: whole.
sdy.mesh @mesh = <["x"=2, "y"=4]>
// CHECK-LABEL: func.func @main
// CHECK: linalg.pack {{.*}} : tensor<15x{{[0-9]+}}xf32> ->
func.func @main(%a: tensor<15x20xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<2x5x8x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x5x8x4xf32>
  %0 = linalg.pack %a padding_value(%zero : f32) inner_dims_pos = [0, 1] inner_tiles = [8, 4] into %e : tensor<15x20xf32> -> tensor<2x5x8x4xf32>
  return %0 : tensor<2x5x8x4xf32>
}

// -----

// One tile, and tiles of one element: what has size 1 is left out of the dim.
sdy.mesh @mesh = <["x"=2]>
// CHECK-LABEL: func.func @main(%arg0: tensor<4x8xf32>) -> tensor<2x1x2x8xf32>
// CHECK: linalg.pack {{.*}} : tensor<4x8xf32> -> tensor<2x1x2x8xf32>
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<4x1x2x8xf32> {
  %e = tensor.empty() : tensor<4x1x2x8xf32>
  %0 = linalg.pack %a inner_dims_pos = [0, 1] inner_tiles = [2, 8] into %e : tensor<8x8xf32> -> tensor<4x1x2x8xf32>
  %f = tensor.empty() : tensor<4x1x2x8x1xf32>
  %1 = linalg.pack %0 inner_dims_pos = [0] inner_tiles = [1] into %f : tensor<4x1x2x8xf32> -> tensor<4x1x2x8x1xf32>
  %g = tensor.empty() : tensor<4x1x2x8xf32>
  %2 = linalg.unpack %1 inner_dims_pos = [0] inner_tiles = [1] into %g : tensor<4x1x2x8x1xf32> -> tensor<4x1x2x8xf32>
  return %2 : tensor<4x1x2x8xf32>
}

// -----

// What a pad fills in by position is the tensor's position.
sdy.mesh @mesh = <["x"=2]>
// CHECK-LABEL: func.func @main(%arg0: tensor<2x3xi32>) -> tensor<3x3xi32>
// CHECK: %[[START:.*]] = arith.muli
// CHECK: tensor.pad %arg0
// CHECK-NEXT: ^bb0(%{{.*}}: index, %[[J:.*]]: index):
// CHECK-NEXT: %[[AT:.*]] = arith.addi %[[J]], %[[START]]
// CHECK-NEXT: arith.index_cast %[[AT]]
func.func @main(%a: tensor<2x6xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<3x6xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  %0 = tensor.pad %a low[0, 0] high[1, 0] {
  ^bb0(%i: index, %j: index):
    %t = arith.index_cast %j : index to i32
    tensor.yield %t : i32
  } : tensor<2x6xi32> to tensor<3x6xi32>
  return %0 : tensor<3x6xi32>
}

// -----

// A slice at the index of a loop that is itself made anew.
sdy.mesh @mesh = <["x"=2]>
// CHECK-LABEL: func.func @main(%arg0: tensor<3x2xf32>, %arg1: tensor<2xf32>) -> tensor<3x2xf32>
// CHECK: scf.for %[[I:.*]] = {{.*}} iter_args(%[[ALL:.*]] = %arg0
// CHECK: tensor.extract_slice %[[ALL]][%[[I]], 0] [1, 2] [1, 1] : tensor<3x2xf32> to tensor<2xf32>
// CHECK: tensor.insert_slice %{{.*}} into %[[ALL]][%[[I]], 0] [1, 2] [1, 1] : tensor<2xf32> into tensor<3x2xf32>
func.func @main(%a: tensor<3x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %b: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<3x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %0 = scf.for %i = %zero to %three step %one iter_args(%all = %a) -> tensor<3x4xf32> {
    %1 = tensor.extract_slice %all[%i, 0] [1, 4] [1, 1] : tensor<3x4xf32> to tensor<4xf32>
    %2 = arith.addf %1, %b : tensor<4xf32>
    %3 = tensor.insert_slice %2 into %all[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<3x4xf32>
    scf.yield %3 : tensor<3x4xf32>
  }
  return %0 : tensor<3x4xf32>
}

// -----

// An embedding: its rows are gathered, its columns pass.
sdy.mesh @mesh = <["x"=2, "y"=2]>
// CHECK-LABEL: func.func @main(%arg0: tensor<8x2xf32>, %arg1: tensor<3xi32>) -> tensor<3x2xf32>
// CHECK-NOT: all_gather
// CHECK: tensor.gather %arg0[%{{.*}}] gather_dims([0]) : (tensor<8x2xf32>, tensor<3x1xindex>) -> tensor<3x2xf32>
// CHECK-NOT: all_gather
func.func @main(%table: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}, %rows: tensor<6xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<6x4xf32> {
  %e = tensor.empty() : tensor<6x4xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%rows : tensor<6xi32>) outs(%e : tensor<6x4xf32>) {
  ^bb0(%row: i32, %out: f32):
    %i = arith.index_cast %row : i32 to index
    %j = linalg.index 1 : index
    %x = tensor.extract %table[%i, %j] : tensor<8x4xf32>
    linalg.yield %x : f32
  } -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}

// -----

// Each row is read at its own number, which on a device counts from its shard.
sdy.mesh @mesh = <["x"=2]>
// CHECK-LABEL: func.func @main(%arg0: tensor<4x5xf32>, %arg1: tensor<4x2xindex>) -> tensor<4xf32>
// CHECK: linalg.generic {{.*}} ins(%arg1 : tensor<4x2xindex>)
// CHECK-NEXT: ^bb0(%[[PLACE:.*]]: index, %{{.*}}: index):
// CHECK-NEXT: %[[COLUMN:.*]] = linalg.index 1
// CHECK-NEXT: %[[IS_OWN:.*]] = arith.cmpi eq, %[[COLUMN]], %{{.*}}
// CHECK-NEXT: %[[ROW:.*]] = linalg.index 0
// CHECK-NEXT: arith.select %[[IS_OWN]], %[[ROW]], %[[PLACE]]
// CHECK: tensor.gather %arg0[%{{.*}}] gather_dims([0, 1]) : (tensor<4x5xf32>, tensor<4x2xindex>) -> tensor<4xf32>
func.func @main(%a: tensor<8x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %i: tensor<8x2xindex>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = tensor.gather %a[%i] gather_dims([0, 1]) {sdy.batching_dims = array<i64: 0, 0>} : (tensor<8x5xf32>, tensor<8x2xindex>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// What cannot be a batch makes no rule: all is whole.
sdy.mesh @mesh = <["x"=2]>
// CHECK-LABEL: func.func @main(%arg0: tensor<4x5xf32>
// CHECK: all_gather
// CHECK: tensor.gather %{{.*}} gather_dims([0, 1]) : (tensor<8x5xf32>, tensor<8x2xindex>) -> tensor<8xf32>
func.func @main(%a: tensor<8x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %i: tensor<8x2xindex>) -> tensor<8xf32> {
  %0 = tensor.gather %a[%i] gather_dims([0, 1]) {sdy.batching_dims = array<i64: 1, 0>} : (tensor<8x5xf32>, tensor<8x2xindex>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// A table in parts: each device finds the rows that it has, their sum is all.
sdy.mesh @mesh = <["x"=2]>
// CHECK-LABEL: func.func @main(%arg0: tensor<2001x8xf32>, %arg1: tensor<5x1xi32>) -> tensor<5x8xf32>
// CHECK-NOT: all_gather
// CHECK: %[[START:.*]] = arith.muli
// CHECK: %[[PRESENT:.*]] = linalg.generic {{.*}} ins(%arg1 : tensor<5x1xi32>) outs(%{{.*}} : tensor<5xi1>)
// CHECK: arith.subi %{{.*}}, %[[START]]
// CHECK: %[[PLACES:.*]] = linalg.generic {{.*}} ins(%arg1 : tensor<5x1xi32>) outs(%{{.*}} : tensor<5x1xi32>)
// CHECK: %[[FOUND:.*]] = tensor.gather %arg0[%[[PLACES]]] gather_dims([0]) : (tensor<2001x8xf32>, tensor<5x1xi32>) -> tensor<5x8xf32>
// CHECK: %[[MASKED:.*]] = linalg.generic {{.*}} ins(%[[PRESENT]], %[[FOUND]] :
// CHECK: "stablehlo.all_reduce"(%[[MASKED]])
func.func @main(%t: tensor<4001x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %i: tensor<5x1xi32>) -> tensor<5x8xf32> {
  %0 = tensor.gather %t[%i] gather_dims([0]) : (tensor<4001x8xf32>, tensor<5x1xi32>) -> tensor<5x8xf32>
  return %0 : tensor<5x8xf32>
}
