// RUN: sdy-opt %s -split-input-file --sdy-emit-stablehlo | FileCheck %s

sdy.mesh @mesh = <["x"=4]>

// Only what the neighbour needs is sent; the device's own shard is there.
// CHECK-LABEL: func.func @halo(
func.func @halo(%a: tensor<4xf32>) -> tensor<7xf32> {
  // CHECK-NEXT: %[[END:.*]] = stablehlo.slice %arg0 [2:4]
  // CHECK-NEXT: %[[LEFT:.*]] = "stablehlo.collective_permute"(%[[END]]) {{.*}}source_target_pairs = dense<{{\[\[}}0, 1], [1, 2], [2, 3]]>
  // CHECK-NEXT: %[[BEGIN:.*]] = stablehlo.slice %arg0 [0:1]
  // CHECK-NEXT: %[[RIGHT:.*]] = "stablehlo.collective_permute"(%[[BEGIN]]) {{.*}}source_target_pairs = dense<{{\[\[}}1, 0], [2, 1], [3, 2]]>
  // CHECK-NEXT: %[[WINDOW:.*]] = stablehlo.concatenate %[[LEFT]], %arg0, %[[RIGHT]], dim = 0
  // CHECK-NEXT: return %[[WINDOW]]
  %0 = spmd.fetch_window %a dim=0 global_size=16 start=-2 step=4 size=7 @mesh {"x"} : (tensor<4xf32>) -> tensor<7xf32>
  return %0 : tensor<7xf32>
}

// CHECK-LABEL: func.func @fill_padding(
func.func @fill_padding(%a: tensor<3x2xf32>, %zero: tensor<f32>) -> tensor<3x2xf32> {
  // CHECK-NOT: collective
  // CHECK:      %[[AT:.*]] = stablehlo.add {{.*}} : tensor<3xi32>
  // CHECK:      %[[INSIDE:.*]] = stablehlo.compare LT, %[[AT]]
  // CHECK:      %[[MASK:.*]] = stablehlo.broadcast_in_dim %[[INSIDE]], dims = [0] : (tensor<3xi1>) -> tensor<3x2xi1>
  // CHECK:      stablehlo.select %[[MASK]], %arg0
  %0 = spmd.fetch_window %a dim=0 global_size=10 start=0 step=3 size=3 @mesh {"x"} fill %zero : (tensor<3x2xf32>, tensor<f32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// 5 and 5 become 3, 3, 3 and 1: only device 1 lacks a position.
// CHECK-LABEL: func.func @resharded(
func.func @resharded(%a: tensor<5xf32>) -> tensor<3xf32> {
  // CHECK-NEXT: %[[BEGIN:.*]] = stablehlo.slice %arg0 [0:1]
  // CHECK-NEXT: "stablehlo.collective_permute"(%[[BEGIN]]) {{.*}}source_target_pairs = dense<{{\[\[}}3, 1]]>
  // CHECK:      stablehlo.constant dense<[0, 3, 1, 4]> : tensor<4xi32>
  %0 = spmd.fetch_window %a dim=0 global_size=10 start=0 step=3 size=3 @mesh {"x":(1)2} to {"x"} : (tensor<5xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// Where hops would receive as much, one collective.
// CHECK-LABEL: func.func @most_of_it(
func.func @most_of_it(%a: tensor<1xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[WHOLE:.*]] = "stablehlo.all_gather"(%arg0)
  // CHECK-NEXT: return %[[WHOLE]]
  %0 = spmd.fetch_window %a dim=0 global_size=4 start=0 step=0 size=4 @mesh {"x"} : (tensor<1xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// All devices have the same window: a slice and a padding.
// CHECK-LABEL: func.func @whole(
func.func @whole(%a: tensor<5xi8>, %b: tensor<i8>) -> (tensor<9xi8>, tensor<2xi8>) {
  // CHECK-NEXT: stablehlo.pad %arg0, %arg1, low = [3], high = [1], interior = [0]
  %0 = spmd.fetch_window %a dim=0 global_size=5 start=-3 step=0 size=9 fill %b : (tensor<5xi8>, tensor<i8>) -> tensor<9xi8>
  // CHECK-NEXT: stablehlo.broadcast_in_dim %arg1, dims = []
  %1 = spmd.fetch_window %a dim=0 global_size=5 start=7 step=0 size=2 fill %b : (tensor<5xi8>, tensor<i8>) -> tensor<2xi8>
  return %0, %1 : tensor<9xi8>, tensor<2xi8>
}

// A shard that two devices need is sent in two rounds.
// CHECK-LABEL: func.func @two_rounds(
func.func @two_rounds(%a: tensor<8xf32>) -> tensor<4xf32> {
  // CHECK: "stablehlo.collective_permute"({{.*}}source_target_pairs = dense<{{\[\[}}0, 1], [1, 2]]>
  // CHECK: "stablehlo.collective_permute"({{.*}}source_target_pairs = dense<{{\[\[}}1, 3]]>
  // CHECK: stablehlo.select
  %0 = spmd.fetch_window %a dim=0 global_size=32 start=0 step=4 size=4 @mesh {"x"} : (tensor<8xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Windows are smaller than shards: only what a device has not itself is sent.
// CHECK-LABEL: func.func @smaller_windows(
func.func @smaller_windows(%a: tensor<6xf32>) -> tensor<5xf32> {
  // CHECK-NEXT: %[[PART:.*]] = stablehlo.slice %arg0 [3:6]
  // CHECK-NEXT: %[[SENT:.*]] = "stablehlo.collective_permute"(%[[PART]]) {{.*}}source_target_pairs = dense<{{\[\[}}0, 1], [1, 2], [2, 3]]>
  // CHECK-NEXT: %[[OWN:.*]] = stablehlo.slice %arg0 [0:5]
  // CHECK-NEXT: stablehlo.concatenate %[[SENT]], %[[OWN]], dim = 0
  %0 = spmd.fetch_window %a dim=0 global_size=24 start=0 step=5 size=5 @mesh {"x"} : (tensor<6xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// -----

sdy.mesh @mesh = <["x"=4]>

// The shard after the last is the first: one permute.
// CHECK-LABEL: func.func @rotation(
func.func @rotation(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[END:.*]] = stablehlo.slice %arg0 [3:4]
  // CHECK-NEXT: %[[LEFT:.*]] = "stablehlo.collective_permute"(%[[END]]) {{.*}}source_target_pairs = dense<{{\[\[}}3, 0], [0, 1], [1, 2], [2, 3]]>
  // CHECK-NEXT: %[[OWN:.*]] = stablehlo.slice %arg0 [0:3]
  // CHECK-NEXT: %[[R:.*]] = stablehlo.concatenate %[[LEFT]], %[[OWN]], dim = 0
  // CHECK-NEXT: return %[[R]]
  %0 = spmd.fetch_window %a dim=0 global_size=16 start=-1 step=4 size=4 @mesh {"x"} periodic : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// The last shard is not full: a window of each period, of those behind the end
// the last.
// CHECK-LABEL: func.func @uneven_rotation(
func.func @uneven_rotation(%a: tensor<3xf32>) -> tensor<3xf32> {
  // CHECK: collective_permute{{.*}}source_target_pairs = dense<{{\[\[}}3, 0]]>
  // CHECK: %[[FRONT:.*]] = stablehlo.pad
  // CHECK: collective_permute{{.*}}source_target_pairs = dense<{{\[\[}}0, 1], [1, 2], [2, 3]]>
  // CHECK: %[[REST:.*]] = stablehlo.concatenate
  // CHECK: stablehlo.compare GE
  // CHECK: %[[BOTH:.*]] = stablehlo.select %{{.*}}, %[[REST]], %[[FRONT]]
  // CHECK: collective_permute{{.*}}source_target_pairs = dense<{{\[\[}}0, 3]]>
  // CHECK: %[[AGAIN:.*]] = stablehlo.pad
  // CHECK: stablehlo.select %{{.*}}, %[[AGAIN]], %[[BOTH]]
  %0 = spmd.fetch_window %a dim=0 global_size=10 start=-1 step=3 size=3 @mesh {"x"} periodic : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// CHECK-LABEL: func.func @rotation_of_the_whole(
func.func @rotation_of_the_whole(%a: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: %[[END:.*]] = stablehlo.slice %arg0 [6:8]
  // CHECK-NEXT: %[[REST:.*]] = stablehlo.slice %arg0 [0:6]
  // CHECK-NEXT: stablehlo.concatenate %[[END]], %[[REST]], dim = 0
  %0 = spmd.fetch_window %a dim=0 global_size=8 start=6 step=0 size=8 periodic : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
