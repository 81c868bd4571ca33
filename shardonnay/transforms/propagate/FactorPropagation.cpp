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

AxisList compatibleMajorAxes(const FactorRule &rule,
                             llvm::ArrayRef<TensorProjection> rows,
                             int32_t factor, Direction direction) {
  if (direction == Direction::None)
    return {};
  AxisList agreed;
  // Once two tensors disagree, later ones can't make the agreed longer.
  bool disagreed = false;
  auto restrict = [&](const AxisList &axes) {
    if (axes.isPrefixOf(agreed))
      return;
    agreed = agreed.commonPrefix(axes);
    disagreed = true;
  };
  for (auto [tensor, row] : llvm::enumerate(rows)) {
    const FactorSharding &cell = row.factors[factor];
    if (!cell.present || !contributes(rule, tensor, direction))
      continue;
    if (!agreed.isPrefixOf(cell.axes))
      restrict(cell.axes);
    else if (!disagreed)
      agreed = cell.axes;
  }
  for (auto [tensor, row] : llvm::enumerate(rows)) {
    const FactorSharding &cell = row.factors[factor];
    if (cell.present && !contributes(rule, tensor, direction))
      restrict(cell.axes);
  }
  return agreed;
}

namespace {
/// Truncates what a factor offers to what tensors can take, and says why.
class Truncation {
public:
  Truncation(const FactorRule &rule, llvm::ArrayRef<TensorProjection> rows,
             int32_t factor, AxisList offered, RefusalLog log)
      : rule(rule), rows(rows), factor(factor), axes(std::move(offered)),
        log(log) {}

  const AxisList &left() const { return axes; }

  /// Before the first axis that `tensor` uses otherwise than for the factor.
  /// `replicated` and `unreduced` speak only of axes that the tensor might
  /// take, so they count only if it has the factor.
  void truncateConflicts(int32_t tensor) {
    const TensorProjection &row = rows[tensor];
    for (auto [other, cell] : llvm::enumerate(row.factors)) {
      if (static_cast<int32_t>(other) != factor)
        truncateBefore(cell.axes, RefusalReason::UsedByFactor, tensor, other);
      truncateBefore(cell.overflow, RefusalReason::UsedByFactor, tensor, other);
    }
    if (!row.factors[factor].present)
      return;
    truncateBefore(row.replicated, RefusalReason::Replicated, tensor);
    truncateBefore(row.unreduced, RefusalReason::Unreduced, tensor);
  }

  void truncateToDivisor(int32_t tensor) {
    if (!rows[tensor].factors[factor].minorMost)
      truncateTo(axes.prefixDividing(rule.factors[factor].size),
                 RefusalReason::DoesNotDivide, tensor);
  }

  void truncateTo(const AxisList &prefix, RefusalReason reason, int32_t tensor,
                  int32_t otherFactor = -1) {
    AxisList rest = axes.commonPrefix(prefix);
    if (log && rest != axes)
      refusals.push_back(
          {reason, factor, tensor, axes, rest, tensor, otherFactor});
    axes = std::move(rest);
  }

  /// `tensor` has seen all refusals that count for it.
  void report(int32_t tensor) {
    if (!log)
      return;
    const AxisList &own = rows[tensor].factors[factor].axes;
    for (const Refusal &refusal : refusals)
      if (!refusal.wanted.isPrefixOf(own)) {
        log->push_back(refusal);
        log->back().tensor = tensor;
      }
  }

private:
  void truncateBefore(const AxisList &used, RefusalReason reason,
                      int32_t tensor, int32_t otherFactor = -1) {
    if (!used.empty())
      truncateTo(axes.prefixWithoutOverlap(used), reason, tensor, otherFactor);
  }

  const FactorRule &rule;
  llvm::ArrayRef<TensorProjection> rows;
  int32_t factor;
  AxisList axes;
  RefusalLog log;
  llvm::SmallVector<Refusal, 0> refusals;
};
} // namespace

/// Tells of axes of a tensor that are no part of the compatible ones because
/// another tensor has others.
static void reportDisagreement(llvm::ArrayRef<TensorProjection> rows,
                               int32_t factor, const AxisList &compatible,
                               RefusalLog log) {
  int32_t numRows = rows.size();
  auto cell = [&](int32_t row) -> const FactorSharding & {
    return rows[row].factors[factor];
  };
  for (int32_t other : llvm::seq(numRows)) {
    const AxisList &lost = cell(other).axes;
    if (!cell(other).present || lost.isPrefixOf(compatible))
      continue;
    for (int32_t tensor : llvm::seq(numRows)) {
      const AxisList &own = cell(tensor).axes;
      if (cell(tensor).present && !own.empty() && !own.isPrefixOf(lost) &&
          !lost.isPrefixOf(own))
        log->push_back({RefusalReason::Disagreement, factor, tensor, lost,
                        lost.commonPrefix(own), other});
    }
  }
}

static bool mayGrow(const FactorSharding &cell) {
  return cell.present && !cell.closed && cell.overflow.empty();
}

/// Gives the cell `axes` if they extend what it has.
static void grow(FactorSharding &cell, const AxisList &axes) {
  if (mayGrow(cell) && cell.axes.isPrefixOf(axes))
    cell.axes = axes;
}

static RefusalReason whyNoGrowth(const FactorSharding &cell) {
  return cell.closed ? RefusalReason::Closed : RefusalReason::Overflow;
}

void propagateBasic(const FactorRule &rule,
                    llvm::ArrayRef<Direction> directions,
                    llvm::MutableArrayRef<TensorProjection> rows,
                    RefusalLog log) {
  for (auto [factor, direction] : llvm::enumerate(directions)) {
    AxisList compatible = compatibleMajorAxes(rule, rows, factor, direction);
    if (log)
      reportDisagreement(rows, factor, compatible, log);
    if (compatible.empty())
      continue;
    Truncation truncation(rule, rows, factor, std::move(compatible), log);
    for (auto [tensor, row] : llvm::enumerate(rows)) {
      const FactorSharding &cell = row.factors[factor];
      truncation.truncateConflicts(tensor);
      if (!cell.present)
        continue;
      if (!mayGrow(cell))
        truncation.truncateTo(cell.axes, whyNoGrowth(cell), tensor);
      truncation.truncateToDivisor(tensor);
    }
    for (auto [tensor, row] : llvm::enumerate(rows)) {
      if (row.factors[factor].present)
        truncation.report(tensor);
      grow(row.factors[factor], truncation.left());
    }
  }
}

namespace {
/// A factor that has something to propagate, and its place in the order.
struct Expansion {
  int32_t factor;
  AxisList axes;
  /// The size of the source: the largest tensor that has all of `axes`, the
  /// first of equals.
  int64_t sourceSize = 0;
  int64_t source = 0;
};
} // namespace

int64_t tensorSize(const FactorRule &rule, int64_t tensor) {
  int64_t size = 1;
  for (const DimFactors &dim : rule.tensor(tensor).dims)
    for (int32_t factor : dim)
      size *= rule.factors[factor].size;
  return size;
}

static Expansion makeExpansion(const FactorRule &rule,
                               llvm::ArrayRef<TensorProjection> rows,
                               int32_t factor, Direction direction) {
  Expansion expansion{factor,
                      compatibleMajorAxes(rule, rows, factor, direction)};
  expansion.source = rows.size();
  for (auto [tensor, row] : llvm::enumerate(rows)) {
    const FactorSharding &cell = row.factors[factor];
    if (!cell.present || !expansion.axes.isPrefixOf(cell.axes))
      continue;
    int64_t size = tensorSize(rule, tensor);
    if (size > expansion.sourceSize) {
      expansion.sourceSize = size;
      expansion.source = tensor;
    }
  }
  return expansion;
}

/// The expansions in the order in which they are served.
static llvm::SmallVector<Expansion>
orderedExpansions(const FactorRule &rule, llvm::ArrayRef<Direction> directions,
                  bool elementwise, llvm::ArrayRef<TensorProjection> rows) {
  llvm::SmallVector<Expansion> expansions;
  for (auto [factor, direction] : llvm::enumerate(directions)) {
    Expansion expansion = makeExpansion(rule, rows, factor, direction);
    if (!expansion.axes.empty())
      expansions.push_back(std::move(expansion));
  }
  auto key = [&](const Expansion &c) {
    int64_t shards = elementwise ? c.axes.numShards() : 0;
    return std::make_tuple(-c.sourceSize, -shards, c.source, c.factor);
  };
  llvm::sort(expansions, [&](const Expansion &a, const Expansion &b) {
    return key(a) < key(b);
  });
  return expansions;
}

void propagateAggressive(const FactorRule &rule,
                         llvm::ArrayRef<Direction> directions, bool elementwise,
                         llvm::MutableArrayRef<TensorProjection> rows,
                         RefusalLog log) {
  int64_t numOperands = rule.operands.size();
  int64_t numTensors = rows.size();
  if (log)
    for (auto [factor, direction] : llvm::enumerate(directions))
      reportDisagreement(rows, factor,
                         compatibleMajorAxes(rule, rows, factor, direction),
                         log);
  auto serve = [&](const Expansion &expansion, int64_t tensor) {
    FactorSharding &cell = rows[tensor].factors[expansion.factor];
    if (!cell.present)
      return;
    Truncation truncation(rule, rows, expansion.factor, expansion.axes, log);
    truncation.truncateConflicts(tensor);
    truncation.truncateToDivisor(tensor);
    // Otherwise operands would exchange axes past a result that refuses.
    if (elementwise && tensor < numOperands && numOperands < numTensors)
      truncation.truncateTo(rows.back().factors[expansion.factor].axes,
                            RefusalReason::NotInResult, tensor);
    if (log && !mayGrow(cell))
      truncation.truncateTo(cell.axes, whyNoGrowth(cell), tensor);
    truncation.report(tensor);
    grow(cell, truncation.left());
  };
  for (const Expansion &expansion :
       orderedExpansions(rule, directions, elementwise, rows)) {
    for (int64_t result : llvm::seq(numOperands, numTensors))
      serve(expansion, result);
    for (int64_t operand : llvm::seq(numOperands))
      serve(expansion, operand);
  }
}

} // namespace shardonnay
