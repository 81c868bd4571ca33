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

/// The members' one sharding, null if none has one; failure if two differ.
static FailureOr<sdy::TensorShardingAttr>
commonSharding(ArrayRef<sdy::ShardingGroupOp> members) {
  sdy::TensorShardingAttr common;
  for (sdy::ShardingGroupOp member : members) {
    sdy::TensorShardingAttr sharding = memberSharding(member);
    if (common && sharding && sharding != common)
      return failure();
    common = common ? common : sharding;
  }
  return common;
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

bool shareShardings(const GroupOps &groups) {
  bool separated = false;
  for (auto &[id, members] : groups) {
    FailureOr<sdy::TensorShardingAttr> common = commonSharding(members);
    if (failed(common)) {
      separateMembers(members);
      separated = true;
      continue;
    }
    if (*common)
      for (sdy::ShardingGroupOp member : members)
        sdy::setSharding(member.getInput(), *common);
  }
  return separated;
}

} // namespace shardonnay
