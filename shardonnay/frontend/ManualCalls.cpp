//===- ManualCalls.cpp - manual computations between boundaries -----------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In each block:
// 1. Find the local ops: forward from the boundaries where values become local;
//    then backward, an op all of whose users are local is local, and one with
//    other users too is copied for the local ones.
// 2. Connect local ops and boundaries that share a local value.
// 3. Build a computation for each connected set, before the first
//    boundary where
//    values leave it. Where something in between needs to move, sort the block.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/frontend/ManualCalls.h"
#include "shardonnay/support/Diagnostics.h"

#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::sdy;

namespace shardonnay {

namespace {

/// What `op` reads: its operands, and what its regions use of outside.
llvm::SetVector<Value> valuesReadBy(Operation *op) {
  llvm::SetVector<Value> values(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), values);
  return values;
}

/// One block with boundaries.
class LocalOps {
public:
  LocalOps(Block &block, ArrayRef<const ManualCallBoundary *> boundaries)
      : block(block), boundaries(boundaries.begin(), boundaries.end()) {
    for (const ManualCallBoundary *boundary : boundaries)
      boundaryOf[boundary->cast] = boundary;
  }

  LogicalResult run() {
    if (failed(findForward()))
      return failure();
    findBackward();
    if (failed(check()))
      return failure();
    return build();
  }

private:
  LogicalResult findForward();
  void findBackward();
  /// Copies `op` for its local users.
  void copyForLocalUsers(Operation *op);
  /// Do local ops read local values only?
  LogicalResult check();
  LogicalResult build();
  LogicalResult buildOne(ArrayRef<Operation *> members);
  /// What goes into a computation and comes out of it.
  struct Boundaries {
    SmallVector<Value> inputs, insides, outsides;
    SmallVector<TensorShardingAttr> inShardings, outShardings;
    Operation *first = nullptr;
  };
  FailureOr<Boundaries> readBoundaries(ArrayRef<Operation *> members);

  bool enters(Operation *op) const {
    const ManualCallBoundary *boundary = boundaryOf.lookup(op);
    return boundary && boundary->enters;
  }
  bool leaves(Operation *op) const {
    const ManualCallBoundary *boundary = boundaryOf.lookup(op);
    return boundary && !boundary->enters;
  }
  /// Reads local values, as a local op or as a boundary.
  bool isLocalUser(Operation *op) const {
    return local.contains(op) || leaves(op);
  }
  Operation *inBlock(Operation *user) {
    return block.findAncestorOpInBlock(*user);
  }

  Block &block;
  SmallVector<const ManualCallBoundary *> boundaries;
  llvm::DenseMap<Operation *, const ManualCallBoundary *> boundaryOf;
  llvm::DenseSet<Operation *> local;
};

LogicalResult LocalOps::findForward() {
  SmallVector<Operation *> work;
  for (const ManualCallBoundary *boundary : boundaries)
    if (boundary->enters)
      work.push_back(boundary->cast);
  while (!work.empty()) {
    Operation *op = work.pop_back_val();
    for (Operation *anyUser : op->getUsers()) {
      Operation *user = inBlock(anyUser);
      if (enters(user) || user->hasTrait<OpTrait::IsTerminator>()) {
        InFlightDiagnostic diag =
            user->emitError("a value that is local to each device is used "
                            "where a global one is expected; make it global "
                            "first, by SPMDShardToFullShape");
        diag.attachNote(op->getLoc()) << "the local value";
        return diag;
      }
      if (!leaves(user) && local.insert(user).second)
        work.push_back(user);
    }
  }
  return success();
}

void LocalOps::copyForLocalUsers(Operation *op) {
  Operation *copy = OpBuilder(op).clone(*op);
  op->replaceUsesWithIf(copy->getResults(), [&](OpOperand &use) {
    return isLocalUser(inBlock(use.getOwner()));
  });
  local.insert(copy);
}

void LocalOps::findBackward() {
  // What is used from around the block and depends on nothing comes in first.
  for (Operation &op : llvm::make_early_inc_range(block))
    if (isLocalUser(&op))
      for (Value value : valuesReadBy(&op)) {
        Operation *def = value.getDefiningOp();
        if (!def || def->getBlock() == &block || def->getNumOperands() != 0 ||
            def->getNumRegions() != 0 || !isMemoryEffectFree(def))
          continue;
        Operation *copy = OpBuilder(&op).clone(*def);
        value.replaceUsesWithIf(
            copy->getResult(cast<OpResult>(value).getResultNumber()),
            [&](OpOperand &use) { return inBlock(use.getOwner()) == &op; });
        local.insert(copy);
      }
  SmallVector<Operation *> ops;
  for (Operation &op : llvm::reverse(block))
    ops.push_back(&op);
  for (Operation *op : ops) {
    if (local.contains(op) || boundaryOf.contains(op) || op->use_empty())
      continue;
    auto isLocal = [&](Operation *user) { return isLocalUser(inBlock(user)); };
    if (llvm::all_of(op->getUsers(), isLocal))
      local.insert(op);
    else if (llvm::any_of(op->getUsers(), isLocal) && isPure(op))
      copyForLocalUsers(op);
  }
}

LogicalResult LocalOps::check() {
  for (Operation &op : block) {
    if (!isLocalUser(&op))
      continue;
    for (Value value : valuesReadBy(&op)) {
      Operation *def = value.getDefiningOp();
      if (def && (local.contains(def) || enters(def)))
        continue;
      InFlightDiagnostic diag = op.emitError(
          "a global value is used where one that is local to each device is "
          "expected; make it local first, by SPMDFullToShardShape");
      diag.attachNote(value.getLoc()) << "the global value";
      return diag;
    }
  }
  return success();
}

LogicalResult needsItself(Location loc) {
  return emitError(
      loc, "a manual computation of this block needs its own results; expected "
           "its inputs to be global values from before it");
}

LogicalResult LocalOps::build() {
  UnrealizedConversionCastOp firstBoundary = boundaries.front()->cast;
  Location loc = firstBoundary.getLoc();
  llvm::EquivalenceClasses<Operation *> classes;
  SmallVector<Operation *> all;
  for (Operation &op : block) {
    if (!local.contains(&op) && !boundaryOf.contains(&op))
      continue;
    all.push_back(&op);
    classes.insert(&op);
    if (!enters(&op))
      for (Value value : valuesReadBy(&op))
        classes.unionSets(&op, value.getDefiningOp());
  }
  llvm::MapVector<Operation *, SmallVector<Operation *>> sets;
  for (Operation *op : all)
    sets[classes.getLeaderValue(op)].push_back(op);
  for (auto &[leader, members] : sets)
    if (failed(buildOne(members)))
      return failure();
  if (sortTopologically(&block))
    return success();
  return needsItself(loc);
}

FailureOr<LocalOps::Boundaries>
LocalOps::readBoundaries(ArrayRef<Operation *> members) {
  Boundaries all;
  const ManualCallBoundary *first = nullptr;
  for (Operation *op : members) {
    const ManualCallBoundary *boundary = boundaryOf.lookup(op);
    if (!boundary)
      continue;
    if (!first) {
      first = boundary;
      all.first = op;
    }
    if (first->manualAxes != boundary->manualAxes)
      return pointAt(op->emitError("this boundary of a manual computation has "
                                   "other manual axes than an earlier one, "
                                   "expected the same"),
                     all.first->getLoc(), "the earlier one");
    llvm::append_range(boundary->enters ? all.inShardings : all.outShardings,
                       boundary->shardings);
    if (boundary->enters) {
      llvm::append_range(all.inputs, op->getOperands());
      llvm::append_range(all.insides, op->getResults());
    } else {
      llvm::append_range(all.outsides, op->getResults());
    }
  }
  if (llvm::any_of(all.inputs, [&](Value input) {
        return llvm::is_contained(all.outsides, input);
      }))
    return needsItself(all.first->getLoc());
  return all;
}

LogicalResult LocalOps::buildOne(ArrayRef<Operation *> members) {
  FailureOr<Boundaries> all = readBoundaries(members);
  if (failed(all))
    return failure();
  Operation *place = members.back();
  for (Operation *op : llvm::reverse(members))
    if (leaves(op))
      place = op;
  OpBuilder builder(place);
  MLIRContext *context = builder.getContext();
  auto computation = ManualComputationOp::create(
      builder, place->getLoc(), TypeRange(ValueRange(all->outsides)),
      all->inputs, TensorShardingPerValueAttr::get(context, all->inShardings),
      TensorShardingPerValueAttr::get(context, all->outShardings),
      ManualAxesAttr::get(context, boundaryOf.lookup(all->first)->manualAxes));
  Block &body = computation.getBody().emplaceBlock();
  for (Value inside : all->insides)
    inside.replaceAllUsesWith(
        body.addArgument(inside.getType(), inside.getLoc()));
  // Read now: boundaries may have passed an input straight on.
  SmallVector<Value> outputs;
  for (Operation *op : members) {
    if (leaves(op))
      llvm::append_range(outputs, op->getOperands());
    else if (!enters(op))
      op->moveBefore(&body, body.end());
  }
  builder.setInsertionPointToEnd(&body);
  ReturnOp::create(builder, place->getLoc(), outputs);
  for (auto [outside, result] :
       llvm::zip_equal(all->outsides, computation.getResults()))
    outside.replaceAllUsesWith(result);
  for (Operation *op : llvm::reverse(members))
    if (boundaryOf.contains(op))
      op->erase();
  return success();
}

} // namespace

LogicalResult formManualComputations(ArrayRef<ManualCallBoundary> boundaries) {
  llvm::MapVector<Block *, SmallVector<const ManualCallBoundary *>> blocks;
  for (const ManualCallBoundary &boundary : boundaries)
    blocks[boundary.cast->getBlock()].push_back(&boundary);
  for (auto &[block, inBlock] : blocks)
    if (failed(LocalOps(*block, inBlock).run()))
      return failure();
  return success();
}

} // namespace shardonnay
