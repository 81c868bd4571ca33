//===- EraseUnusedSymbols.cpp ---------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Marks what public symbols refer to, then what that refers to, until every
// private symbol is marked or nothing new is found. A program that has none is
// not read at all.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/SymbolTable.h"
#include "shardonnay/interfaces/OpKinds.h"
#include "shardonnay/transforms/import/Passes.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_ERASEUNUSEDSYMBOLSPASS
#include "shardonnay/transforms/import/Passes.h.inc"

namespace {

class UnusedSymbols {
public:
  explicit UnusedSymbols(ModuleOp module) {
    for (Operation &op : *module.getBody()) {
      auto symbol = dyn_cast<SymbolOpInterface>(op);
      if (symbol && symbol.isPrivate() && symbol.canDiscardOnUseEmpty())
        unused[symbol.getNameAttr()] = &op;
      else
        worklist.push_back(&op);
    }
    walker.addWalk(
        [&](SymbolRefAttr symbol) { mark(symbol.getRootReference()); });
  }

  /// Whether there were any.
  bool erase() {
    while (!worklist.empty() && !unused.empty())
      worklist.pop_back_val()->walk([&](Operation *op) {
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
  /// Symbols in use that may refer to others.
  SmallVector<Operation *> worklist;
  /// Looks at an attribute once, wherever it stands.
  AttrTypeWalker walker;
};

struct EraseUnusedSymbolsPass
    : impl::EraseUnusedSymbolsPassBase<EraseUnusedSymbolsPass> {
protected:
  void runOnOperation() override {
    if (!UnusedSymbols(getOperation()).erase())
      markAllAnalysesPreserved();
    markAnalysesPreserved<OpKinds>();
  }
};

} // namespace

} // namespace shardonnay
