//===- CollectiveBuilder.cpp ----------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/emit/CollectiveBuilder.h"

#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/spmd/Divergence.h"
#include "shardonnay/dialect/spmd/ResizedType.h"
#include "shardonnay/emit/DeviceIndex.h"
#include "shardonnay/emit/ReplicaGroups.h"
#include "shardonnay/plan/MeshMapping.h"

using namespace mlir;

namespace shardonnay {

DenseIntElementsAttr toRowsAttr(Builder &builder, const DeviceRows &rows) {
  auto numRows = static_cast<int64_t>(rows.size());
  int64_t width = rows.empty() ? 0 : rows.front().size();
  std::vector<int64_t> all(numRows * width);
  auto *next = all.data();
  for (ArrayRef<int64_t> row : rows)
    next = llvm::copy(row, next);
  auto type = RankedTensorType::get({numRows, width}, builder.getI64Type());
  return DenseIntElementsAttr::get(type, all);
}

namespace {

/// Between flattened ids or partitions.
stablehlo::ChannelHandleAttr getChannel(MLIRContext *context) {
  return stablehlo::ChannelHandleAttr::get(context, /*handle=*/1, /*type=*/1);
}

/// Replicas communicate without a channel.
stablehlo::ChannelHandleAttr getChannel(MLIRContext *context,
                                        DeviceGrid::Ids ids) {
  return ids == DeviceGrid::Ids::Replicas ? nullptr : getChannel(context);
}

RankedTensorType resized(Value tensor, int64_t dim, int64_t size) {
  return shardonnay::resized(cast<RankedTensorType>(tensor.getType()), dim,
                             size);
}

int64_t sizeOf(Value tensor, int64_t dim) {
  return cast<RankedTensorType>(tensor.getType()).getDimSize(dim);
}

/// Fills `region` with the binary op of `kind` on scalars of `element`.
void buildCombiner(Region &region, Type element, ReductionKind kind,
                   Location loc) {
  OpBuilder builder(region.getContext());
  auto scalar = RankedTensorType::get({}, element);
  Block *block = builder.createBlock(&region, {}, {scalar, scalar}, {loc, loc});
  Value lhs = block->getArgument(0), rhs = block->getArgument(1);
  Value result;
  switch (kind) {
  case ReductionKind::Sum:
    result = stablehlo::AddOp::create(builder, loc, lhs, rhs);
    break;
  case ReductionKind::Max:
    result = stablehlo::MaxOp::create(builder, loc, lhs, rhs);
    break;
  case ReductionKind::Min:
    result = stablehlo::MinOp::create(builder, loc, lhs, rhs);
    break;
  }
  stablehlo::ReturnOp::create(builder, loc, result);
}

LogicalResult checkCombiner(Location loc, Type element, ReductionKind kind,
                            const Target &target) {
  if (target.combines(element, kind))
    return success();
  return emitError(loc) << "the target can't combine " << element << " by "
                        << toString(kind).str()
                        << "; gather the operand and reduce it whole";
}

} // namespace

Value CollectiveBuilder::index(Location loc, const Mesh &mesh,
                               const AxisList &axes, int64_t scale) {
  return buildDeviceIndex(builder, loc, grid, mesh, axes, scale);
}

Attribute CollectiveBuilder::groups(const sdy::NamedMesh &mesh,
                                    const AxisList &axes) {
  bool isAll = mesh.mesh.getNumDevices() == grid.replicas() * grid.partitions();
  if (!meshAxesGroups || !isAll) {
    Attribute &list = lists[mesh.mesh][axes];
    if (!list)
      list = toRowsAttr(builder,
                        grid.flattened(getReplicaGroups(mesh.toMesh(), axes)));
    return list;
  }
  MLIRContext *context = builder.getContext();
  SmallVector<Attribute> refs;
  for (sdy::AxisRefAttr axis : sdy::fromAxisList(axes, mesh.mesh)) {
    stablehlo::SubAxisInfoAttr part;
    if (sdy::SubAxisInfoAttr info = axis.getSubAxisInfo())
      part = stablehlo::SubAxisInfoAttr::get(context, info.getPreSize(),
                                             info.getSize());
    refs.push_back(stablehlo::AxisRefAttr::get(context, axis.getName(), part));
  }
  return stablehlo::ReplicaGroupMeshAxesAttr::get(
      context, cast<FlatSymbolRefAttr>(mesh.name), builder.getArrayAttr(refs));
}

CollectiveBuilder::OneKind CollectiveBuilder::ofOneKind(DeviceRows rows) {
  auto found = grid.oneKind(std::move(rows));
  return found ? OneKind{found->ids, toRowsAttr(builder, found->rows)}
               : OneKind();
}

CollectiveBuilder::OneKind
CollectiveBuilder::groupsOfOneKind(const sdy::NamedMesh &mesh,
                                   const AxisList &axes) {
  auto [entry, isNew] = listsOfOneKind[mesh.mesh].try_emplace(axes);
  if (isNew)
    entry->second = ofOneKind(getReplicaGroups(mesh.toMesh(), axes));
  return entry->second;
}

CollectiveBuilder::OneKind
CollectiveBuilder::pairsOfOneKind(llvm::function_ref<DeviceRows()> pairs,
                                  Attribute key) {
  if (!key)
    return ofOneKind(pairs());
  auto [entry, isNew] = pairLists.try_emplace(key);
  if (isNew)
    entry->second = ofOneKind(pairs());
  return entry->second;
}

Value CollectiveBuilder::slice(Location loc, Value tensor, int64_t dim,
                               Value start, int64_t size) {
  RankedTensorType type = resized(tensor, dim, size);
  auto zero = cast<RankedTensorType>(start.getType());
  SmallVector<Value> starts(type.getRank());
  for (auto [d, at] : llvm::enumerate(starts))
    at = static_cast<int64_t>(d) == dim
             ? start
             : stablehlo::ConstantOp::create(
                   builder, loc, cast<ElementsAttr>(builder.getZeroAttr(zero)))
                   .getResult();
  return stablehlo::DynamicSliceOp::create(builder, loc, tensor, starts,
                                           type.getShape());
}

FailureOr<Value> CollectiveBuilder::widened(
    Value tensor, llvm::function_ref<FailureOr<Value>(Value)> communicate) {
  auto element = dyn_cast<IntegerType>(getElementTypeOrSelf(tensor.getType()));
  if (!element || element.getWidth() == 1 ||
      element.getWidth() >= target.narrowestInteger)
    return communicate(tensor);
  auto converted = [&](Value value, IntegerType to) -> Value {
    auto type = cast<RankedTensorType>(value.getType()).clone(to);
    return stablehlo::ConvertOp::create(builder, value.getLoc(), type, value);
  };
  auto byte = IntegerType::get(builder.getContext(), /*width=*/8,
                               element.getSignedness());
  FailureOr<Value> found = communicate(converted(tensor, byte));
  if (failed(found))
    return failure();
  return converted(*found, element);
}

Value CollectiveBuilder::allGather(Location loc, Value tensor, int64_t dim,
                                   const sdy::NamedMesh &mesh,
                                   const AxisList &axes) {
  return *widened(tensor, [&](Value sent) -> FailureOr<Value> {
    Type type = resized(sent, dim, sizeOf(sent, dim) * axes.numShards());
    return stablehlo::AllGatherOp::create(
               builder, loc, type, sent, dim, groups(mesh, axes),
               getChannel(builder.getContext()), /*use_global_device_ids=*/true)
        ->getResult(0);
  });
}

Value CollectiveBuilder::allToAll(Location loc, Value tensor, int64_t splitDim,
                                  int64_t concatDim, const sdy::NamedMesh &mesh,
                                  const AxisList &axes) {
  int64_t count = axes.numShards();
  int64_t shard = sizeOf(tensor, splitDim) / count;
  auto [ids, rows] = groupsOfOneKind(mesh, axes);
  if (!ids) {
    // Everything to everyone, who takes the shard of their index. Where both
    // dims are one, the senders' shards stand in a dim of their own first.
    auto type = cast<RankedTensorType>(tensor.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[splitDim] = shard;
    shape.insert(shape.begin() + splitDim, count);
    Value split =
        stablehlo::ReshapeOp::create(builder, loc, type.clone(shape), tensor);
    int64_t joined = concatDim < splitDim ? concatDim : concatDim + 1;
    Value all = allGather(loc, split, joined, mesh, axes);
    Value own =
        slice(loc, all, splitDim, index(loc, mesh.toMesh(), axes), /*size=*/1);
    SmallVector<int64_t> result(type.getShape());
    result[splitDim] = shard;
    result[concatDim] *= count;
    return stablehlo::ReshapeOp::create(builder, loc, type.clone(result), own);
  }
  RankedTensorType type = resized(tensor, splitDim, shard);
  SmallVector<int64_t> shape(type.getShape());
  shape[concatDim] *= count;
  if (meshAxesGroups && ids != DeviceGrid::Ids::Replicas &&
      mesh.mesh.getNumDevices() == grid.replicas() * grid.partitions())
    rows = groups(mesh, axes);
  return stablehlo::AllToAllOp::create(
             builder, loc, TypeRange(type.clone(shape)), tensor, splitDim,
             concatDim, count, rows, getChannel(builder.getContext(), *ids))
      ->getResult(0);
}

FailureOr<Value>
CollectiveBuilder::combined(Location loc, Value tensor, ReductionKind kind,
                            llvm::function_ref<Operation *(Value)> create) {
  return widened(tensor, [&](Value sent) -> FailureOr<Value> {
    Type element = getElementTypeOrSelf(sent.getType());
    if (failed(checkCombiner(loc, element, kind, target)))
      return failure();
    Operation *op = create(sent);
    buildCombiner(op->getRegion(0), element, kind, loc);
    return op->getResult(0);
  });
}

FailureOr<Value> CollectiveBuilder::allReduce(Location loc, Value tensor,
                                              ReductionKind kind,
                                              const sdy::NamedMesh &mesh,
                                              const AxisList &axes) {
  return combined(loc, tensor, kind, [&](Value sent) {
    return stablehlo::AllReduceOp::create(
        builder, loc, sent.getType(), sent, groups(mesh, axes),
        getChannel(builder.getContext()), /*use_global_device_ids=*/true);
  });
}

FailureOr<Value> CollectiveBuilder::reduceScatter(Location loc, Type type,
                                                  Value tensor, int64_t dim,
                                                  ReductionKind kind,
                                                  const sdy::NamedMesh &mesh,
                                                  const AxisList &axes) {
  return combined(loc, tensor, kind, [&](Value sent) {
    Type scattered = cast<RankedTensorType>(type).clone(
        getElementTypeOrSelf(sent.getType()));
    return stablehlo::ReduceScatterOp::create(
        builder, loc, scattered, sent, dim, groups(mesh, axes),
        getChannel(builder.getContext()), /*use_global_device_ids=*/true);
  });
}

/// Only some devices may get to what is built now.
static bool isDivergent(OpBuilder &builder) {
  Operation *op = builder.getInsertionBlock()->getParentOp();
  while (op && !op->getDiscardableAttr(spmd::kDivergentAttr))
    op = op->getParentOp();
  return op;
}

Value CollectiveBuilder::permute(Location loc, Value tensor,
                                 llvm::function_ref<DeviceRows()> pairs,
                                 const sdy::NamedMesh &mesh, Attribute key) {
  auto [ids, rows] = pairsOfOneKind(pairs, key);
  if (!ids || (!target.permutesAmongSome && isDivergent(builder)))
    return permuteByGather(loc, tensor, pairs(), mesh);
  return stablehlo::CollectivePermuteOp::create(
      builder, loc, tensor.getType(), tensor, cast<DenseIntElementsAttr>(rows),
      getChannel(builder.getContext(), *ids));
}

/// The axes along which the positions of a pair are apart.
static AxisList axesBetween(const Mesh &mesh, const DeviceRows &pairs) {
  AxisList axes;
  for (AxisRef axis : mesh.allAxes())
    if (llvm::any_of(pairs, [&](ArrayRef<int64_t> pair) {
          return mesh.coordinate(axis, pair[0]) !=
                 mesh.coordinate(axis, pair[1]);
        }))
      axes.append(axis);
  return axes;
}

/// Everything to everyone along the axes between senders and receivers, who
/// take what their sender has.
Value CollectiveBuilder::permuteByGather(Location loc, Value tensor,
                                         const DeviceRows &pairs,
                                         const sdy::NamedMesh &named) {
  Mesh mesh = named.toMesh();
  std::vector<int64_t> positions = getPositions(mesh);
  DeviceRows placed;
  for (ArrayRef<int64_t> pair : pairs)
    placed.push_back({positions[pair[0]], positions[pair[1]]});
  AxisList axes = axesBetween(mesh, placed);
  if (axes.empty())
    return tensor;

  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin(), 1);
  Value row =
      stablehlo::ReshapeOp::create(builder, loc, type.clone(shape), tensor);
  Value all = allGather(loc, row, /*dim=*/0, named, axes);
  SmallVector<int64_t> senders(mesh.numDevices(), 0);
  for (ArrayRef<int64_t> pair : placed)
    senders[pair[1]] = mesh.index(axes, pair[0]);
  Value sender =
      buildLookUp(builder, loc, senders, index(loc, mesh, mesh.allAxes()));
  Value own = slice(loc, all, /*dim=*/0, sender, /*size=*/1);
  return stablehlo::ReshapeOp::create(builder, loc, type, own);
}

} // namespace shardonnay
