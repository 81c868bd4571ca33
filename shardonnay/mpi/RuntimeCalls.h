//===- RuntimeCalls.h - calls of the MPI runtime's C ABI --------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What crosses the ABI are numbers of 64 bits: addresses, sizes and the words
// of Abi.h. Here they are made of values, meshes and types.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_MPI_RUNTIMECALLS_H
#define SHARDONNAY_MPI_RUNTIMECALLS_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "python/shardonnay/mpi/runtime/Abi.h"
#include "shardonnay/algebra/Mesh.h"
#include "shardonnay/emit/DeviceGrid.h"
#include <map>
#include <optional>
#include <vector>

namespace shardonnay {

/// The number that the ABI has for elements of `type`; nothing if it has none.
std::optional<int64_t> getElementNumber(mlir::Type type);

/// The records of `@shardonnay_table`, each once.
class RuntimeTable {
public:
  /// Where the payload of the record begins, in words.
  int64_t addGroup(const Mesh &mesh, const AxisList &axes, bool communicates);
  /// `pairs`: [sender, receiver] of all devices.
  int64_t addPermute(const DeviceRows &pairs);
  const std::vector<int64_t> &words() const { return all; }

private:
  int64_t add(std::vector<int64_t> record);

  /// The first word is how many there are.
  std::vector<int64_t> all = {1};
  std::map<std::vector<int64_t>, int64_t> known;
};

class RuntimeCalls {
public:
  RuntimeCalls(mlir::ModuleOp module, mlir::OpBuilder &builder)
      : module(module), builder(builder) {}

  mlir::Value constant(mlir::Location loc, int64_t value);
  /// The address of a record's payload.
  mlir::Value record(mlir::Location loc, int64_t offset);
  /// The address of what `tensor` holds, to be read.
  mlir::Value read(mlir::Location loc, mlir::Value tensor);
  mlir::Value address(mlir::Location loc, mlir::Value buffer);
  /// Calls `function`; the result if it has one.
  mlir::Value call(mlir::Location loc, llvm::StringRef function,
                   mlir::ValueRange operands, bool hasResult = false);
  /// The new buffer for a tensor of `type` that `function` writes, whose
  /// address is its last operand, behind `operands`.
  mlir::Value callInto(mlir::Location loc, llvm::StringRef function,
                       llvm::SmallVector<mlir::Value> operands,
                       mlir::RankedTensorType type);
  /// What such a buffer has.
  mlir::Value toTensor(mlir::Location loc, mlir::Value buffer,
                       mlir::RankedTensorType type);
  /// The tensor that `function` writes.
  mlir::Value callFor(mlir::Location loc, llvm::StringRef function,
                      llvm::SmallVector<mlir::Value> operands,
                      mlir::RankedTensorType type) {
    return toTensor(loc, callInto(loc, function, std::move(operands), type),
                    type);
  }
  /// Puts `table` into the module, if a call has named a record of it.
  void finish(const RuntimeTable &table);

private:
  mlir::ModuleOp module;
  mlir::OpBuilder &builder;
  int64_t numReads = 0;
  /// Whose type is known only when the table is.
  llvm::SmallVector<mlir::memref::GetGlobalOp> uses;
};

} // namespace shardonnay

#endif // SHARDONNAY_MPI_RUNTIMECALLS_H
