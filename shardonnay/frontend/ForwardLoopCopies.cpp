//===- ForwardLoopCopies.cpp - loops without what they only copy ----------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each loop that runs as often as a tensor has slices along its first dim:
//
//  1. `findCopied`: a carried tensor is a copy if each run writes the slice at
//     the loop's counter, which counts from 0 by 1, or as far from the end, and
//     the slice is that of a tensor that no run changes, at the same place;
//  2. the tensor itself stands for the copy behind the loop;
//  3. `eraseCarries`: the loop is made without what it carries for nothing.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/Dialect.h"
#include "shardonnay/dialect/sdy/access/TripCount.h"
#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include "shardonnay/frontend/LoopValues.h"
#include "shardonnay/frontend/Passes.h"
#include "shardonnay/interfaces/OpKinds.h"
#include "shardonnay/interfaces/ProgramOps.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_FORWARDLOOPCOPIESPASS
#include "shardonnay/frontend/Passes.h.inc"

namespace {

using sdy::readInteger;
using stablehlo::WhileOp;

class LoopCopies {
public:
  explicit LoopCopies(WhileOp loop)
      : loop(loop), body(loop.getBody().front()),
        returned(body.getTerminator()->getOperands()) {}

  /// False if there are none.
  bool run();

private:
  /// What result `number` is a copy of; null if it is none.
  Value findCopied(unsigned number);
  bool isCounter(Value value);
  /// Where `value` starts, if it is a place less in each run.
  std::optional<int64_t> findFirstOfReversed(Value value);
  /// `positions` are those of a whole slice along the first dim, in each run
  /// another one.
  bool isSliceAtCounter(ValueRange positions, RankedTensorType whole,
                        RankedTensorType slice);
  void eraseCarries(const llvm::BitVector &copies);

  WhileOp loop;
  Block &body;
  OperandRange returned;
};

bool LoopCopies::isCounter(Value value) {
  return findFirstCount(loop, value) == 0;
}

std::optional<int64_t> LoopCopies::findFirstOfReversed(Value value) {
  auto subtract = value.getDefiningOp<stablehlo::SubtractOp>();
  if (!subtract)
    return std::nullopt;
  if (isCounter(subtract.getRhs()))
    return readInteger(subtract.getLhs());
  std::optional<int64_t> from = findFirstOfReversed(subtract.getLhs());
  std::optional<int64_t> less = readInteger(subtract.getRhs());
  return from && less ? std::optional(*from - *less) : std::nullopt;
}

bool LoopCopies::isSliceAtCounter(ValueRange positions, RankedTensorType whole,
                                  RankedTensorType slice) {
  return whole.hasStaticShape() && whole.getRank() > 0 &&
         slice.getDimSize(0) == 1 &&
         slice.getShape().drop_front() == whole.getShape().drop_front() &&
         (isCounter(positions.front()) ||
          findFirstOfReversed(positions.front()) == whole.getDimSize(0) - 1) &&
         llvm::all_of(positions.drop_front(), [](Value position) {
           return readInteger(position) == 0;
         });
}

Value LoopCopies::findCopied(unsigned number) {
  auto update =
      returned[number].getDefiningOp<stablehlo::DynamicUpdateSliceOp>();
  // Where something else reads what was written so far, it stays.
  if (!update || update->getBlock() != &body || !update->hasOneUse() ||
      update.getOperand() != body.getArgument(number) ||
      !body.getArgument(number).hasOneUse() ||
      !loop.getCond().getArgument(number).use_empty())
    return {};
  Value moved = update.getUpdate();
  while (auto reshape = moved.getDefiningOp<stablehlo::ReshapeOp>())
    moved = reshape.getOperand();
  auto slice = moved.getDefiningOp<stablehlo::DynamicSliceOp>();
  if (!slice || slice->getBlock() != &body)
    return {};
  Value source = findUnchanged(loop, slice.getOperand());
  auto type = cast<RankedTensorType>(update.getType());
  if (!source || source.getType() != type ||
      slice.getStartIndices().front() != update.getStartIndices().front() ||
      !isSliceAtCounter(slice.getStartIndices(), type, slice.getType()) ||
      !isSliceAtCounter(update.getStartIndices(), type,
                        cast<RankedTensorType>(update.getUpdate().getType())))
    return {};
  return findTripCount(loop) == type.getDimSize(0) ? source : Value();
}

void LoopCopies::eraseCarries(const llvm::BitVector &copies) {
  SmallVector<Value> initial;
  SmallVector<OpResult> results;
  for (OpResult result : loop->getResults())
    if (!copies.test(result.getResultNumber())) {
      initial.push_back(loop->getOperand(result.getResultNumber()));
      results.push_back(result);
    }
  OpBuilder builder(loop);
  auto smaller = WhileOp::create(builder, loop.getLoc(),
                                 TypeRange(ValueRange(initial)), initial);
  smaller->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  body.getTerminator()->eraseOperands(copies);
  for (Operation &inside : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isOpTriviallyDead(&inside))
      inside.erase();
  for (Region &region : loop->getRegions())
    region.front().eraseArguments(copies);
  smaller.getCond().takeBody(loop.getCond());
  smaller.getBody().takeBody(loop.getBody());
  for (auto [from, to] : llvm::zip(results, smaller->getResults()))
    from.replaceAllUsesWith(to);
  loop.erase();
}

bool LoopCopies::run() {
  // What was said of a copy would be lost.
  if (loop->hasAttr(sdy::kShardingAttr))
    return false;
  llvm::BitVector copies(loop->getNumResults());
  for (OpResult result : loop->getResults())
    if (Value copied = findCopied(result.getResultNumber())) {
      result.replaceAllUsesWith(copied);
      copies.set(result.getResultNumber());
    }
  if (copies.none())
    return false;
  eraseCarries(copies);
  return true;
}

struct ForwardLoopCopiesPass
    : impl::ForwardLoopCopiesPassBase<ForwardLoopCopiesPass> {
  void runOnOperation() override {
    if (!getAnalysis<OpKinds>().mayHave<WhileOp>())
      return markAllAnalysesPreserved();
    SmallVector<WhileOp> loops;
    for (Operation *op : getAnalysis<ProgramOps>())
      if (auto loop = dyn_cast<WhileOp>(op))
        loops.push_back(loop);
    bool changed = false;
    // Those inside come before those around them, which may erase them.
    for (WhileOp loop : llvm::reverse(loops))
      changed |= LoopCopies(loop).run();
    if (!changed)
      markAllAnalysesPreserved();
  }
};

} // namespace
} // namespace shardonnay
