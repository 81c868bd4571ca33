//===- ComposeWindows.cpp - a window of a window --------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Position q of what the inner windows are is position q + start of what they
// are windows of, if an inner window is as long as its step. So an outer window
// that begins at s begins at s + start there. What is filled stays what it was
// if the inner windows have no position that does not exist, and the outer ones
// none before the first.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "shardonnay/dialect/spmd/Ops.h"
#include "shardonnay/interfaces/OpKinds.h"
#include "shardonnay/mpi/Passes.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_COMPOSEWINDOWSPASS
#include "shardonnay/mpi/Passes.h.inc"

namespace {

/// The window that `outer` is one of; null if it is none, or one that is filled
/// elsewhere.
spmd::FetchWindowOp findInner(spmd::FetchWindowOp outer) {
  Value source = outer.getTensor();
  // A slice that takes all is what is left of one of the whole tensor.
  if (auto slice = source.getDefiningOp<tensor::ExtractSliceOp>();
      slice && slice.getType() == slice.getSourceType())
    source = slice.getSource();
  auto inner = source.getDefiningOp<spmd::FetchWindowOp>();
  if (!inner || inner.getDim() != outer.getDim() ||
      inner.getMeshAttr() != outer.getMeshAttr() || inner.getPeriodic() ||
      outer.getPeriodic() || inner.shardingAxes() != outer.shardingAxes() ||
      inner.countingAxes() != outer.shardingAxes() ||
      inner.getStep() != inner.getSize())
    return nullptr;
  auto start = static_cast<int64_t>(inner.getStart()),
       size = static_cast<int64_t>(outer.getGlobalSize()),
       available = static_cast<int64_t>(inner.getGlobalSize());
  bool exists = start >= 0 && start <= available - size;
  bool beginsInside = static_cast<int64_t>(outer.getStart()) >= 0 &&
                      static_cast<int64_t>(outer.getStep()) >= 0;
  return exists && beginsInside ? inner : nullptr;
}

void compose(spmd::FetchWindowOp outer, spmd::FetchWindowOp inner) {
  int64_t start = inner.getStart();
  outer.getTensorMutable().assign(inner.getTensor());
  outer.setStart(outer.getStart() + start);
  outer.setGlobalSize(outer.getGlobalSize() + start);
}

struct ComposeWindowsPass : impl::ComposeWindowsPassBase<ComposeWindowsPass> {
  void runOnOperation() override {
    if (!getAnalysis<OpKinds>().mayHave<spmd::FetchWindowOp>())
      return markAllAnalysesPreserved();
    getOperation().walk([](spmd::FetchWindowOp outer) {
      while (spmd::FetchWindowOp inner = findInner(outer)) {
        Operation *between = outer.getTensor().getDefiningOp();
        compose(outer, inner);
        if (between->use_empty())
          between->erase();
        if (between != inner && inner->use_empty())
          inner.erase();
      }
    });
  }
};

} // namespace
} // namespace shardonnay
