//===- FactorAssignment.h - which axes cut each loop of an op ---*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An op has one iteration space, the product of its factors, and the devices
// divide it: every factor is cut by a list of axes, and no axis cuts two
// factors. The operands and results of an op may ask for different cuts (each
// has a sharding, seen by factor as a row of the projection); the assignment
// settles them, and what disagrees with it is resharded.
//
// Worked example, a matmul ([i, k], [k, j]) -> ([i, j]) on an axis d, the batch
// and the weight both cut by it (FSDP): the rows are i:d, k:d and i:d. Two of
// three tensors have i:d, so it wins: the weight is gathered. With the rows
// k:d, k:d and i:d (the weight's gradient) k:d wins, the result is partial
// along d, and goes to i:d by a reduce-scatter.
//
// Laws of every assignment: the shards of a factor divide its size, unless it
// stands alone in its dims; no axis cuts two factors; need-replication factors
// are not cut; in a tensor's dim only the last cut factor is cut incompletely,
// so every tensor can state the assignment as a sharding; reducing factors that
// are cut have one combiner.
//
// A lookup (a reducing, indexed factor) at constant positions of about as many
// rows as the table has is not cut either: gathering the table is cheaper than
// combining what the devices found.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_PLAN_FACTORASSIGNMENT_H
#define SHARDONNAY_PLAN_FACTORASSIGNMENT_H

#include "shardonnay/algebra/Projection.h"
#include "llvm/ADT/Hashing.h"

namespace shardonnay {

/// What one operand or result asks for.
struct AssignmentTensor {
  TensorProjection row;
  /// Of the whole tensor.
  int64_t bytes = 0;
  /// Takes any sharding at no cost (a constant): has no vote.
  bool free = false;
};

struct AssignmentProblem {
  const FactorRule &rule;
  /// Operands first, then results, as in the rule.
  llvm::ArrayRef<AssignmentTensor> tensors;
  /// A multiply-add per point of the factor space: not worth doing twice.
  bool contraction = false;
};

/// The axes that cut each factor, indexed by factor.
using FactorAssignment = llvm::SmallVector<AxisList, 6>;

inline llvm::hash_code hash_value(const FactorAssignment &assignment) {
  return llvm::hash_combine_range(assignment);
}

/// The cut of every factor. In this order:
///  1. Where all tensors agree and the laws hold: what they have.
///  2. Of two tensors (unary ops) one side is kept, the larger, then the more
///     sharded; the axes that only the other has stay where they don't collide.
///  3. Otherwise the best candidate is taken again and again. A candidate is a
///     factor with a prefix of the axes that some tensor has on it; better is
///     what more tensors already have, then more bytes of tensors, then the
///     factor's kind (pass-through, reduction, indexed), then more new shards,
///     then the lower factor.
///  4. Axes that operands lose because a factor can't be cut (in a contraction:
///     that any tensor loses) go to factors that all tensors have.
FactorAssignment assignFactors(const AssignmentProblem &problem);

/// Lawful cuts that differ from `taken` in one thing: nothing is cut, or one
/// factor is whole, or its axes cut another one; and how each of `tensors`
/// lies.
std::vector<FactorAssignment>
nearbyStrategies(const FactorRule &rule,
                 llvm::ArrayRef<AssignmentTensor> tensors,
                 const FactorAssignment &taken);

/// The laws above hold.
bool isLawful(const FactorAssignment &assignment, const FactorRule &rule);

/// The op can be computed with `factor` cut.
bool canBeSharded(const Factor &factor);
/// The first dim of operand number `operand` that `sharding` cuts along a
/// factor that can't be cut; nothing if there is none.
std::optional<int64_t> findUnshardedDim(const FactorRule &rule, int64_t operand,
                                        const TensorSharding &sharding);

/// The closed sharding of tensor number `tensor` under `assignment`; results
/// are partial (`unreduced`) along the axes of the factors that the op reduces
/// over.
TensorSharding shardingUnder(const FactorAssignment &assignment,
                             const FactorRule &rule, int64_t tensor);

} // namespace shardonnay

#endif // SHARDONNAY_PLAN_FACTORASSIGNMENT_H
