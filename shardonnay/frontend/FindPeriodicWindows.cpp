//===- FindPeriodicWindows.cpp - rotations written as concatenations ------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "shardonnay/dialect/spmd/Ops.h"
#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include "shardonnay/frontend/Passes.h"
#include "shardonnay/interfaces/OpKinds.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_FINDPERIODICWINDOWSPASS
#include "shardonnay/frontend/Passes.h.inc"

namespace {

/// The positions [start, limit) of a dim of `base`.
struct Part {
  Value base;
  int64_t start, limit;
};

struct FindPeriodicWindowsPass
    : impl::FindPeriodicWindowsPassBase<FindPeriodicWindowsPass> {
  void runOnOperation() override;
};

} // namespace

/// Reads a slice along `dim` only; anything else is all of `value`.
static Part readPart(Value value, int64_t dim) {
  auto type = cast<RankedTensorType>(value.getType());
  Part whole{value, 0, type.getDimSize(dim)};
  auto slice = value.getDefiningOp<stablehlo::SliceOp>();
  if (!slice || slice.getStrides()[dim] != 1)
    return whole;
  auto from = cast<RankedTensorType>(slice.getOperand().getType());
  for (int64_t other = 0; other < type.getRank(); ++other)
    if (other != dim && type.getDimSize(other) != from.getDimSize(other))
      return whole;
  return {slice.getOperand(), slice.getStartIndices()[dim],
          slice.getLimitIndices()[dim]};
}

/// The base and the first position; nothing if the parts are of several values,
/// leave gaps, or do not reach beyond the end.
static std::optional<Part> readPeriodic(stablehlo::ConcatenateOp op) {
  int64_t dim = op.getDimension();
  auto isStatic = [](Value value) {
    return cast<RankedTensorType>(value.getType()).hasStaticShape();
  };
  if (!isStatic(op.getResult()) || !llvm::all_of(op.getInputs(), isStatic))
    return std::nullopt;
  Part window = readPart(op.getInputs().front(), dim);
  int64_t size = cast<RankedTensorType>(window.base.getType()).getDimSize(dim);
  bool hasSlice = window.base != op.getInputs().front();
  for (Value input : op.getInputs().drop_front()) {
    Part part = readPart(input, dim);
    if (size == 0 || part.base != window.base ||
        part.start != window.limit % size)
      return std::nullopt;
    hasSlice |= part.base != input;
    window.limit += part.limit - part.start;
  }
  if (!hasSlice || window.limit <= size)
    return std::nullopt;
  return window;
}

void FindPeriodicWindowsPass::runOnOperation() {
  if (!getAnalysis<OpKinds>().mayHave<stablehlo::ConcatenateOp>())
    return markAllAnalysesPreserved();
  SmallVector<stablehlo::ConcatenateOp> found;
  for (Operation *op : getAnalysis<ProgramOps>()) {
    auto concatenate = dyn_cast<stablehlo::ConcatenateOp>(op);
    // What one device computes is not partitioned.
    if (concatenate && !op->getParentOfType<spmd::OnDeviceOp>() &&
        readPeriodic(concatenate))
      found.push_back(concatenate);
  }
  for (stablehlo::ConcatenateOp op : found) {
    Part window = *readPeriodic(op);
    OpBuilder builder(op);
    auto periodic = spmd::PeriodicWindowOp::create(
        builder, op.getLoc(), op.getType(), window.base, op.getDimension(),
        window.start, window.limit - window.start);
    periodic->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    // One slice may stand at several places.
    llvm::SetVector<Operation *> producers;
    for (Value input : op.getInputs())
      if (auto slice = input.getDefiningOp<stablehlo::SliceOp>())
        producers.insert(slice);
    op.replaceAllUsesWith(periodic.getResult());
    op.erase();
    for (Operation *slice : producers)
      if (slice->use_empty())
        slice->erase();
  }
}

} // namespace shardonnay
