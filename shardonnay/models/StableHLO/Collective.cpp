//===- Collective.cpp - communication inside manual computations ----------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The devices of a group differ in manual axes and have the same shard along
// all others. So a dim that is not exchanged passes through, and the local op
// is the op itself, on the same groups.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/models/StableHLO/Collective.h"
#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include "shardonnay/interfaces/UserCollective.h"
#include "shardonnay/models/StableHLO/Attach.h"
#include "shardonnay/models/StableHLO/Combiner.h"
#include "shardonnay/models/StableHLO/Families.h"
#include "shardonnay/models/StableHLO/StartedCollective.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::stablehlo;
using namespace shardonnay;

std::optional<FactorRule>
shardonnay::exchangeRule(Operation *op, ArrayRef<int64_t> exchanged) {
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

/// Fills in who sends to whom; false if `attr` does not say it.
static bool readGroups(Attribute attr, UserCollective &written) {
  if (auto byAxes = dyn_cast_or_null<ReplicaGroupMeshAxesAttr>(attr)) {
    written.axes.emplace();
    for (Attribute axis : byAxes.getAxes()) {
      auto ref = dyn_cast<AxisRefAttr>(axis);
      if (!ref)
        return false;
      NamedAxis &named = written.axes->emplace_back();
      named.name = ref.getName();
      if (auto part = dyn_cast_or_null<SubAxisInfoAttr>(ref.getSubAxisInfo())) {
        named.preSize = part.getPreSize();
        named.size = part.getSize();
      }
    }
    return true;
  }
  auto rows = dyn_cast_or_null<DenseIntElementsAttr>(attr);
  if (!rows || rows.getType().getRank() != 2)
    return false;
  int64_t width = rows.getType().getDimSize(1);
  for (auto [i, id] : llvm::enumerate(rows.getValues<APInt>())) {
    if (static_cast<int64_t>(i) % width == 0)
      written.groups.emplace_back();
    if (!id.isNegative())
      written.groups.back().push_back(id.getSExtValue());
  }
  return true;
}

/// How an all_reduce or a reduce_scatter combines.
static StringRef reductionOf(Region &computation) {
  std::optional<ReductionKind> kind = combinerOf(computation);
  return kind ? toString(*kind) : "other";
}

/// Its groups; null, if it is another call.
static Attribute readRagged(CustomCallOp op, UserCollective &written) {
  auto config = dyn_cast_or_null<DictionaryAttr>(op.getBackendConfigAttr());
  if (op.getCallTargetName() != "ragged_all_to_all" || !config ||
      op.getNumOperands() < 2 || !hasStaticShapes(op))
    return nullptr;
  auto elements = [](Value tensor) {
    return cast<RankedTensorType>(tensor.getType()).getNumElements();
  };
  Value from = op.getOperand(0), to = op.getOperand(1);
  written.kind = CollectiveKind::AllToAll;
  written.name = op.getCallTargetName();
  written.sent = {elements(from) <= elements(to) ? from : to};
  return config.get("replica_groups");
}

static std::optional<UserCollective> readWritten(Operation *op) {
  UserCollective written;
  written.name = op->getName().stripDialect();
  llvm::append_range(written.sent, op->getOperands());
  auto isKind = [&](CollectiveKind kind, StringRef reduction = "") {
    written.kind = kind;
    written.reduction = reduction;
    return op->getAttr("replica_groups");
  };
  Attribute groups =
      llvm::TypeSwitch<Operation *, Attribute>(op)
          .Case([&](AllReduceOp op) {
            return isKind(CollectiveKind::AllReduce,
                          reductionOf(op.getComputation()));
          })
          .Case([&](CrossReplicaSumOp) {
            return isKind(CollectiveKind::AllReduce,
                          toString(ReductionKind::Sum));
          })
          .Case([&](ReduceScatterOp op) {
            return isKind(CollectiveKind::ReduceScatter,
                          reductionOf(op.getComputation()));
          })
          .Case([&](AllGatherOp) { return isKind(CollectiveKind::AllGather); })
          .Case([&](AllToAllOp) { return isKind(CollectiveKind::AllToAll); })
          .Case([&](CollectiveBroadcastOp) {
            return isKind(CollectiveKind::Permute);
          })
          .Case([&](CollectivePermuteOp op) {
            written.inPairs = true;
            return op.getSourceTargetPairsAttr();
          })
          .Case([&](CustomCallOp op) { return readRagged(op, written); })
          .Default(Attribute());
  auto call = dyn_cast<CustomCallOp>(op);
  if (call && readStarted(call, written))
    return written;
  if (!readGroups(groups, written))
    return std::nullopt;
  return written;
}

static ReplicaGroupMeshAxesAttr groupsByAxes(Operation *op) {
  return op->getAttrOfType<ReplicaGroupMeshAxesAttr>("replica_groups");
}

static std::optional<CollectiveMesh> readMesh(Operation *op) {
  ReplicaGroupMeshAxesAttr groups = groupsByAxes(op);
  if (!groups)
    return std::nullopt;
  CollectiveMesh found;
  found.symbol = dyn_cast<FlatSymbolRefAttr>(groups.getMesh());
  auto mesh = dyn_cast<MeshAttr>(groups.getMesh());
  if (!mesh)
    return found;
  for (MeshAxisAttr axis : mesh.getAxes())
    found.axes.emplace_back(axis.getName(), axis.getSize());
  if (DenseIntElementsAttr ids = mesh.getDeviceIds())
    for (const APInt &id : ids.getValues<APInt>())
      found.deviceIds.push_back(id.getSExtValue());
  return found;
}

static void writeMesh(Operation *op, const CollectiveMesh &mesh) {
  Builder builder(op->getContext());
  Attribute written = mesh.symbol;
  if (!written) {
    SmallVector<MeshAxisAttr> axes;
    for (auto [name, size] : mesh.axes)
      axes.push_back(MeshAxisAttr::get(op->getContext(), name, size));
    DenseIntElementsAttr ids;
    if (!mesh.deviceIds.empty())
      ids =
          cast<DenseIntElementsAttr>(builder.getI64TensorAttr(mesh.deviceIds));
    written = MeshAttr::get(op->getContext(), axes, ids);
  }
  op->setAttr("replica_groups",
              ReplicaGroupMeshAxesAttr::get(op->getContext(), written,
                                            groupsByAxes(op).getAxes()));
}

static void writeGroups(Operation *op, ArrayRef<SmallVector<int64_t>> groups) {
  SmallVector<int64_t> devices;
  for (ArrayRef<int64_t> group : groups)
    llvm::append_range(devices, group);
  int64_t numGroups = groups.size(), width = devices.size() / numGroups;
  auto type = RankedTensorType::get({numGroups, width},
                                    IntegerType::get(op->getContext(), 64));
  op->setAttr("replica_groups", DenseIntElementsAttr::get(type, devices));
}

namespace {
template <typename OpT>
struct WrittenModel
    : UserCollectiveOpInterface::ExternalModel<WrittenModel<OpT>, OpT> {
  std::optional<UserCollective> getUserCollective(Operation *op) const {
    return readWritten(op);
  }
  std::optional<CollectiveMesh> getCollectiveMesh(Operation *op) const {
    return readMesh(op);
  }
  void setCollectiveMesh(Operation *op, const CollectiveMesh &mesh) const {
    writeMesh(op, mesh);
  }
  void setCollectiveGroups(Operation *op,
                           ArrayRef<SmallVector<int64_t>> groups) const {
    writeGroups(op, groups);
  }
};
} // namespace

template <typename... OpTs> static void attachWritten(MLIRContext &context) {
  (OpTs::template attachInterface<WrittenModel<OpTs>>(context), ...);
}

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
  attachWritten<AllReduceOp, CollectivePermuteOp, CollectiveBroadcastOp,
                AllGatherOp, ReduceScatterOp, AllToAllOp, CrossReplicaSumOp,
                CustomCallOp>(context);
}
