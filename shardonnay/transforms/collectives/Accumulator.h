//===- Accumulator.h - sums that a loop carries -----------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a loop carries and each run only adds to, where it reduces what it adds:
// the loop could carry parts instead. `accumulateInLoops` weighs that.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_COLLECTIVES_ACCUMULATOR_H
#define SHARDONNAY_TRANSFORMS_COLLECTIVES_ACCUMULATOR_H

#include "shardonnay/interfaces/CarriedValue.h"
#include "shardonnay/transforms/collectives/ReshardedOp.h"

namespace shardonnay {

/// What is reduced in a loop, and how it gets from there into what the loop
/// carries.
struct ReducedSummand {
  /// Operands from what is reduced to the summand that is added, one of each op
  /// between and of the addition. Others may read their values too.
  llvm::SmallVector<mlir::OpOperand *, 2> path;
  /// What is reduced, before that; what reducing it costs, and why it is.
  mlir::Value partial;
  double price = 0;
  mlir::Attribute cause;
  mlir::sdy::NamedMesh mesh;
  /// Of the summand, if all ops on the path are computed on parts.
  TensorSharding sharding;
  /// The ops between, computed on parts. An all_slice, for which there is no
  /// step, goes.
  llvm::SmallVector<std::optional<ReshardedOp>, 0> steps;
  /// What moving their other operands costs: in each run, or before the loop
  /// what no run changes.
  double stepPrice = 0;
  double hoistedPrice = 0;

  mlir::Value getReduced() const { return path.front()->get(); }
};

/// A value that a loop carries and to which every run adds what it has reduced
/// before, or what ops make of that which are linear in it, once or several
/// times one after another; or a slice of which it updates so; or which it
/// reduces after an inner loop, or several ops, have added to it in parts.
struct Accumulator : CarriedValue {
  /// In the order of `additions`. Of what is reduced after all additions there
  /// is one, with `next` alone on its path, and no addition.
  llvm::SmallVector<ReducedSummand, 1> summands;
  llvm::SmallVector<mlir::Operation *, 1> additions;
  mlir::sdy::NamedMesh mesh;
  /// The sharding that the carried value then has.
  TensorSharding sharding;
};

/// The loop's class of `owner`, if it is one. If `given` is, that is the only
/// summand: what an inner loop could leave in parts.
std::optional<Accumulator>
readAccumulator(ShardableDataFlowOpInterface loop, mlir::Value owner,
                CollectivePlanner &planner,
                const ReducedSummand *given = nullptr);

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_COLLECTIVES_ACCUMULATOR_H
