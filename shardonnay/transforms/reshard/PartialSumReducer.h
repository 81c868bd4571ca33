//===- PartialSumReducer.h - reduces where only sums are said ---*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A partitioner that moves dims by itself still has to be told where values
// that are partial become whole, and the other way round: what is `unreduced`
// changes by `sdy.all_reduce`, `sdy.replicated_to_unreduced` and
// `sdy.sharded_to_unreduced` alone. Axes of dims are left to it.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_RESHARD_PARTIALSUMREDUCER_H
#define SHARDONNAY_TRANSFORMS_RESHARD_PARTIALSUMREDUCER_H

#include "shardonnay/dialect/sdy/NamedMesh.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/transforms/reshard/LinearOperands.h"

namespace shardonnay {

/// For the ops of one block, in order.
class PartialSumReducer {
public:
  /// `operand` is what `target` (null: no sharding) says of unreduced axes.
  void reduce(mlir::OpOperand &operand, mlir::sdy::TensorShardingAttr target);
  /// What `op`, which computes, can't take in parts is reduced, and what it
  /// can't make in parts becomes that behind it.
  void reduceOperands(mlir::Operation *op);

private:
  void reduce(mlir::OpOperand &operand, const mlir::sdy::NamedMesh &mesh,
              const Parts &wanted);
  void makePartsBehind(mlir::OpResult result, const AxisList &axes);

  using Key = std::pair<mlir::Value, mlir::Attribute>;
  /// What was reduced before, for later ops of the block.
  llvm::DenseMap<Key, mlir::Value> known;
};

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_RESHARD_PARTIALSUMREDUCER_H
