//===- DataFlowEdges.cpp --------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/import/DataFlowEdges.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/support/Diagnostics.h"

using namespace mlir;
using namespace mlir::sdy;

namespace shardonnay {

/// Values of these types are sharded with their class; other values than
/// tensors (tokens) have no sharding.
static FailureOr<bool> needsEdge(Operation *op, Value owner) {
  if (auto tensor = dyn_cast<RankedTensorType>(owner.getType());
      tensor && tensor.hasStaticShape())
    return true;
  if (isa<TensorType, TupleType>(owner.getType()))
    return shardonnay::pointAt(op->emitOpError("passes on a value of type ")
                                   << owner.getType()
                                   << ", expected tensors of static shape",
                               owner.getLoc(), "the value is made here");
  return false;
}

static bool hasEdge(Value owner) {
  return owner.hasOneUse() && isa<DataFlowEdgeOp>(*owner.user_begin());
}

static void addEdge(Value owner, TensorShardingAttr sharding) {
  OpBuilder builder(owner.getContext());
  builder.setInsertionPointAfterValue(owner);
  auto edge = DataFlowEdgeOp::create(builder, owner.getLoc(), owner, sharding);
  owner.replaceAllUsesExcept(edge, edge);
}

LogicalResult addDataFlowEdges(ShardableDataFlowOpInterface op) {
  SmallVector<Value> owners;
  for (Value owner : op.getEdgeOwners()) {
    FailureOr<bool> needed = needsEdge(op, owner);
    if (failed(needed))
      return failure();
    if (*needed && !hasEdge(owner))
      owners.push_back(owner);
  }
  SmallVector<TensorShardingAttr> shardings = getShardings(owners);
  // Each comes right behind the op, so the last one goes first.
  for (auto [owner, sharding] :
       llvm::reverse(llvm::zip_equal(owners, shardings)))
    addEdge(owner, sharding);
  // The edges have them now.
  op->removeAttr(kShardingAttr);
  op->removeAttr(kBlockArgumentShardingsAttr);
  return success();
}

} // namespace shardonnay
