// RUN: sdy-opt %s -split-input-file -sdy-partition-pipeline -verify-diagnostics | FileCheck %s

// A loop over slices at computed offsets is computed whole by each device; what it reads from outside is gathered too.
sdy.mesh @mesh = <["x"=2]>
// CHECK-LABEL: func.func @main(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> tensor<8xf32>
func.func @main(
    // expected-note @below {{operand 1 is sharded}}
    %a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
    // expected-note @below {{operand 0 is sharded}}
    %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  // CHECK: scf.forall (%[[I:.*]]) in (8) shared_outs(%[[OUT:.*]] = %{{.*}}, %[[IN:.*]] = %{{.*}}) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK-NEXT: tensor.extract_slice %[[IN]][%[[I]]] [1] [1] : tensor<8xf32> to tensor<1xf32>
  // expected-warning @below {{op 'scf.forall' cannot be computed sharded along dim 0 of operand 0: gathers 16 bytes per device}}
  // expected-warning @below {{op 'scf.forall' cannot be computed sharded along dim 0 of operand 1: gathers 16 bytes per device}}
  %0 = scf.forall (%i) in (8) shared_outs(%out = %b) -> tensor<8xf32> {
    %1 = tensor.extract_slice %a[%i] [1] [1] : tensor<8xf32> to tensor<1xf32>
    %2 = arith.addf %1, %1 : tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %2 into %out[%i] [1] [1] : tensor<1xf32> into tensor<8xf32>
    }
  }
  %3 = arith.negf %0 : tensor<8xf32>
  return %3 : tensor<8xf32>
}
