//===- ExportNamedComputations.cpp ----------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/IRMapping.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/interfaces/OpKinds.h"
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

/// A private function with the body of `op`.
static func::FuncOp makeFunction(sdy::NamedComputationOp op) {
  auto type = FunctionType::get(op.getContext(), op.getOperandTypes(),
                                op.getResultTypes());
  auto func = func::FuncOp::create(op.getLoc(), op.getName(), type);
  func.setPrivate();
  func->setAttr(sdy::kOriginalFuncNameAttr, op.getNameAttr());
  SmallVector<StringAttr> manualAxes = getManualAxes(op);
  if (!manualAxes.empty())
    func->setAttr(sdy::kManualAxesAttr,
                  sdy::ManualAxesAttr::get(op.getContext(), manualAxes));
  func.getBody().takeBody(op.getBody());
  Operation *end = func.getBody().front().getTerminator();
  OpBuilder builder(end);
  func::ReturnOp::create(builder, end->getLoc(), end->getOperands());
  end->erase();
  return func;
}

static void exportComputation(sdy::NamedComputationOp op,
                              SymbolTable &symbols) {
  sinkEdges(op);
  auto inShardings = op.getInShardingsAttr();
  func::FuncOp func = makeFunction(op);
  symbols.insert(func);
  if (inShardings)
    for (auto [i, sharding] : llvm::enumerate(inShardings.getShardings()))
      if (isa<RankedTensorType>(func.getArgumentTypes()[i]))
        sdy::setSharding(func.getArgument(i), sharding);
  OpBuilder builder(op);
  auto call =
      func::CallOp::create(builder, op.getLoc(), func, op.getOperands());
  call->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  if (sdy::TensorShardingPerValueAttr outShardings = op.getOutShardingsAttr())
    call->setAttr(sdy::kShardingAttr, outShardings);
  op.replaceAllUsesWith(call);
  op.erase();
}

namespace {
struct ExportNamedComputationsPass
    : impl::ExportNamedComputationsPassBase<ExportNamedComputationsPass> {
protected:
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
