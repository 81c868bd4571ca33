//===- ReshardBuilder.cpp -------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/reshard/ReshardBuilder.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/sdy/access/ShardBytes.h"
#include "shardonnay/interfaces/ConstantExpression.h"
#include "shardonnay/transforms/reshard/OpProblem.h"

using namespace mlir;

namespace shardonnay {

/// `sharding` of a whole value.
static TensorSharding reduced(TensorSharding sharding) {
  sharding.unreduced = AxisList();
  sharding.kind = ReductionKind::Sum;
  return sharding;
}

Value ReshardBuilder::get(Value value, const TensorSharding &sharding,
                          const MeshScope &scope, Operation *user) {
  if (scope.read(value) == sharding)
    return value;
  if (outer && !op->isAncestor(value.getParentBlock()->getParentOp()) &&
      !isConstantExpression(value))
    return outer->get(value, sharding, scope, op);
  sdy::TensorShardingAttr attr = scope.write(sharding);
  Key key = {value, attr};
  auto [entry, isNew] = resharded.try_emplace(key);
  if (!isNew)
    return entry->second;
  Value result = recompute(value, sharding, scope, user);
  if (!result && sdy::changesKind(sdy::getSharding(value), attr))
    value = get(value, reduced(sharding), scope, user);
  if (!result) {
    OpBuilder builder(user);
    made.push_back(
        sdy::ReshardOp::create(builder, value.getLoc(), value, attr));
    result = made.back();
  }
  // The map may have grown.
  return resharded[key] = result;
}

void ReshardBuilder::replaceUses(OpResult result,
                                 const TensorSharding &sharding,
                                 const MeshScope &scope) {
  OpBuilder builder(result.getContext());
  builder.setInsertionPointAfter(result.getOwner());
  sdy::TensorShardingAttr attr = scope.write(sharding);
  Operation *first = nullptr;
  Value source = result;
  if (sdy::changesKind(sdy::getSharding(result), attr)) {
    made.push_back(sdy::ReshardOp::create(builder, result.getLoc(), result,
                                          scope.write(reduced(sharding))));
    first = made.back();
    source = made.back();
  }
  auto reshard = sdy::ReshardOp::create(builder, result.getLoc(), source, attr);
  result.replaceAllUsesExcept(reshard.getResult(), first ? first : reshard);
  resharded[{result, attr}] = reshard;
  made.push_back(reshard);
}

std::optional<bool> ReshardBuilder::knownToBeConstant(Operation *op) const {
  if (auto known = constantExpressions.find(op);
      known != constantExpressions.end())
    return known->second;
  if (isa_and_present<sdy::ConstantOp>(op))
    return true;
  // A number, or a shape.
  if (op && op->hasTrait<OpTrait::ConstantLike>() &&
      !isa<ShapedType>(op->getResult(0).getType()))
    return true;
  auto expression = dyn_cast_if_present<ConstantExpressionOpInterface>(op);
  if (!expression || op->getNumResults() != 1 ||
      !expression.isConstantExpression())
    return false;
  return std::nullopt;
}

bool ReshardBuilder::isConstantExpression(Value value) {
  // Not by recursion: a chain of ops may be as long as the program.
  SmallVector<Operation *> open = {value.getDefiningOp()};
  while (true) {
    Operation *op = open.back();
    std::optional<bool> known = knownToBeConstant(op);
    if (known) {
      open.pop_back();
      if (open.empty())
        return *known;
      continue;
    }
    bool constant = true, waits = false;
    for (Value operand : op->getOperands()) {
      std::optional<bool> part = knownToBeConstant(operand.getDefiningOp());
      if (!part)
        open.push_back(operand.getDefiningOp());
      waits = !part;
      constant = part.value_or(false);
      if (!constant)
        break;
    }
    if (!waits)
      constantExpressions[op] = constant && getFittingRule(op);
  }
}

bool ReshardBuilder::isFree(Value value) {
  Operation *op = value.getDefiningOp();
  return isConstantExpression(value) ||
         (op && isScalarExpansion(op) && getFittingRule(op));
}

Value ReshardBuilder::recompute(Value value, const TensorSharding &sharding,
                                const MeshScope &scope, Operation *user) {
  if (!isFree(value))
    return nullptr;
  Operation *op = value.getDefiningOp();
  // Zeros are a sum of zeros; no other constant is a sum of itself.
  auto constant = dyn_cast<sdy::ConstantOp>(op);
  if (!sharding.unreduced.empty() &&
      !(constant && sharding.kind == ReductionKind::Sum &&
        sdy::isZeroSplat(constant.getValue())))
    return nullptr;
  SmallVector<Value> operands;
  if (!isa<sdy::ConstantOp>(op)) {
    FactorRule rule = *getFittingRule(op);
    OpProblem problem = readProblem(op, rule, scope);
    for (OpTensor &tensor : problem.tensors)
      tensor.free = true;
    problem.tensors.back().free = false;
    problem.tensors.back().sharding = sharding;
    FactorStrategy strategy = voteStrategy(problem);
    if (shardingUnder(strategy, rule, op->getNumOperands()) != sharding)
      return nullptr;
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      operands.push_back(
          isa<RankedTensorType>(operand.getType())
              ? get(operand, shardingUnder(strategy, rule, i), scope, user)
              : operand);
  }
  OpBuilder builder(user);
  Operation *clone = builder.clone(*op);
  clone->setOperands(operands);
  sdy::setSharding(clone->getResult(0), scope.write(sharding));
  return clone->getResult(0);
}

sdy::ReshardOp getNeedlessInner(sdy::ReshardOp outer) {
  auto inner = outer.getInput().getDefiningOp<sdy::ReshardOp>();
  return inner && inner->hasOneUse() &&
                 !sdy::changesKind(sdy::getSharding(inner.getInput()),
                                   outer.getSharding())
             ? inner
             : nullptr;
}

} // namespace shardonnay
