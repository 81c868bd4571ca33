//===- ManualAxesCleanup.cpp ----------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/interfaces/OpKinds.h"
#include "shardonnay/transforms/import/Passes.h"

using namespace mlir;
using namespace mlir::sdy;

namespace shardonnay {

#define GEN_PASS_DEF_MANUALAXESCLEANUPPASS
#include "shardonnay/transforms/import/Passes.h.inc"

namespace {

/// The mesh of the computation's shardings; null if none names axes.
MeshAttr findMesh(ManualComputationOp op) {
  for (TensorShardingPerValueAttr list :
       {op.getInShardings(), op.getOutShardings()})
    for (TensorShardingAttr sharding : list.getShardings())
      if (MeshAttr mesh = getMesh(op, sharding); mesh && !mesh.isEmpty())
        return mesh;
  return nullptr;
}

/// `shardings` with the manual axes that each leaves out as replicated ones.
TensorShardingPerValueAttr complete(TensorShardingPerValueAttr shardings,
                                    TypeRange types, const AxisList &manual,
                                    MeshAttr mesh) {
  SmallVector<TensorShardingAttr> result;
  for (auto [attr, type] : llvm::zip_equal(shardings.getShardings(), types)) {
    TensorSharding sharding = toSharding(attr, mesh);
    AxisList left = manual;
    for (const DimSharding &dim : sharding.dims)
      left = left.subtract(dim.axes);
    // What has no shape, a token, is on every device.
    if (!isa<ShapedType>(type))
      left = AxisList();
    left = left.subtract(sharding.replicated).subtract(sharding.unreduced);
    sharding.replicated.append(left);
    sharding.replicated = sharding.replicated.sorted();
    result.push_back(
        left.empty() ? attr
                     : NamedMesh{mesh, attr.getMeshOrRef()}.write(sharding));
  }
  return TensorShardingPerValueAttr::get(shardings.getContext(), result);
}

void cleanUp(ManualComputationOp op) {
  MeshAttr mesh = findMesh(op);
  if (!mesh)
    return;
  auto place = [&](StringAttr name) {
    return mesh.getAxisIndex(name.getValue());
  };
  SmallVector<StringAttr> names(op.getManualAxes().getValue());
  llvm::sort(names,
             [&](StringAttr a, StringAttr b) { return place(a) < place(b); });
  op.setManualAxesAttr(ManualAxesAttr::get(op.getContext(), names));
  AxisList manual;
  for (StringAttr name : names)
    if (mesh.getAxes()[place(name)].getSize() != 1)
      manual.append(toAxisRef(
          AxisRefAttr::get(op.getContext(), name.getValue(), {}), mesh));
  op.setInShardingsAttr(
      complete(op.getInShardings(), op.getOperandTypes(), manual, mesh));
  op.setOutShardingsAttr(
      complete(op.getOutShardings(), op.getResultTypes(), manual, mesh));
}

struct ManualAxesCleanupPass
    : impl::ManualAxesCleanupPassBase<ManualAxesCleanupPass> {
  void runOnOperation() override {
    if (!getAnalysis<OpKinds>().mayHave<ManualComputationOp>())
      return markAllAnalysesPreserved();
    getOperation().walk(cleanUp);
  }
};

} // namespace
} // namespace shardonnay
