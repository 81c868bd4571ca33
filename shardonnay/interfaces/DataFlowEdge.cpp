//===- DataFlowEdge.cpp ---------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/interfaces/DataFlowEdge.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/STLExtras.h"

#include "shardonnay/interfaces/DataFlowEdge.cpp.inc"

using namespace mlir;

namespace shardonnay {

namespace {

/// What flows where in an op with RegionBranchOpInterface.
class RegionBranchFlow {
public:
  explicit RegionBranchFlow(RegionBranchOpInterface op) {
    addFlows(op, RegionBranchPoint::parent(), op);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (!block.empty())
          if (auto end =
                  dyn_cast<RegionBranchTerminatorOpInterface>(block.back()))
            addFlows(op, RegionBranchPoint(end), end);
    addTargets(op->getResults());
    for (Region &region : op->getRegions())
      if (!region.empty())
        addTargets(region.getArguments());
  }

  /// In the order of the results, then of the block arguments.
  SmallVector<Value> owners() const {
    SmallVector<Value> result;
    llvm::SmallDenseSet<Value> seen;
    for (Value target : targets)
      if (seen.insert(leader(target)).second)
        result.push_back(target);
    return result;
  }
  SmallVector<Value> targetsOf(Value owner) const {
    return llvm::filter_to_vector(
        targets, [&](Value target) { return leader(target) == leader(owner); });
  }
  SmallVector<OpOperand *> sourcesOf(Value owner) const {
    SmallVector<OpOperand *> result;
    for (auto [operand, target] : flows)
      if (leader(target) == leader(owner) &&
          !llvm::is_contained(result, operand))
        result.push_back(operand);
    return result;
  }

private:
  void addFlows(RegionBranchOpInterface op, RegionBranchPoint point,
                Operation *from) {
    SmallVector<RegionSuccessor> successors;
    op.getSuccessorRegions(point, successors);
    for (RegionSuccessor &successor : successors) {
      OperandRange forwarded =
          from == op ? op.getEntrySuccessorOperands(successor)
                     : cast<RegionBranchTerminatorOpInterface>(from)
                           .getSuccessorOperands(successor);
      ValueRange inputs = successor.getSuccessorInputs();
      for (auto [i, input] : llvm::enumerate(inputs))
        addFlow(&from->getOpOperand(forwarded.getBeginOperandIndex() + i),
                input);
    }
  }
  void addFlow(OpOperand *operand, Value target) {
    auto [first, isNew] = targetOf.try_emplace(operand, target);
    classes.unionSets(first->second, target);
    flows.emplace_back(operand, target);
  }
  /// Only what something flows into: an induction variable has no source.
  void addTargets(ValueRange values) {
    for (Value value : values)
      if (classes.contains(value))
        targets.push_back(value);
  }
  Value leader(Value value) const { return classes.getLeaderValue(value); }

  SmallVector<std::pair<OpOperand *, Value>> flows;
  llvm::DenseMap<OpOperand *, Value> targetOf;
  llvm::EquivalenceClasses<Value> classes;
  SmallVector<Value> targets;
};

} // namespace

SmallVector<Value> regionBranchOwners(Operation *op) {
  auto branch = dyn_cast<RegionBranchOpInterface>(op);
  return branch ? RegionBranchFlow(branch).owners() : SmallVector<Value>();
}

SmallVector<OpOperand *> regionBranchSources(Operation *op, Value owner) {
  auto branch = dyn_cast<RegionBranchOpInterface>(op);
  return branch ? RegionBranchFlow(branch).sourcesOf(owner)
                : SmallVector<OpOperand *>();
}

SmallVector<Value> regionBranchTargets(Operation *op, Value owner) {
  auto branch = dyn_cast<RegionBranchOpInterface>(op);
  return branch ? RegionBranchFlow(branch).targetsOf(owner)
                : SmallVector<Value>{owner};
}

/// The owner of a class of `op` that `owns`, which is mostly the one at
/// `guess`.
static Value findOwner(ShardableDataFlowOpInterface op, size_t guess,
                       llvm::function_ref<bool(Value)> owns) {
  if (op.resultsOwnClasses() && guess < op->getNumResults() &&
      owns(op->getResult(guess)))
    return op->getResult(guess);
  SmallVector<Value> owners = op.getEdgeOwners();
  if (guess < owners.size() && owns(owners[guess]))
    return owners[guess];
  const auto *found = llvm::find_if(owners, owns);
  return found == owners.end() ? Value() : *found;
}

Operation *getOwnerOp(Value value) {
  Operation *producer = value.getDefiningOp();
  return producer ? producer : value.getParentBlock()->getParentOp();
}

Value getEdgeOwner(Value target) {
  auto dataFlow =
      dyn_cast_if_present<ShardableDataFlowOpInterface>(getOwnerOp(target));
  if (!dataFlow)
    return nullptr;
  auto argument = dyn_cast<BlockArgument>(target);
  return findOwner(dataFlow,
                   argument ? argument.getArgNumber()
                            : cast<OpResult>(target).getResultNumber(),
                   [&](Value owner) {
                     return llvm::is_contained(dataFlow.getEdgeTargets(owner),
                                               target);
                   });
}

Value getEdgeOwner(OpOperand &source) {
  Operation *op = source.getOwner();
  if (op->hasTrait<OpTrait::IsTerminator>())
    op = op->getParentOp();
  auto dataFlow = dyn_cast_if_present<ShardableDataFlowOpInterface>(op);
  if (!dataFlow)
    return nullptr;
  return findOwner(dataFlow, source.getOperandNumber(), [&](Value owner) {
    return llvm::is_contained(dataFlow.getEdgeSources(owner), &source);
  });
}

std::optional<int64_t> defaultTripCount(Operation *op) {
  if (auto loop = dyn_cast<LoopLikeOpInterface>(op)) {
    std::optional<APInt> count = loop.getStaticTripCount();
    if (count && count->isSignedIntN(64))
      return std::max<int64_t>(0, count->getSExtValue());
    return std::nullopt;
  }
  return isLoop(op) ? std::nullopt : std::optional<int64_t>(1);
}

bool isLoop(Operation *op) {
  auto dataFlow = dyn_cast<ShardableDataFlowOpInterface>(op);
  if (!dataFlow || op->getNumRegions() == 0)
    return false;
  return llvm::any_of(dataFlow.getEdgeOwners(), [&](Value owner) {
    return llvm::any_of(dataFlow.getEdgeTargets(owner),
                        llvm::IsaPred<BlockArgument>) &&
           llvm::any_of(dataFlow.getEdgeSources(owner), [&](OpOperand *source) {
             return source->getOwner() != op;
           });
  });
}

SmallVector<OpOperand *> returnedFor(Operation *op, Value owner) {
  unsigned number = cast<OpResult>(owner).getResultNumber();
  SmallVector<OpOperand *> returned;
  for (Region &region : op->getRegions())
    returned.push_back(&region.front().getTerminator()->getOpOperand(number));
  return returned;
}

} // namespace shardonnay
