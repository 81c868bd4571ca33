//===- CheckMemory.cpp ----------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/analysis/PeakMemory.h"
#include "shardonnay/analysis/Summary.h"
#include "shardonnay/transforms/partition/Passes.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_CHECKMEMORYPASS
#include "shardonnay/transforms/partition/Passes.h.inc"

namespace {

struct CheckMemoryPass : impl::CheckMemoryPassBase<CheckMemoryPass> {
  using CheckMemoryPassBase::CheckMemoryPassBase;

  void runOnOperation() override {
    PeakMemory peak = findPeakMemory(getOperation());
    if (memoryLimit == 0 || peak.bytes <= memoryLimit)
      return;
    Operation *at = peak.op ? peak.op : getOperation();
    InFlightDiagnostic diagnostic =
        warns ? emitWarning(at->getLoc()) : emitError(at->getLoc());
    diagnostic << "sdy-check-memory: " << peak.bytes
               << " bytes are alive per device ";
    if (peak.op)
      diagnostic << "at '" << peak.op->getName() << "'";
    else
      diagnostic << "in the arguments alone";
    if (peak.op && peak.held > memoryLimit)
      diagnostic << ", " << peak.held
                 << " of them arguments and results, so that the plan was made "
                    "without a limit";
    else
      diagnostic << ", the least of the plans tried";
    diagnostic << "; expected at most " << memoryLimit.getValue()
               << (warns ? " (of the device model)" : " (memory-limit)")
               << ": shard the largest values over more axes, "
                  "or use more devices";
    for (Value value : ArrayRef(peak.live).take_front(kLargestValues))
      diagnostic.attachNote(value.getLoc())
          << byteSize(value.getType()) << " bytes are this " << value.getType();
    if (!warns)
      signalPassFailure();
  }
};

} // namespace

} // namespace shardonnay
