//===- OpProblem.cpp ------------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/reshard/OpProblem.h"
#include "shardonnay/dialect/sdy/RuleAccess.h"

using namespace mlir;

namespace shardonnay {

static SmallVector<Value> tensorsOf(Operation *op) {
  SmallVector<Value> values(op->getOperands());
  llvm::append_range(values, op->getResults());
  return values;
}

OpProblem::OpProblem(Operation *op, const FactorRule &rule,
                     const MeshScope &scope)
    : rule(rule), contraction(false) {
  if (auto ruleOp = dyn_cast<ShardingRuleOpInterface>(op))
    contraction = ruleOp.isContraction();
  for (auto [i, value] : llvm::enumerate(tensorsOf(op))) {
    AssignmentTensor tensor;
    auto type = dyn_cast<RankedTensorType>(value.getType());
    TensorSharding sharding =
        type ? scope.read(value) : TensorSharding::fullyClosed(0);
    tensor.row = project(sharding, rule.tensor(i), rule.factors);
    if (type)
      tensor.bytes =
          localBytes(type, TensorSharding::fullyClosed(type.getRank()));
    tensors.push_back(std::move(tensor));
  }
}

static bool fits(Operation *op, const FactorRule &rule, std::string &error) {
  SmallVector<SmallVector<int64_t>> shapes;
  for (Value value : tensorsOf(op)) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    shapes.push_back(type ? SmallVector<int64_t>(type.getShape())
                          : SmallVector<int64_t>());
  }
  return rule.verify(shapes, error);
}

std::optional<FactorRule> getFittingRule(Operation *op) {
  std::optional<FactorRule> rule = sdy::getComputationRule(op);
  std::string error;
  if (!rule || !fits(op, *rule, error))
    return std::nullopt;
  return rule;
}

LogicalResult verifyRule(Operation *op, const FactorRule &rule) {
  std::string error;
  if (fits(op, rule, error))
    return success();
  return op->emitOpError()
         << "has a sharding rule that does not fit its types: " << error;
}

} // namespace shardonnay
