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
//   2. `computeOnSources`: how the result lies if the op reads the partial
//      values instead; nothing if its other operands do not fit that.
//   3. `isWorthIt`: several reductions become one, or one gets no larger.
//   4. `defer`: the op reads the partial values, its result is partial and is
//      resharded to what it was.
//
//===----------------------------------------------------------------------===//

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
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
  if (!reshard || !reshard->hasOneUse())
    return nullptr;
  sdy::TensorShardingAttr from = sdy::getSharding(reshard.getInput());
  if (!from || from.getUnreducedAxes().empty() ||
      !reshard.getSharding().getUnreducedAxes().empty())
    return nullptr;
  return reshard;
}

class OpDeferral {
public:
  OpDeferral(Operation *op, const FactorRule &rule, const MeshScope &scope)
      : op(op), rule(rule), scope(scope), deferred(op->getNumOperands()) {}

  void run() {
    if (findDeferrable() && computeOnSources() && isWorthIt())
      defer();
  }

private:
  bool findDeferrable();
  bool computeOnSources();
  bool isWorthIt();
  void defer();

  TensorSharding sourceOf(unsigned operand) {
    return scope.read(settlingReshard(op->getOpOperand(operand)).getInput());
  }

  Operation *op;
  const FactorRule &rule;
  const MeshScope &scope;
  llvm::SmallBitVector deferred;
  TensorSharding result;
};

bool OpDeferral::findDeferrable() {
  AxisList axes;
  ReductionKind kind = ReductionKind::Sum;
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

bool OpDeferral::computeOnSources() {
  OpProblem problem(op, rule, scope);
  problem.tensors.back().free = true;
  TensorSharding partial;
  for (unsigned i : deferred.set_bits()) {
    partial = sourceOf(i);
    problem.tensors[i].row = project(partial, rule.operands[i], rule.factors);
  }
  FactorAssignment assignment = problem.solve();
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    if (!isa<RankedTensorType>(operand.getType()))
      continue;
    TensorSharding present = deferred[i] ? sourceOf(i) : scope.read(operand);
    if (present.dims != shardingUnder(assignment, rule, i).dims)
      return false;
  }
  for (const AxisList &axes : assignment)
    if (axes.overlaps(partial.unreduced))
      return false;
  result = shardingUnder(assignment, rule, op->getNumOperands());
  if (!result.unreduced.empty() && result.kind != partial.kind)
    return false;
  result.unreduced.append(partial.unreduced);
  result.unreduced = result.unreduced.sorted();
  result.kind = partial.kind;
  return true;
}

bool OpDeferral::isWorthIt() {
  if (deferred.count() > 1)
    return true;
  unsigned only = deferred.find_first();
  Value operand = op->getOperand(only);
  TensorSharding source = sourceOf(only);
  // A reduce-scatter is not deferred: the op would run on more data.
  return source.dims == scope.read(operand).dims &&
         localBytes(cast<RankedTensorType>(op->getResult(0).getType()),
                    result) <=
             localBytes(cast<RankedTensorType>(operand.getType()), source);
}

void OpDeferral::defer() {
  for (unsigned i : deferred.set_bits()) {
    auto reshard = settlingReshard(op->getOpOperand(i));
    op->setOperand(i, reshard.getInput());
    reshard.erase();
  }
  OpResult value = op->getResult(0);
  TensorSharding before = scope.read(value);
  sdy::setSharding(value, scope.write(result));
  ReshardBuilder().replaceUses(value, before, scope);
}

struct DeferReductionsPass
    : impl::DeferReductionsPassBase<DeferReductionsPass> {
  void runOnOperation() override {
    for (Block &block : getOperation().getBody()) {
      for (Operation &op : llvm::make_early_inc_range(block))
        if (failed(visit(&op)))
          return signalPassFailure();
      mergeReshardChains(block);
    }
  }

  LogicalResult visit(Operation *op) {
    if (op->getNumResults() != 1 || !isPure(op) ||
        isa_and_present<sdy::SdyDialect>(op->getDialect()) ||
        llvm::none_of(op->getOpOperands(), settlingReshard))
      return success();
    std::optional<FactorRule> rule = getRule(op);
    FailureOr<MeshScope> scope =
        MeshScope::get(op, sdy::getShardings(op->getOperands()));
    if (failed(scope) || !rule || failed(verifyRule(op, *rule)))
      return failure(failed(scope));
    OpDeferral(op, *rule, *scope).run();
    return success();
  }
};

} // namespace

} // namespace shardonnay
