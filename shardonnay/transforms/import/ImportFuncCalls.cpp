//===- ImportFuncCalls.cpp ------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/IRMapping.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/interfaces/OpKinds.h"
#include "shardonnay/interfaces/UnusedSymbols.h"
#include "shardonnay/transforms/import/CallOrder.h"
#include "shardonnay/transforms/import/DataFlowEdges.h"
#include "shardonnay/transforms/import/Passes.h"

using namespace mlir;
using namespace mlir::sdy;

namespace shardonnay {

#define GEN_PASS_DEF_IMPORTFUNCCALLSPASS
#include "shardonnay/transforms/import/Passes.h.inc"

namespace {

/// The shardings of the arguments; null if none has one.
TensorShardingPerValueAttr getArgumentShardings(func::FuncOp func) {
  SmallVector<TensorShardingAttr> shardings = getShardings(func.getArguments());
  return completeShardings(func.getArgumentTypes(), shardings, func);
}

/// The body of the computation is that of the function.
void copyBody(func::FuncOp callee, NamedComputationOp computation) {
  IRMapping mapping;
  callee.getBody().cloneInto(&computation.getBody(), mapping);
  Operation *end = computation.getBody().front().getTerminator();
  OpBuilder builder(end);
  sdy::ReturnOp::create(builder, end->getLoc(), end->getOperands());
  end->erase();
}

NamedComputationOp importCall(func::CallOp call, func::FuncOp callee) {
  auto original = callee->getAttrOfType<StringAttr>(kOriginalFuncNameAttr);
  StringRef name = original ? original.getValue() : callee.getSymName();
  OpBuilder builder(call);
  auto computation = NamedComputationOp::create(
      builder, call.getLoc(), call.getResultTypes(), name, call.getOperands(),
      getArgumentShardings(callee),
      call->getAttrOfType<TensorShardingPerValueAttr>(kShardingAttr));
  copyBody(callee, computation);
  for (NamedAttribute attr : call->getDiscardableAttrs())
    if (attr.getName() != kShardingAttr)
      computation->setAttr(attr.getName(), attr.getValue());
  call.replaceAllUsesWith(computation.getResults());
  call.erase();
  return computation;
}

struct ImportFuncCallsPass
    : impl::ImportFuncCallsPassBase<ImportFuncCallsPass> {
  using ImportFuncCallsPassBase::ImportFuncCallsPassBase;

  void runOnOperation() override {
    forgetInside(getAnalysisManager(), getOperation());
    SymbolTable symbols(getOperation());
    const auto &kinds = getAnalysis<OpKinds>();
    auto order = orderCalleesFirst(getOperation(), symbols, kinds);
    if (failed(order))
      return signalPassFailure();
    if (!kinds.mayHave<func::CallOp>())
      markAnalysesPreserved<OpKinds>();
    else
      for (func::FuncOp func : *order)
        if (failed(importCalls(func, symbols)))
          return signalPassFailure();
    eraseUnusedSymbols(getOperation(), [](SymbolOpInterface symbol) {
      auto func = dyn_cast<func::FuncOp>(*symbol);
      return func && !func.isExternal();
    });
  }

private:
  LogicalResult importCalls(func::FuncOp func, SymbolTable &symbols) {
    SmallVector<func::CallOp> calls;
    func.walk([&](func::CallOp call) { calls.push_back(call); });
    for (func::CallOp call : calls) {
      func::FuncOp callee = getCallee(call, symbols);
      if (!callee)
        continue;
      if (!callee.getBody().hasOneBlock())
        return refuse(call, callee);
      NamedComputationOp computation = importCall(call, callee);
      if (addDataFlowEdgesOnNamedComputations &&
          failed(addDataFlowEdges(
              cast<ShardableDataFlowOpInterface>(computation.getOperation()))))
        return failure();
    }
    return success();
  }

  static LogicalResult refuse(func::CallOp call, func::FuncOp callee) {
    InFlightDiagnostic diag = call.emitError("cannot import the call of @")
                              << callee.getSymName()
                              << ": expected a function of one block";
    diag.attachNote(callee.getLoc()) << "defined here";
    return diag;
  }
};

} // namespace
} // namespace shardonnay
