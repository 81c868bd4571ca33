//===- GroupShardings.cpp -------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/propagate/GroupShardings.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"

using namespace mlir;

namespace shardonnay {

/// What is written for a member of a group; null also where that says nothing.
static sdy::TensorShardingAttr memberSharding(sdy::ShardingGroupOp member) {
  sdy::TensorShardingAttr sharding = sdy::getSharding(member.getInput());
  if (!sharding || !sharding.getReplicatedAxes().empty() ||
      !sharding.getUnreducedAxes().empty())
    return sharding;
  for (sdy::DimensionShardingAttr dim : sharding.getDimShardings())
    if (dim.getIsClosed() || !dim.getAxes().empty())
      return sharding;
  return {};
}

/// The first member with a sharding, null if none has one; failure if two have
/// different ones.
static FailureOr<sdy::ShardingGroupOp>
findGiver(ArrayRef<sdy::ShardingGroupOp> members) {
  sdy::ShardingGroupOp giver;
  for (sdy::ShardingGroupOp member : members) {
    sdy::TensorShardingAttr sharding = memberSharding(member);
    if (giver && sharding && sharding != memberSharding(giver))
      return failure();
    if (!giver && sharding)
      giver = member;
  }
  return giver;
}

/// Separates the members from the values that they were, so that they have one
/// sharding and do not force each other's.
static void separateMembers(ArrayRef<sdy::ShardingGroupOp> members) {
  sdy::ShardingGroupOp first = members.front();
  InFlightDiagnostic warning =
      emitWarning(first.getLoc())
      << "the values of sharding group " << first.getGroupId()
      << " have different shardings; each keeps its own, and its uses get one "
         "of the group";
  Attribute meshOrRef;
  for (sdy::ShardingGroupOp member : members) {
    sdy::TensorShardingAttr sharding = memberSharding(member);
    if (!sharding)
      continue;
    meshOrRef = meshOrRef ? meshOrRef : sharding.getMeshOrRef();
    warning.attachNote(member.getLoc()) << "this one has " << sharding;
  }
  for (sdy::ShardingGroupOp member : members) {
    Value value = member.getInput();
    OpBuilder builder(member.getContext());
    builder.setInsertionPointAfterValue(value);
    int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
    auto constraint = sdy::ShardingConstraintOp::create(
        builder, member.getLoc(), value,
        sdy::TensorShardingAttr::getFullyOpen(member.getContext(), rank,
                                              meshOrRef));
    value.replaceAllUsesExcept(constraint, constraint);
  }
}

/// A ModuleGraph::ShareGroups.
static bool shareShardings(const GroupOps &groups,
                           ModuleGraph::Givers &givers) {
  bool separated = false;
  for (auto &[id, members] : groups) {
    FailureOr<sdy::ShardingGroupOp> giver = findGiver(members);
    if (failed(giver)) {
      separateMembers(members);
      separated = true;
      continue;
    }
    if (!*giver)
      continue;
    sdy::TensorShardingAttr common = memberSharding(*giver);
    for (sdy::ShardingGroupOp member : members) {
      if (memberSharding(member))
        continue;
      sdy::setSharding(member.getInput(), common);
      givers[member.getInput()] = giver->getInput();
    }
  }
  return separated;
}

ModuleGraph shareGroupShardings(ModuleOp module, bool keepOperations,
                                bool conservative) {
  return ModuleGraph::read(module, keepOperations, conservative,
                           shareShardings);
}

} // namespace shardonnay
