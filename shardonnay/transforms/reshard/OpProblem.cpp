//===- OpProblem.cpp ------------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/reshard/OpProblem.h"
#include "shardonnay/dialect/sdy/access/RuleAccess.h"
#include "shardonnay/dialect/sdy/access/ShardBytes.h"
#include "shardonnay/report/OpAlternative.h"
#include "shardonnay/strategy/OpStrategies.h"

using namespace mlir;

namespace shardonnay {

static SmallVector<Value> tensorsOf(Operation *op) {
  SmallVector<Value> values(op->getOperands());
  llvm::append_range(values, op->getResults());
  return values;
}

OpProblem readProblem(Operation *op, const FactorRule &rule,
                      const MeshScope &scope) {
  return readProblem(
      op, rule, scope.getMesh(),
      [&](Value value) -> const TensorSharding & { return scope.read(value); });
}

std::optional<double> priceOfReshard(OpSolver &solver, RankedTensorType type,
                                     const TensorSharding &from,
                                     const TensorSharding &to) {
  std::optional<ReshardCost> cost = costOfReshard(
      solver, type.getShape(), sdy::getElementBytes(type), from, to);
  return cost ? std::optional(cost->price) : std::nullopt;
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
  if (!rule || !fitsTypes(op, *rule))
    return std::nullopt;
  return rule;
}

bool fitsTypes(Operation *op, const FactorRule &rule) {
  std::string error;
  return fits(op, rule, error);
}

LogicalResult verifyRule(Operation *op, const FactorRule &rule) {
  std::string error;
  if (fits(op, rule, error))
    return success();
  return op->emitOpError()
         << "has a sharding rule that does not fit its types: " << error;
}

LogicalResult verifyStatic(Operation *op) {
  for (TypeRange types :
       {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
    for (Type type : types)
      if (auto tensor = dyn_cast<RankedTensorType>(type);
          tensor && !tensor.hasStaticShape())
        return op->emitOpError()
               << "has the dynamic shape " << type
               << ", expected static shapes; refine the shapes first";
  return success();
}

} // namespace shardonnay
