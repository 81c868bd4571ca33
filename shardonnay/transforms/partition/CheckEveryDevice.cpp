//===- CheckEveryDevice.cpp - nothing happens once a device ---------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. Check the meshes. Without one, the program is one device's already.
// 2. Find the functions that run inside manual computations.
// 3. Check every other op: outside of manual computations and of regions for
//    one device, down to the regions of data-flow ops.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/dialect/sdy/access/Callee.h"
#include "shardonnay/interfaces/DataFlowEdge.h"
#include "shardonnay/interfaces/EveryDevice.h"
#include "shardonnay/interfaces/LocalCompute.h"
#include "shardonnay/transforms/partition/Passes.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_CHECKEVERYDEVICEPASS
#include "shardonnay/transforms/partition/Passes.h.inc"

namespace {

struct CheckEveryDevicePass
    : impl::CheckEveryDevicePassBase<CheckEveryDevicePass> {
  void runOnOperation() override {
    bool ok = true, hasMesh = false;
    for (auto mesh : getOperation().getOps<sdy::MeshOp>()) {
      hasMesh = true;
      ok &= succeeded(verifyDeviceCount(mesh, mesh.getMesh().getNumDevices()));
    }
    llvm::SetVector<func::FuncOp> manual = findManualFunctions();
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (hasMesh && !manual.contains(func))
        ok &= check(func);
    if (!ok)
      signalPassFailure();
    markAllAnalysesPreserved();
  }

private:
  /// A number that each device has of its own.
  static bool asksWhichDevice(Operation *op) {
    auto compute = dyn_cast<LocalComputeOpInterface>(op);
    return compute && compute.namesDevices() && op->getNumOperands() == 0;
  }

  static bool check(func::FuncOp func) {
    bool ok = true;
    func.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<sdy::ManualComputationOp>(op))
        return WalkResult::skip();
      if (!asksWhichDevice(op))
        ok &= succeeded(verifyOnEveryDevice(op));
      return isa<func::FuncOp, ShardableDataFlowOpInterface>(op)
                 ? WalkResult::advance()
                 : WalkResult::skip();
    });
    return ok;
  }

  llvm::SetVector<func::FuncOp> findManualFunctions() {
    llvm::SetVector<func::FuncOp> found;
    auto addCallees = [&](Operation *in) {
      in->walk([&](func::CallOp call) {
        if (func::FuncOp callee = sdy::getCalleeWithBody(call))
          found.insert(callee);
      });
    };
    getOperation().walk(
        [&](sdy::ManualComputationOp manual) { addCallees(manual); });
    for (size_t i = 0; i < found.size(); ++i)
      addCallees(found[i]);
    return found;
  }
};

} // namespace

} // namespace shardonnay
