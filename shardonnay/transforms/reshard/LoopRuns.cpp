//===- LoopRuns.cpp -------------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/reshard/LoopRuns.h"
#include "mlir/Transforms/RegionUtils.h"
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

LoopRuns::LoopRuns(Block &block, const MeshScope &scope, double memory)
    : block(block) {
  Operation *parent = block.getParentOp();
  if (!isa_and_present<ShardableDataFlowOpInterface>(parent) ||
      !isLoop(parent) || &block != &parent->getRegions().back().front())
    return;
  trips = sdy::countTrips(parent);
  if (trips <= 1)
    return;
  loop = parent;
  around = std::make_unique<LoopRuns>(*parent->getBlock(), scope, memory);
  SmallVector<Value> sums = readSums();
  if (memory == HUGE_VAL || heldMore(sums, scope) <= memory)
    return;
  loop = nullptr;
  summands.clear();
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
  runs.moved = 1 / trips;
  // What is made around the loop is resharded in each run of that.
  if (!isa<OpResult>(value) || value.getParentBlock() != &around->block)
    runs.moved *= around->ofInput(value).moved;
  runs.reduced = runs.moved;
  return runs;
}

/// For holding `value` whole.
static double moreForWhole(Value value, const MeshScope &scope) {
  double bytes = bytesOf(value);
  if (bytes == 0)
    return 0;
  auto type = cast<RankedTensorType>(value.getType());
  return bytes - sdy::getShardBytes(type, scope.read(value));
}

double LoopRuns::heldMore(ArrayRef<Value> sums, const MeshScope &scope) const {
  double more = 0;
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(loop->getRegions(), captured);
  for (Value value : captured)
    more += moreForWhole(value, scope);
  for (BlockArgument argument : block.getArguments())
    if (getInvariantSource(argument, loop))
      more += moreForWhole(argument, scope);
  for (Value sum : sums)
    more += moreForWhole(sum, scope);
  return more;
}

SmallVector<Value> LoopRuns::readSums() {
  SmallVector<Value> sums;
  auto dataFlow = cast<ShardableDataFlowOpInterface>(loop);
  for (Value owner : dataFlow.getEdgeOwners()) {
    if (bytesOf(owner) == 0 || dataFlow.getManualBoundary(owner))
      continue;
    std::optional<CarriedValue> found = readCarried(dataFlow, owner);
    auto rule = found ? dyn_cast<ShardingRuleOpInterface>(found->user)
                      : ShardingRuleOpInterface();
    double runs = around->reducedRuns(owner);
    // Slices of a tensor are no fewer behind the loop: there they are reduced
    // if the loop around it adds them up.
    if (!rule || !found->isLeftByUser() || (!rule.isElementwise() && runs == 1))
      continue;
    sums.push_back(owner);
    for (OpOperand &summand : found->user->getOpOperands())
      if (found->isLinearWith(summand, ReductionKind::Sum))
        addSummands(summand.get(), bytesOf(owner), runs / trips, 0);
  }
  return sums;
}

void LoopRuns::addSummands(Value value, double ownerBytes, double runs,
                           unsigned depth) {
  Operation *op = value.getDefiningOp();
  double bytes = bytesOf(value);
  if (!op || op->getBlock() != &block || !value.hasOneUse() || bytes == 0)
    return;
  summands[value] = std::min(1.0, runs * ownerBytes / bytes);
  auto rule = dyn_cast<ShardingRuleOpInterface>(op);
  if (!rule || op->getNumResults() != 1 || rule.isContraction() ||
      depth == kMostLinearSteps)
    return;
  for (OpOperand &operand : op->getOpOperands()) {
    llvm::SmallBitVector one(op->getNumOperands());
    one.set(operand.getOperandNumber());
    if (rule.isLinear(ReductionKind::Sum, one))
      addSummands(operand.get(), ownerBytes, runs, depth + 1);
  }
}

double LoopRuns::lookUp(Value result) const {
  auto found = summands.find(result);
  return found == summands.end() ? 1 : found->second;
}

} // namespace shardonnay
