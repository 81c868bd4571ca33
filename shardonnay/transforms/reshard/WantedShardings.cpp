//===- WantedShardings.cpp ------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/reshard/WantedShardings.h"
#include "shardonnay/dialect/sdy/Callee.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/sdy/SingleDevice.h"
#include "shardonnay/interfaces/DataFlowEdge.h"
#include "shardonnay/transforms/reshard/ReshardBuilder.h"

using namespace mlir;

namespace shardonnay {

namespace {

class WantedShardings {
public:
  WantedShardings(const MeshScope &scope, OpChoosers &choosers)
      : scope(scope), choosers(choosers) {}

  void visit(Operation *op);

private:
  /// The one sharding that all uses need `value` in.
  std::optional<TensorSharding> neededByAll(Value value);
  void change(OpResult result, const TensorSharding &sharding);
  /// What the use reshards its value to; nothing if that is not known.
  std::optional<TensorSharding> neededAt(OpOperand &use);

  /// Of an op as its operands and results lie now; null if it has no rule.
  const OpDecision *decisionOf(Operation *op);

  const MeshScope &scope;
  OpChoosers &choosers;
  ReshardBuilder constants;
  llvm::DenseMap<Operation *, const OpDecision *> decisions;
};

int64_t numShards(const TensorSharding &sharding) {
  int64_t shards = 1;
  for (const DimSharding &dim : sharding.dims)
    shards *= dim.axes.numShards();
  return shards;
}

void WantedShardings::visit(Operation *op) {
  if (!choosers.getRule(op) || sdy::getSingleDevice(op))
    return;
  auto ruleOp = dyn_cast<ShardingRuleOpInterface>(op);
  bool contraction = ruleOp && ruleOp.isContraction();
  for (OpResult result : op->getResults()) {
    if (!isa<RankedTensorType>(result.getType()) || result.use_empty())
      continue;
    std::optional<TensorSharding> needed = neededByAll(result);
    if (!needed)
      continue;
    TensorSharding present = scope.read(result);
    // A contraction is not worth doing twice to save a gather of its result.
    if (*needed != present && present.unreduced.empty() &&
        (!contraction || numShards(*needed) >= numShards(present)))
      change(result, *needed);
  }
}

std::optional<TensorSharding> WantedShardings::neededByAll(Value value) {
  std::optional<TensorSharding> needed;
  for (OpOperand &use : value.getUses()) {
    std::optional<TensorSharding> here = neededAt(use);
    if (!here || (needed && *here != *needed))
      return std::nullopt;
    needed = here;
  }
  return needed;
}

std::optional<TensorSharding> WantedShardings::neededAt(OpOperand &use) {
  Operation *user = use.getOwner();
  if (user->getBlock() != use.get().getParentBlock())
    return std::nullopt;
  int64_t number = use.getOperandNumber();
  auto read = [&](sdy::TensorShardingAttr sharding) {
    return scope.read(sharding,
                      cast<RankedTensorType>(use.get().getType()).getRank());
  };
  if (auto reshard = dyn_cast<sdy::ReshardOp>(user))
    return read(reshard.getSharding());
  if (isa<func::ReturnOp>(user))
    return read(sdy::getFuncResultSharding(
        cast<func::FuncOp>(user->getParentOp()), number));
  if (auto call = dyn_cast<func::CallOp>(user)) {
    func::FuncOp callee = sdy::getCalleeWithBody(call);
    if (!callee)
      return std::nullopt;
    return read(sdy::getSharding(callee.getArgument(number)));
  }
  if (getEdgeOwner(use))
    return read(sdy::getClassSharding(use));
  const OpDecision *decision = decisionOf(user);
  return decision ? std::optional(decision->needed[number]) : std::nullopt;
}

const OpDecision *WantedShardings::decisionOf(Operation *op) {
  auto [known, isNew] = decisions.try_emplace(op, nullptr);
  const FactorRule *rule = isNew ? choosers.getRule(op) : nullptr;
  if (!rule)
    return known->second;
  auto isFree = [&](Value value) {
    return constants.isConstantExpression(value);
  };
  return known->second = &choosers.decide(op, *rule, scope, isFree);
}

void WantedShardings::change(OpResult result, const TensorSharding &sharding) {
  sdy::setSharding(result, scope.write(sharding));
  for (Operation *user : result.getUsers())
    decisions.erase(user);
}

} // namespace

void adoptWantedShardings(Block &block, OpChoosers &choosers) {
  std::optional<MeshScope> scope = MeshScope::ofBlock(block);
  if (!scope)
    return;
  WantedShardings wanted(*scope, choosers);
  for (Operation &op : llvm::reverse(block))
    wanted.visit(&op);
}

} // namespace shardonnay
