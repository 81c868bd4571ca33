//===- PadForDivisibility.cpp ---------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "shardonnay/transforms/partition/Passes.h"

namespace shardonnay {

#define GEN_PASS_DEF_PADFORDIVISIBILITYPASS
#include "shardonnay/transforms/partition/Passes.h.inc"

namespace {
struct PadForDivisibilityPass
    : impl::PadForDivisibilityPassBase<PadForDivisibilityPass> {
  void runOnOperation() override { markAllAnalysesPreserved(); }
};
} // namespace

} // namespace shardonnay
