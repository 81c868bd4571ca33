//===- ReassociateReductions.cpp ------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/collectives/CollectiveChain.h"
#include "shardonnay/transforms/collectives/Optimizations.h"
#include "shardonnay/transforms/collectives/Passes.h"
#include "shardonnay/transforms/collectives/ReshardedOp.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_REASSOCIATEREDUCTIONSPASS
#include "shardonnay/transforms/collectives/Passes.h.inc"

/// The operands of `op` that are reduced for it alone, on `mesh`, with what
/// they were before.
static llvm::MapVector<unsigned, Value> findReduced(Operation *op,
                                                    CollectivePlanner &planner,
                                                    sdy::NamedMesh &mesh,
                                                    double &price) {
  llvm::MapVector<unsigned, Value> sources;
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType()))
      continue;
    ChainStart start = followChain(operand.get(), op, planner);
    if (!start.last)
      continue;
    sdy::NamedMesh here = getNamedMesh(start.last);
    if (here.readClosed(start.source).unreduced.empty() ||
        (!sources.empty() && here.mesh != mesh.mesh))
      continue;
    mesh = here;
    price += start.price;
    sources[operand.getOperandNumber()] = start.source;
  }
  return sources;
}

static bool reassociate(Operation *op, CollectivePlanner &planner) {
  sdy::NamedMesh mesh;
  double before = 0;
  llvm::MapVector<unsigned, Value> sources =
      findReduced(op, planner, mesh, before);
  if (sources.size() < 2)
    return false;
  std::optional<ReshardedOp> resharded = ReshardedOp::get(op, mesh);
  if (!resharded || !resharded->replaceOperands(sources) ||
      !resharded->plan(planner) ||
      resharded->operandPrice() + resharded->resultPrice() >= before)
    return false;
  SmallVector<Value> reduced;
  for (auto [number, source] : sources)
    reduced.push_back(op->getOperand(number));
  resharded->apply(getCause(reduced.front().getDefiningOp()));
  for (Value value : reduced)
    eraseDeadChain(value);
  return true;
}

bool reassociateReductions(const CollectiveSites &sites,
                           CollectivePlanner &planner) {
  SmallVector<Operation *> ops;
  llvm::copy_if(sites.fed, std::back_inserter(ops), [](Operation *op) {
    return llvm::count_if(op->getOperands(), getPlannedCollective) > 1;
  });
  bool changed = false;
  for (Operation *op : ops)
    changed |= reassociate(op, planner);
  return changed;
}

namespace {
struct ReassociateReductionsPass
    : OptimizationPass<
          impl::ReassociateReductionsPassBase<ReassociateReductionsPass>,
          reassociateReductions> {
  using OptimizationPass::OptimizationPass;
};
} // namespace

} // namespace shardonnay
