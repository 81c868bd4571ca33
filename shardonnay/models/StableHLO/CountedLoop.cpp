//===- CountedLoop.cpp ----------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/models/StableHLO/CountedLoop.h"
#include "shardonnay/dialect/stablehlo/LoopStep.h"

using namespace mlir;
using namespace mlir::stablehlo;

namespace shardonnay {

namespace {

class CountedLoop {
public:
  CountedLoop(WhileOp loop, ConstantReader constantOf)
      : loop(loop), constantOf(constantOf) {}

  std::optional<int64_t> run();

private:
  /// What `value`, in the condition, is in every round.
  std::optional<int64_t> invariant(Value value);
  Value returned(unsigned number) {
    return loop.getBody().front().getTerminator()->getOperand(number);
  }
  Value argument(unsigned number) { return loop.getBody().getArgument(number); }

  WhileOp loop;
  ConstantReader constantOf;
};

std::optional<int64_t> CountedLoop::invariant(Value value) {
  auto carried = dyn_cast<BlockArgument>(value);
  if (!carried || carried.getOwner() != &loop.getCond().front())
    return constantOf(value);
  unsigned number = carried.getArgNumber();
  if (returned(number) != argument(number))
    return std::nullopt;
  return constantOf(loop->getOperand(number));
}

ComparisonDirection mirrored(ComparisonDirection direction) {
  switch (direction) {
  case ComparisonDirection::LT:
    return ComparisonDirection::GT;
  case ComparisonDirection::LE:
    return ComparisonDirection::GE;
  case ComparisonDirection::GT:
    return ComparisonDirection::LT;
  case ComparisonDirection::GE:
    return ComparisonDirection::LE;
  default:
    return direction;
  }
}

/// The rounds from `start` by `step` while `direction` holds of the counter
/// and `limit`. Nothing where the counter never gets there.
std::optional<int64_t> countRounds(int64_t start, int64_t step, int64_t limit,
                                   ComparisonDirection direction) {
  // The counter must not wrap around on the way.
  constexpr int64_t kLarge = int64_t{1} << 40;
  for (int64_t number : {start, step, limit})
    if (number > kLarge || number < -kLarge)
      return std::nullopt;
  bool up = direction == ComparisonDirection::LT ||
            direction == ComparisonDirection::LE;
  if (!up && direction != ComparisonDirection::GT &&
      direction != ComparisonDirection::GE)
    return std::nullopt;
  int64_t distance = up ? limit - start : start - limit;
  if (direction == ComparisonDirection::LE ||
      direction == ComparisonDirection::GE)
    ++distance;
  if (distance <= 0)
    return 0;
  int64_t stride = up ? step : -step;
  if (stride <= 0)
    return std::nullopt;
  return llvm::divideCeil(distance, stride);
}

std::optional<int64_t> CountedLoop::run() {
  Value condition = loop.getCond().front().getTerminator()->getOperand(0);
  auto compare = condition.getDefiningOp<CompareOp>();
  if (!compare)
    return std::nullopt;
  for (bool swap : {false, true}) {
    auto counter = dyn_cast<BlockArgument>(compare->getOperand(swap));
    if (!counter || counter.getOwner() != &loop.getCond().front())
      continue;
    unsigned number = counter.getArgNumber();
    std::optional<int64_t> limit = invariant(compare->getOperand(!swap)),
                           start = constantOf(loop->getOperand(number)),
                           by = findStep(loop, number, constantOf);
    ComparisonDirection direction = compare.getComparisonDirection();
    if (limit && start && by)
      return countRounds(*start, *by, *limit,
                         swap ? mirrored(direction) : direction);
  }
  return std::nullopt;
}

} // namespace

std::optional<int64_t> countTrips(WhileOp loop, ConstantReader constantOf) {
  return CountedLoop(loop, constantOf).run();
}

} // namespace shardonnay
