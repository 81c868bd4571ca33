//===- ApplyOpShardings.cpp -----------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of each op with an op sharding:
//   1. It fits the op's rule: a dim for each factor, and the op can be computed
//      so (`check`).
//   2. Each result gets the sharding that the op leaves it with, partial along
//      the axes of factors that are reduced (`applyToResult`).
//   3. Each operand is constrained, for this use, to how the op takes it.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/NamedMesh.h"
#include "shardonnay/dialect/sdy/OpSharding.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/sdy/access/RuleAccess.h"
#include "shardonnay/interfaces/ProgramOps.h"
#include "shardonnay/strategy/FactorStrategy.h"
#include "shardonnay/transforms/import/Passes.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_APPLYOPSHARDINGSPASS
#include "shardonnay/transforms/import/Passes.h.inc"

namespace {

class OpShardingApplier {
public:
  OpShardingApplier(Operation *op, sdy::TensorShardingAttr option)
      : op(op), option(option), mesh(sdy::getMesh(op, option)) {}

  LogicalResult run();

private:
  LogicalResult check();
  /// How the op has its tensor number `tensor`, operands first. A dim with a
  /// factor that is open is open.
  sdy::TensorShardingAttr shardingOf(int64_t tensor);
  LogicalResult applyToResult(OpResult result);
  void applyToOperand(OpOperand &operand);

  Operation *op;
  sdy::TensorShardingAttr option;
  sdy::MeshAttr mesh;
  FactorRule rule;
  FactorStrategy strategy;
};

LogicalResult OpShardingApplier::check() {
  std::optional<FactorRule> found = sdy::getComputationRule(op);
  if (!found)
    return op->emitOpError() << "has an op sharding, but no factors that it "
                                "could shard; expected "
                                "an op with a sharding rule";
  rule = std::move(*found);
  if (option.getDimShardings().size() != rule.factors.size()) {
    std::string text;
    llvm::raw_string_ostream(text) << rule;
    return op->emitOpError()
           << "has an op sharding of " << option.getDimShardings().size()
           << " factors, expected " << rule.factors.size()
           << ", one for each of its rule " << text;
  }
  for (sdy::DimensionShardingAttr factor : option.getDimShardings())
    strategy.push_back(sdy::toAxisList(factor.getAxes(), mesh));
  for (auto [i, factor] : llvm::enumerate(rule.factors)) {
    if (strategy[i].empty())
      continue;
    if (!canBeSharded(factor))
      return op->emitOpError() << "shards factor " << factorName(i)
                               << ", which it needs whole; expected no axes";
    if (factor.size % strategy[i].numShards() != 0 && !isLawful(strategy, rule))
      return op->emitOpError()
             << "shards factor " << factorName(i) << " of size " << factor.size
             << " into " << strategy[i].numShards()
             << ", expected a number that divides it";
  }
  if (!isLawful(strategy, rule))
    return op->emitOpError()
           << "has an op sharding by which it can't be computed: an axis "
              "shards "
              "two factors, reductions of different kinds are sharded, or a "
              "factor is sharded behind one that is not wholly; expected one "
              "that each operand and result can state";
  return success();
}

sdy::TensorShardingAttr OpShardingApplier::shardingOf(int64_t tensor) {
  TensorSharding sharding = shardingUnder(strategy, rule, tensor);
  for (auto [dim, factors] :
       llvm::zip_equal(sharding.dims, rule.tensor(tensor).dims))
    for (int32_t factor : factors)
      if (!option.getDimShardings()[factor].getIsClosed())
        dim.closed = false;
  return sdy::NamedMesh{mesh, option.getMeshOrRef()}.write(sharding);
}

LogicalResult OpShardingApplier::applyToResult(OpResult result) {
  if (!isa<RankedTensorType>(result.getType()))
    return success();
  sdy::TensorShardingAttr sharding =
      shardingOf(op->getNumOperands() + result.getResultNumber());
  sdy::TensorShardingAttr present = sdy::getSharding(result);
  if (present && present.isFullyClosed() && present != sharding &&
      option.isFullyClosed())
    return op->emitOpError() << "has an op sharding that leaves result "
                             << result.getResultNumber() << " with " << sharding
                             << ", but the result has the sharding " << present
                             << "; take one of them away";
  if (!present || option.isFullyClosed())
    sdy::setSharding(result, sharding);
  return success();
}

void OpShardingApplier::applyToOperand(OpOperand &operand) {
  if (!isa<RankedTensorType>(operand.get().getType()))
    return;
  OpBuilder builder(op);
  operand.set(sdy::ShardingConstraintOp::create(
      builder, op->getLoc(), operand.get(),
      shardingOf(operand.getOperandNumber())));
}

LogicalResult OpShardingApplier::run() {
  if (failed(check()))
    return failure();
  for (OpResult result : op->getResults())
    if (failed(applyToResult(result)))
      return failure();
  for (OpOperand &operand : op->getOpOperands())
    applyToOperand(operand);
  return success();
}

struct ApplyOpShardingsPass
    : impl::ApplyOpShardingsPassBase<ApplyOpShardingsPass> {
  void runOnOperation() override {
    bool found = false;
    for (Operation *op : getAnalysis<ProgramOps>()) {
      sdy::TensorShardingAttr option = sdy::getOpSharding(op);
      if (!option)
        continue;
      found = true;
      if (failed(OpShardingApplier(op, option).run()))
        return signalPassFailure();
    }
    if (!found)
      markAllAnalysesPreserved();
  }
};

} // namespace

} // namespace shardonnay
