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
// (OpSignatures.h) and the classes of its operands are its case, and whatever
// has to be known of the op, the classes of its results too, is found out once
// a case.
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
  int32_t producerOf(mlir::Value value) const {
    mlir::Operation *op = value.getDefiningOp();
    return op ? numberOf(op) : -1;
  }
  /// The number of `op`; -1 if it is not of the block or has no result.
  int32_t numberOf(mlir::Operation *op) const { return slots[slotOf(op)]; }
  bool isConstant(mlir::Value value) {
    return table.classes[classOf(value)].constant;
  }
  /// Finds the case of op `number` anew: it has another operand.
  void readAgain(int32_t number) { read(number); }
  /// `value`, which no op of the block makes, is about to go.
  void forget(mlir::Value value) { outside.erase(value); }
  /// Gives `result` another sharding; calls `changed` with the numbers of the
  /// op that makes it and of those that use it.
  void change(mlir::OpResult result, const TensorSharding &sharding,
              llvm::function_ref<void(int32_t)> changed);
  /// Gives `result` another sharding for a while, until the next change of it.
  /// Those that use it are read if `goesOn` once the op that makes it is.
  void tryChange(mlir::OpResult result, const TensorSharding &sharding,
                 llvm::function_ref<bool()> goesOn);

private:
  /// Numbers an op that has results.
  void append(mlir::Operation *op);
  /// The slot with the number of `op`, or the empty one where it belongs.
  size_t slotOf(mlir::Operation *op) const {
    size_t at = NearbyInfo<mlir::Operation *>::getHashValue(op);
    for (size_t step = 1;; at += step++) {
      at &= slots.size() - 1;
      if (slots[at] < 0 || entries[slots[at]].op == op)
        return at;
    }
  }
  int32_t classOf(mlir::Value value);
  int32_t makeClass(mlir::Value value, bool constant, const OpCase *known);
  /// Finds the case of an op.
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
  llvm::SmallVector<Entry, 0> entries;
  /// Numbers of ops that have results, -1 where there is none. Open
  /// addressing, its size is a power of two: the values of a large program are
  /// most of what is held here, and this takes a quarter of a map from each.
  std::vector<int32_t> slots;
  /// The classes of values that no op of the block makes.
  llvm::DenseMap<mlir::Value, int32_t> outside;
};

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_RESHARD_BLOCKCASES_H
