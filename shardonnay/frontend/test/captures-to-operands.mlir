// RUN: sdy-opt %s -sdy-captures-to-operands | FileCheck %s

sdy.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func @captured
func.func @captured(%a: tensor<8xf32>, %b: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  // CHECK-NEXT: %[[LOOP:.*]]:2 = scf.forall (%[[I:.*]]) in (%arg2) shared_outs(%[[OUT:.*]] = %arg1, %[[IN:.*]] = %arg0) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK-NEXT:   %[[SLICE:.*]] = tensor.extract_slice %[[IN]][%[[I]]] [1] [1]
  // CHECK-NEXT:   scf.forall.in_parallel {
  // CHECK-NEXT:     tensor.parallel_insert_slice %[[SLICE]] into %[[OUT]][%[[I]]] [1] [1]
  // CHECK:      } {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>, <@mesh, [{?}]>]>, test.tag}
  // CHECK-NEXT: return %[[LOOP]]#0
  %0 = scf.forall (%i) in (%n) shared_outs(%out = %b) -> tensor<8xf32> {
    %1 = tensor.extract_slice %a[%i] [1] [1] : tensor<8xf32> to tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %1 into %out[%i] [1] [1] : tensor<1xf32> into tensor<8xf32>
    }
  } {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>, test.tag}
  return %0 : tensor<8xf32>
}

// The inner loop's operands are what the outer one reads.
// CHECK-LABEL: func @nested
func.func @nested(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK-NEXT: scf.forall (%[[I:.*]]) in (4) shared_outs(%[[OUT:.*]] = %arg1, %[[IN:.*]] = %arg0)
  // CHECK:        scf.forall (%[[J:.*]]) in (8) shared_outs(%{{.*}} = %{{.*}}, %[[INNER:.*]] = %[[IN]])
  // CHECK-NEXT:     tensor.extract_slice %[[INNER]][%[[I]], %[[J]]]
  %0 = scf.forall (%i) in (4) shared_outs(%out = %b) -> tensor<4x8xf32> {
    %row = tensor.extract_slice %out[%i, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<1x8xf32>
    %1 = scf.forall (%j) in (8) shared_outs(%into = %row) -> tensor<1x8xf32> {
      %2 = tensor.extract_slice %a[%i, %j] [1, 1] [1, 1] : tensor<4x8xf32> to tensor<1x1xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %2 into %into[0, %j] [1, 1] [1, 1] : tensor<1x1xf32> into tensor<1x8xf32>
      }
    }
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %1 into %out[%i, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<4x8xf32>
    }
  }
  return %0 : tensor<4x8xf32>
}

// Nothing from outside.
// CHECK-LABEL: func @plain
// CHECK-NEXT: scf.forall (%{{.*}}) in (8) shared_outs(%{{.*}} = %arg0) -> (tensor<8xf32>) {
func.func @plain(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = scf.forall (%i) in (8) shared_outs(%out = %a) -> tensor<8xf32> {
    %1 = tensor.extract_slice %out[%i] [1] [1] : tensor<8xf32> to tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %1 into %out[%i] [1] [1] : tensor<1xf32> into tensor<8xf32>
    }
  }
  return %0 : tensor<8xf32>
}

// The comparator's constant is a part of the sort (JAX 0.6 writes it outside).
// CHECK-LABEL: @comparator
// CHECK: "stablehlo.sort"
// CHECK-NEXT: ^bb0(%[[L:.*]]: tensor<f32>, %{{.*}}: tensor<f32>):
// CHECK-NEXT: %[[ZERO:.*]] = stablehlo.constant
// CHECK-NEXT: stablehlo.add %[[L]], %[[ZERO]]
func.func @comparator(%a: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.sort"(%a) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %1 = stablehlo.add %l, %zero : tensor<f32>
    %2 = stablehlo.compare LT, %1, %r, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  }) : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// Numbers stay outside: they are the same on all devices.
// CHECK-LABEL: @number
// CHECK: arith.constant 2.5
// CHECK: linalg.generic
// CHECK-NOT: arith.constant
// CHECK: arith.mulf
func.func @number(%a: tensor<8xf32>) -> tensor<8xf32> {
  %number = arith.constant 2.5 : f32
  %init = tensor.empty() : tensor<8xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a : tensor<8xf32>) outs(%init : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %1 = arith.mulf %in, %number : f32
    linalg.yield %1 : f32
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
