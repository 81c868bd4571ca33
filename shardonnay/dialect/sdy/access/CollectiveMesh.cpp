//===- CollectiveMesh.cpp -------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/access/CollectiveMesh.h"
#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/dialect/sdy/ShardingVerifier.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace mlir::sdy;
using namespace shardonnay;

MeshAttr sdy::readMesh(UserCollectiveOpInterface collective,
                       const CollectiveMesh &written) {
  MLIRContext *context = collective->getContext();
  auto emitError = [&] {
    return collective->emitOpError(
        "has replica_groups on a mesh that is none: ");
  };
  SmallVector<MeshAxisAttr> axes;
  for (auto [name, size] : written.axes) {
    if (failed(MeshAxisAttr::verify(emitError, name, size)))
      return nullptr;
    axes.push_back(MeshAxisAttr::get(context, name, size));
  }
  if (failed(MeshAttr::verify(emitError, axes, {})))
    return nullptr;
  // The order that is meant without them.
  auto inOrder = MeshAttr::get(context, axes, {});
  if (llvm::equal(written.deviceIds,
                  llvm::seq<int64_t>(0, inOrder.getNumDevices())))
    return inOrder;
  if (failed(MeshAttr::verify(emitError, axes, written.deviceIds)))
    return nullptr;
  return MeshAttr::get(context, axes, written.deviceIds);
}

/// The groups of devices that differ along its axes alone.
static LogicalResult writeGroups(UserCollectiveOpInterface collective,
                                 MeshAttr mesh) {
  MLIRContext *context = collective->getContext();
  std::optional<UserCollective> written = collective.getUserCollective();
  if (!written || !written->axes)
    return success();
  SmallVector<AxisRefAttr> axes;
  for (const NamedAxis &axis : *written->axes)
    axes.push_back(AxisRefAttr::get(
        context, axis.name,
        axis.size == 0
            ? SubAxisInfoAttr()
            : SubAxisInfoAttr::get(context, axis.preSize, axis.size)));
  auto emitError = [&] {
    return collective->emitOpError("has replica_groups along other axes: ");
  };
  if (failed(verifyAxes({AxesAt{axes}}, mesh, /*meshOp=*/nullptr, emitError,
                        /*allowWhole=*/true)))
    return failure();
  Mesh devices = toMesh(mesh);
  SmallVector<SmallVector<int64_t>> groups =
      devices.groups(toAxisList(axes, mesh));
  for (SmallVector<int64_t> &group : groups)
    for (int64_t &position : group)
      position = devices.deviceAt(position);
  collective.setCollectiveGroups(groups);
  return success();
}

/// What names its mesh spells it out.
static LogicalResult inlineMesh(UserCollectiveOpInterface collective,
                                ModuleOp module) {
  std::optional<CollectiveMesh> written = collective.getCollectiveMesh();
  if (!written)
    return success();
  MeshAttr mesh;
  if (!written->symbol)
    mesh = readMesh(collective, *written);
  else if (auto op = module.lookupSymbol<MeshOp>(written->symbol))
    mesh = op.getMesh();
  if (!mesh)
    return success(written->symbol != nullptr);
  if (!mesh.getDeviceIds().empty())
    return writeGroups(collective, mesh);
  written->symbol = nullptr;
  written->axes.clear();
  written->deviceIds.clear();
  for (MeshAxisAttr axis : mesh.getAxes())
    written->axes.emplace_back(axis.getName(), axis.getSize());
  collective.setCollectiveMesh(*written);
  return success();
}

LogicalResult sdy::inlineCollectiveMeshes(ModuleOp module) {
  WalkResult result = module.walk([&](UserCollectiveOpInterface collective) {
    return failed(inlineMesh(collective, module)) ? WalkResult::interrupt()
                                                  : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

AxisList sdy::getAxes(const UserCollective &written, MeshAttr mesh) {
  Mesh algebra = toMesh(mesh);
  AxisList axes;
  if (written.axes) {
    for (const NamedAxis &named : *written.axes)
      for (auto [i, axis] : llvm::enumerate(mesh.getAxes()))
        if (axis.getName() == named.name && axis.getSize() > 1)
          axes.append(named.size == 0 ? algebra.fullAxis(i)
                                      : AxisRef{static_cast<int32_t>(i),
                                                named.preSize, named.size});
    return axes.sorted();
  }
  for (int64_t i = 0; i < algebra.numAxes(); ++i) {
    AxisRef axis = algebra.fullAxis(i);
    auto differs = [&](ArrayRef<int64_t> group) {
      return llvm::any_of(group, [&](int64_t position) {
        return algebra.coordinate(axis, position) !=
               algebra.coordinate(axis, group.front());
      });
    };
    if (written.groups.empty() ? axis.size > 1
                               : llvm::any_of(written.groups, differs))
      axes.append(axis);
  }
  return axes;
}

using Groups = SmallVector<SmallVector<int64_t>>;

static Groups inOrder(Groups groups) {
  for (SmallVector<int64_t> &group : groups)
    llvm::sort(group);
  llvm::sort(groups);
  return groups;
}

std::optional<AxisList> sdy::getExactAxes(UserCollectiveOpInterface collective,
                                          MeshAttr mesh) {
  std::optional<UserCollective> written = collective.getUserCollective();
  if (!written || !mesh.getDeviceIds().empty())
    return std::nullopt;
  if (auto named = collective.getCollectiveMesh())
    if (named->symbol || readMesh(collective, *named) != mesh)
      return std::nullopt;
  AxisList axes = getAxes(*written, mesh);
  if (!written->groups.empty() &&
      inOrder(written->groups) != inOrder(toMesh(mesh).groups(axes)))
    return std::nullopt;
  return axes;
}
