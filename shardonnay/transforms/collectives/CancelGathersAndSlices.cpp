//===- CancelGathersAndSlices.cpp
//------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/explain/DeviceModelOption.h"
#include "shardonnay/transforms/collectives/CollectiveChain.h"
#include "shardonnay/transforms/collectives/Optimizations.h"
#include "shardonnay/transforms/collectives/Passes.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_CANCELGATHERSANDSLICESPASS
#include "shardonnay/transforms/collectives/Passes.h.inc"

bool cancelGathersAndSlices(func::FuncOp func, CollectivePlanner &planner) {
  return replanPairs(func, planner, [](Operation *inner, Operation *outer) {
    return isa<sdy::AllGatherOp>(inner) && isa<sdy::AllSliceOp>(outer);
  });
}

namespace {
struct CancelGathersAndSlicesPass
    : impl::CancelGathersAndSlicesPassBase<CancelGathersAndSlicesPass> {
  using CancelGathersAndSlicesPassBase::CancelGathersAndSlicesPassBase;

  LogicalResult initialize(MLIRContext *context) override {
    return loadDeviceModel(deviceModel, context, model);
  }
  void runOnOperation() override {
    CollectivePlanner planner(*model);
    cancelGathersAndSlices(getOperation(), planner);
  }

  std::shared_ptr<const DeviceModel> model;
};
} // namespace

} // namespace shardonnay
