//===- CapturesToOperands.cpp - regions read what their ops take ----------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. An op with a sharding rule owns its regions: constants from outside that
//    they read are copied into them, but for numbers, which are the same on
//    all devices.
// 2. For each scf.forall, inner ones first: the tensors from outside that its
//    body reads become outputs that nothing is inserted into; the body reads
//    their block arguments. If the loop has shardings, the new results get open
//    ones.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/RegionUtils.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/frontend/Passes.h"
#include "shardonnay/interfaces/OpKinds.h"
#include "shardonnay/interfaces/ProgramOps.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_CAPTURESTOOPERANDSPASS
#include "shardonnay/frontend/Passes.h.inc"

/// Says whether there were any.
static bool copyConstantsInto(Region &region) {
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(region, captured);
  captured.remove_if([](Value value) {
    Operation *op = value.getDefiningOp();
    return !isa<ShapedType>(value.getType()) || !op ||
           !op->hasTrait<OpTrait::ConstantLike>();
  });
  OpBuilder builder(region.getContext());
  for (Value value : captured) {
    builder.setInsertionPointToStart(&region.front());
    Operation *copy = builder.clone(*value.getDefiningOp());
    value.replaceUsesWithIf(copy->getResult(0), [&](OpOperand &use) {
      return region.isAncestor(use.getOwner()->getParentRegion());
    });
  }
  return !captured.empty();
}

static SmallVector<Value> getCapturedTensors(scf::ForallOp op) {
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op.getRegion(), captured);
  return llvm::filter_to_vector(captured, [](Value value) {
    return isa<RankedTensorType>(value.getType());
  });
}

/// `op` has shardings of its first results.
static void completeResultShardings(scf::ForallOp op) {
  auto present =
      op->getAttrOfType<sdy::TensorShardingPerValueAttr>(sdy::kShardingAttr);
  if (!present)
    return;
  SmallVector<sdy::TensorShardingAttr> shardings(present.getShardings());
  shardings.resize(op.getNumResults());
  op->setAttr(sdy::kShardingAttr,
              sdy::completeShardings(op.getResultTypes(), shardings, op));
}

static void takeCaptures(scf::ForallOp op) {
  SmallVector<Value> captured = getCapturedTensors(op);
  if (captured.empty())
    return;
  SmallVector<Value> outputs(op.getOutputs());
  llvm::append_range(outputs, captured);
  OpBuilder builder(op);
  auto taking = scf::ForallOp::create(
      builder, op.getLoc(), op.getMixedLowerBound(), op.getMixedUpperBound(),
      op.getMixedStep(), outputs, op.getMapping());
  taking.getRegion().takeBody(op.getRegion());
  taking->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  for (Value value : captured) {
    Value inside = taking.getBody()->addArgument(value.getType(), op.getLoc());
    value.replaceUsesWithIf(inside, [&](OpOperand &use) {
      return taking->isProperAncestor(use.getOwner());
    });
  }
  completeResultShardings(taking);
  op->replaceAllUsesWith(taking->getResults().take_front(op.getNumResults()));
  op->erase();
}

namespace {
struct CapturesToOperandsPass
    : impl::CapturesToOperandsPassBase<CapturesToOperandsPass> {
  void runOnOperation() override {
    bool changes = false;
    for (Operation *op : getAnalysis<ProgramOps>())
      if (op->getNumRegions() > 0 && isa<ShardingRuleOpInterface>(op))
        for (Region &region : op->getRegions())
          changes |= copyConstantsInto(region);
    if (getAnalysis<OpKinds>().mayHave<scf::ForallOp>())
      getOperation().walk(takeCaptures);
    else if (!changes)
      markAllAnalysesPreserved();
  }
};
} // namespace

} // namespace shardonnay
