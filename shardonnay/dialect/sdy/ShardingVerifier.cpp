//===- ShardingVerifier.cpp - shardings against mesh and type -------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/ShardingVerifier.h"
#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"

using namespace mlir;
using namespace mlir::sdy;

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

/// `axis` names an axis of `mesh`, or a part that one has.
static LogicalResult verifyAxis(AxisRefAttr axis, MeshAttr mesh,
                                EmitError emitError) {
  int64_t index = mesh.getAxisIndex(axis.getName());
  if (index < 0)
    return emitError() << "unknown axis \"" << axis.getName()
                       << "\", expected one of the mesh " << mesh;
  SubAxisInfoAttr subAxis = axis.getSubAxisInfo();
  if (!subAxis)
    return success();
  int64_t fullSize = mesh.getAxes()[index].getSize();
  if (subAxis.getSize() == fullSize)
    return emitError() << "sub-axis " << axis.toString()
                       << " is the whole axis: write \"" << axis.getName()
                       << "\"";
  int64_t end;
  if (llvm::MulOverflow(subAxis.getPreSize(), subAxis.getSize(), end) ||
      fullSize % end != 0)
    return emitError() << "sub-axis " << axis.toString()
                       << ": expected its pre-size "
                       << "times its size to divide the size " << fullSize
                       << " of the axis";
  return success();
}

/// `axis` does not overlap `other`, which stands before it.
static LogicalResult verifyDisjoint(AxisRefAttr axis, AxisRefAttr other,
                                    MeshAttr mesh, EmitError emitError) {
  if (axis == other)
    return emitError() << "axis " << axis.toString() << " occurs twice";
  if (!toAxisRef(axis, mesh).overlaps(toAxisRef(other, mesh)))
    return success();
  return emitError() << "axes " << other.toString() << " and "
                     << axis.toString() << " overlap";
}

LogicalResult mlir::sdy::verifyAxes(ArrayRef<ArrayRef<AxisRefAttr>> lists,
                                    MeshAttr mesh, EmitError emitError) {
  SmallVector<AxisRefAttr> seen;
  for (ArrayRef<AxisRefAttr> list : lists) {
    AxisRefAttr previous;
    for (AxisRefAttr axis : list) {
      if (failed(verifyAxis(axis, mesh, emitError)))
        return failure();
      for (AxisRefAttr other : seen)
        if (failed(verifyDisjoint(axis, other, mesh, emitError)))
          return failure();
      if (previous && toAxisRef(previous, mesh).canMerge(toAxisRef(axis, mesh)))
        return emitError() << "neighbouring sub-axes " << previous.toString()
                           << " and " << axis.toString()
                           << " can merge: write them as one";
      seen.push_back(previous = axis);
    }
  }
  return success();
}

/// Replicated and unreduced axes come in the order of the mesh.
static LogicalResult verifyOrder(ArrayRef<AxisRefAttr> axes, StringRef what,
                                 MeshAttr mesh, EmitError emitError) {
  for (size_t i = 1; i < axes.size(); ++i)
    if (toAxisRef(axes[i], mesh) < toAxisRef(axes[i - 1], mesh))
      return emitError() << what << " axes " << axes[i - 1].toString() << ", "
                         << axes[i].toString()
                         << " are not in the order of the mesh";
  return success();
}

//===----------------------------------------------------------------------===//
// Shardings
//===----------------------------------------------------------------------===//

/// Without dims and without axes: all that a value that is no tensor, or is on
/// one device, can have.
static bool isTrivial(TensorShardingAttr sharding) {
  return sharding.getDimShardings().empty() &&
         sharding.getReplicatedAxes().empty() &&
         sharding.getUnreducedAxes().empty();
}

static LogicalResult verifyRank(TensorShardingAttr sharding, Type type,
                                EmitError emitError) {
  if (!isa<ShapedType>(type)) {
    if (!isTrivial(sharding))
      return emitError() << "expected a sharding without dims and axes for a "
                            "value of type "
                         << type << ", got " << sharding;
    return success();
  }
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return emitError() << "only ranked tensors can be sharded, got " << type;
  if (tensor.getRank() != sharding.getRank())
    return emitError() << "sharding has " << sharding.getRank()
                       << " dims, expected " << tensor.getRank() << " as in "
                       << type;
  return success();
}

static LogicalResult verifyPriorities(TensorShardingAttr sharding,
                                      EmitError emitError) {
  for (auto [index, dim] : llvm::enumerate(sharding.getDimShardings())) {
    if (!dim.getPriority())
      continue;
    if (*dim.getPriority() < 0)
      return emitError() << "dim " << index << " has the negative priority "
                         << *dim.getPriority();
    if (dim.getAxes().empty() && dim.getIsClosed())
      return emitError() << "dim " << index
                         << " has a priority, but is closed "
                            "and without axes: take the priority away";
  }
  return success();
}

/// No axis of `lists` is bound by a manual computation around `from`.
static LogicalResult verifyNotManual(ArrayRef<ArrayRef<AxisRefAttr>> lists,
                                     Operation *from, EmitError emitError) {
  for (auto manual = from->getParentOfType<ManualComputationOp>(); manual;
       manual = manual->getParentOfType<ManualComputationOp>())
    for (ArrayRef<AxisRefAttr> list : lists)
      for (AxisRefAttr axis : list)
        if (llvm::is_contained(
                manual.getManualAxes().getValue(),
                StringAttr::get(axis.getContext(), axis.getName()))) {
          InFlightDiagnostic diag = emitError()
                                    << "axis " << axis.toString()
                                    << " is manual here and cannot be used";
          diag.attachNote(manual.getLoc()) << "made manual here";
          return diag;
        }
  return success();
}

LogicalResult mlir::sdy::verifySharding(TensorShardingAttr sharding, Type type,
                                        Operation *from, EmitError emitError) {
  MeshAttr mesh = getMesh(from, sharding);
  if (!mesh)
    return emitError() << "unknown mesh " << sharding.getMeshOrRef()
                       << ", expected the name of an 'sdy.mesh' of the module";
  if (mesh.isMaximal()) {
    if (!isTrivial(sharding))
      return emitError() << "expected a sharding without dims and axes on a "
                            "mesh of one device, got "
                         << sharding;
    return success();
  }
  SmallVector<ArrayRef<AxisRefAttr>> lists;
  for (DimensionShardingAttr dim : sharding.getDimShardings())
    lists.push_back(dim.getAxes());
  lists.push_back(sharding.getReplicatedAxes());
  lists.push_back(sharding.getUnreducedAxes());
  return success(succeeded(verifyRank(sharding, type, emitError)) &&
                 succeeded(verifyPriorities(sharding, emitError)) &&
                 succeeded(verifyAxes(lists, mesh, emitError)) &&
                 succeeded(verifyOrder(sharding.getReplicatedAxes(),
                                       "replicated", mesh, emitError)) &&
                 succeeded(verifyOrder(sharding.getUnreducedAxes(), "unreduced",
                                       mesh, emitError)) &&
                 succeeded(verifyNotManual(lists, from, emitError)));
}

LogicalResult mlir::sdy::verifyShardings(TensorShardingPerValueAttr shardings,
                                         TypeRange types, Operation *from,
                                         StringRef what) {
  ArrayRef<TensorShardingAttr> list = shardings.getShardings();
  if (list.size() != types.size())
    return from->emitOpError() << "expected " << types.size() << " " << what
                               << " shardings, got " << list.size();
  for (auto [index, sharding, type] : llvm::enumerate(list, types)) {
    auto emitError = [&, index = index] {
      return from->emitOpError() << what << " " << index << ": ";
    };
    if (failed(verifySharding(sharding, type, from, emitError)))
      return failure();
  }
  return success();
}
