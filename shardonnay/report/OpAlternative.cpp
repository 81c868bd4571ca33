//===- OpAlternative.cpp --------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/report/OpAlternative.h"

#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/sdy/access/ShardBytes.h"
#include "shardonnay/interfaces/ShardingRule.h"

using namespace mlir;

namespace shardonnay {

std::string toText(const AxisList &axes, sdy::MeshAttr mesh) {
  std::string text;
  for (sdy::AxisRefAttr axis : sdy::fromAxisList(axes, mesh))
    text += (text.empty() ? "" : ", ") + axis.toString();
  llvm::erase(text, '"');
  return "{" + text + "}";
}

static std::string toText(const FactorStrategy &strategy, sdy::MeshAttr mesh) {
  std::string text;
  for (auto [f, axes] : llvm::enumerate(strategy))
    if (!axes.empty())
      text += (text.empty() ? "" : ", ") + factorName(f) + " by " +
              toText(axes, mesh);
  return text.empty() ? "nothing sharded" : text;
}

static int64_t numShards(const FactorStrategy &strategy) {
  int64_t shards = 1;
  for (const AxisList &axes : strategy)
    shards *= axes.numShards();
  return shards;
}

OpFeatures readFeatures(Operation *op, sdy::MeshAttr mesh) {
  OpFeatures features;
  if (auto computed = dyn_cast<ShardingRuleOpInterface>(op)) {
    features.contraction = computed.isContraction();
    features.transformFlops = computed.getTransformFlops();
    features.elementwise = computed.isElementwise();
  }
  if (features.contraction && op->getParentOfType<sdy::ManualComputationOp>())
    features.manual =
        sdy::toMesh(mesh).allAxes().subtract(sdy::getDeviceAxes(op, mesh));
  return features;
}

OpProblem readProblem(Operation *op, const FactorRule &rule, sdy::MeshAttr mesh,
                      llvm::function_ref<const TensorSharding &(Value)> read) {
  OpProblem problem{readFeatures(op, mesh), rule, {}};
  auto add = [&](Value value) {
    OpTensor &tensor = problem.tensors.emplace_back();
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type)
      return;
    tensor.sharding = read(value);
    llvm::append_range(tensor.shape, type.getShape());
    tensor.elementBytes = sdy::getElementBytes(type);
  };
  llvm::for_each(op->getOperands(), add);
  llvm::for_each(op->getResults(), add);
  return problem;
}

std::string describeAlternative(Operation *op, const OpProblem &problem,
                                const FactorStrategy &taken, OpSolver &solver,
                                sdy::MeshAttr mesh) {
  std::string name = "'" + op->getName().getStringRef().str() + "'";
  std::optional<OpSolver::OtherStrategy> other =
      solver.alternative(problem, taken);
  if (!other)
    return "no other plan: " + name + " can be sharded in no other way";
  const MeshCosts &prices = solver.prices();
  std::string text = name + " with " + toText(taken, mesh);
  std::optional<double> price = solver.price(problem, taken);
  if (price)
    text += " costs " + prices.str(*price);
  text += other->isBest ? ", the next best, " : ", the best of others nearby, ";
  text += toText(other->strategy, mesh) + ", " + prices.str(other->price);
  if (price && other->price < *price)
    text += numShards(other->strategy) < numShards(taken)
                ? ", but a device would compute more"
                : ", but only as far as this op goes";
  return text;
}

} // namespace shardonnay
