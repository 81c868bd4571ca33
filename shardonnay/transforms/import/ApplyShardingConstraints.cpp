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
#include "shardonnay/interfaces/OpKinds.h"
#include "shardonnay/report/PropagationAttributes.h"
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

/// Writes down where axes come from, as propagation does for its steps.
class ConstraintRecorder {
public:
  ConstraintRecorder(ModuleOp module, bool origins, bool edges)
      : module(module), origins(origins), edges(edges) {}

  /// Records where the shardings of arguments and constraints are given.
  void recordGiven(ArrayRef<ShardingConstraintOp> constraints) {
    if (!origins && !edges)
      return;
    nameOrigins(module);
    nextStep = getNextStep(module);
    for (ShardingConstraintOp constraint : constraints)
      record(constraint.getResult(), constraint.getSharding(), "self");
    for (auto func : module.getOps<func::FuncOp>())
      if (!func.isExternal())
        for (Value argument : func.getArguments())
          if (TensorShardingAttr sharding = getSharding(argument))
            record(argument, sharding, "self");
  }

  /// The constraint's sharding is its input's now.
  void recordApplied(ShardingConstraintOp constraint) {
    if (origins)
      record(constraint.getInput(), constraint.getSharding(),
             getOrMakeOriginName(constraint));
    MLIRContext *context = constraint.getContext();
    SmallVector<AxisToPropagationDetailsAttr> moved;
    for (AxisRefAttr axis : axesOf(constraint.getSharding()))
      moved.push_back(AxisToPropagationDetailsAttr::get(
          context, axis,
          EdgeValueRefAttr::get(context, EdgeNodeType::RESULT, 0),
          {EdgeValueRefAttr::get(context, EdgeNodeType::OPERAND, 0)}));
    if (edges && !moved.empty())
      addStep(constraint,
              PropagationOneStepAttr::get(context, nextStep++, moved));
  }

private:
  static SmallVector<AxisRefAttr> axesOf(TensorShardingAttr sharding) {
    SmallVector<AxisRefAttr> axes;
    for (DimensionShardingAttr dim : sharding.getDimShardings())
      llvm::append_range(axes, dim.getAxes());
    return axes;
  }

  void record(Value value, TensorShardingAttr sharding, StringRef origin) {
    if (!origins)
      return;
    NamedAttrList entries;
    for (AxisRefAttr axis : axesOf(sharding))
      entries.set(axisKey(axis), StringAttr::get(module.getContext(), origin));
    if (!entries.empty())
      setOrigins({value}, entries.getDictionary(module.getContext()));
  }

  ModuleOp module;
  bool origins, edges;
  int64_t nextStep = 0;
};

void applyToInput(ShardingConstraintOp constraint,
                  ConstraintRecorder &recorder) {
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
    recorder.recordApplied(constraint);
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

void applyConstraint(ShardingConstraintOp constraint,
                     ConstraintRecorder &recorder) {
  Value input = constraint.getInput();
  if (getSharding(input))
    return;
  bool isOnly = getConstraints(input).size() == 1;
  applyToInput(constraint, recorder);
  if (isOnly)
    moveUsesToTail(constraint);
}

struct ApplyShardingConstraintsPass
    : impl::ApplyShardingConstraintsPassBase<ApplyShardingConstraintsPass> {
  using ApplyShardingConstraintsPassBase::ApplyShardingConstraintsPassBase;

  void runOnOperation() override {
    bool records = debugShardingOrigins || debugPropagationEdgeSharding;
    if (!records && !getAnalysis<OpKinds>().mayHave<ShardingConstraintOp>())
      return markAllAnalysesPreserved();
    SmallVector<ShardingConstraintOp> constraints;
    getOperation().walk<WalkOrder::PreOrder>(
        [&](ShardingConstraintOp constraint) {
          constraints.push_back(constraint);
        });
    ConstraintRecorder recorder(getOperation(), debugShardingOrigins,
                                debugPropagationEdgeSharding);
    recorder.recordGiven(constraints);
    for (ShardingConstraintOp constraint : constraints)
      applyConstraint(constraint, recorder);
  }
};

} // namespace
} // namespace shardonnay
