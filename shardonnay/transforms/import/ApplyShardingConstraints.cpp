//===- ApplyShardingConstraints.cpp - what a constraint constrains --------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For every constraint, in program order, on a value without a sharding:
// 1. If it is definite and no other constraint of the value differs, the value
//    gets its sharding; an edge keeps its own, and its other uses move to the
//    constraint.
// 2. If it is the value's only constraint and starts a chain, later uses of the
//    value move to the end of the chain.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/transforms/import/Passes.h"

using namespace mlir;
using namespace mlir::sdy;

namespace shardonnay {

#define GEN_PASS_DEF_APPLYSHARDINGCONSTRAINTSPASS
#include "shardonnay/transforms/import/Passes.h.inc"

namespace {

/// Nothing about the sharding is left to propagation. Unreduced axes say how
/// the constrained value is computed, not its input.
bool isDefinite(TensorShardingAttr sharding) {
  return sharding.isFullyClosed() && sharding.getUnreducedAxes().empty();
}

SmallVector<ShardingConstraintOp> getConstraints(Value value) {
  SmallVector<ShardingConstraintOp> constraints;
  for (Operation *user : value.getUsers())
    if (auto constraint = dyn_cast<ShardingConstraintOp>(user))
      constraints.push_back(constraint);
  return constraints;
}

/// A function's argument, or a result.
bool canHaveSharding(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return !argument || isa<func::FuncOp>(argument.getOwner()->getParentOp());
}

void applyToInput(ShardingConstraintOp constraint) {
  Value input = constraint.getInput();
  TensorShardingAttr sharding = constraint.getSharding();
  bool agree =
      llvm::all_of(getConstraints(input), [&](ShardingConstraintOp other) {
        return other.getSharding() == sharding;
      });
  if (!isDefinite(sharding) || !agree)
    return;
  if (auto edge = input.getDefiningOp<DataFlowEdgeOp>()) {
    constraint->moveAfter(edge);
    input.replaceAllUsesExcept(constraint, constraint);
  } else if (canHaveSharding(input)) {
    setSharding(input, sharding);
  }
}

/// The last constraint of the chain that `head` starts, each one the only use
/// of the one before.
ShardingConstraintOp getTail(ShardingConstraintOp head) {
  while (head.getResult().hasOneUse()) {
    auto next = dyn_cast<ShardingConstraintOp>(*head->user_begin());
    if (!next || next->getBlock() != head->getBlock())
      break;
    head = next;
  }
  return head;
}

void moveUsesToTail(ShardingConstraintOp head) {
  ShardingConstraintOp tail = getTail(head);
  if (tail == head)
    return;
  head.getInput().replaceUsesWithIf(tail.getResult(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    return user->getBlock() == tail->getBlock() &&
           tail->isBeforeInBlock(user) &&
           !user->hasTrait<OpTrait::IsTerminator>();
  });
}

void applyConstraint(ShardingConstraintOp constraint) {
  Value input = constraint.getInput();
  if (getSharding(input))
    return;
  bool isOnly = getConstraints(input).size() == 1;
  applyToInput(constraint);
  if (isOnly)
    moveUsesToTail(constraint);
}

struct ApplyShardingConstraintsPass
    : impl::ApplyShardingConstraintsPassBase<ApplyShardingConstraintsPass> {
  void runOnOperation() override {
    SmallVector<ShardingConstraintOp> constraints;
    getOperation().walk<WalkOrder::PreOrder>(
        [&](ShardingConstraintOp constraint) {
          constraints.push_back(constraint);
        });
    llvm::for_each(constraints, applyConstraint);
  }
};

} // namespace
} // namespace shardonnay
