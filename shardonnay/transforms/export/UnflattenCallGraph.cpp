//===- UnflattenCallGraph.cpp ---------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/interfaces/OpKinds.h"
#include "shardonnay/transforms/export/Passes.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_UNFLATTENCALLGRAPHPASS
#include "shardonnay/transforms/export/Passes.h.inc"

namespace {

/// What a function was, and how its arguments and results are sharded: two
/// functions with one key compute the same on the same pieces.
Attribute getKey(func::FuncOp func, StringAttr original, bool fully) {
  SmallVector<Attribute> key = {original,
                                TypeAttr::get(func.getFunctionType())};
  auto add = [&](Attribute attr) {
    key.push_back(attr ? attr : UnitAttr::get(func.getContext()));
  };
  for (Value argument : func.getArguments())
    if (!fully)
      add(sdy::getSharding(argument));
  for (unsigned i = 0; i < func.getNumResults(); ++i)
    if (!fully)
      add(sdy::getFuncResultSharding(func, i));
  // Inside a manual computation the same axes may mean other devices.
  add(func->getAttr(sdy::kManualAxesAttr));
  return ArrayAttr::get(func.getContext(), key);
}

class CallGraphUnflattener {
public:
  CallGraphUnflattener(ModuleOp module, bool fully)
      : module(module), symbols(module), fully(fully) {}

  void run() {
    llvm::MapVector<Attribute, SmallVector<func::FuncOp>> classes;
    // A function that was nobody's copy is one of itself.
    for (auto func : module.getOps<func::FuncOp>()) {
      auto original =
          func->getAttrOfType<StringAttr>(sdy::kOriginalFuncNameAttr);
      classes[getKey(func, original ? original : func.getSymNameAttr(), fully)]
          .push_back(func);
    }
    countCalls();
    for (auto &[key, members] : classes)
      keepOne(members);
    redirectCalls();
    for (auto &[key, members] : classes)
      for (func::FuncOp func : members)
        finish(func);
  }

private:
  struct Calls {
    int64_t count = 0;
    /// The earlier a function is called first, the more this is.
    int64_t before = 0;
  };

  void countCalls() {
    module.walk([&](func::CallOp call) {
      auto [entry, isNew] = calls.try_emplace(call.getCalleeAttr());
      if (isNew)
        entry->second.before =
            std::numeric_limits<int64_t>::max() - calls.size();
      ++entry->second.count;
    });
  }
  /// The one that is called first; of copies that are sharded in different ways
  /// the one that is called most.
  void keepOne(ArrayRef<func::FuncOp> members) {
    auto rank = [&](func::FuncOp func) {
      Calls found = calls.lookup(FlatSymbolRefAttr::get(func.getSymNameAttr()));
      return std::pair(fully ? found.count : 0, found.before);
    };
    func::FuncOp kept =
        *llvm::max_element(members, [&](func::FuncOp a, func::FuncOp b) {
          return rank(a) < rank(b);
        });
    for (func::FuncOp func : members)
      if (func != kept)
        replacement[FlatSymbolRefAttr::get(func.getSymNameAttr())] = kept;
  }
  void redirectCalls() {
    module.walk([&](func::CallOp call) {
      if (func::FuncOp kept = replacement.lookup(call.getCalleeAttr()))
        call.setCallee(kept.getSymName());
    });
  }
  void finish(func::FuncOp func) {
    bool isCopy =
        replacement.contains(FlatSymbolRefAttr::get(func.getSymNameAttr()));
    if (isCopy && func.isPrivate()) {
      symbols.erase(func);
    } else {
      func->removeAttr(sdy::kOriginalFuncNameAttr);
      func->removeAttr(sdy::kManualAxesAttr);
    }
  }

  ModuleOp module;
  SymbolTable symbols;
  bool fully;
  llvm::DenseMap<Attribute, Calls> calls;
  llvm::DenseMap<Attribute, func::FuncOp> replacement;
};

struct UnflattenCallGraphPass
    : impl::UnflattenCallGraphPassBase<UnflattenCallGraphPass> {
  using UnflattenCallGraphPassBase::UnflattenCallGraphPassBase;

protected:
  void runOnOperation() override {
    forgetInside(getAnalysisManager(), getOperation());
    CallGraphUnflattener(getOperation(), dedupFunctionsFully).run();
    markAnalysesPreserved<OpKinds>();
  }
};

} // namespace

} // namespace shardonnay
