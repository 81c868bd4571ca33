//===- FactorPropagation.cpp ----------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/propagate/FactorPropagation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include <tuple>

namespace shardonnay {

static bool contributes(const FactorRule &rule, int64_t tensor,
                        Direction direction) {
  bool isOperand = tensor < static_cast<int64_t>(rule.operands.size());
  Direction own = isOperand ? Direction::Forward : Direction::Backward;
  return (direction & own) != Direction::None;
}

AxisList candidateAxes(const FactorRule &rule,
                       llvm::ArrayRef<TensorProjection> rows, int32_t factor,
                       Direction direction) {
  if (direction == Direction::None)
    return {};
  AxisList candidate;
  // Once two tensors disagree, later ones can't make the candidate longer.
  bool disagreed = false;
  auto restrict = [&](const AxisList &axes) {
    if (axes.isPrefixOf(candidate))
      return;
    candidate = candidate.commonPrefix(axes);
    disagreed = true;
  };
  for (auto [tensor, row] : llvm::enumerate(rows)) {
    const FactorSharding &cell = row.factors[factor];
    if (!cell.present || !contributes(rule, tensor, direction))
      continue;
    if (!candidate.isPrefixOf(cell.axes))
      restrict(cell.axes);
    else if (!disagreed)
      candidate = cell.axes;
  }
  for (auto [tensor, row] : llvm::enumerate(rows)) {
    const FactorSharding &cell = row.factors[factor];
    if (cell.present && !contributes(rule, tensor, direction))
      restrict(cell.axes);
  }
  return candidate;
}

/// Cuts `axes` before the first that the tensor of `row` uses otherwise than
/// for `factor`. `replicated` and `unreduced` speak only of axes that the
/// tensor might take, so they count only if it has the factor.
static void cutConflicts(const TensorProjection &row, int32_t factor,
                         AxisList &axes) {
  auto cutBefore = [&](const AxisList &used) {
    if (!used.empty())
      axes = axes.prefixWithoutOverlap(used);
  };
  for (auto [other, cell] : llvm::enumerate(row.factors)) {
    if (static_cast<int32_t>(other) != factor)
      cutBefore(cell.axes);
    cutBefore(cell.overflow);
  }
  if (!row.factors[factor].present)
    return;
  cutBefore(row.replicated);
  cutBefore(row.unreduced);
}

static bool mayGrow(const FactorSharding &cell) {
  return cell.present && !cell.closed && cell.overflow.empty();
}

/// Gives the cell `axes` if they extend what it has.
static void grow(FactorSharding &cell, const AxisList &axes) {
  if (mayGrow(cell) && cell.axes.isPrefixOf(axes))
    cell.axes = axes;
}

void propagateBasic(const FactorRule &rule,
                    llvm::ArrayRef<Direction> directions,
                    llvm::MutableArrayRef<TensorProjection> rows) {
  for (auto [factor, direction] : llvm::enumerate(directions)) {
    AxisList axes = candidateAxes(rule, rows, factor, direction);
    if (axes.empty())
      continue;
    for (const TensorProjection &row : rows) {
      const FactorSharding &cell = row.factors[factor];
      cutConflicts(row, factor, axes);
      if (cell.present && !mayGrow(cell))
        axes = axes.commonPrefix(cell.axes);
      if (cell.present && !cell.minorMost)
        axes = axes.prefixDividing(rule.factors[factor].size);
    }
    for (TensorProjection &row : rows)
      grow(row.factors[factor], axes);
  }
}

namespace {
/// A factor that has something to propagate, and its place in the order.
struct Candidate {
  int32_t factor;
  AxisList axes;
  /// Of the source: the largest tensor that has all of `axes`, the first of
  /// equals.
  int64_t sourceSize = 0;
  int64_t source = 0;
};
} // namespace

static int64_t tensorSize(const FactorRule &rule, int64_t tensor) {
  int64_t size = 1;
  for (const DimFactors &dim : rule.tensor(tensor).dims)
    for (int32_t factor : dim)
      size *= rule.factors[factor].size;
  return size;
}

static Candidate makeCandidate(const FactorRule &rule,
                               llvm::ArrayRef<TensorProjection> rows,
                               int32_t factor, Direction direction) {
  Candidate candidate{factor, candidateAxes(rule, rows, factor, direction)};
  candidate.source = rows.size();
  for (auto [tensor, row] : llvm::enumerate(rows)) {
    const FactorSharding &cell = row.factors[factor];
    if (!cell.present || !candidate.axes.isPrefixOf(cell.axes))
      continue;
    int64_t size = tensorSize(rule, tensor);
    if (size > candidate.sourceSize) {
      candidate.sourceSize = size;
      candidate.source = tensor;
    }
  }
  return candidate;
}

/// The candidates in the order in which they are served.
static llvm::SmallVector<Candidate>
orderedCandidates(const FactorRule &rule, llvm::ArrayRef<Direction> directions,
                  bool elementwise, llvm::ArrayRef<TensorProjection> rows) {
  llvm::SmallVector<Candidate> candidates;
  for (auto [factor, direction] : llvm::enumerate(directions)) {
    Candidate candidate = makeCandidate(rule, rows, factor, direction);
    if (!candidate.axes.empty())
      candidates.push_back(std::move(candidate));
  }
  auto key = [&](const Candidate &c) {
    int64_t shards = elementwise ? c.axes.numShards() : 0;
    return std::make_tuple(-c.sourceSize, -shards, c.source, c.factor);
  };
  llvm::sort(candidates, [&](const Candidate &a, const Candidate &b) {
    return key(a) < key(b);
  });
  return candidates;
}

void propagateAggressive(const FactorRule &rule,
                         llvm::ArrayRef<Direction> directions, bool elementwise,
                         llvm::MutableArrayRef<TensorProjection> rows) {
  int64_t numOperands = rule.operands.size();
  auto allowed = [&](const Candidate &candidate, int64_t tensor) {
    const FactorSharding &cell = rows[tensor].factors[candidate.factor];
    AxisList axes = candidate.axes;
    cutConflicts(rows[tensor], candidate.factor, axes);
    if (!cell.minorMost)
      axes = axes.prefixDividing(rule.factors[candidate.factor].size);
    return axes;
  };
  for (const Candidate &candidate :
       orderedCandidates(rule, directions, elementwise, rows)) {
    int32_t factor = candidate.factor;
    for (int64_t result : llvm::seq<int64_t>(numOperands, rows.size()))
      grow(rows[result].factors[factor], allowed(candidate, result));
    for (int64_t operand : llvm::seq<int64_t>(0, numOperands)) {
      AxisList axes = allowed(candidate, operand);
      // Otherwise operands would exchange axes past a result that refuses.
      if (elementwise && numOperands < static_cast<int64_t>(rows.size()))
        axes = axes.commonPrefix(rows.back().factors[factor].axes);
      grow(rows[operand].factors[factor], axes);
    }
  }
}

} // namespace shardonnay
