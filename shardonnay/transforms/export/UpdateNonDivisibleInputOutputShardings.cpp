//===- UpdateNonDivisibleInputOutputShardings.cpp -------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. For each argument and result of a function, keep of each open dim the
// major
//    axes whose product divides it, but no less than was given.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/export/BoundaryShardings.h"
#include "shardonnay/transforms/export/Passes.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_UPDATENONDIVISIBLEINPUTOUTPUTSHARDINGSPASS
#include "shardonnay/transforms/export/Passes.h.inc"

namespace {
struct UpdateNonDivisibleInputOutputShardingsPass
    : impl::UpdateNonDivisibleInputOutputShardingsPassBase<
          UpdateNonDivisibleInputOutputShardingsPass> {
protected:
  void runOnOperation() override {
    trimBoundaryShardings(getOperation(),
                          [](AxisList axes, int64_t size, const Mesh &) {
                            return axes.prefixDividing(size);
                          });
  }
};
} // namespace

} // namespace shardonnay
