//===- FlattenCallGraph.cpp -----------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/Dialect.h"
#include "shardonnay/interfaces/OpKinds.h"
#include "shardonnay/transforms/import/CallOrder.h"
#include "shardonnay/transforms/import/Passes.h"

using namespace mlir;
using namespace mlir::sdy;

namespace shardonnay {

#define GEN_PASS_DEF_FLATTENCALLGRAPHPASS
#include "shardonnay/transforms/import/Passes.h.inc"

namespace {

class CallGraphFlattener {
public:
  explicit CallGraphFlattener(SymbolTable &symbols) : symbols(symbols) {}

  /// Gives each call in `func` a callee of its own, and the calls in that one.
  void flatten(func::FuncOp func) {
    SmallVector<func::CallOp> calls;
    func.walk([&](func::CallOp call) { calls.push_back(call); });
    for (func::CallOp call : calls)
      if (func::FuncOp callee = getCallee(call, symbols))
        flattenCall(call, callee);
  }

private:
  void flattenCall(func::CallOp call, func::FuncOp callee) {
    if (called.insert(callee).second)
      return flatten(callee);
    func::FuncOp clone = callee.clone();
    if (!clone->hasAttr(kOriginalFuncNameAttr))
      clone->setAttr(kOriginalFuncNameAttr, callee.getSymNameAttr());
    flatten(clone);
    symbols.insert(clone);
    called.insert(clone);
    call.setCallee(clone.getSymName());
  }

  SymbolTable &symbols;
  llvm::DenseSet<Operation *> called;
};

struct FlattenCallGraphPass
    : impl::FlattenCallGraphPassBase<FlattenCallGraphPass> {
  void runOnOperation() override {
    if (!getAnalysis<OpKinds>().mayHave<CallOpInterface>())
      return markAllAnalysesPreserved();
    SymbolTable symbols(getOperation());
    auto order =
        orderCalleesFirst(getOperation(), symbols, getAnalysis<OpKinds>());
    if (failed(order))
      return signalPassFailure();
    CallGraphFlattener flattener(symbols);
    for (func::FuncOp func : *order)
      if (func.isPublic())
        flattener.flatten(func);
  }
};

} // namespace
} // namespace shardonnay
