//===- Unpartitioned.cpp - the program without its shardings --------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. Shardings in the encodings of types become attributes.
// 2. dropOps: what passes its operand on is replaced by it; groups go.
// 3. Attributes of shardings go, and the meshes.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/pipeline/Unpartitioned.h"

#include "mlir/Pass/PassManager.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/frontend/Passes.h"
#include "shardonnay/transforms/export/Passes.h"
#include "shardonnay/transforms/import/Passes.h"

using namespace mlir;

namespace shardonnay {

/// The op has one operand and one result of the same type: on global types it
/// passes its operand on.
static bool isIdentity(Operation *op) {
  return op->getNumOperands() == 1 && op->getNumResults() == 1 &&
         op->getNumRegions() == 0 &&
         op->getOperand(0).getType() == op->getResult(0).getType();
}

static LogicalResult dropOps(ModuleOp module) {
  SmallVector<Operation *> found;
  module.walk([&](Operation *op) {
    if (isa_and_present<sdy::SdyDialect>(op->getDialect()) &&
        !isa<sdy::MeshOp, sdy::ReturnOp>(op))
      found.push_back(op);
  });
  for (Operation *op : found) {
    if (isIdentity(op))
      op->replaceAllUsesWith(op->getOperands());
    else if (op->getNumResults() != 0)
      return op->emitError(
          "has no unpartitioned form, as its region sees what one device "
          "holds; expected a program without manual computations to compare "
          "with");
    op->erase();
  }
  return success();
}

LogicalResult dropShardings(ModuleOp module) {
  PassManager before(module.getContext(), ModuleOp::getOperationName());
  before.addPass(createImportEncodingsPass());
  PassManager after(module.getContext(), ModuleOp::getOperationName());
  after.addPass(createDropShardingAndMeshPass());
  return success(succeeded(before.run(module)) && succeeded(dropOps(module)) &&
                 succeeded(after.run(module)));
}

} // namespace shardonnay
