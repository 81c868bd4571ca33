// RUN: sdy-opt %s -split-input-file -pass-pipeline="builtin.module(func.func(sdy-split-elementwise))" | FileCheck %s

// What comes from a neighbour is fetched, what is in the shard is read there.
// CHECK-LABEL: func @next
sdy.mesh @mesh = <["x"=2]>
func.func @next(%a: tensor<4xf32>, %fill: tensor<f32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[NEXT:.*]] = spmd.fetch_window %arg0 dim=0 global_size=8 start=4 step=4 size=1 @mesh {"x"} fill %arg1 : (tensor<4xf32>, tensor<f32>) -> tensor<1xf32>
  // CHECK-NEXT: %[[WHOLE:.*]] = tensor.empty() : tensor<4xf32>
  // CHECK-NEXT: %[[A:.*]] = tensor.extract_slice %arg0[0] [3] [1] : tensor<4xf32> to tensor<3xf32>
  // CHECK-NEXT: %[[B:.*]] = tensor.extract_slice %arg0[1] [3] [1] : tensor<4xf32> to tensor<3xf32>
  // CHECK-NEXT: %[[INSIDE:.*]] = arith.addf %[[A]], %[[B]] : tensor<3xf32>
  // CHECK-NEXT: %[[FIRST:.*]] = tensor.insert_slice %[[INSIDE]] into %[[WHOLE]][0] [3] [1] : tensor<3xf32> into tensor<4xf32>
  // CHECK-NEXT: %[[C:.*]] = tensor.extract_slice %arg0[3] [1] [1] : tensor<4xf32> to tensor<1xf32>
  // CHECK-NEXT: %[[EDGE:.*]] = arith.addf %[[C]], %[[NEXT]] : tensor<1xf32>
  // CHECK-NEXT: %[[ALL:.*]] = tensor.insert_slice %[[EDGE]] into %[[FIRST]][3] [1] [1] : tensor<1xf32> into tensor<4xf32>
  // CHECK-NEXT: return %[[ALL]]
  %0 = spmd.fetch_window %a dim=0 global_size=8 start=1 step=4 size=4 @mesh {"x"} fill %fill : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = arith.addf %a, %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// A tree of two ops on two slices of a pad, of which nothing is left.
// CHECK-LABEL: func @pad
func.func @pad(%a: tensor<4xf32>, %zero: f32) -> tensor<4xf32> {
  // CHECK-NOT: tensor.pad
  // CHECK: %[[NONE:.*]] = tensor.splat %arg1 : tensor<1xf32>
  // CHECK-NEXT: %[[SECOND:.*]] = tensor.extract_slice %arg0[1] [1] [1]
  // CHECK-NEXT: %[[OUT:.*]] = tensor.empty() : tensor<1xf32>
  // CHECK-NEXT: %[[SUM:.*]] = linalg.add ins(%[[NONE]], %[[SECOND]] : tensor<1xf32>, tensor<1xf32>) outs(%[[OUT]] : tensor<1xf32>) -> tensor<1xf32>
  // CHECK-NEXT: math.absf %[[SUM]] : tensor<1xf32>
  // CHECK: tensor.extract_slice %arg0[0] [2] [1]
  // CHECK-NEXT: tensor.extract_slice %arg0[2] [2] [1]
  // CHECK: math.absf %{{.*}} : tensor<2xf32>
  // CHECK: tensor.extract_slice %arg0[2] [1] [1]
  // CHECK-NEXT: tensor.splat %arg1 : tensor<1xf32>
  // CHECK: math.absf %{{.*}} : tensor<1xf32>
  %0 = tensor.pad %a low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<4xf32> to tensor<6xf32>
  %1 = tensor.extract_slice %0[0] [4] [1] : tensor<6xf32> to tensor<4xf32>
  %2 = tensor.extract_slice %0[2] [4] [1] : tensor<6xf32> to tensor<4xf32>
  %start = tensor.empty() : tensor<4xf32>
  %3 = linalg.add ins(%1, %2 : tensor<4xf32>, tensor<4xf32>) outs(%start : tensor<4xf32>) -> tensor<4xf32>
  %4 = math.absf %3 : tensor<4xf32>
  return %4 : tensor<4xf32>
}

// -----

// 7 positions, of which the last shard has 3: the last one of each is fetched,
// as filled in one of them.
// CHECK-LABEL: func @uneven
sdy.mesh @mesh = <["x"=2]>
func.func @uneven(%a: tensor<4xf32>, %fill: tensor<f32>) -> tensor<4xf32> {
  // CHECK-NEXT: spmd.fetch_window %arg0 dim=0 global_size=7 start=-1 step=4 size=1 {{.*}} -> tensor<1xf32>
  // CHECK-NEXT: spmd.fetch_window %arg0 dim=0 global_size=7 start=3 step=4 size=1 {{.*}} -> tensor<1xf32>
  // CHECK-NOT: fetch_window
  %0 = spmd.fetch_window %a dim=0 global_size=7 start=-1 step=4 size=5 @mesh {"x"} fill %fill : (tensor<4xf32>, tensor<f32>) -> tensor<5xf32>
  %1 = tensor.extract_slice %0[0] [4] [1] : tensor<5xf32> to tensor<4xf32>
  %2 = tensor.extract_slice %0[1] [4] [1] : tensor<5xf32> to tensor<4xf32>
  %3 = arith.mulf %1, %2 : tensor<4xf32>
  return %3 : tensor<4xf32>
}

// -----

// A window that is all the shard's is read in place; nothing is inserted.
// CHECK-LABEL: func @inside
func.func @inside(%a: tensor<4xf32>) -> tensor<3xf32> {
  // CHECK-NEXT: %[[PART:.*]] = tensor.extract_slice %arg0[1] [3] [1]
  // CHECK-NEXT: %[[RESULT:.*]] = arith.negf %[[PART]] : tensor<3xf32>
  // CHECK-NEXT: return %[[RESULT]]
  %0 = spmd.fetch_window %a dim=0 global_size=4 start=1 step=3 size=3 : (tensor<4xf32>) -> tensor<3xf32>
  %1 = arith.negf %0 : tensor<3xf32>
  return %1 : tensor<3xf32>
}

// -----

// Left: a window that is also returned; one that another window sends; one of
// windows elsewhere; an op that knows the position; too many parts.
// CHECK-LABEL: func @left
#id = affine_map<(i) -> (i)>
sdy.mesh @mesh = <["x"=2]>
func.func @left(%a: tensor<4xf32>, %b: tensor<9x9x9x9xf32>, %fill: tensor<f32>, %zero: f32) -> (tensor<4xf32>, tensor<4xf32>, tensor<2xf32>, tensor<4xf32>, tensor<4xf32>, tensor<11x11x11x11xf32>) {
  // CHECK-NOT: tensor.insert_slice
  %returned = spmd.fetch_window %a dim=0 global_size=8 start=1 step=4 size=4 @mesh {"x"} fill %fill : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %0 = arith.negf %returned : tensor<4xf32>
  %1 = spmd.fetch_window %a dim=0 global_size=8 start=4 step=2 size=2 @mesh {"x"} fill %fill : (tensor<4xf32>, tensor<f32>) -> tensor<2xf32>
  %elsewhere = arith.negf %1 : tensor<2xf32>
  %2 = spmd.fetch_window %a dim=0 global_size=8 start=-1 step=4 size=4 @mesh {"x"} fill %fill : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %index = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%2 : tensor<4xf32>) {
  ^bb0(%p: f32):
    %i = linalg.index 0 : index
    %m = arith.index_cast %i : index to i32
    %n = arith.sitofp %m : i32 to f32
    %s = arith.addf %p, %n : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %3 = spmd.fetch_window %a dim=0 global_size=8 start=2 step=4 size=4 @mesh {"x"} periodic : (tensor<4xf32>) -> tensor<4xf32>
  %sent = spmd.fetch_window %3 dim=0 global_size=8 start=1 step=4 size=4 @mesh {"x"} periodic : (tensor<4xf32>) -> tensor<4xf32>
  %4 = tensor.pad %b low[1, 1, 1, 1] high[1, 1, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<9x9x9x9xf32> to tensor<11x11x11x11xf32>
  %many = arith.negf %4 : tensor<11x11x11x11xf32>
  return %returned, %0, %elsewhere, %index, %sent, %many : tensor<4xf32>, tensor<4xf32>, tensor<2xf32>, tensor<4xf32>, tensor<4xf32>, tensor<11x11x11x11xf32>
}
