//===- ShardingVerifier.cpp - shardings against mesh and type -------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/ShardingVerifier.h"
#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/support/Diagnostics.h"

using namespace mlir;
using namespace mlir::sdy;

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

/// `diag` with a note at `meshOp` (may be null), which declares the mesh.
static InFlightDiagnostic withMesh(InFlightDiagnostic diag, Operation *meshOp) {
  return meshOp ? shardonnay::pointAt(std::move(diag), meshOp->getLoc(),
                                      "the mesh is declared here")
                : std::move(diag);
}

/// `axis` names an axis of `mesh`, or a part that one has.
static LogicalResult verifyAxis(AxisRefAttr axis, MeshAttr mesh,
                                EmitError emitError, bool allowWhole) {
  int64_t index = mesh.getAxisIndex(axis.getName());
  if (index < 0) // C8
    return emitError() << "unknown axis \"" << axis.getName()
                       << "\", expected one of the mesh " << mesh;
  SubAxisInfoAttr subAxis = axis.getSubAxisInfo();
  if (!subAxis)
    return success();
  if (!mesh.getAxes()[index].hasSize()) // C11
    return emitError() << "sub-axis " << axis.toString()
                       << ": the axis has no size, expected it whole";
  int64_t fullSize = mesh.getAxes()[index].getSize();
  if (subAxis.getSize() == fullSize && !allowWhole) // C12
    return emitError() << "sub-axis " << axis.toString()
                       << " is the whole axis: write \"" << axis.getName()
                       << "\"";
  int64_t end;
  if (llvm::MulOverflow(subAxis.getPreSize(), subAxis.getSize(), end) ||
      fullSize % end != 0) // C11
    return emitError() << "sub-axis " << axis.toString()
                       << ": expected its pre-size "
                       << "times its size to divide the size " << fullSize
                       << " of the axis";
  return success();
}

static InFlightDiagnostic &operator<<(InFlightDiagnostic &diag,
                                      const AxesAt &place) {
  if (place.dim >= 0)
    return diag << "dim " << place.dim;
  return diag << "the " << place.list << " axes";
}

/// The error that `axis` stands in `here` and in `before`.
static InFlightDiagnostic emitTwice(AxisRefAttr axis, const AxesAt &before,
                                    const AxesAt &here, EmitError emitError) {
  InFlightDiagnostic diag = emitError();
  diag << "axis " << axis.toString() << " occurs twice, in "; // C13
  diag << before << " and in " << here;
  return diag;
}

/// No axis of `place` that stands before place number `end` excludes `axis`.
static LogicalResult verifyDisjoint(AxisRefAttr axis, const AxesAt &here,
                                    const AxesAt &place, size_t end,
                                    MeshAttr mesh, EmitError emitError) {
  for (AxisRefAttr other : place.axes.take_front(end)) {
    shardonnay::AxisRef ref = toAxisRef(axis, mesh),
                        otherRef = toAxisRef(other, mesh);
    if (!ref.excludes(otherRef))
      continue;
    if (axis == other)
      return emitTwice(axis, place, here, emitError);
    InFlightDiagnostic diag = emitError();
    diag << "axes " << other.toString() << " and " << axis.toString();
    if (ref.overlaps(otherRef))
      diag << " overlap, in "; // C14
    else
      diag << " do not nest: no splitting of the axis has both, in "; // C91
    diag << place << " and in " << here;
    return diag;
  }
  return success();
}

LogicalResult mlir::sdy::verifyAxes(ArrayRef<AxesAt> lists, MeshAttr mesh,
                                    Operation *meshOp, EmitError emitError,
                                    bool allowWhole) {
  auto emitWithMesh = [&] { return withMesh(emitError(), meshOp); };
  for (auto [number, list] : llvm::enumerate(lists)) {
    AxisRefAttr previous;
    for (auto [index, axis] : llvm::enumerate(list.axes)) {
      if (failed(verifyAxis(axis, mesh, emitWithMesh, allowWhole)))
        return failure();
      for (const AxesAt &before : lists.take_front(number))
        if (failed(verifyDisjoint(axis, list, before, before.axes.size(), mesh,
                                  emitWithMesh)))
          return failure();
      if (failed(verifyDisjoint(axis, list, list, index, mesh, emitWithMesh)))
        return failure();
      if (previous &&
          toAxisRef(previous, mesh).canMerge(toAxisRef(axis, mesh))) // C15
        return emitWithMesh()
               << "neighbouring sub-axes " << previous.toString() << " and "
               << axis.toString() << " can merge: write them as one";
      previous = axis;
    }
  }
  return success();
}

LogicalResult mlir::sdy::verifyAxes(ArrayRef<ArrayRef<AxisRefAttr>> lists,
                                    MeshAttr mesh, Operation *meshOp,
                                    EmitError emitError) {
  SmallVector<AxesAt> places;
  for (auto [dim, axes] : llvm::enumerate(lists))
    places.push_back({axes, static_cast<int64_t>(dim)});
  return verifyAxes(places, mesh, meshOp, emitError);
}

LogicalResult mlir::sdy::verifyMeshOrder(ArrayRef<AxisRefAttr> axes,
                                         StringRef what, MeshAttr mesh,
                                         Operation *meshOp,
                                         EmitError emitError) {
  for (size_t i = 1; i < axes.size(); ++i)
    if (toAxisRef(axes[i], mesh) < toAxisRef(axes[i - 1], mesh)) // C16
      return withMesh(emitError()
                          << what << " axes " << axes[i - 1].toString() << ", "
                          << axes[i].toString()
                          << " are not in the order of the mesh " << mesh,
                      meshOp);
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
  // A tuple of one value is sharded as that value.
  if (auto tuple = dyn_cast<TupleType>(type); tuple && tuple.size() == 1)
    type = tuple.getType(0);
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped) {
    if (!isTrivial(sharding)) // C18
      return emitError() << "expected a sharding without dims and axes for a "
                            "value of type "
                         << type << ", got " << sharding;
    return success();
  }
  if (!shaped.hasRank()) // C19
    return emitError() << "only ranked tensors can be sharded, got " << type;
  if (shaped.getRank() != sharding.getRank()) // C17
    return emitError() << "sharding has " << sharding.getRank()
                       << " dims, expected " << shaped.getRank() << " as in "
                       << type;
  return success();
}

static LogicalResult verifyPriorities(TensorShardingAttr sharding,
                                      EmitError emitError) {
  for (auto [index, dim] : llvm::enumerate(sharding.getDimShardings())) {
    if (!dim.getPriority())
      continue;
    if (*dim.getPriority() < 0) // C21
      return emitError() << "dim " << index << " has the negative priority "
                         << *dim.getPriority();
    if (dim.getAxes().empty() && dim.getIsClosed()) // C22
      return emitError() << "dim " << index
                         << " has a priority, but is closed "
                            "and without axes: take the priority away";
  }
  return success();
}

/// No axis of `lists` is bound by a manual computation around `from`.
static LogicalResult verifyNotManual(ArrayRef<AxesAt> lists, Operation *from,
                                     EmitError emitError) {
  for (auto manual = from->getParentOfType<ManualComputationOp>(); manual;
       manual = manual->getParentOfType<ManualComputationOp>())
    for (const AxesAt &list : lists)
      for (AxisRefAttr axis : list.axes)
        if (llvm::is_contained(
                manual.getManualAxes().getValue(),
                StringAttr::get(axis.getContext(), axis.getName()))) // C23
          return shardonnay::pointAt(emitError() << "axis " << axis.toString()
                                                 << " is manual here and "
                                                    "cannot be used: take it "
                                                    "out",
                                     manual.getLoc(), "made manual here");
  return success();
}

/// All axes of `sharding`, each list with its place.
static SmallVector<AxesAt> getAxesAt(TensorShardingAttr sharding) {
  SmallVector<AxesAt> lists;
  for (auto [index, dim] : llvm::enumerate(sharding.getDimShardings()))
    lists.push_back({dim.getAxes(), static_cast<int64_t>(index)});
  lists.push_back({sharding.getReplicatedAxes(), -1, "replicated"});
  lists.push_back({sharding.getUnreducedAxes(), -1, "unreduced"});
  return lists;
}

/// `sharding` fits a value of `type` on `mesh`, which `meshOp` (may be null)
/// declares.
static LogicalResult verifyOnMesh(TensorShardingAttr sharding, Type type,
                                  MeshAttr mesh, Operation *meshOp,
                                  EmitError emitError) {
  if (mesh.isMaximal()) {
    if (!isTrivial(sharding)) // C20
      return withMesh(emitError() << "expected a sharding without dims and "
                                     "axes on a mesh of one device, got "
                                  << sharding,
                      meshOp);
    return success();
  }
  return success(
      succeeded(verifyRank(sharding, type, emitError)) &&
      succeeded(verifyPriorities(sharding, emitError)) &&
      succeeded(verifyAxes(getAxesAt(sharding), mesh, meshOp, emitError)) &&
      succeeded(verifyMeshOrder(sharding.getReplicatedAxes(), "replicated",
                                mesh, meshOp, emitError)) &&
      succeeded(verifyMeshOrder(sharding.getUnreducedAxes(), "unreduced", mesh,
                                meshOp, emitError)));
}

LogicalResult mlir::sdy::verifySharding(TensorShardingAttr sharding, Type type,
                                        Operation *from, EmitError emitError) {
  MeshAttr mesh = getMesh(from, sharding);
  if (!mesh) // C7
    return emitError() << "unknown mesh " << sharding.getMeshOrRef()
                       << ", expected the name of an 'sdy.mesh' of the module";
  FlatSymbolRefAttr symbol = sharding.getMeshSymbol();
  Operation *meshOp = symbol ? getMeshOp(from, symbol).getOperation() : nullptr;
  return success(
      succeeded(verifyOnMesh(sharding, type, mesh, meshOp, emitError)) &&
      succeeded(verifyNotManual(getAxesAt(sharding), from, emitError)));
}

/// What can be said of axes whose mesh is not known: none occurs twice.
static LogicalResult verifyDistinct(ArrayRef<AxesAt> lists,
                                    EmitError emitError) {
  llvm::DenseMap<AxisRefAttr, const AxesAt *> places;
  for (const AxesAt &list : lists)
    for (AxisRefAttr axis : list.axes)
      if (auto [place, isNew] = places.try_emplace(axis, &list); !isNew)
        return emitTwice(axis, *place->second, list, emitError);
  return success();
}

LogicalResult mlir::sdy::verifyEncoding(TensorShardingAttr sharding,
                                        RankedTensorType type,
                                        EmitError emitError) {
  if (auto mesh = dyn_cast<MeshAttr>(sharding.getMeshOrRef()))
    return verifyOnMesh(sharding, type, mesh, nullptr, emitError);
  // A name may stand for one device, where tensors of any rank have no dims.
  if (isTrivial(sharding))
    return success();
  return success(succeeded(verifyRank(sharding, type, emitError)) &&
                 succeeded(verifyPriorities(sharding, emitError)) &&
                 succeeded(verifyDistinct(getAxesAt(sharding), emitError)));
}

LogicalResult mlir::sdy::verifyShardings(TensorShardingPerValueAttr shardings,
                                         TypeRange types, Operation *from,
                                         StringRef what) {
  ArrayRef<TensorShardingAttr> list = shardings.getShardings();
  if (list.size() != types.size()) // C24
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
