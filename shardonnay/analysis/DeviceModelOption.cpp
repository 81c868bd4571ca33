//===- DeviceModelOption.cpp ----------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/analysis/DeviceModelOption.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;

namespace shardonnay {

LogicalResult loadDeviceModel(llvm::StringRef option, MLIRContext *context,
                              std::shared_ptr<const DeviceModel> &model) {
  std::string error;
  std::optional<DeviceModel> loaded = DeviceModel::load(option, error);
  if (!loaded)
    return emitError(UnknownLoc::get(context)) << error;
  model = std::make_shared<const DeviceModel>(std::move(*loaded));
  return success();
}

MeshCosts toMeshCosts(const DeviceModel &model, sdy::MeshAttr mesh) {
  auto names = llvm::map_to_vector(
      mesh.getAxes(), [](sdy::MeshAxisAttr axis) { return axis.getName(); });
  return MeshCosts(model, names);
}

} // namespace shardonnay
