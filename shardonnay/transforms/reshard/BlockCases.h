//===- BlockCases.h - equal ops of a block are one case ---------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Most ops of a propagated program agree with all their tensors, and are equal
// to hundreds of others. So a block is read once, in order: every value has a
// class (its type, its sharding, whether it is a constant), an op's form
// (OpForms.h) and the classes of its operands are its case, and whatever has to
// be known of the op, the classes of its results too, is found out once a case.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_RESHARD_BLOCKCASES_H
#define SHARDONNAY_TRANSFORMS_RESHARD_BLOCKCASES_H

#include "shardonnay/interfaces/NearbyInfo.h"
#include "shardonnay/transforms/reshard/OpProblem.h"
#include "shardonnay/transforms/reshard/ReshardBuilder.h"

namespace shardonnay {

/// The ops of one block on one mesh, numbered in order.
class BlockCases {
public:
  struct Entry {
    mlir::Operation *op;
    /// Null for an op that passes values on, ends the block, calls or reshards.
    const OpCase *opCase;
  };

  BlockCases(mlir::Block &block, const MeshScope &scope, OpChoosers &choosers);

  const MeshScope &getScope() const { return scope; }
  /// Some value is on another mesh than the block's.
  bool hasOtherMeshes() const { return otherMeshes; }
  llvm::ArrayRef<Entry> getEntries() const { return entries; }
  /// The number of the op that makes `value`; -1 if it is not of the block.
  int32_t makerOf(mlir::Value value) const { return values.lookup(value).op; }
  /// The number of `op`; -1 if it is not of the block or has no result.
  int32_t numberOf(mlir::Operation *op) const {
    return op->getNumResults() ? makerOf(op->getResult(0)) : -1;
  }
  bool isConstant(mlir::Value value) {
    return table.classes[classOf(value)].constant;
  }
  /// Finds the case of op `number` anew: it has another operand.
  void readAgain(int32_t number) { read(number); }
  /// `value` is about to go.
  void forget(mlir::Value value) { values.erase(value); }
  /// Gives `result` another sharding; calls `changed` with the numbers of the
  /// op that makes it and of those that use it.
  void change(mlir::OpResult result, const TensorSharding &sharding,
              llvm::function_ref<void(int32_t)> changed);
  /// Gives `result` another sharding for a while, until the next change of it.
  /// Those that use it are read if `goesOn` once the op that makes it is.
  void tryChange(mlir::OpResult result, const TensorSharding &sharding,
                 llvm::function_ref<bool()> goesOn);

private:
  struct Place {
    int32_t valueClass = -1;
    int32_t op = -1;
  };

  int32_t classOf(mlir::Value value);
  int32_t makeClass(mlir::Value value, bool constant, const OpCase *known);
  /// Finds the case of an op, and with it the classes of its results.
  void read(int32_t number);
  const OpCase *findCase(mlir::Operation *op);
  void decide(mlir::Operation *op, llvm::ArrayRef<int32_t> operands,
              OpCase &opCase);
  bool isConstant(mlir::Operation *op, llvm::ArrayRef<int32_t> operands,
                  const OpCase &opCase) const;

  MeshScope scope;
  OpChoosers &choosers;
  CaseTable &table;
  /// Of values from outside.
  ReshardBuilder constants;
  bool otherMeshes = false;
  std::vector<Entry> entries;
  llvm::DenseMap<mlir::Value, Place, NearbyInfo<mlir::Value>> values;
};

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_RESHARD_BLOCKCASES_H
