//===- ReshardBuilder.h - a value in another sharding -----------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gives values in the shardings that ops need them in, each only once in a
// block. A constant expression (a constant, an iota, and what is computed from
// such alone) is computed again in the new sharding: that moves no data.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_RESHARD_RESHARDBUILDER_H
#define SHARDONNAY_TRANSFORMS_RESHARD_RESHARDBUILDER_H

#include "mlir/IR/Builders.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/interfaces/DataFlowEdge.h"
#include "shardonnay/transforms/reshard/MeshScope.h"
#include "llvm/ADT/DenseMap.h"

namespace shardonnay {

/// For the ops of one block, visited in order. What a loop uses from outside is
/// resharded before the loop, once.
class ReshardBuilder {
public:
  ReshardBuilder() = default;
  /// For a block in a region of `op`, which stands in the block of `outer`.
  ReshardBuilder(ReshardBuilder &outer, mlir::Operation *op)
      : outer(isLoop(op) ? &outer : nullptr), op(op) {}

  /// `value` in `sharding`, for `user` (and the ops after it).
  mlir::Value get(mlir::Value value, const TensorSharding &sharding,
                  const MeshScope &scope, mlir::Operation *user);
  /// Makes all uses of `result`, an op's result that now has another sharding,
  /// see it in `sharding` instead.
  void replaceUses(mlir::OpResult result, const TensorSharding &sharding,
                   const MeshScope &scope);
  bool isConstantExpression(mlir::Value value);
  /// A constant expression, or made of scalars: `value` is computed anew where
  /// it is read in another sharding, without communication.
  bool isFree(mlir::Value value);
  llvm::ArrayRef<mlir::sdy::ReshardOp> getMade() const { return made; }

private:
  /// Nothing if that is not known yet, and whether the operands of `op` are
  /// constant has to be found out first.
  std::optional<bool> knownToBeConstant(mlir::Operation *op) const;
  /// `value` computed anew in `sharding`; null if it has to be resharded.
  mlir::Value recompute(mlir::Value value, const TensorSharding &sharding,
                        const MeshScope &scope, mlir::Operation *user);

  /// The builder of the block around the loop; null in no loop.
  ReshardBuilder *outer = nullptr;
  mlir::Operation *op = nullptr;
  using Key = std::pair<mlir::Value, mlir::Attribute>;
  llvm::DenseMap<Key, mlir::Value> resharded;
  std::vector<mlir::sdy::ReshardOp> made;
  llvm::DenseMap<mlir::Operation *, bool> constantExpressions;
};

/// The reshard whose result `outer` alone reshards again, to no use; null if
/// there is none.
mlir::sdy::ReshardOp getNeedlessInner(mlir::sdy::ReshardOp outer);

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_RESHARD_RESHARDBUILDER_H
