//===- OneMesh.cpp --------------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/reshard/OneMesh.h"
#include "shardonnay/dialect/sdy/NamedMesh.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace shardonnay {

namespace {

/// Null if `value` is on no mesh with axes.
sdy::NamedMesh meshOf(Value value, Operation *op) {
  auto mesh = sdy::NamedMesh::of(op, sdy::getSharding(value));
  return mesh && !mesh.mesh.getAxes().empty() ? mesh : sdy::NamedMesh();
}

/// A mesh that tensors of the op are on, as the first of them names it.
struct Voted {
  int64_t votes = 0;
  sdy::NamedMesh mesh;
};

sdy::TensorShardingAttr moved(sdy::TensorShardingAttr sharding,
                              const sdy::NamedMesh &from,
                              const sdy::NamedMesh &to) {
  if (!from.mesh.hasSameAxes(to.mesh))
    return to.replicated(sharding.getRank());
  return sdy::TensorShardingAttr::get(
      sharding.getContext(), to.name, sharding.getDimShardings(),
      sharding.getReplicatedAxes(), sharding.getUnreducedAxes(),
      sharding.getReductionKind());
}

void putOnOneMesh(Operation *op) {
  llvm::MapVector<sdy::MeshAttr, Voted> meshes;
  auto vote = [&](Value value) {
    if (sdy::NamedMesh mesh = meshOf(value, op)) {
      Voted &voted = meshes[mesh.mesh];
      if (voted.votes++ == 0)
        voted.mesh = mesh;
    }
  };
  llvm::for_each(op->getOperands(), vote);
  llvm::for_each(op->getResults(), vote);
  if (meshes.size() < 2)
    return;
  auto *best = llvm::max_element(meshes, [](const auto &a, const auto &b) {
    return a.second.votes < b.second.votes;
  });
  sdy::NamedMesh mesh = best->second.mesh;
  OpBuilder builder(op);
  for (OpOperand &operand : op->getOpOperands()) {
    Value value = operand.get();
    if (sdy::NamedMesh own = meshOf(value, op); own && own.mesh != mesh.mesh)
      operand.set(
          sdy::ReshardOp::create(builder, value.getLoc(), value,
                                 moved(sdy::getSharding(value), own, mesh)));
  }
  builder.setInsertionPointAfter(op);
  for (OpResult result : op->getResults()) {
    sdy::NamedMesh own = meshOf(result, op);
    if (!own || own.mesh == mesh.mesh)
      continue;
    sdy::TensorShardingAttr before = sdy::getSharding(result);
    sdy::setSharding(result, moved(before, own, mesh));
    auto reshard =
        sdy::ReshardOp::create(builder, result.getLoc(), result, before);
    result.replaceAllUsesExcept(reshard, reshard);
  }
}

} // namespace

void putOpsOnOneMesh(func::FuncOp func) {
  auto module = func->getParentOfType<ModuleOp>();
  int64_t meshes = 0;
  for (auto mesh : module.getOps<sdy::MeshOp>())
    meshes += !mesh.getMesh().getAxes().empty();
  // Without any they stand in the shardings.
  if (meshes == 1)
    return;
  func.walk([](Operation *op) {
    bool isMoved = isa<func::FuncOp, func::CallOp>(op) ||
                   isa_and_present<sdy::SdyDialect>(op->getDialect()) ||
                   isa<ShardableDataFlowOpInterface>(op) ||
                   op->hasTrait<OpTrait::IsTerminator>();
    if (!isMoved)
      putOnOneMesh(op);
  });
}

} // namespace shardonnay
