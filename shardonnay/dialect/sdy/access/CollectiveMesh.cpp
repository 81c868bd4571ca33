//===- CollectiveMesh.cpp -------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/access/CollectiveMesh.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace mlir::sdy;
using namespace shardonnay;

MeshAttr sdy::readMesh(UserCollectiveOpInterface collective,
                       CollectiveMesh written) {
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
  // The order that is meant without them.
  if (llvm::equal(written.deviceIds,
                  llvm::seq<int64_t>(0, written.deviceIds.size())))
    written.deviceIds.clear();
  if (failed(MeshAttr::verify(emitError, axes, written.deviceIds)))
    return nullptr;
  return MeshAttr::get(context, axes, written.deviceIds);
}

void sdy::inlineCollectiveMeshes(ModuleOp module) {
  module.walk([&](UserCollectiveOpInterface collective) {
    std::optional<CollectiveMesh> written = collective.getCollectiveMesh();
    if (!written)
      return;
    if (written->symbol) {
      auto op = module.lookupSymbol<MeshOp>(written->symbol);
      if (!op)
        return;
      written->symbol = nullptr;
      for (MeshAxisAttr axis : op.getMesh().getAxes())
        written->axes.emplace_back(axis.getName(), axis.getSize());
      llvm::append_range(written->deviceIds, op.getMesh().getDeviceIds());
    }
    collective.setCollectiveMesh(*written);
  });
}
