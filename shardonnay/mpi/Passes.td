//===- Passes.td - from spmd to calls of the MPI runtime ---*- tablegen -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_MPI_PASSES_TD
#define SHARDONNAY_MPI_PASSES_TD

include "mlir/Pass/PassBase.td"

def EmitMpiPass : Pass<"sdy-emit-mpi", "::mlir::ModuleOp"> {
  let summary = "Writes the per-device program in MLIR's own dialects, with calls of the MPI runtime.";
  let description = [{
    Each op of `spmd` that communicates becomes a call of the runtime's C ABI on
    buffers; slices, packing and `sdy.constant` become ops of `tensor` and
    `arith`. The groups of devices are words of the constant
    `@shardonnay_table`, and calls name them by their address there, so that the
    runtime makes each communicator once, before the program runs.

    The entry becomes `@shardonnay_program`: a buffer for each argument, then one
    for each result, with a C interface. Arguments are not written to.

    Before: local types, `spmd` ops (after `sdy-partition-to-local`), all else of
    arith, math, complex, tensor, linalg, tosa, scf and func. An op of another
    dialect is an error.

    After: neither `sdy` nor `spmd`; `mlir-opt` bufferizes and lowers it.

    ```mlir
    %1 = spmd.all_reduce %0 @mesh {"x"} : tensor<4xf32>
    ```
    becomes
    ```mlir
    %from = bufferization.to_buffer %0 read_only : tensor<4xf32> to memref<4xf32>
    %to = memref.alloc() : memref<4xf32>
    ... // the addresses of the group and of both buffers
    func.call @shardonnay_all_reduce(%group, %sum, %f32, %count, %a, %b)
    %1 = bufferization.to_tensor %to restrict : memref<4xf32> to tensor<4xf32>
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect",
    "::mlir::func::FuncDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"];
}

#endif // SHARDONNAY_MPI_PASSES_TD
