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
/// functions with one key compute the same on the same local shards.
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
    for (auto func : module.getOps<func::FuncOp>())
      classes[getFamily(func)].push_back(func);
    module.walk([&](func::CallOp call) { count(call); });
    for (auto &[family, members] : classes)
      keepOne(family, members);
    redirectCalls();
    for (auto &[family, members] : classes)
      for (func::FuncOp func : members)
        finish(func);
  }

private:
  /// Of the functions of a family, the one that is kept.
  struct Leader {
    func::FuncOp func;
    Attribute key;
    int64_t calls = 0;
  };

  Attribute getKeyOf(func::FuncOp func, bool withShardings) {
    // A function that was nobody's copy is one of itself.
    auto original = func->getAttrOfType<StringAttr>(sdy::kOriginalFuncNameAttr);
    return getKey(func, original ? original : func.getSymNameAttr(),
                  !withShardings);
  }
  /// What functions have in common of which one is kept.
  Attribute getFamily(func::FuncOp func) { return getKeyOf(func, !fully); }

  /// The function that is called first leads, until there are more calls of
  /// those that are sharded in another way: then the one that is called here.
  void count(func::CallOp call) {
    auto func = symbols.lookup<func::FuncOp>(call.getCallee());
    if (!func)
      return;
    auto [keys, isNew] = keysOf.try_emplace(func);
    if (isNew)
      keys->second = {getKeyOf(func, /*withShardings=*/true), getFamily(func)};
    auto [key, family] = keys->second;
    int64_t calls = ++callsOf[key];
    Leader &leader = leaders[family];
    if (calls <= leader.calls)
      return;
    leader.calls = calls;
    if (leader.key == key)
      return;
    leader.key = key;
    leader.func = func;
  }
  void keepOne(Attribute family, ArrayRef<func::FuncOp> members) {
    func::FuncOp kept = leaders[family].func;
    if (!kept)
      kept = members.front();
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
  /// With its shardings, and its family.
  llvm::DenseMap<Operation *, std::pair<Attribute, Attribute>> keysOf;
  llvm::DenseMap<Attribute, int64_t> callsOf;
  llvm::DenseMap<Attribute, Leader> leaders;
  llvm::DenseMap<Attribute, func::FuncOp> replacement;
};

struct UnflattenCallGraphPass
    : impl::UnflattenCallGraphPassBase<UnflattenCallGraphPass> {
  using UnflattenCallGraphPassBase::UnflattenCallGraphPassBase;

  void runOnOperation() override {
    forgetInside(getAnalysisManager(), getOperation());
    CallGraphUnflattener(getOperation(), dedupFunctionsFully).run();
    markAnalysesPreserved<OpKinds>();
  }
};

} // namespace

} // namespace shardonnay
