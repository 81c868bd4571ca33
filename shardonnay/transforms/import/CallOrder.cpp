//===- CallOrder.cpp ------------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/import/CallOrder.h"

using namespace mlir;

namespace shardonnay {

func::FuncOp getCallee(CallOpInterface call, SymbolTable &symbols) {
  auto name = dyn_cast_if_present<SymbolRefAttr>(call.getCallableForCallee());
  if (!name)
    return nullptr;
  auto callee = symbols.lookup<func::FuncOp>(name.getRootReference());
  return callee && !callee.isExternal() ? callee : func::FuncOp();
}

namespace {
class CallOrder {
public:
  explicit CallOrder(SymbolTable &symbols) : symbols(symbols) {}

  LogicalResult visit(func::FuncOp func) {
    auto [entry, isNew] = isDone.try_emplace(func, false);
    if (!isNew)
      return success();
    WalkResult walked = func.walk([&](CallOpInterface call) {
      func::FuncOp callee = getCallee(call, symbols);
      if (!callee)
        return WalkResult::advance();
      auto known = isDone.find(callee);
      if (known != isDone.end() && !known->second)
        return WalkResult(refuse(call, callee));
      return WalkResult(visit(callee));
    });
    isDone[func] = true;
    order.push_back(func);
    return failure(walked.wasInterrupted());
  }

  SmallVector<func::FuncOp> order;

private:
  static LogicalResult refuse(CallOpInterface call, func::FuncOp callee) {
    InFlightDiagnostic diag = call->emitError("recursive call of @")
                              << callee.getSymName()
                              << ": expected no recursion; write it as a loop";
    diag.attachNote(callee.getLoc()) << "the function that calls itself";
    return diag;
  }

  SymbolTable &symbols;
  /// False for those whose calls are being visited.
  llvm::DenseMap<Operation *, bool> isDone;
};
} // namespace

FailureOr<SmallVector<func::FuncOp>>
orderCalleesFirst(ModuleOp module, SymbolTable &symbols, const OpKinds &kinds) {
  if (!kinds.mayHave<CallOpInterface>())
    return llvm::to_vector(module.getOps<func::FuncOp>());
  CallOrder order(symbols);
  for (auto func : module.getOps<func::FuncOp>())
    if (failed(order.visit(func)))
      return failure();
  return std::move(order.order);
}

} // namespace shardonnay
