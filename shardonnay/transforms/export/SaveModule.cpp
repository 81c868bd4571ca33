//===- SaveModule.cpp -----------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/report/ModuleDump.h"
#include "shardonnay/transforms/export/Passes.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_SAVEMODULEPASS
#include "shardonnay/transforms/export/Passes.h.inc"

namespace {
struct SaveModulePass : impl::SaveModulePassBase<SaveModulePass> {
  using SaveModulePassBase::SaveModulePassBase;

  void runOnOperation() override {
    if (failed(dumpModule(getOperation(), dumpDirectory, fileName)))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace

} // namespace shardonnay
