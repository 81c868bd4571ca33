//===- ApplyShardingConstraints.cpp - what a constraint constrains --------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a manual computation takes a value in constrains it too. For every
// constraint, in program order, on a value without a sharding:
// 1. If it is definite and no other constraint of the value differs, the value
//    gets its sharding; an edge keeps its own, and its other uses move to the
//    constraint, which is made if it is that of a manual computation.
// 2. If it is the value's only constraint and starts a chain, later uses of the
//    value move to the end of the chain.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/interfaces/OpKinds.h"
#include "shardonnay/interfaces/ShardingRule.h"
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

/// What each use constrains the value to that is constrained by it.
SmallVector<TensorShardingAttr> getConstraints(Value value) {
  SmallVector<TensorShardingAttr> constraints;
  for (OpOperand &use : value.getUses()) {
    if (auto constraint = dyn_cast<ShardingConstraintOp>(use.getOwner()))
      constraints.push_back(constraint.getSharding());
    else if (auto manual = dyn_cast<ManualComputationOp>(use.getOwner()))
      constraints.push_back(
          manual.getInShardings().getShardings()[use.getOperandNumber()]);
  }
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
    if (origins)
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

/// `sharding` is what all constraints of `value` say.
bool isAgreed(Value value, TensorShardingAttr sharding) {
  return isDefinite(sharding) &&
         llvm::all_of(getConstraints(value), [&](TensorShardingAttr other) {
           return other == sharding;
         });
}

void applyToInput(ShardingConstraintOp constraint,
                  ConstraintRecorder &recorder) {
  Value input = constraint.getInput();
  TensorShardingAttr sharding = constraint.getSharding();
  if (!isAgreed(input, sharding))
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
  // What the body of a reduction combines is part of that op. JAX constrains it
  // where some axes are manual.
  if (getSharding(input) ||
      isa<ShardingRuleOpInterface>(constraint->getParentOp()))
    return;
  bool isOnly = getConstraints(input).size() == 1;
  applyToInput(constraint, recorder);
  if (isOnly)
    moveUsesToTail(constraint);
}

/// To what the manual computation takes.
void applyBoundary(ManualComputationOp manual) {
  for (auto [number, sharding] :
       llvm::enumerate(manual.getInShardings().getShardings())) {
    Value input = manual->getOperand(number);
    if (!isa<RankedTensorType>(input.getType()) || getSharding(input) ||
        !isAgreed(input, sharding))
      continue;
    if (auto edge = input.getDefiningOp<DataFlowEdgeOp>()) {
      OpBuilder builder(edge->getContext());
      builder.setInsertionPointAfter(edge);
      auto constraint =
          ShardingConstraintOp::create(builder, edge.getLoc(), input, sharding);
      input.replaceAllUsesExcept(constraint, constraint);
    } else if (canHaveSharding(input)) {
      setSharding(input, sharding);
    }
  }
}

struct ApplyShardingConstraintsPass
    : impl::ApplyShardingConstraintsPassBase<ApplyShardingConstraintsPass> {
  using ApplyShardingConstraintsPassBase::ApplyShardingConstraintsPassBase;

  void runOnOperation() override {
    bool records = debugShardingOrigins || debugPropagationEdgeSharding;
    const OpKinds &kinds = getAnalysis<OpKinds>();
    if (!records && !kinds.mayHave<ShardingConstraintOp>() &&
        !kinds.mayHave<ManualComputationOp>())
      return markAllAnalysesPreserved();
    SmallVector<ShardingConstraintOp> constraints;
    SmallVector<Operation *> all;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (auto constraint = dyn_cast<ShardingConstraintOp>(op))
        constraints.push_back(constraint);
      if (isa<ShardingConstraintOp, ManualComputationOp>(op))
        all.push_back(op);
    });
    ConstraintRecorder recorder(getOperation(), debugShardingOrigins,
                                debugPropagationEdgeSharding);
    recorder.recordGiven(constraints);
    for (Operation *op : all) {
      if (auto manual = dyn_cast<ManualComputationOp>(op))
        applyBoundary(manual);
      else
        applyConstraint(cast<ShardingConstraintOp>(op), recorder);
    }
  }
};

} // namespace
} // namespace shardonnay
