//===- EraseUnusedSymbols.cpp ---------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/interfaces/OpKinds.h"
#include "shardonnay/interfaces/UnusedSymbols.h"
#include "shardonnay/transforms/import/Passes.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_ERASEUNUSEDSYMBOLSPASS
#include "shardonnay/transforms/import/Passes.h.inc"

namespace {

struct EraseUnusedSymbolsPass
    : impl::EraseUnusedSymbolsPassBase<EraseUnusedSymbolsPass> {
  void runOnOperation() override {
    forgetInside(getAnalysisManager(), getOperation());
    if (!eraseUnusedSymbols(getOperation(), [](auto) { return true; }))
      markAllAnalysesPreserved();
    markAnalysesPreserved<OpKinds>();
  }
};

} // namespace

} // namespace shardonnay
