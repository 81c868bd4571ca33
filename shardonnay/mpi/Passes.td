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

def ExpandCollectivesPass
    : Pass<"sdy-expand-collectives", "::mlir::ModuleOp"> {
  let summary = "Every collective from all_reduce and slices";
  let description = [{
    A reference: slow, small, and to be run by a tool that knows one collective.
    Each device puts what it has at its place among zeros, and the group's sum
    is what all have; then a device takes what it is to have. Floats are summed
    as the integers that their bits are, so that nothing is rounded, no zero
    loses its sign, and elements that MPI has no sum of travel too.

    With `keep-named` the collectives stay that MLIR's `shard` dialect has
    (all_gather, all_slice, all_to_all, reduce_scatter), and those go that it
    lacks (collective_permute, fetch_window).

    Before: local types, `spmd` ops (after `sdy-partition-to-local`). After: of
    its collectives all_reduce is left, and those that are kept. An error:
    elements that are neither integers nor floats, and a permute between two
    orders of the devices.

    ```mlir
    %1 = spmd.all_gather %0 dim=0 @mesh {"x"} : (tensor<4xf32>) -> tensor<8xf32>
    ```
    becomes, without conversions of types,
    ```mlir
    %zeros = arith.constant dense<0> : tensor<8xi32>
    %bits = arith.bitcast %0 : tensor<4xf32> to tensor<4xi32>
    %index = spmd.device_index @mesh {"x"} : tensor<i32>
    %start = arith.muli %index, %c4 : index
    %own = tensor.insert_slice %bits into %zeros[%start] [4] [1]
    %all = spmd.all_reduce %own @mesh {"x"} : tensor<8xi32>
    %1 = arith.bitcast %all : tensor<8xi32> to tensor<8xf32>
    ```
  }];
  let options = [Option<
      "keepNamed", "keep-named", "bool", "false",
      "Leave the collectives that MLIR's shard dialect has">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

#endif // SHARDONNAY_MPI_PASSES_TD
