//===- LoopRuns.cpp -------------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/reshard/LoopRuns.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/sdy/access/ShardBytes.h"
#include "shardonnay/dialect/sdy/access/TripCount.h"
#include "shardonnay/interfaces/CarriedValue.h"
#include "shardonnay/interfaces/ShardingRule.h"

using namespace mlir;

namespace shardonnay {

static double bytesOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape())
    return 0;
  return static_cast<double>(type.getNumElements()) *
         sdy::getElementBytes(type);
}

LoopRuns::LoopRuns(Block &block, const MemoryPrices &prices) : block(block) {
  Operation *parent = block.getParentOp();
  if (!isa_and_present<ShardableDataFlowOpInterface>(parent) ||
      !isLoop(parent) || &block != &parent->getRegions().back().front())
    return;
  once = (1 + prices.lookup(parent)) / sdy::countTrips(parent);
  if (once >= 1)
    return;
  loop = parent;
  around = std::make_unique<LoopRuns>(*parent->getBlock(), prices);
  readSums();
}

ReshardRuns LoopRuns::ofInput(Value value) const {
  ReshardRuns runs;
  if (!loop || bytesOf(value) == 0)
    return runs;
  if (auto argument = dyn_cast<BlockArgument>(value);
      argument && argument.getOwner() == &block)
    value = getInvariantSource(argument, loop);
  if (!value)
    return runs;
  runs.moved = once;
  // What is made around the loop is resharded in each run of that.
  if (!isa<OpResult>(value) || value.getParentBlock() != &around->block)
    runs.moved *= around->ofInput(value).moved;
  runs.reduced = runs.moved;
  return runs;
}

/// What a run adds to the carried value, or updates slices of it with if
/// `mayUpdate`; false if it does anything else to it.
static bool readAdded(const CarriedValue &found, bool mayUpdate,
                      SmallVectorImpl<Value> &added) {
  for (OpOperand *carried : found.followSum()) {
    Operation *op = carried->getOwner();
    if (!mayUpdate && !cast<ShardingRuleOpInterface>(op).isElementwise())
      return false;
    size_t before = added.size();
    for (OpOperand &summand : op->getOpOperands())
      if (isLinearInBoth(*carried, summand, ReductionKind::Sum))
        added.push_back(summand.get());
    if (added.size() == before)
      return false;
  }
  return true;
}

void LoopRuns::readSums() {
  auto dataFlow = cast<ShardableDataFlowOpInterface>(loop);
  llvm::DenseMap<Value, Readers> readers;
  for (Value owner : dataFlow.getEdgeOwners()) {
    if (bytesOf(owner) == 0 || dataFlow.getManualBoundary(owner))
      continue;
    std::optional<CarriedValue> found = readCarried(dataFlow, owner);
    double runs = around->reducedRuns(owner);
    SmallVector<Value> added;
    // Slices of a tensor are no fewer behind the loop: there they are reduced
    // if the loop around it adds them up.
    if (!found || !readAdded(*found, /*mayUpdate=*/runs < 1, added))
      continue;
    for (Value summand : added)
      addSummands(summand, bytesOf(owner) * runs * once, 0, readers);
  }
}

void LoopRuns::addSummands(Value value, double carried, unsigned depth,
                           llvm::DenseMap<Value, Readers> &readers) {
  Operation *op = value.getDefiningOp();
  double bytes = bytesOf(value);
  if (!op || op->getBlock() != &block || bytes == 0)
    return;
  Readers &found = readers[value];
  carried = found.carried += carried;
  if (!value.hasNUses(++found.count))
    return;
  summands[value] = std::min(1.0, carried / bytes);
  auto rule = dyn_cast<ShardingRuleOpInterface>(op);
  if (!rule || op->getNumResults() != 1 || rule.isContraction() ||
      depth == kMostLinearSteps)
    return;
  for (OpOperand &operand : op->getOpOperands())
    if (isLinearIn(operand, ReductionKind::Sum))
      addSummands(operand.get(), carried, depth + 1, readers);
}

double LoopRuns::lookUp(Value result) const {
  auto found = summands.find(result);
  return found == summands.end() ? 1 : found->second;
}

} // namespace shardonnay
