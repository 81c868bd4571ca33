//===- ExportNamedComputations.cpp ----------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/interfaces/OpKinds.h"
#include "shardonnay/transforms/export/OutlineComputation.h"
#include "shardonnay/transforms/export/Passes.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_EXPORTNAMEDCOMPUTATIONSPASS
#include "shardonnay/transforms/export/Passes.h.inc"

/// The edges of its own arguments and results, which stay what they are.
static void sinkEdges(sdy::NamedComputationOp op) {
  for (Value owner : op.getEdgeOwners()) {
    if (!owner.hasOneUse())
      continue;
    auto edge = dyn_cast<sdy::DataFlowEdgeOp>(*owner.user_begin());
    if (!edge)
      continue;
    if (sdy::TensorShardingAttr sharding = edge.getShardingAttr())
      sdy::setSharding(owner, sharding);
    edge.replaceAllUsesWith(owner);
    edge.erase();
  }
}

/// The axes that are manual around `op`, the outermost first.
static SmallVector<StringAttr> getManualAxes(Operation *op) {
  SmallVector<StringAttr> axes;
  for (auto outer = op->getParentOfType<sdy::ManualComputationOp>(); outer;
       outer = outer->getParentOfType<sdy::ManualComputationOp>())
    axes.insert(axes.begin(), outer.getManualAxes().getValue().begin(),
                outer.getManualAxes().getValue().end());
  return axes;
}

static void exportComputation(sdy::NamedComputationOp op,
                              SymbolTable &symbols) {
  sinkEdges(op);
  SmallVector<StringAttr> manualAxes = getManualAxes(op);
  func::FuncOp func = outlineBody(op, symbols);
  func->setAttr(sdy::kOriginalFuncNameAttr, op.getNameAttr());
  if (!manualAxes.empty())
    func->setAttr(sdy::kManualAxesAttr,
                  sdy::ManualAxesAttr::get(op.getContext(), manualAxes));
  replaceByCall(op, func);
}

namespace {
struct ExportNamedComputationsPass
    : impl::ExportNamedComputationsPassBase<ExportNamedComputationsPass> {
  void runOnOperation() override {
    if (!getAnalysis<OpKinds>().mayHave<sdy::NamedComputationOp>())
      return markAllAnalysesPreserved();
    SymbolTable symbols(getOperation());
    SmallVector<sdy::NamedComputationOp> computations;
    // Inner ones first: their callers see calls.
    getOperation().walk(
        [&](sdy::NamedComputationOp op) { computations.push_back(op); });
    for (sdy::NamedComputationOp op : computations)
      exportComputation(op, symbols);
  }
};
} // namespace

} // namespace shardonnay
