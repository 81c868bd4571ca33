//===- HoistCollectives.cpp -----------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "shardonnay/interfaces/DataFlowEdge.h"
#include "shardonnay/transforms/collectives/Optimizations.h"
#include "shardonnay/transforms/collectives/Passes.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_HOISTCOLLECTIVESPASS
#include "shardonnay/transforms/collectives/Passes.h.inc"

/// How far a chain of ops is followed that no run of the loop changes.
static constexpr unsigned kMaxDepth = 8;

/// Where an argument of the loop's region is the same in every run, what goes
/// into the loop for it; null elsewhere.
static Value getInvariantSource(BlockArgument argument, Operation *loop) {
  if (argument.getOwner()->getParentOp() != loop)
    return nullptr;
  auto dataFlow = dyn_cast<ShardableDataFlowOpInterface>(loop);
  Value owner = dataFlow ? getEdgeOwner(argument) : Value();
  if (!owner || dataFlow.getManualBoundary(owner))
    return nullptr;
  SmallVector<Value> targets = dataFlow.getEdgeTargets(owner);
  Value source;
  for (OpOperand *operand : dataFlow.getEdgeSources(owner)) {
    if (llvm::is_contained(targets, operand->get()))
      continue;
    if (operand->getOwner() != loop || source)
      return nullptr;
    source = operand->get();
  }
  return source;
}

namespace {
/// Copies what does not change in a loop before it.
class Hoister {
public:
  explicit Hoister(Operation *loop) : loop(loop), builder(loop) {}

  bool isInvariant(Value value, unsigned depth = 0) {
    if (isOutside(value))
      return true;
    if (auto argument = dyn_cast<BlockArgument>(value))
      return getInvariantSource(argument, loop) != nullptr;
    Operation *op = value.getDefiningOp();
    return depth < kMaxDepth && isPure(op) && op->getNumRegions() == 0 &&
           llvm::all_of(
               op->getOperands(),
               [&](Value operand) { return isInvariant(operand, depth + 1); });
  }
  /// An invariant value, from before the loop.
  Value get(Value value) {
    if (isOutside(value))
      return value;
    if (auto argument = dyn_cast<BlockArgument>(value))
      return getInvariantSource(argument, loop);
    Value &known = copies[value];
    if (known)
      return known;
    Operation *op = value.getDefiningOp();
    SmallVector<Value> operands = llvm::map_to_vector(
        op->getOperands(), [&](Value operand) { return get(operand); });
    Operation *copy = builder.clone(*op);
    copy->setOperands(operands);
    // `get` may have grown the map.
    return copies[value] =
               copy->getResult(cast<OpResult>(value).getResultNumber());
  }

private:
  bool isOutside(Value value) {
    return !loop->isAncestor(value.getParentBlock()->getParentOp());
  }

  Operation *loop;
  OpBuilder builder;
  llvm::DenseMap<Value, Value> copies;
};
} // namespace

/// True for an op whose regions take nothing in, and so are branches.
static bool isConditional(Operation *op) {
  return isa<ShardableDataFlowOpInterface>(op) &&
         llvm::all_of(op->getRegions(), [](Region &region) {
           return region.getNumArguments() == 0;
         });
}

/// The collectives that cost something in `op`, and in its branches; an inner
/// loop has been looked at by itself.
static void findCollectives(Operation *op, CollectivePlanner &planner,
                            SmallVectorImpl<Operation *> &found) {
  for (Region &region : op->getRegions())
    for (Operation &inner : region.getOps()) {
      if (inner.getNumResults() == 1 &&
          getPlannedCollective(inner.getResult(0)) && planner.price(&inner) > 0)
        found.push_back(&inner);
      if (isConditional(&inner))
        findCollectives(&inner, planner, found);
    }
}

static bool hoistFrom(Operation *loop, CollectivePlanner &planner) {
  SmallVector<Operation *> found;
  findCollectives(loop, planner, found);
  Hoister hoister(loop);
  bool changed = false;
  for (Operation *op : found) {
    Value value = op->getResult(0);
    if (!hoister.isInvariant(value))
      continue;
    value.replaceAllUsesWith(hoister.get(value));
    changed = true;
  }
  // The copies' originals, and what only these used.
  if (changed)
    loop->walk<WalkOrder::PostOrder, ReverseIterator>([&](Operation *op) {
      if (op != loop && isOpTriviallyDead(op))
        op->erase();
    });
  return changed;
}

bool hoistCollectives(const CollectiveSites &sites,
                      CollectivePlanner &planner) {
  bool changed = false;
  // Inner loops first: what leaves one may leave the next.
  for (Operation *loop : llvm::reverse(sites.loops))
    if (countTrips(loop) > 1)
      changed |= hoistFrom(loop, planner);
  return changed;
}

namespace {
struct HoistCollectivesPass
    : OptimizationPass<impl::HoistCollectivesPassBase<HoistCollectivesPass>,
                       hoistCollectives> {
  using OptimizationPass::OptimizationPass;
};
} // namespace

} // namespace shardonnay
