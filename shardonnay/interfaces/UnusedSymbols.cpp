//===- UnusedSymbols.cpp --------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Marks what the symbols that stay refer to, then what that refers to, until
// every symbol is marked or nothing new is found.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/interfaces/UnusedSymbols.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "shardonnay/support/Prefetch.h"

using namespace mlir;

namespace shardonnay {

namespace {

class UnusedSymbols {
public:
  UnusedSymbols(ModuleOp module,
                llvm::function_ref<bool(SymbolOpInterface)> mayGo) {
    for (Operation &op : *module.getBody()) {
      auto symbol = dyn_cast<SymbolOpInterface>(op);
      if (symbol && symbol.isPrivate() && symbol.canDiscardOnUseEmpty() &&
          mayGo(symbol))
        unused[symbol.getNameAttr()] = &op;
      else
        worklist.push_back(&op);
    }
    walker.addWalk(
        [&](SymbolRefAttr symbol) { mark(symbol.getRootReference()); });
  }

  bool erase() {
    while (!worklist.empty() && !unused.empty())
      walkOps(worklist.pop_back_val(), [&](Operation *op) {
        walker.walk(op->getAttrDictionary());
        return unused.empty() ? WalkResult::interrupt() : WalkResult::advance();
      });
    for (auto &[name, op] : unused)
      op->erase();
    return !unused.empty();
  }

private:
  void mark(StringAttr name) {
    auto found = unused.find(name);
    if (found == unused.end())
      return;
    worklist.push_back(found->second);
    unused.erase(found);
  }

  /// What was not referred to yet.
  llvm::DenseMap<StringAttr, Operation *> unused;
  /// What stays and may refer to symbols.
  SmallVector<Operation *> worklist;
  /// Looks at an attribute once, wherever it stands.
  AttrTypeWalker walker;
};

} // namespace

bool eraseUnusedSymbols(ModuleOp module,
                        llvm::function_ref<bool(SymbolOpInterface)> mayGo) {
  return UnusedSymbols(module, mayGo).erase();
}

} // namespace shardonnay
