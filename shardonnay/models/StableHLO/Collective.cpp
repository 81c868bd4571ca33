//===- Collective.cpp - communication inside manual computations ----------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The devices of a group differ in manual axes and have the same piece along
// all others. So a dim that is not exchanged passes through, and the local op
// is the op itself, on the same groups.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include "shardonnay/models/StableHLO/Attach.h"
#include "shardonnay/models/StableHLO/Families.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::stablehlo;
using namespace shardonnay;

/// A factor a dim, but `exchanged` dims are needed whole on either side. None
/// for operands of unlike shapes.
static std::optional<FactorRule> exchangeRule(Operation *op,
                                              ArrayRef<int64_t> exchanged) {
  ArrayRef<int64_t> from = shapeOf(op->getOperand(0));
  ArrayRef<int64_t> to = shapeOf(op->getResult(0));
  auto isLike = [](ArrayRef<int64_t> shape) {
    return [shape](Value value) { return shapeOf(value) == shape; };
  };
  if (!llvm::all_of(op->getOperands(), isLike(from)) ||
      !llvm::all_of(op->getResults(), isLike(to)))
    return std::nullopt;
  int64_t rank = from.size(), count = op->getNumOperands();
  SmallVector<int64_t> ranks(count, rank), none(count, -1);
  FactorRuleBuilder builder(ranks, ranks);
  for (int64_t dim = 0; dim < rank; ++dim) {
    SmallVector<int64_t> dims(count, dim);
    if (!llvm::is_contained(exchanged, dim))
      builder.add(from[dim], dims, dims);
  }
  for (int64_t dim :
       llvm::SetVector<int64_t>(exchanged.begin(), exchanged.end())) {
    SmallVector<int64_t> dims(count, dim);
    builder.add(from[dim], dims, none, FactorKind::NeedReplication);
    builder.add(to[dim], none, dims, FactorKind::NeedReplication);
  }
  return builder.build();
}

template <typename OpT> static std::optional<FactorRule> sameRule(OpT op) {
  return exchangeRule(op, {});
}

static std::optional<FactorRule> allGatherRule(AllGatherOp op) {
  return exchangeRule(op, {static_cast<int64_t>(op.getAllGatherDim())});
}

static std::optional<FactorRule> reduceScatterRule(ReduceScatterOp op) {
  return exchangeRule(op, {static_cast<int64_t>(op.getScatterDimension())});
}

static std::optional<FactorRule> allToAllRule(AllToAllOp op) {
  return exchangeRule(op, {static_cast<int64_t>(op.getSplitDimension()),
                           static_cast<int64_t>(op.getConcatDimension())});
}

namespace {
template <typename OpT>
struct OnDevicesModel
    : LocalComputeOpInterface::ExternalModel<OnDevicesModel<OpT>, OpT> {
  bool namesDevices(Operation *) const { return true; }
};
} // namespace

template <typename... OpTs> static void attachOnDevices(MLIRContext &context) {
  (OpTs::template attachInterface<OnDevicesModel<OpTs>>(context), ...);
}

void shardonnay::attachCollectiveModels(MLIRContext &context) {
  attachRule<AllReduceOp, sameRule<AllReduceOp>>(context);
  attachRule<CollectivePermuteOp, sameRule<CollectivePermuteOp>>(context);
  attachRule<CollectiveBroadcastOp, sameRule<CollectiveBroadcastOp>>(context);
  attachRule<AllGatherOp, allGatherRule>(context);
  attachRule<ReduceScatterOp, reduceScatterRule>(context);
  attachRule<AllToAllOp, allToAllRule>(context);
  attachOnDevices<AllReduceOp, CollectivePermuteOp, CollectiveBroadcastOp,
                  AllGatherOp, ReduceScatterOp, AllToAllOp, CrossReplicaSumOp,
                  PartitionIdOp>(context);
}
