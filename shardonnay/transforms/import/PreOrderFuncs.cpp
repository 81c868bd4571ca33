//===- PreOrderFuncs.cpp --------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/interfaces/OpKinds.h"
#include "shardonnay/transforms/import/CallOrder.h"
#include "shardonnay/transforms/import/Passes.h"

using namespace mlir;
using namespace mlir::sdy;

namespace shardonnay {

#define GEN_PASS_DEF_PREORDERFUNCSPASS
#include "shardonnay/transforms/import/Passes.h.inc"

namespace {
struct PreOrderFuncsPass : impl::PreOrderFuncsPassBase<PreOrderFuncsPass> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    auto order =
        orderCalleesFirst(getOperation(), symbols, getAnalysis<OpKinds>());
    if (failed(order))
      return signalPassFailure();
    markAnalysesPreserved<OpKinds>();
    Block *body = getOperation().getBody();
    for (func::FuncOp func : llvm::reverse(*order))
      func->moveBefore(body, body->end());
  }
};
} // namespace

} // namespace shardonnay
