//===- DeviceModelOption.h - a device model for a pass ----------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_ANALYSIS_DEVICEMODELOPTION_H
#define SHARDONNAY_ANALYSIS_DEVICEMODELOPTION_H

#include "shardonnay/cost/DeviceModel.h"
#include "shardonnay/dialect/sdy/Attributes.h"
#include <memory>

namespace shardonnay {

/// The model that a pass's option `device-model` names (DeviceModel::load).
/// Emits an error if there is none.
mlir::LogicalResult loadDeviceModel(llvm::StringRef option,
                                    mlir::MLIRContext *context,
                                    std::shared_ptr<const DeviceModel> &model);

/// A pass with that option: `BaseT` is its generated base.
template <typename BaseT> class PricedPass : public BaseT {
public:
  using BaseT::BaseT;

  mlir::LogicalResult initialize(mlir::MLIRContext *context) override {
    return loadDeviceModel(this->deviceModel, context, model);
  }

protected:
  std::shared_ptr<const DeviceModel> model;
};

/// What communication over `mesh` costs devices like `model`, which must
/// outlive the result.
MeshCosts toMeshCosts(const DeviceModel &model, mlir::sdy::MeshAttr mesh);

} // namespace shardonnay

#endif // SHARDONNAY_ANALYSIS_DEVICEMODELOPTION_H
