//===- FactorPropagation.h - one step on one op's table ---------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An op's table has a row for each tensor (operands, then results) and a column
// for each factor; a cell holds the axes that shard the factor in that tensor.
// A step gives tensors more axes along the factors that they share. It never
// takes an axis away.
//
// The *compatible axes* of a factor are the longest axis list that its tensors
// agree on: with {x}, {x, y} and {} it is [x, y]; with {x, y} and {x, z} it is
// [x]. What may keep a tensor from taking its compatible axes:
//
//   * its dim is closed, or its axes overflow there;
//   * an axis is already used in the tensor: by another factor, overflowing,
//     replicated or unreduced;
//   * the factor is not the last of its dim and the axes do not divide it (the
//     part of them that does may be taken).
//
// The two strategies differ in what such a conflict means. Basic trims the
// compatible axes for *every* tensor, and tensors that do not have the factor
// count too: nothing is taken that might turn out wrong. Aggressive trims it
// for that tensor only, and where two factors want the same axis in one tensor,
// the better one has it.
//
// Worked example, C[i,j] = A[i,k] B[k,j] with A = [{x}, {}] and B = [{}, {x}]:
// basic gives C nothing; aggressive gives C [{x}, {}] (A and B are equally
// large, and A comes first).
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_PROPAGATE_FACTORPROPAGATION_H
#define SHARDONNAY_TRANSFORMS_PROPAGATE_FACTORPROPAGATION_H

#include "shardonnay/algebra/Projection.h"
#include "shardonnay/report/PropagationRecord.h"

namespace shardonnay {

/// Who contributes axes: operands (Forward), results (Backward) or both. The
/// others only restrict, and receive. A set of two bits.
enum class Direction : uint8_t {
  None = 0,
  Forward = 1,
  Backward = 2,
  Both = 3
};

inline Direction operator&(Direction a, Direction b) {
  return static_cast<Direction>(static_cast<uint8_t>(a) &
                                static_cast<uint8_t>(b));
}
inline Direction operator|(Direction a, Direction b) {
  return static_cast<Direction>(static_cast<uint8_t>(a) |
                                static_cast<uint8_t>(b));
}

/// The elements of a tensor by the sizes of its factors.
int64_t tensorSize(const FactorRule &rule, int64_t tensor);

/// `tensor` (an index into the op's table) takes `granted` along `factor`, not
/// `wanted`, of which it is a prefix.
struct Refusal {
  RefusalReason reason;
  int32_t factor;
  int32_t tensor;
  AxisList wanted;
  AxisList granted;
  /// Whose axes or closed dim are in the way: `tensor` itself, or under the
  /// basic strategy any other.
  int32_t otherTensor;
  /// UsedByFactor only.
  int32_t otherFactor = -1;
};

/// Where refusals are written down; null: nowhere.
using RefusalLog = llvm::SmallVectorImpl<Refusal> *;

/// The axes that the tensors with `factor` agree on, conflicts aside. `rows`
/// has a row for each tensor of `rule`.
AxisList compatibleMajorAxes(const FactorRule &rule,
                             llvm::ArrayRef<TensorProjection> rows,
                             int32_t factor, Direction direction);

/// One step without resolving conflicts. `directions` has one entry a factor.
void propagateBasic(const FactorRule &rule,
                    llvm::ArrayRef<Direction> directions,
                    llvm::MutableArrayRef<TensorProjection> rows,
                    RefusalLog log = nullptr);

/// One step that resolves conflicts tensor by tensor. Factors are served in
/// this order: the largest tensor that already has all compatible axes; for
/// element-wise ops the factor with more shards; the first such tensor; the
/// first factor. Results are served before operands; an operand of an
/// element-wise op gets only what the result has.
void propagateAggressive(const FactorRule &rule,
                         llvm::ArrayRef<Direction> directions, bool elementwise,
                         llvm::MutableArrayRef<TensorProjection> rows,
                         RefusalLog log = nullptr);

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_PROPAGATE_FACTORPROPAGATION_H
