//===- CollectOnDevices.cpp -----------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/IRMapping.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/interfaces/LocalCompute.h"
#include "shardonnay/transforms/collectives/Optimizations.h"
#include "shardonnay/transforms/collectives/Passes.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_COLLECTONDEVICESPASS
#include "shardonnay/transforms/collectives/Passes.h.inc"

static bool movesTo(Operation *op, Memory memory) {
  return op && getMemoryMovedTo(op) == memory;
}

/// outer(inner(x)) becomes inner(outer(x)), of a collective and a move. Returns
/// the new inner op, then the new outer one; other readers keep inner(x).
static std::pair<Operation *, Operation *> swap(Operation *inner,
                                                Operation *outer) {
  OpBuilder builder(outer);
  Value from = inner->getOperand(0);
  IRMapping mapping;
  mapping.map(outer->getOperand(0), from);
  Operation *first = builder.clone(*outer, mapping);
  mapping.map(from, first->getResult(0));
  Operation *second = builder.clone(*inner, mapping);
  outer->replaceAllUsesWith(second);
  // A collective says itself how its result is sharded.
  if (isa<sdy::CollectiveOpInterface>(inner))
    sdy::setSharding(first->getResult(0), sdy::getSharding(from));
  else
    sdy::setSharding(second->getResult(0),
                     sdy::getSharding(outer->getResult(0)));
  outer->erase();
  if (inner->use_empty())
    inner->erase();
  return {first, second};
}

/// collective(toHost(x)) becomes toHost(collective(x)), and so on with what
/// stands before and behind.
static bool moveUp(Operation *collective) {
  Operation *move = collective->getOperand(0).getDefiningOp();
  if (!movesTo(move, Memory::Host) ||
      move->getBlock() != collective->getBlock())
    return false;
  auto [moved, last] = swap(move, collective);
  moveUp(moved);
  for (Operation *user : SmallVector<Operation *>(last->getUsers()))
    if (isa<sdy::CollectiveOpInterface>(user))
      moveUp(user);
  return true;
}

/// toDevice(collective(x)) becomes collective(toDevice(x)).
static bool moveDown(Operation *collective) {
  SmallVector<Operation *> moves(collective->getUsers());
  if (isa<sdy::AllSliceOp>(collective) ||
      !llvm::all_of(moves, [&](Operation *user) {
        return movesTo(user, Memory::Device) &&
               user->getBlock() == collective->getBlock();
      }))
    return false;
  for (Operation *move : moves)
    swap(collective, move);
  return !moves.empty();
}

bool collectOnDevices(const CollectiveSites &sites, CollectivePlanner &) {
  bool changed = false;
  // Of a chain of collectives the one next to the move comes first.
  for (Operation *op : llvm::reverse(sites.collectives))
    changed |= moveDown(op) || moveUp(op);
  return changed;
}

namespace {
struct CollectOnDevicesPass
    : OptimizationPass<impl::CollectOnDevicesPassBase<CollectOnDevicesPass>,
                       collectOnDevices> {
  using OptimizationPass::OptimizationPass;
};
} // namespace

} // namespace shardonnay
