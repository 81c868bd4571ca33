//===- RemoveSubAxesInInputOutputShardings.cpp ----------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. For each argument and result of a function, keep of each open dim the axes
//    before the first sub-axis, but no less than was given.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/interfaces/OpKinds.h"
#include "shardonnay/transforms/export/BoundaryShardings.h"
#include "shardonnay/transforms/export/Passes.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_REMOVESUBAXESININPUTOUTPUTSHARDINGSPASS
#include "shardonnay/transforms/export/Passes.h.inc"

namespace {
struct RemoveSubAxesInInputOutputShardingsPass
    : impl::RemoveSubAxesInInputOutputShardingsPassBase<
          RemoveSubAxesInInputOutputShardingsPass> {
  using RemoveSubAxesInInputOutputShardingsPassBase::
      RemoveSubAxesInInputOutputShardingsPassBase;

  void runOnOperation() override {
    trimBoundaryShardings(getOperation(),
                          {/*privateFunctions=*/true, /*closedDims=*/true,
                           /*given=*/keepGiven},
                          [](AxisList axes, int64_t, const Mesh &mesh) {
                            AxisList full;
                            for (AxisRef axis : axes) {
                              if (!mesh.isFull(axis))
                                break;
                              full.append(axis);
                            }
                            return full;
                          });
    markAnalysesPreserved<ProgramOps, OpKinds>();
  }
};
} // namespace

} // namespace shardonnay
