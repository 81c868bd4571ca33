//===- GatherAgain.cpp - gathers twice what would be alive too long -------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// While more is alive than the limit:
//
// 1. findWaiting: of what is alive at the peak, the gathered value that frees
//    most if it is gathered where it is used next: its bytes, less those of its
//    piece, if that would have been dead by then.
// 2. gatherBefore: a copy of the gather stands before that use, which the uses
//    from there on read. What then has no use goes.
//
// It ends: a copy stands right before its first use, so that it waits only
// between uses, of which each step parts two.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "shardonnay/dialect/sdy/Dialect.h"
#include "shardonnay/dialect/spmd/Ops.h"
#include "shardonnay/explain/PeakMemory.h"
#include "shardonnay/explain/Report.h"
#include "shardonnay/transforms/partition/Passes.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_GATHERAGAINPASS
#include "shardonnay/transforms/partition/Passes.h.inc"

namespace {

/// A gathered value that nothing at the peak needs.
struct Waiting {
  spmd::AllGatherOp gather;
  /// In its block, the one that needs it next.
  Operation *user = nullptr;
  int64_t freed = 0;
};

/// The op of `block` that `use` is in; null if it is in none.
Operation *findUser(OpOperand &use, Block *block) {
  return block->findAncestorOpInBlock(*use.getOwner());
}

bool isUsedFrom(Value value, Operation *op) {
  return llvm::any_of(value.getUses(), [&](OpOperand &use) {
    Operation *user = findUser(use, op->getBlock());
    // Around the block it may be used later.
    return !user || !user->isBeforeInBlock(op);
  });
}

std::optional<Waiting> readWaiting(Value value, Operation *innermost) {
  auto gather = value.getDefiningOp<spmd::AllGatherOp>();
  Operation *peak =
      gather ? gather->getBlock()->findAncestorOpInBlock(*innermost) : nullptr;
  if (!peak || gather == peak)
    return std::nullopt;
  Waiting waiting{gather, nullptr, byteSize(value.getType())};
  for (OpOperand &use : value.getUses()) {
    Operation *user = findUser(use, peak->getBlock());
    if (user == peak)
      return std::nullopt;
    if (peak->isBeforeInBlock(user) &&
        (!waiting.user || user->isBeforeInBlock(waiting.user)))
      waiting.user = user;
  }
  if (!waiting.user)
    return std::nullopt;
  Value piece = gather.getTensor();
  if (!isa<BlockArgument>(piece) && !isUsedFrom(piece, waiting.user))
    waiting.freed -= byteSize(piece.getType());
  return waiting;
}

std::optional<Waiting> findWaiting(const PeakMemory &peak) {
  std::optional<Waiting> most;
  if (!peak.op)
    return most;
  for (Value value : peak.live)
    if (std::optional<Waiting> waiting = readWaiting(value, peak.op);
        waiting && waiting->freed > (most ? most->freed : 0))
      most = waiting;
  return most;
}

void gatherBefore(const Waiting &waiting) {
  spmd::AllGatherOp gather = waiting.gather;
  OpBuilder builder(waiting.user);
  Operation *again = builder.clone(*gather);
  auto cause = gather->getAttrOfType<StringAttr>(sdy::kCauseAttr);
  if (StringRef more = "; again, for the limit of memory";
      cause && !cause.getValue().ends_with(more))
    again->setAttr(sdy::kCauseAttr,
                   builder.getStringAttr(cause.getValue() + more));
  gather.getResult().replaceUsesWithIf(
      again->getResult(0), [&](OpOperand &use) {
        Operation *user = findUser(use, again->getBlock());
        return again->isBeforeInBlock(user);
      });
  if (gather->use_empty())
    gather->erase();
}

struct GatherAgainPass : impl::GatherAgainPassBase<GatherAgainPass> {
  using GatherAgainPassBase::GatherAgainPassBase;

  void runOnOperation() override {
    if (memoryLimit == 0)
      return;
    while (true) {
      PeakMemory peak = findPeakMemory(getOperation());
      if (peak.bytes <= memoryLimit)
        return;
      std::optional<Waiting> waiting = findWaiting(peak);
      if (!waiting)
        return;
      gatherBefore(*waiting);
    }
  }
};

} // namespace

} // namespace shardonnay
