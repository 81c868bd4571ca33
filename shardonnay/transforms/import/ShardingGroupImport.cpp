//===- ShardingGroupImport.cpp - groups without common members ------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. Merge the groups that share a value.
// 2. Number them from 0, in the order of their first members; a value that is
//    in a group twice leaves it once.
// 3. Check that the members of each have one shape.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/interfaces/OpKinds.h"
#include "shardonnay/transforms/import/Passes.h"
#include "llvm/ADT/EquivalenceClasses.h"

using namespace mlir;
using namespace mlir::sdy;

namespace shardonnay {

#define GEN_PASS_DEF_SHARDINGGROUPIMPORTPASS
#include "shardonnay/transforms/import/Passes.h.inc"

namespace {

using Groups = llvm::EquivalenceClasses<int64_t>;
using Members = SmallVector<ShardingGroupOp>;

int64_t getId(ShardingGroupOp member) {
  return static_cast<int64_t>(member.getGroupId());
}

Groups mergeGroups(ArrayRef<ShardingGroupOp> members) {
  Groups groups;
  llvm::DenseMap<Value, int64_t> groupOf;
  for (ShardingGroupOp member : members) {
    int64_t id = getId(member);
    groups.insert(id);
    auto [entry, isNew] = groupOf.try_emplace(member.getInput(), id);
    if (!isNew)
      groups.unionSets(entry->second, id);
  }
  return groups;
}

/// Returns the members that stay, by group.
SmallVector<Members> numberGroups(ArrayRef<ShardingGroupOp> members,
                                  const Groups &groups) {
  SmallVector<Members> result;
  llvm::DenseMap<int64_t, int64_t> numbers;
  llvm::DenseSet<Value> seen;
  for (ShardingGroupOp member : members) {
    if (!seen.insert(member.getInput()).second) {
      member.erase();
      continue;
    }
    auto [entry, isNew] = numbers.try_emplace(
        groups.getLeaderValue(getId(member)), result.size());
    if (isNew)
      result.emplace_back();
    member.setGroupId(entry->second);
    result[entry->second].push_back(member);
  }
  return result;
}

/// Inside of a manual computation other axes are free than outside.
LogicalResult checkComputation(ShardingGroupOp member, ShardingGroupOp first) {
  if (member->getParentOfType<ManualComputationOp>() ==
      first->getParentOfType<ManualComputationOp>())
    return success();
  InFlightDiagnostic diag =
      member.emitOpError("expected all members of its group in one manual "
                         "computation, or all outside of one");
  diag.attachNote(first.getLoc()) << "another member";
  return diag;
}

LogicalResult checkMembers(ArrayRef<ShardingGroupOp> members) {
  ShardingGroupOp first = members.front();
  ArrayRef<int64_t> shape = first.getInput().getType().getShape();
  for (ShardingGroupOp member : members.drop_front()) {
    if (failed(checkComputation(member, first)))
      return failure();
    if (member.getInput().getType().getShape() == shape)
      continue;
    InFlightDiagnostic diag =
        member.emitOpError("expected the shape of the other members of its "
                           "group, as in ")
        << first.getInput().getType() << ", got "
        << member.getInput().getType();
    diag.attachNote(first.getLoc()) << "another member";
    return diag;
  }
  return success();
}

struct ShardingGroupImportPass
    : impl::ShardingGroupImportPassBase<ShardingGroupImportPass> {
  void runOnOperation() override {
    if (!getAnalysis<OpKinds>().mayHave<ShardingGroupOp>())
      return markAllAnalysesPreserved();
    Members members;
    getOperation().walk(
        [&](ShardingGroupOp member) { members.push_back(member); });
    for (ArrayRef<ShardingGroupOp> group :
         numberGroups(members, mergeGroups(members)))
      if (failed(checkMembers(group)))
        return signalPassFailure();
  }
};

} // namespace
} // namespace shardonnay
