//===- LoopRuns.h - what a loop reshards once -------------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops choose their shardings before collectives are moved out of loops, so here
// is foreseen what will be: a value that no run of a loop changes is resharded
// before it (transforms/collectives/HoistCollectives.cpp), and parts of a sum
// that it carries are reduced behind it (AccumulateInLoops.cpp). A strategy
// that gathers a weight, or leaves its gradient in parts, then pays for one run
// of the loop and not for all.
//
// Worked example, a loop over 8 microbatches whose body computes x w and adds
// x^T dy to the gradient that it carries: with w sharded, a gather of w in the
// body costs an eighth, and so does the all_reduce of x^T dy. Devices then hold
// w and the gradient whole as long as the loop runs: where memory has a price p
// for the loop (in byte times a byte), they cost (1 + p) eighths, and from p =
// 7 on nothing is held.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_RESHARD_LOOPRUNS_H
#define SHARDONNAY_TRANSFORMS_RESHARD_LOOPRUNS_H

#include "mlir/IR/Block.h"
#include "shardonnay/strategy/OpSolver.h"
#include "llvm/ADT/DenseMap.h"

namespace shardonnay {

/// What a byte of its results that a device holds costs, in byte times, by op.
using MemoryPrices = llvm::DenseMap<mlir::Operation *, double>;

/// For the values of one block.
class LoopRuns {
public:
  explicit LoopRuns(mlir::Block &block,
                    const MemoryPrices &prices = MemoryPrices());

  /// Of a value from outside of the block, or of an argument of it.
  ReshardRuns ofInput(mlir::Value value) const;
  /// In which part of the block's runs parts of the sum `result` are reduced.
  double reducedRuns(mlir::Value result) const {
    return summands.empty() ? 1 : lookUp(result);
  }

private:
  /// Of a value, those that add parts of it to what the loop carries.
  struct Readers {
    unsigned count = 0;
    double carried = 0;
  };

  double lookUp(mlir::Value result) const;
  /// Finds what is added to the results that are sums over the runs.
  void readSums();
  /// One of `value`'s readers adds parts of it, after at most kMostLinearSteps
  /// ops, to what the loop carries, of which `carried` bytes are reduced for
  /// each of the block's runs. Where all readers do, `value` need not be
  /// reduced.
  void addSummands(mlir::Value value, double carried, unsigned depth,
                   llvm::DenseMap<mlir::Value, Readers> &readers);

  mlir::Block &block;
  /// The loop whose body the block is; null if it is none, or runs once.
  mlir::Operation *loop = nullptr;
  /// What happens once in all of its runs, counted in each.
  double once = 1;
  std::unique_ptr<LoopRuns> around;
  llvm::DenseMap<mlir::Value, double> summands;
};

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_RESHARD_LOOPRUNS_H
