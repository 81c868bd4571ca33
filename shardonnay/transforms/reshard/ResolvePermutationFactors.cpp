//===- ResolvePermutationFactors.cpp --------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With halos there is nothing to do: sdy-partition-to-local computes windows.
// Without them, for every op with a sharded windowed factor:
//   1. The axes of its factors, without those of the windowed ones.
//   2. Operands are resharded to that, results are sharded like that, and their
//      users see them as before.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/transforms/reshard/OpProblem.h"
#include "shardonnay/transforms/reshard/Passes.h"
#include "shardonnay/transforms/reshard/ReshardBuilder.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_RESOLVEPERMUTATIONFACTORSPASS
#include "shardonnay/transforms/reshard/Passes.h.inc"

namespace {

/// In `shards` shards, some window of `factor` sees what another device has,
/// or may.
bool crossesBoundary(const OpProblem &problem, int32_t factor, int64_t shards) {
  const FactorRule &rule = problem.rule;
  bool isKnown = false;
  for (const FactorWindow &window : rule.windows) {
    if (window.factor != factor)
      continue;
    isKnown = true;
    // The dim may go on behind what windows see of it.
    int32_t numOperands = rule.operands.size();
    const TensorMapping &mapping =
        window.tensor < numOperands ? rule.operands[window.tensor]
                                    : rule.results[window.tensor - numOperands];
    int64_t dim = mapping.dimOf(factor);
    if (dim < 0)
      return true;
    int64_t size = problem.tensors[window.tensor].shape[dim];
    if (size % shards != 0)
      return true;
    ShardWindow sharded = shardWindow(window, shards, size / shards);
    if (sharded.isDilatedFirst || sharded.shift != 0 || sharded.start < 0 ||
        sharded.step != sharded.localSize ||
        sharded.start + sharded.size > sharded.localSize)
      return true;
  }
  return !isKnown;
}

/// The axes of each factor where windowed ones that would fetch are whole;
/// nothing if they are already.
std::optional<FactorStrategy> withoutWindows(const OpProblem &problem) {
  const FactorRule &rule = problem.rule;
  FactorStrategy axes(rule.factors.size());
  bool shardsWindow = false;
  for (auto [i, tensor] : llvm::enumerate(problem.tensors)) {
    if (tensor.shape.empty())
      continue;
    size_t numOperands = rule.operands.size();
    const TensorMapping &mapping =
        i < numOperands ? rule.operands[i] : rule.results[i - numOperands];
    TensorProjection row = project(tensor.sharding, mapping, rule.factors);
    for (auto [factor, cell] : llvm::enumerate(row.factors)) {
      if (!cell.present || cell.axes.empty())
        continue;
      if (rule.factors[factor].kind == FactorKind::Windowed &&
          crossesBoundary(problem, factor, cell.axes.numShards()))
        shardsWindow = true;
      else
        axes[factor] = cell.axes;
    }
  }
  if (!shardsWindow)
    return std::nullopt;
  return axes;
}

struct ResolvePermutationFactorsPass
    : impl::ResolvePermutationFactorsPassBase<ResolvePermutationFactorsPass> {
  using ResolvePermutationFactorsPassBase::ResolvePermutationFactorsPassBase;

  void runOnOperation() override {
    if (enableHaloExchange)
      return;
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : ops)
      if (failed(resolve(op)))
        return signalPassFailure();
  }

private:
  LogicalResult resolve(Operation *op) {
    std::optional<FactorRule> rule = getFittingRule(op);
    if (!rule)
      return success();
    SmallVector<sdy::TensorShardingAttr> shardings =
        sdy::getShardings(op->getOperands());
    llvm::append_range(shardings, sdy::getShardings(op->getResults()));
    FailureOr<MeshScope> scope = MeshScope::get(op, shardings);
    if (failed(scope))
      return failure();
    if (scope->empty())
      return success();
    auto axes = withoutWindows(readProblem(op, *rule, *scope));
    if (!axes)
      return success();
    ReshardBuilder reshards;
    for (OpOperand &operand : op->getOpOperands())
      if (isa<RankedTensorType>(operand.get().getType()))
        operand.set(reshards.get(
            operand.get(),
            shardingUnder(*axes, *rule, operand.getOperandNumber()), *scope,
            op));
    for (OpResult result : op->getResults()) {
      if (!isa<RankedTensorType>(result.getType()))
        continue;
      TensorSharding before = scope->read(result);
      sdy::setSharding(
          result,
          scope->write(shardingUnder(
              *axes, *rule, op->getNumOperands() + result.getResultNumber())));
      if (!result.use_empty())
        reshards.replaceUses(result, before, *scope);
    }
    return success();
  }
};

} // namespace

} // namespace shardonnay
