//===- RemovePropagationDebugInfo.cpp -------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "shardonnay/dialect/sdy/Dialect.h"
#include "shardonnay/dialect/sdy/access/SignatureAttributes.h"
#include "shardonnay/interfaces/OpKinds.h"
#include "shardonnay/transforms/export/Passes.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_REMOVEPROPAGATIONDEBUGINFOPASS
#include "shardonnay/transforms/export/Passes.h.inc"

static constexpr StringRef kRecords[] = {
    sdy::kShardingOriginsAttr,          sdy::kBlockArgShardingOriginsAttr,
    sdy::kResultShardingOriginsAttr,    sdy::kPropagationEdgesAttr,
    sdy::kBlockArgPropagationEdgesAttr, sdy::kResultPropagationEdgesAttr};

namespace {
struct RemovePropagationDebugInfoPass
    : impl::RemovePropagationDebugInfoPassBase<RemovePropagationDebugInfoPass> {
  void runOnOperation() override {
    // Looked up once: the walk compares pointers.
    SmallVector<StringAttr> names;
    for (StringRef name : kRecords)
      names.push_back(StringAttr::get(&getContext(), name));
    for (Operation *op : getAnalysis<ProgramOps>()) {
      for (StringAttr name : names)
        if (op->getDiscardableAttr(name))
          op->removeDiscardableAttr(name);
      auto func = dyn_cast<func::FuncOp>(op);
      if (!func)
        continue;
      sdy::SignatureAttributes signature(func);
      for (StringAttr name : names)
        signature.eraseAll(name);
    }
    markAnalysesPreserved<ProgramOps, OpKinds>();
  }
};
} // namespace

} // namespace shardonnay
