//===- CollectiveChain.cpp ------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/collectives/CollectiveChain.h"

using namespace mlir;

namespace shardonnay {

Operation *getOwnCollective(Value value, Operation *user) {
  Operation *op = getPlannedCollective(value);
  return op && value.hasOneUse() && op->getBlock() == user->getBlock()
             ? op
             : nullptr;
}

ChainStart followChain(Value value, Operation *user,
                       CollectivePlanner &planner) {
  ChainStart start{value};
  while (Operation *op = getOwnCollective(start.source, user)) {
    if (!start.last)
      start.last = op;
    start.price += planner.price(op);
    start.source = op->getOperand(0);
    user = op;
  }
  return start;
}

Attribute getCause(Operation *op) { return op->getAttr(sdy::kCauseAttr); }

void eraseDeadChain(Value value) {
  while (Operation *op = getPlannedCollective(value)) {
    if (!value.use_empty())
      return;
    value = op->getOperand(0);
    op->erase();
  }
}

/// Whether the plan is worth it in the place of `outer`, and of `inner` where
/// that is its own.
static bool isCheaper(const ReshardPlan &plan, Operation *inner,
                      Operation *outer, CollectivePlanner &planner) {
  double price = planner.price(outer);
  if (!inner->getResult(0).hasOneUse())
    // So that the inner one may become dead.
    return plan.steps.size() <= 1 && plan.price <= price &&
           planner.price(inner) > 0;
  price += planner.price(inner);
  return plan.price < price || (plan.price == price && plan.steps.size() < 2);
}

bool replanPairs(const CollectiveSites &sites, CollectivePlanner &planner,
                 llvm::function_ref<bool(Operation *, Operation *)> isWanted) {
  bool changed = false;
  for (Operation *outer : sites.collectives) {
    Operation *inner = getPlannedCollective(outer->getOperand(0));
    if (!inner || inner->getBlock() != outer->getBlock() ||
        !isWanted(inner, outer))
      continue;
    sdy::NamedMesh mesh = getNamedMesh(outer);
    Value source = inner->getOperand(0), result = outer->getResult(0);
    if (getNamedMesh(inner).mesh != mesh.mesh)
      continue;
    const ReshardPlan *plan = planner.plan(
        cast<RankedTensorType>(result.getType()), mesh.readClosed(source),
        mesh.readClosed(result), mesh.mesh);
    if (!plan || !isCheaper(*plan, inner, outer, planner))
      continue;
    Attribute cause = getCause(outer) ? getCause(outer) : getCause(inner);
    OpBuilder builder(outer);
    result.replaceAllUsesWith(
        buildPlan(builder, outer->getLoc(), source, *plan, mesh, cause));
    outer->erase();
    // Operands come first in the list: this one has been visited.
    if (inner->use_empty())
      inner->erase();
    changed = true;
  }
  return changed;
}

} // namespace shardonnay
