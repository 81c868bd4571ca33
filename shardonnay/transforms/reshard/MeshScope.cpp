//===- MeshScope.cpp ------------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/reshard/MeshScope.h"
#include "shardonnay/analysis/DeviceModelOption.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"

using namespace mlir;

namespace shardonnay {

LogicalResult MeshScope::add(Operation *op, sdy::TensorShardingAttr sharding) {
  // Most shardings name the mesh of those before them.
  if (!sharding || (named && allows(sharding)))
    return success();
  sdy::NamedMesh used = sdy::NamedMesh::of(op, sharding);
  // What is on one device is whole, and on all of them.
  if (!used || used.mesh.isEmpty() || used.mesh.isMaximal())
    return success();
  if (named && used.mesh != named.mesh)
    return failure();
  if (!named)
    named = used;
  else
    known->otherNames.insert(used.name);
  return success();
}

FailureOr<MeshScope>
MeshScope::get(Operation *op, ArrayRef<sdy::TensorShardingAttr> shardings) {
  MeshScope scope;
  for (sdy::TensorShardingAttr sharding : shardings) {
    if (succeeded(scope.add(op, sharding)))
      continue;
    return op->emitOpError()
           << "has tensors on two meshes, " << scope.named.name << " and "
           << sharding.getMeshOrRef()
           << ", expected one; give all shardings of the program on one mesh";
  }
  return scope;
}

static SmallVector<sdy::TensorShardingAttr> shardingsOf(Operation *op) {
  SmallVector<sdy::TensorShardingAttr> shardings =
      sdy::getShardings(op->getOperands());
  llvm::append_range(shardings, sdy::getShardings(op->getResults()));
  return shardings;
}

std::optional<MeshScope> MeshScope::find(Operation *op) {
  MeshScope scope;
  for (sdy::TensorShardingAttr sharding : shardingsOf(op))
    if (failed(scope.add(op, sharding)))
      return std::nullopt;
  return scope;
}

LogicalResult MeshScope::moveTo(Operation *op) {
  return moveTo(op, shardingsOf(op));
}

LogicalResult MeshScope::moveTo(Operation *op,
                                ArrayRef<sdy::TensorShardingAttr> shardings) {
  if (covers(shardings))
    return success();
  FailureOr<MeshScope> own = get(op, shardings);
  if (succeeded(own))
    *this = *own;
  return own;
}

bool MeshScope::covers(ArrayRef<sdy::TensorShardingAttr> shardings) const {
  bool any = false;
  for (sdy::TensorShardingAttr sharding : shardings) {
    if (sharding && (!named || !allows(sharding)))
      return false;
    any |= sharding != nullptr;
  }
  return any;
}

std::optional<MeshScope> MeshScope::ofBlock(Block &block) {
  MeshScope scope;
  Operation *parent = block.getParentOp();
  auto finds = [&](sdy::TensorShardingAttr sharding) {
    // It takes in the first, and that can't be on two meshes.
    return succeeded(scope.add(parent, sharding)) && !scope.empty();
  };
  bool found = llvm::any_of(block.getArguments(), [&](BlockArgument argument) {
    return finds(sdy::getSharding(argument));
  });
  if (auto func = dyn_cast<func::FuncOp>(parent); func && !found)
    for (unsigned i = 0; i < func.getNumResults() && !found; ++i)
      found = finds(sdy::getFuncResultSharding(func, i));
  for (Operation &op : block) {
    if (found)
      break;
    found = llvm::any_of(op.getResults(), [&](OpResult result) {
      return finds(sdy::getSharding(result));
    });
  }
  return found ? std::optional(scope) : std::nullopt;
}

const TensorSharding &MeshScope::read(Value value) const {
  return read(sdy::getSharding(value),
              cast<RankedTensorType>(value.getType()).getRank());
}

const TensorSharding &MeshScope::read(sdy::TensorShardingAttr sharding,
                                      int64_t rank) const {
  std::unique_ptr<TensorSharding> &entry = known->read[{sharding, rank}];
  if (!entry) {
    bool isHere =
        allows(sharding) || known->otherNames.contains(sharding.getMeshOrRef());
    entry = std::make_unique<TensorSharding>(
        isHere ? named.readClosed(sharding, rank)
               : TensorSharding::fullyClosed(rank));
  }
  return *entry;
}

MeshCosts MeshScope::costs(const DeviceModel &model) const {
  return toMeshCosts(model, named.mesh);
}

sdy::TensorShardingAttr MeshScope::write(const TensorSharding &sharding) const {
  auto [entry, isNew] = known->written.try_emplace(sharding);
  if (isNew)
    entry->second = named.write(sharding);
  return entry->second;
}

} // namespace shardonnay
