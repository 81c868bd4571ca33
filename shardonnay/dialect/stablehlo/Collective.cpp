//===- Collective.cpp - communication -------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/TypeUtilities.h"
#include "shardonnay/dialect/stablehlo/Constraints.h"
#include "shardonnay/support/Diagnostics.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace mlir::stablehlo;

void StablehloDialect::addCollectiveOps() {
  addOperations<
#define GET_OP_LIST
#include "shardonnay/dialect/stablehlo/Collective.cpp.inc"
      >();
}

#define GET_OP_CLASSES
#include "shardonnay/dialect/stablehlo/Collective.cpp.inc"

//===----------------------------------------------------------------------===//
// Device indices
//===----------------------------------------------------------------------===//

/// One unsigned 32-bit scalar.
static LogicalResult inferDeviceIndex(MLIRContext *context, Types &types) {
  types.push_back(RankedTensorType::get(
      {}, IntegerType::get(context, 32, IntegerType::Unsigned)));
  return success();
}

LogicalResult PartitionIdOp::inferReturnTypes(MLIRContext *context, MaybeLoc,
                                              Adaptor, Types &types) {
  return inferDeviceIndex(context, types);
}

LogicalResult ReplicaIdOp::inferReturnTypes(MLIRContext *context, MaybeLoc,
                                            Adaptor, Types &types) {
  return inferDeviceIndex(context, types);
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

namespace {

/// Devices that an attribute lists. Lists have tens of thousands of devices, of
/// which most are below the list's length.
class DeviceSet {
public:
  explicit DeviceSet(int64_t length) : below(length) {}

  /// False if it is there.
  bool insert(int64_t device) {
    if (device >= static_cast<int64_t>(below.size()))
      return others.insert(device).second;
    bool isNew = !below.test(device);
    below.set(device);
    return isNew;
  }

private:
  llvm::BitVector below;
  llvm::SmallDenseSet<int64_t> others;
};

} // namespace

/// That each row of `attr` is a group, and each of the devices 0, 1, .. in one
/// of them; -1 fills up shorter groups. Of groups by mesh axes, that the mesh
/// is there.
static LogicalResult checkGroups(Operation *op, Attribute attr) {
  if (auto byAxes = dyn_cast<ReplicaGroupMeshAxesAttr>(attr)) {
    auto symbol = dyn_cast<FlatSymbolRefAttr>(byAxes.getMesh());
    if (!symbol || SymbolTable::lookupNearestSymbolFrom(op, symbol))
      return success();
    return op->emitOpError("has replica_groups on mesh ")
           << symbol << ", expected a mesh of that name in the module";
  }
  auto groups = cast<DenseIntElementsAttr>(attr);
  if (groups.getType().getRank() != 2)
    return op->emitOpError("expected replica_groups of rank 2, got ")
           << groups.getType();
  if (groups.isSplat() && groups.getNumElements() > 1)
    return op->emitOpError("has device ") << groups.getSplatValue<int64_t>()
                                          << " everywhere in replica_groups";
  int64_t count = 0, limit = groups.getNumElements();
  llvm::BitVector seen(limit);
  for (int64_t device : groups.getValues<int64_t>()) {
    if (device < -1)
      return op->emitOpError("has device ") << device << " in replica_groups";
    if (device == -1)
      continue;
    ++count;
    if (device >= limit)
      continue; // Another one is missing.
    if (seen.test(device))
      return op->emitOpError("has device ")
             << device << " twice in replica_groups";
    seen.set(device);
  }
  int missing = seen.find_first_unset();
  if (missing >= 0 && missing < count)
    return op->emitOpError("has ") << count
                                   << " devices in replica_groups, but not "
                                      "device "
                                   << missing;
  return success();
}

/// That flattened ids come with the channel that gives them meaning.
static LogicalResult checkIds(Operation *op, bool useGlobalDeviceIds,
                              std::optional<ChannelHandleAttr> channel) {
  if (useGlobalDeviceIds && (!channel || channel->getHandle() <= 0))
    return op->emitOpError("expected a channel_handle with a positive handle, "
                           "as use_global_device_ids is given");
  return success();
}

/// The size of all groups; nothing if they differ, there are none, or the mesh
/// knows.
static std::optional<int64_t> getGroupSize(Attribute attr) {
  auto groups = dyn_cast<DenseIntElementsAttr>(attr);
  if (!groups || groups.empty() ||
      llvm::is_contained(groups.getValues<int64_t>(), -1))
    return std::nullopt;
  return groups.getType().getDimSize(1);
}

/// That `result` has the element type of `operand` and the expected shape.
static LogicalResult checkMoved(Operation *op, Value operand, Value result,
                                ArrayRef<int64_t> expected) {
  if (getElementTypeOrSelf(operand) != getElementTypeOrSelf(result))
    return shardonnay::pointAtOperand(
        op->emitOpError("expected the element type of ")
            << operand.getType() << ", got " << result.getType(),
        operand);
  return checkShape(op->getLoc(), "a result of the collective",
                    cast<ShapedType>(result.getType()).getShape(), expected);
}

/// `size * factor`, or an unknown size.
static int64_t scaleSize(int64_t size, int64_t factor) {
  return ShapedType::isDynamic(size) ? size : size * factor;
}

/// Divides `size`; fails with an error if that leaves a rest.
static LogicalResult divideSize(Operation *op, int64_t dim, int64_t &size,
                                int64_t divisor) {
  if (ShapedType::isDynamic(size))
    return success();
  if (size % divisor != 0)
    return op->emitOpError("can't split dim ")
           << dim << " of size " << size << " into " << divisor << " parts";
  size /= divisor;
  return success();
}

//===----------------------------------------------------------------------===//
// Combining collectives
//===----------------------------------------------------------------------===//

LogicalResult AllReduceOp::verify() {
  if (getOperands().empty())
    return emitOpError("reduces nothing");
  if (failed(checkCount(getLoc(), "results, one per operand", getNumResults(),
                        getOperands().size())) ||
      failed(checkGroups(*this, getReplicaGroups())) ||
      failed(checkIds(*this, getUseGlobalDeviceIds(), getChannelHandle())))
    return failure();
  for (auto [operand, result] : llvm::zip(getOperands(), getResults()))
    if (failed(checkShape(getLoc(), "a result of the collective",
                          cast<ShapedType>(result.getType()).getShape(),
                          cast<ShapedType>(operand.getType()).getShape())))
      return failure();
  return success();
}

// One body of two scalars serves all operands.
LogicalResult AllReduceOp::verifyRegions() {
  for (auto [operand, result] : llvm::zip(getOperandTypes(), getResultTypes()))
    if (failed(
            checkCombiner(*this, getComputation(), operand, operand, result)))
      return failure();
  return success();
}

LogicalResult ReduceScatterOp::verify() {
  RankedTensorType operand = getOperand().getType();
  int64_t dim = getScatterDimension();
  if (failed(checkGroups(*this, getReplicaGroups())) ||
      failed(checkIds(*this, getUseGlobalDeviceIds(), getChannelHandle())) ||
      failed(checkDims(getLoc(), "the scatter", dim, operand.getRank())))
    return failure();
  SmallVector<int64_t> expected(operand.getShape());
  if (std::optional<int64_t> groupSize = getGroupSize(getReplicaGroups())) {
    if (failed(divideSize(*this, dim, expected[dim], *groupSize)))
      return failure();
  } else {
    expected[dim] = ShapedType::kDynamic;
  }
  return checkShape(getLoc(), "the result of the collective",
                    getResult().getType().getShape(), expected);
}

LogicalResult ReduceScatterOp::verifyRegions() {
  return checkCombiner(*this, getComputation(), getOperand().getType(),
                       getOperand().getType(), getResult().getType());
}

//===----------------------------------------------------------------------===//
// Moving collectives
//===----------------------------------------------------------------------===//

LogicalResult AllGatherOp::verify() {
  if (failed(checkCount(getLoc(), "results, one per operand", getNumResults(),
                        getOperands().size())) ||
      failed(checkGroups(*this, getReplicaGroups())) ||
      failed(checkIds(*this, getUseGlobalDeviceIds(), getChannelHandle())))
    return failure();
  int64_t dim = getAllGatherDim();
  std::optional<int64_t> groupSize = getGroupSize(getReplicaGroups());
  for (auto [operand, result] : llvm::zip(getOperands(), getResults())) {
    auto type = cast<RankedTensorType>(operand.getType());
    if (failed(checkDims(getLoc(), "the gather", dim, type.getRank())))
      return failure();
    SmallVector<int64_t> expected(type.getShape());
    expected[dim] =
        groupSize ? scaleSize(expected[dim], *groupSize) : ShapedType::kDynamic;
    if (failed(checkMoved(*this, operand, result, expected)))
      return failure();
    int64_t from = type.getDimSize(dim);
    int64_t to = cast<RankedTensorType>(result.getType()).getDimSize(dim);
    if (!groupSize && !ShapedType::isDynamic(from) &&
        !ShapedType::isDynamic(to) && (from == 0 ? to != 0 : to % from != 0))
      return shardonnay::pointAtOperand(emitOpError("gathers dim ")
                                            << dim << " of size " << from
                                            << " to size " << to
                                            << ", expected a multiple",
                                        operand);
  }
  return success();
}

LogicalResult AllToAllOp::verify() {
  if (failed(checkCount(getLoc(), "results, one per operand", getNumResults(),
                        getOperands().size())) ||
      failed(checkGroups(*this, getReplicaGroups())))
    return failure();
  int64_t splitDim = getSplitDimension(), concatDim = getConcatDimension();
  int64_t count = getSplitCount();
  std::optional<int64_t> groupSize = getGroupSize(getReplicaGroups());
  if (groupSize && *groupSize != count)
    return emitOpError("splits into ")
           << count << " parts, expected one for each of the " << *groupSize
           << " devices of a group";
  for (auto [operand, result] : llvm::zip(getOperands(), getResults())) {
    auto type = cast<RankedTensorType>(operand.getType());
    if (failed(checkDims(getLoc(), "the split", splitDim, type.getRank())) ||
        failed(checkDims(getLoc(), "the concatenation", concatDim,
                         type.getRank())))
      return failure();
    SmallVector<int64_t> expected(type.getShape());
    if (failed(divideSize(*this, splitDim, expected[splitDim], count)))
      return failure();
    expected[concatDim] = scaleSize(expected[concatDim], count);
    if (failed(checkMoved(*this, operand, result, expected)))
      return failure();
  }
  return success();
}

LogicalResult CollectivePermuteOp::verify() {
  DenseIntElementsAttr pairs = getSourceTargetPairs();
  if (pairs.getType().getRank() != 2 || pairs.getType().getDimSize(1) != 2)
    return emitOpError("expected source_target_pairs of shape [n, 2], got ")
           << pairs.getType();
  if (pairs.isSplat() && pairs.getNumElements() > 2)
    return emitOpError("has device ") << pairs.getSplatValue<int64_t>()
                                      << " everywhere in source_target_pairs";
  DeviceSet sources(pairs.getNumElements()), targets(pairs.getNumElements());
  for (auto [i, device] : llvm::enumerate(pairs.getValues<int64_t>())) {
    bool isSource = i % 2 == 0;
    if (device < 0)
      return emitOpError("has device ") << device << " in source_target_pairs";
    if (!(isSource ? sources : targets).insert(device))
      return emitOpError("has device ")
             << device << " twice as a " << (isSource ? "source" : "target");
  }
  return success();
}

// Devices that are in no group have zeros.
LogicalResult CollectiveBroadcastOp::verify() {
  auto groups = dyn_cast<DenseIntElementsAttr>(getReplicaGroups());
  if (!groups)
    return checkGroups(*this, getReplicaGroups());
  if (groups.getType().getRank() != 2)
    return emitOpError("expected replica_groups of rank 2, got ")
           << groups.getType();
  if (groups.isSplat() && groups.getNumElements() > 1)
    return emitOpError("has device ") << groups.getSplatValue<int64_t>()
                                      << " everywhere in replica_groups";
  DeviceSet seen(groups.getNumElements());
  for (int64_t device : groups.getValues<int64_t>())
    if (device < 0 || !seen.insert(device))
      return emitOpError("has device ")
             << device << (device < 0 ? "" : " twice") << " in replica_groups";
  return success();
}
