// RUN: sdy-opt %s -sdy-check-supported -verify-diagnostics

// A loop over slices at computed offsets is a partition of its own.
func.func @forall(%arg0: tensor<8xf32>, %arg1: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{'scf.forall' has regions and cannot be partitioned yet}}
  %0 = scf.forall (%i) in (8) shared_outs(%out = %arg1) -> tensor<8xf32> {
    %1 = tensor.extract_slice %arg0[%i] [1] [1] : tensor<8xf32> to tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %1 into %out[%i] [1] [1] : tensor<1xf32> into tensor<8xf32>
    }
  }
  return %0 : tensor<8xf32>
}
