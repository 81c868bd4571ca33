// The chain of passes that users of the existing tool write, on a function that is not called @main.
// RUN: sdy-opt %s --pass-pipeline="builtin.module(func.func(sdy-insert-explicit-reshards{enable-full-version=true}),sdy-resolve-permutation-factors{enable-halo-exchange=true},func.func(sdy-reshard-to-collectives{keep-redundant-reshards=false},sdy-pad-for-divisibility,sdy-resolve-single-device-sharding),sdy-convert-global-to-local{per-dim-all-gather=false combine-multi-dimension-reduce-scatter=false enable-rgv3=false},sdy-drop-sharding-and-mesh)" | FileCheck %s
// RUN: sdy-opt %s --sdy-insert-explicit-reshards=enable-full-version=true --sdy-resolve-permutation-factors --sdy-reshard-to-collectives --sdy-pad-for-divisibility --sdy-resolve-single-device-sharding --sdy-convert-global-to-local --sdy-drop-sharding-and-mesh | FileCheck %s
// RUN: sdy-opt %s --sdy-insert-explicit-reshards=enable-full-version=true --sdy-reshard-to-collectives --sdy-resolve-single-device-sharding --sdy-convert-global-to-local="replica-count=2 partition-count=4" | FileCheck %s --check-prefix=TWO

// CHECK: mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32
// CHECK-NOT: sdy.
// TWO: mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 2 : i32
sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @maximal_5 = <[], device_ids=[5]>

// CHECK-LABEL: func @step(
// CHECK-SAME: %arg0: tensor<5x2xf32>, %arg1: tensor<2x8xf32>) -> tensor<5x8xf32>
func.func @step(
    %arg0: tensor<10x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
    %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>})
    -> (tensor<10x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // A sum over y.
  // CHECK: stablehlo.dot_general {{.*}} -> tensor<5x8xf32>
  // CHECK-NEXT: "stablehlo.all_reduce"({{.*}}) <{{.*}}replica_groups = dense<{{\[\[}}0, 1, 2, 3], [4, 5, 6, 7]]>
  // TWO: "stablehlo.all_reduce"({{.*}}) <{{.*}}replica_groups = dense<{{\[\[}}0, 1, 2, 3], [4, 5, 6, 7]]>
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<10x8xf32>, tensor<8x8xf32>) -> tensor<10x8xf32>
  // A window over x.
  // CHECK: "stablehlo.all_gather"({{.*}}replica_groups = dense<{{\[\[}}0, 4], [1, 5], [2, 6], [3, 7]]>
  // CHECK: stablehlo.reverse {{.*}} : tensor<5x8xf32>
  %1 = stablehlo.reverse %0, dims = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<10x8xf32>
  return %1 : tensor<10x8xf32>
}

// On device 5 alone.
// CHECK-LABEL: func @single(
func.func @single(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // CHECK: "stablehlo.all_gather"
  // CHECK: "stablehlo.if"
  // CHECK:   stablehlo.sine {{.*}} : tensor<8xf32>
  // CHECK: "stablehlo.all_reduce"
  // CHECK: stablehlo.dynamic_slice {{.*}} sizes = [4]
  %0 = stablehlo.sine %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@maximal_5, []>]>} : tensor<8xf32>
  %1 = stablehlo.negate %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// A barrier has done its work.
// CHECK-LABEL: func @barrier(
// CHECK-NEXT: %[[SINE:.*]] = stablehlo.sine %arg0 : tensor<4xf32>
// CHECK-NEXT: return %[[SINE]]
func.func @barrier(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = sdy.propagation_barrier %arg0 allowed_direction=FORWARD {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
  %1 = stablehlo.sine %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
  return %1 : tensor<8xf32>
}
