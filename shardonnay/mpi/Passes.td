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

def ComposeWindowsPass
    : Pass<"sdy-compose-windows", "::mlir::func::FuncOp"> {
  let summary = "A window of a window is one of what that is a window of";
  let description = [{
    A slice of a sharded dim, and then a pad of it, are two windows; of the
    first most is copied to be copied again.

    Before: local types, `spmd` ops (after `sdy-partition-to-local`). After: no
    `spmd.fetch_window` of one along the same axes that is filled nowhere, but
    where the outer one reads positions before the first. It sends no more.

    ```mlir
    // Of 8 positions on x of size 2: all but the first; they begin at 0.
    %1 = spmd.fetch_window %0 dim=0 global_size=8 start=1 step=4 size=4 @mesh {"x"}
        : (tensor<4xf32>) -> tensor<4xf32>
    %2 = spmd.fetch_window %1 dim=0 global_size=7 start=0 step=4 size=4 @mesh {"x"}
        fill %zero : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    ```
    becomes
    ```mlir
    %2 = spmd.fetch_window %0 dim=0 global_size=8 start=1 step=4 size=4 @mesh {"x"}
        fill %zero : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    ```
  }];
}

def SplitElementwisePass
    : Pass<"sdy-split-elementwise", "::mlir::func::FuncOp"> {
  let summary = "Elementwise ops on windows and pads, inside of the shard and at its edges";
  let description = [{
    A window of a shard, or a pad of a tensor, is a copy of all of it with some
    positions more, which an elementwise op reads once. Such ops are computed in
    parts: inside, where all that is read is in the shard, on slices of it; and
    at the edges, on what is filled or comes from other devices. Only that is
    fetched. So a sum over neighbours is one pass over memory.

    It is done where the windows and pads have no other use, and for 32 parts at
    most.

    Before: local types, `spmd` ops (after `sdy-partition-to-local`). After: the
    same; as many bytes are sent, and as many messages.

    ```mlir
    %1 = spmd.fetch_window %0 dim=0 global_size=8 start=1 step=4 size=4 @mesh {"x"}
        fill %zero : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    %2 = arith.addf %0, %1 : tensor<4xf32>
    ```
    becomes
    ```mlir
    %next = spmd.fetch_window %0 dim=0 global_size=8 start=4 step=4 size=1 @mesh {"x"}
        fill %zero : (tensor<4xf32>, tensor<f32>) -> tensor<1xf32>
    %a = tensor.extract_slice %0[0] [3] [1] : tensor<4xf32> to tensor<3xf32>
    %b = tensor.extract_slice %0[1] [3] [1] : tensor<4xf32> to tensor<3xf32>
    %inside = arith.addf %a, %b : tensor<3xf32>
    %c = tensor.extract_slice %0[3] [1] [1] : tensor<4xf32> to tensor<1xf32>
    %edge = arith.addf %c, %next : tensor<1xf32>
    ... // both inserted into one tensor
    ```
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def ExpandUnloweredPass
    : Pass<"sdy-expand-unlowered", "::mlir::func::FuncOp"> {
  let summary = "Ops that MLIR's tools do not lower, of ops that they do";
  let description = [{
    `mlir-opt` of MLIR 22 has no buffers for `tensor.gather`, `linalg.pack` and
    `linalg.unpack`, no loops for `linalg.softmax`, and nothing for
    `tosa.scatter`. Indices are clamped, those of `tosa.gather` too: what padding
    holds may be any number.

    Before: tensors of known shapes. After: none of these ops.

    ```mlir
    %1 = tensor.gather %0[%i] gather_dims([0]) : (tensor<8x2xf32>, tensor<4x1xindex>) -> tensor<4x2xf32>
    ```
    becomes
    ```mlir
    %1 = linalg.generic {...} outs(%empty : tensor<4x2xf32>) {
    ^bb0(%out: f32):
      %2 = linalg.index 0 : index
      %3 = tensor.extract %i[%2, %c0] : tensor<4x1xindex>
      ... // clamped to 0 to 7
      %6 = tensor.extract %0[%5, %7] : tensor<8x2xf32>
      linalg.yield %6 : f32
    } -> tensor<4x2xf32>
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"];
}

def GuardDivisionsPass
    : Pass<"sdy-guard-divisions", "::mlir::func::FuncOp"> {
  let summary = "Integers are divided by one where they would be by zero";
  let description = [{
    That ends a process, and padding may hold zeros where the tensor has none.
    Divisors that are constants stay.

    Before: any program. After: no integer is divided by a zero that is no
    constant.

    ```mlir
    %0 = arith.divsi %a, %b : tensor<4xi32>
    ```
    becomes
    ```mlir
    %1 = arith.cmpi eq, %b, %zero : tensor<4xi32>
    %2 = arith.select %1, %one, %b : tensor<4xi1>, tensor<4xi32>
    %0 = arith.divsi %a, %2 : tensor<4xi32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def ReadInitsAsInputsPass
    : Pass<"sdy-read-inits-as-inputs", "::mlir::func::FuncOp"> {
  let summary = "Generics without reductions read nothing of what they write to";
  let description = [{
    `linalg-fuse-elementwise-ops` of MLIR 22, which lowers what is emitted, keeps
    such a generic as a result of the op that it is fused into. If that has more
    loops, each step of them would read what the last one wrote.

    Before: tensors of known shapes. After: no `linalg.generic` whose loops are
    all parallel reads its `outs`.

    ```mlir
    %1 = linalg.generic {...} outs(%0 : tensor<4xf32>) {
    ^bb0(%out: f32):
      %2 = math.exp %out : f32
    ```
    becomes
    ```mlir
    %empty = tensor.empty() : tensor<4xf32>
    %1 = linalg.generic {...} ins(%0 : tensor<4xf32>) outs(%empty : tensor<4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %2 = math.exp %in : f32
    ```
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
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

def ExportLocalShardPass
    : Pass<"sdy-export-local-shard", "::mlir::ModuleOp"> {
  let summary = "A device's program with the collectives of MLIR's `shard` dialect.";
  let description = [{
    Each op of `spmd` becomes the op of that name, an index of the device an
    index of the process; packing, branches on a device and constants become ops
    of tensor, scf and arith. Each part of an axis that is used becomes an axis
    of the grid. `sdy-import-shard` reads it back.

    Before: local types, `spmd` ops (after `sdy-partition-to-local`). What the
    dialect lacks is an error: `collective_permute` and `fetch_window`, of which
    `sdy-expand-collectives` makes others, and an order of the devices. After:
    neither `sdy` nor `spmd`; `mlir-opt` reads it.

    ```mlir
    sdy.mesh @mesh = <["x"=2, "y"=4]>
    %1 = spmd.all_gather %0 dim=1 @mesh {"y":(1)2} : (tensor<2x2xf32>) -> tensor<2x4xf32>
    ```
    becomes
    ```mlir
    shard.grid @mesh(shape = 2x2x2)
    %1 = shard.all_gather %0 on @mesh grid_axes = [1] gather_axis = 1 : tensor<2x2xf32> -> tensor<2x4xf32>
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::scf::SCFDialect", "::mlir::shard::ShardDialect",
    "::mlir::tensor::TensorDialect"];
}

#endif // SHARDONNAY_MPI_PASSES_TD
