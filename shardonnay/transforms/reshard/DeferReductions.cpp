//===- DeferReductions.cpp ------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For every op in order:
//   1. `findDeferrable`: the operands that are reshards, of this use only, of
//      partial values (of the same axes and kind) into settled ones, where the
//      op is linear in these operands.
//   2. How the op can be computed on partial values: lying as they do
//      (`readSources`), or first moved to where they would be settled
//      (`moveSources`).
//   3. `computeResult`: how the result lies then; nothing if the operands do
//      not fit together so.
//   4. `isWorthIt`: by the price of the plans of all reshards around the op.
//   5. `defer`: the op reads the partial values, its result is partial and is
//      resharded to what it was.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/explain/DeviceModelOption.h"
#include "shardonnay/plan/ReshardPlan.h"
#include "shardonnay/transforms/reshard/OpProblem.h"
#include "shardonnay/transforms/reshard/Passes.h"
#include "shardonnay/transforms/reshard/ReshardBuilder.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_DEFERREDUCTIONSPASS
#include "shardonnay/transforms/reshard/Passes.h.inc"

namespace {

/// The reshard that settles a partial value for this use alone; null if the
/// operand is none.
sdy::ReshardOp settlingReshard(OpOperand &operand) {
  auto reshard = operand.get().getDefiningOp<sdy::ReshardOp>();
  // One before a loop runs once; behind an op in the loop it would not.
  if (!reshard || !reshard->hasOneUse() ||
      reshard->getBlock() != operand.getOwner()->getBlock())
    return nullptr;
  sdy::TensorShardingAttr from = sdy::getSharding(reshard.getInput());
  if (!from || from.getUnreducedAxes().empty() ||
      !reshard.getSharding().getUnreducedAxes().empty())
    return nullptr;
  return reshard;
}

/// `op` moves the elements of one tensor, or changes each alone.
bool isUnaryPassThrough(Operation *op) {
  auto rule = dyn_cast<ShardingRuleOpInterface>(op);
  return rule && op->getNumOperands() == 1 && op->getNumResults() == 1 &&
         rule.getPropagationClass() == PropagationClass::PassThrough;
}

/// Behind such ops, the only use of `value` is together with another
/// partial value of `axes`.
bool meetsAnother(Value value, const AxisList &axes, const MeshScope &scope) {
  while (value.hasOneUse()) {
    Operation *user = *value.user_begin();
    if (!isUnaryPassThrough(user))
      return llvm::any_of(user->getOpOperands(), [&](OpOperand &operand) {
        sdy::ReshardOp reshard = settlingReshard(operand);
        return reshard && scope.read(reshard.getInput()).unreduced == axes;
      });
    value = user->getResult(0);
  }
  return false;
}

class OpDeferral {
public:
  OpDeferral(Operation *op, const FactorRule &rule, const MeshScope &scope,
             OpChooser &chooser)
      : op(op), rule(rule), scope(scope), chooser(chooser),
        deferred(op->getNumOperands()), operands(op->getNumOperands()) {}

  void run() {
    if (!findDeferrable())
      return;
    if ((readSources() && computeResult() && isWorthIt()) ||
        (moveSources() && computeResult() && isWorthIt()))
      defer();
  }

private:
  bool findDeferrable();
  bool readSources();
  bool moveSources();
  bool computeResult();
  bool isWorthIt();
  void defer();

  sdy::ReshardOp reshardOf(unsigned operand) {
    return settlingReshard(op->getOpOperand(operand));
  }
  TensorSharding sourceOf(unsigned operand) {
    return scope.read(reshardOf(operand).getInput());
  }
  /// Adds the price of a reshard; fails if it has no plan.
  LogicalResult addPrice(Type type, const TensorSharding &from,
                         const TensorSharding &to, double &sum);

  Operation *op;
  const FactorRule &rule;
  const MeshScope &scope;
  OpChooser &chooser;
  llvm::SmallBitVector deferred;
  /// The axes and the kind of the deferred operands.
  AxisList axes;
  ReductionKind kind = ReductionKind::Sum;
  /// How the operands and the result lie where reductions are deferred.
  SmallVector<TensorSharding, 0> operands;
  TensorSharding result;
};

bool OpDeferral::findDeferrable() {
  for (OpOperand &operand : op->getOpOperands()) {
    if (!settlingReshard(operand))
      continue;
    TensorSharding source = sourceOf(operand.getOperandNumber());
    if (deferred.none()) {
      axes = source.unreduced;
      kind = source.kind;
    }
    if (source.unreduced == axes && source.kind == kind)
      deferred.set(operand.getOperandNumber());
  }
  auto ruleOp = dyn_cast<ShardingRuleOpInterface>(op);
  return deferred.any() && ruleOp && ruleOp.isLinear(kind, deferred);
}

bool OpDeferral::readSources() {
  for (unsigned i : deferred.set_bits())
    operands[i] = sourceOf(i);
  return true;
}

bool OpDeferral::moveSources() {
  if (deferred.count() == 1)
    return false;
  for (unsigned i : deferred.set_bits()) {
    operands[i] = scope.read(op->getOperand(i));
    for (const DimSharding &dim : operands[i].dims)
      if (dim.axes.overlaps(axes))
        return false;
    operands[i].unreduced = axes;
    operands[i].kind = kind;
  }
  return true;
}

bool OpDeferral::computeResult() {
  ReshardBuilder reshards;
  ChoiceProblem problem = readProblem(op, rule, scope);
  problem.tensors.back().free = true;
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    problem.tensors[i].free = reshards.isConstantExpression(operand);
    if (deferred[i])
      problem.tensors[i].sharding = operands[i];
  }
  FactorAssignment assignment = voteAssignment(problem);
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    if (!isa<RankedTensorType>(operand.getType()))
      continue;
    TensorSharding needed = shardingUnder(assignment, rule, i);
    if (!deferred[i] && !problem.tensors[i].free)
      operands[i] = scope.read(operand);
    else if (!deferred[i])
      operands[i] = needed;
    if (operands[i].dims != needed.dims)
      return false;
  }
  for (const AxisList &list : assignment)
    if (list.overlaps(axes))
      return false;
  result = shardingUnder(assignment, rule, op->getNumOperands());
  if (!result.unreduced.empty() && result.kind != kind)
    return false;
  result.unreduced.append(axes);
  result.unreduced = result.unreduced.sorted();
  result.kind = kind;
  return true;
}

LogicalResult OpDeferral::addPrice(Type type, const TensorSharding &from,
                                   const TensorSharding &to, double &sum) {
  auto tensor = cast<RankedTensorType>(type);
  std::optional<double> price = priceOfReshard(chooser, tensor, from, to);
  sum += price.value_or(0);
  return success(price.has_value());
}

bool OpDeferral::isWorthIt() {
  double before = 0, after = 0;
  bool sameDims = true;
  for (unsigned i : deferred.set_bits()) {
    Type type = op->getOperand(i).getType();
    TensorSharding source = sourceOf(i),
                   settled = scope.read(op->getOperand(i));
    sameDims &= source.dims == settled.dims;
    if (failed(addPrice(type, source, settled, before)) ||
        failed(addPrice(type, source, operands[i], after)))
      return false;
  }
  OpResult value = op->getResult(0);
  TensorSharding present = scope.read(value), wanted = present;
  if (value.hasOneUse())
    if (auto next = dyn_cast<sdy::ReshardOp>(*value.user_begin()))
      wanted = scope.read(next.getResult());
  if (failed(addPrice(value.getType(), present, wanted, before)) ||
      failed(addPrice(value.getType(), result, wanted, after)))
    return false;
  // One reduction alone is deferred, in the hope to meet others, where the op
  // runs on as much data as before; on more only to meet another.
  if (deferred.count() == 1)
    return after <= before && (sameDims || (isUnaryPassThrough(op) &&
                                            meetsAnother(value, axes, scope)));
  return after < before;
}

void OpDeferral::defer() {
  ReshardBuilder reshards;
  OpResult value = op->getResult(0);
  TensorSharding before = scope.read(value);
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    if (!isa<RankedTensorType>(operand.getType()))
      continue;
    sdy::ReshardOp settled = deferred[i] ? reshardOf(i) : nullptr;
    Value source = settled ? settled.getInput() : operand;
    op->setOperand(i, reshards.get(source, operands[i], scope, op));
    if (settled)
      settled.erase();
  }
  sdy::setSharding(value, scope.write(result));
  reshards.replaceUses(value, before, scope);
}

struct DeferReductionsPass
    : PricedPass<impl::DeferReductionsPassBase<DeferReductionsPass>> {
  using PricedPass::PricedPass;

  void runOnOperation() override {
    OpChoosers &choosers =
        getAnalysis<SharedChoosers>().get(deviceModel, model);
    getOperation().walk([&](Block *block) {
      // Regions of an op with a rule are part of what it computes.
      if (isa<ShardingRuleOpInterface>(block->getParentOp()))
        return;
      std::optional<MeshScope> scope = MeshScope::ofBlock(*block);
      if (!scope)
        return;
      for (Operation &op : llvm::make_early_inc_range(*block))
        if (mayDefer(&op))
          if (const FactorRule *rule = choosers.getRule(&op))
            OpDeferral(&op, *rule, *scope, choosers.get(*scope)).run();
      mergeReshardChains(*block);
    });
  }

  static bool mayDefer(Operation *op) {
    return op->getNumResults() == 1 && isPure(op) &&
           isa<RankedTensorType>(op->getResult(0).getType()) &&
           !isa_and_present<sdy::SdyDialect>(op->getDialect()) &&
           llvm::any_of(op->getOpOperands(), settlingReshard);
  }
};

} // namespace

} // namespace shardonnay
