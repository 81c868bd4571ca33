//===- FoldSingleDeviceCollectives.cpp ------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/sdy/access/CollectiveMesh.h"
#include "shardonnay/interfaces/OpKinds.h"
#include "shardonnay/transforms/import/Passes.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_FOLDSINGLEDEVICECOLLECTIVESPASS
#include "shardonnay/transforms/import/Passes.h.inc"

/// All that it gives back is as large as what it sends of it.
static bool returnsWhatItSends(Operation *op, const UserCollective &written) {
  return written.sent.size() == op->getNumOperands() &&
         llvm::equal(op->getOperandTypes(), op->getResultTypes());
}

/// Every device is a group by itself, or sends to itself.
static bool sendsToItself(const UserCollective &written, sdy::MeshAttr mesh) {
  if (written.axes)
    return sdy::getAxes(written, mesh).numShards() == 1;
  llvm::DenseSet<int64_t> devices;
  for (ArrayRef<int64_t> group : written.groups) {
    if (group.empty() || !llvm::all_equal(group))
      return false;
    devices.insert(group.front());
  }
  return static_cast<int64_t>(devices.size()) == mesh.getNumDevices();
}

/// Zeros for each result of a permute without pairs: who receives nothing has
/// these. Nothing where the dialect has no such constant.
static SmallVector<Value> buildZeros(Operation *op) {
  OpBuilder builder(op);
  SmallVector<Value> zeros;
  for (Type type : op->getResultTypes()) {
    TypedAttr zero = builder.getZeroAttr(type);
    Operation *constant = zero ? op->getDialect()->materializeConstant(
                                     builder, zero, type, op->getLoc())
                               : nullptr;
    if (!constant)
      return {};
    zeros.push_back(constant->getResult(0));
  }
  return zeros;
}

/// What `op` gives back, if no device gets anything of another; else nothing.
static SmallVector<Value> foldedResults(UserCollectiveOpInterface op,
                                        sdy::MeshAttr mesh) {
  std::optional<UserCollective> written = op.getUserCollective();
  if (!written || written->isStart || !returnsWhatItSends(op, *written))
    return {};
  if (sendsToItself(*written, mesh))
    return op->getOperands();
  bool hasNoPairs = written->inPairs && written->groups.empty();
  return hasNoPairs ? buildZeros(op) : SmallVector<Value>();
}

namespace {
struct FoldSingleDeviceCollectivesPass
    : impl::FoldSingleDeviceCollectivesPassBase<
          FoldSingleDeviceCollectivesPass> {
  void runOnOperation() override {
    bool changed =
        getAnalysis<OpKinds>().mayHave<UserCollectiveOpInterface>() &&
        fold(getOperation());
    if (!changed)
      markAllAnalysesPreserved();
  }

private:
  static bool fold(ModuleOp module) {
    sdy::MeshOp program = sdy::getProgramMesh(module);
    if (!program)
      return false;
    bool changed = false;
    module.walk([&](UserCollectiveOpInterface op) {
      SmallVector<Value> results = foldedResults(op, program.getMesh());
      if (results.empty())
        return;
      op->replaceAllUsesWith(results);
      op->erase();
      changed = true;
    });
    return changed;
  }
};
} // namespace

} // namespace shardonnay
