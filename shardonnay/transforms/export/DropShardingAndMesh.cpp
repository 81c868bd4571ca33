//===- DropShardingAndMesh.cpp --------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "shardonnay/dialect/sdy/Dialect.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/dialect/sdy/access/SignatureAttributes.h"
#include "shardonnay/transforms/export/Passes.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_DROPSHARDINGANDMESHPASS
#include "shardonnay/transforms/export/Passes.h.inc"

namespace {
struct DropShardingAndMeshPass
    : impl::DropShardingAndMeshPassBase<DropShardingAndMeshPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    module.walk([](Operation *op) {
      op->removeDiscardableAttr(sdy::kShardingAttr);
      op->removeDiscardableAttr(sdy::kBlockArgumentShardingsAttr);
      if (auto func = dyn_cast<func::FuncOp>(op))
        sdy::SignatureAttributes(func).eraseAll(sdy::kShardingAttr);
    });
    for (auto op : llvm::make_early_inc_range(module.getOps<sdy::MeshOp>()))
      if (SymbolTable::symbolKnownUseEmpty(op, module))
        op.erase();
  }
};
} // namespace

} // namespace shardonnay
