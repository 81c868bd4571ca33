//===- ShareEqualOps.cpp --------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR's CSE keeps all ops in a table, and looks at ops that are in it by
// chance: in a program of 10^6 ops it waits for each.
//
// An op can be equal to another one only if each of its operands has another
// use. Ops with an operand that has none, which are most, are neither looked up
// nor kept. Where one that was passed over so may get an equal one, because its
// operand is merged with another, it is entered then (`enterUser`).
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "shardonnay/dialect/sdy/Dialect.h"
#include "shardonnay/dialect/spmd/Ops.h"
#include "shardonnay/interfaces/DataFlowEdge.h"
#include "shardonnay/interfaces/ProgramOps.h"
#include "shardonnay/pipeline/Passes.h"
#include "shardonnay/report/OpAlternative.h"
#include "shardonnay/support/HashIndex.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_SHAREEQUALOPSPASS
#include "shardonnay/pipeline/Passes.h.inc"

namespace {

/// Ops by what they compute. Those entered last leave first.
class EqualOps {
public:
  size_t size() const { return entries.size(); }

  /// The first op that is equal to `op`, which may be itself: it is entered if
  /// there is none.
  Operation *findOrEnter(Operation *op) {
    uint32_t hash = hashOf(op);
    // Ops are looked at only if their hashes agree.
    int32_t first = index.find(hash, [&](int32_t i) {
      return entries[i].hash == hash &&
             OperationEquivalence::isEquivalentTo(
                 entries[i].op, op, OperationEquivalence::IgnoreLocations);
    });
    if (first != HashIndex::kNone)
      return entries[first].op;
    index.add(hash, [&](int32_t i) { return entries[i].hash; });
    entries.push_back({op, hash});
    return op;
  }

  /// Takes out all but the first `size`; those that are not in `block` come
  /// back.
  void leave(Block &block, size_t size) {
    llvm::SmallVector<Operation *> outside;
    while (entries.size() > size) {
      Entry entry = entries.pop_back_val();
      if (entry.op->getBlock() != &block)
        outside.push_back(entry.op);
      index.removeLast(entry.hash);
    }
    for (Operation *op : outside)
      findOrEnter(op);
  }

private:
  struct Entry {
    Operation *op;
    uint32_t hash;
  };

  static uint32_t hashOf(Operation *op) {
    size_t hash = OperationEquivalence::computeHash(
        op, OperationEquivalence::directHashValue,
        OperationEquivalence::ignoreHashValue,
        OperationEquivalence::IgnoreLocations);
    return hash ^ hash >> 32;
  }

  llvm::SmallVector<Entry, 0> entries;
  HashIndex index;
};

class EqualOpsSharer {
public:
  EqualOpsSharer(ProgramOps &ops, bool keepLoops)
      : ops(ops), keepLoops(keepLoops) {}

  void run(func::FuncOp func) {
    for (Block &block : func.getBody()) {
      known = EqualOps();
      shareIn(block);
    }
    ops.close();
    for (auto [op, cause] : llvm::reverse(causes))
      op->setAttr(sdy::kCauseAttr, cause);
    for (Operation *op : gone)
      op->erase();
  }

private:
  void shareIn(Block &block) {
    for (Operation &op : block)
      share(&op);
  }

  /// What stands before the region serves in it, and what is in a block of it
  /// only there.
  void shareIn(Region &region) {
    for (Block &block : region) {
      size_t before = known.size();
      shareIn(block);
      known.leave(block, before);
    }
  }

  void share(Operation *op) {
    size_t here = place++;
    if (isOpTriviallyDead(ops[here])) {
      while (place < ops.size() && op->isProperAncestor(ops[place]))
        ++place;
      return goes(op, here);
    }
    // Nothing from outside is seen in there.
    bool isIsolated = op->hasTrait<OpTrait::IsIsolatedFromAbove>();
    EqualOps outside;
    if (isIsolated)
      std::swap(known, outside);
    bool isKept = keepsThis;
    if (op->getNumRegions() != 0)
      keepsThis |= keepLoops && isLoop(op);
    for (Region &region : op->getRegions())
      shareIn(region);
    keepsThis = isKept;
    if (isIsolated)
      std::swap(known, outside);
    if (!keepsThis && mayHaveEqual(op) && merge(op))
      goes(op, here);
  }

  void goes(Operation *op, size_t here) {
    gone.push_back(op);
    ops.takeOut(here, place);
  }

  /// Asks the use first: what else uses the value may be far.
  static bool isOnlyUse(OpOperand &use) {
    return !use.getNextOperandUsingThisValue() &&
           &*use.get().use_begin() == &use;
  }

  static bool mayHaveEqual(Operation *op) {
    return op->getNumResults() != 0 &&
           llvm::none_of(op->getOpOperands(), isOnlyUse) &&
           !op->hasTrait<OpTrait::IsTerminator>() && isMemoryEffectFree(op);
  }

  /// Why a collective is there does not tell it from an equal one, and the
  /// first keeps its own cause. But what an op fetches for itself a plan counts
  /// for each kind of op, however else ops of the kind could be sharded.
  Operation *findOrEnter(Operation *op) {
    if (isa_and_present<sdy::SdyDialect, spmd::SpmdDialect>(op->getDialect()))
      if (auto cause = dyn_cast_if_present<StringAttr>(
              op->removeAttr(sdy::kCauseAttr))) {
        causes.emplace_back(op, cause);
        if (cause.getValue().starts_with(kFetchCause))
          op->setAttr(sdy::kCauseAttr,
                      StringAttr::get(op->getContext(),
                                      cause.getValue().split("; ").first));
      }
    return known.findOrEnter(op);
  }

  bool merge(Operation *op) {
    Operation *first = findOrEnter(op);
    if (first == op)
      return false;
    llvm::SmallVector<Operation *> users;
    for (Value result : first->getResults())
      if (result.hasOneUse())
        users.push_back(*result.user_begin());
    op->replaceAllUsesWith(first);
    if (isa<UnknownLoc>(first->getLoc()))
      first->setLoc(op->getLoc());
    for (Operation *user : users)
      enterUser(user, op);
    return true;
  }

  /// `user` was passed over if it comes before `op`. It is about to go if
  /// nothing uses it.
  void enterUser(Operation *user, Operation *op) {
    if (user->use_empty())
      return;
    Operation *here = user->getBlock()->findAncestorOpInBlock(*op);
    if (here && user->isBeforeInBlock(here) && mayHaveEqual(user))
      findOrEnter(user);
  }

  ProgramOps &ops;
  bool keepLoops;
  /// What is looked at is in a loop, and stays.
  bool keepsThis = false;
  /// In `ops`, of the op that comes next: behind the function itself.
  size_t place = 1;
  EqualOps known;
  llvm::SmallVector<Operation *> gone;
  /// As they were; one that is entered again has its own first.
  llvm::SmallVector<std::pair<Operation *, StringAttr>> causes;
};

struct ShareEqualOpsPass : impl::ShareEqualOpsPassBase<ShareEqualOpsPass> {
  using ShareEqualOpsPassBase::ShareEqualOpsPassBase;

protected:
  void runOnOperation() override {
    EqualOpsSharer(getAnalysis<ProgramOps>(), keepLoops).run(getOperation());
    markAnalysesPreserved<ProgramOps>();
  }
};

} // namespace
} // namespace shardonnay
