//===- OneMesh.cpp --------------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/reshard/OneMesh.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace shardonnay {

namespace {

/// Null if `value` is on no mesh with axes.
sdy::MeshAttr meshOf(Value value, Operation *op) {
  sdy::TensorShardingAttr sharding = sdy::getSharding(value);
  sdy::MeshAttr mesh = sharding ? sdy::getMesh(op, sharding) : nullptr;
  return mesh && !mesh.getAxes().empty() ? mesh : nullptr;
}

/// A mesh that tensors of the op are on.
struct Choice {
  int64_t votes = 0;
  /// Names the mesh.
  Attribute meshOrRef;
};

sdy::TensorShardingAttr moved(sdy::TensorShardingAttr sharding,
                              sdy::MeshAttr from, sdy::MeshAttr to,
                              Attribute toName) {
  if (!from.hasSameAxes(to))
    return sdy::TensorShardingAttr::getFullyClosed(sharding.getContext(),
                                                   sharding.getRank(), toName);
  return sdy::TensorShardingAttr::get(
      sharding.getContext(), toName, sharding.getDimShardings(),
      sharding.getReplicatedAxes(), sharding.getUnreducedAxes(),
      sharding.getReductionKind());
}

void putOnOneMesh(Operation *op) {
  llvm::MapVector<sdy::MeshAttr, Choice> choices;
  auto vote = [&](Value value) {
    if (sdy::MeshAttr mesh = meshOf(value, op)) {
      Choice &choice = choices[mesh];
      ++choice.votes;
      if (!choice.meshOrRef)
        choice.meshOrRef = sdy::getSharding(value).getMeshOrRef();
    }
  };
  llvm::for_each(op->getOperands(), vote);
  llvm::for_each(op->getResults(), vote);
  if (choices.size() < 2)
    return;
  auto *best = llvm::max_element(choices, [](const auto &a, const auto &b) {
    return a.second.votes < b.second.votes;
  });
  auto [mesh, choice] = *best;
  OpBuilder builder(op);
  for (OpOperand &operand : op->getOpOperands()) {
    Value value = operand.get();
    if (sdy::MeshAttr own = meshOf(value, op); own && own != mesh)
      operand.set(sdy::ReshardOp::create(
          builder, value.getLoc(), value,
          moved(sdy::getSharding(value), own, mesh, choice.meshOrRef)));
  }
  builder.setInsertionPointAfter(op);
  for (OpResult result : op->getResults()) {
    sdy::MeshAttr own = meshOf(result, op);
    if (!own || own == mesh)
      continue;
    sdy::TensorShardingAttr before = sdy::getSharding(result);
    sdy::setSharding(result, moved(before, own, mesh, choice.meshOrRef));
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
