//===- OpSolvers.cpp ------------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/reshard/OpSolvers.h"
#include "shardonnay/dialect/sdy/OpSharding.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/sdy/access/ShardBytes.h"
#include "shardonnay/report/OpAlternative.h"

using namespace mlir;

namespace shardonnay {

int32_t MeshStrategies::addTensor(RankedTensorType type,
                                  const ReshardRuns &runs) {
  auto [entry, isNew] = tensors.try_emplace({type, knownRuns.intern(runs)});
  if (isNew)
    entry->second =
        table.add(TensorKind{SmallVector<int64_t, 4>(type.getShape()),
                             sdy::getElementBytes(type), runs});
  return entry->second;
}

int32_t MeshStrategies::classOf(Value value, bool constant, bool free,
                                const EquivalentOps *known,
                                const ReshardRuns &runs,
                                const MeshScope &scope) {
  Type type = value.getType();
  sdy::TensorShardingAttr sharding = sdy::getSharding(value);
  auto [number, isNew] = classNumbers.find(
      makeKey(type, sharding, constant, free, known, knownRuns.intern(runs)));
  if (!isNew)
    return number;
  number = classes.size();
  ValueClass &added = classes.emplace_back(
      ValueClass{type, sharding, constant, free, known, runs});
  if (auto tensor = dyn_cast<RankedTensorType>(type);
      tensor && tensor.hasStaticShape()) {
    added.tensor = addTensor(tensor, runs);
    added.number = table.add(scope.read(sharding, tensor.getRank()));
  }
  return number;
}

MeshStrategies &OpSolvers::on(const MeshScope &scope) {
  std::unique_ptr<MeshStrategies> &entry =
      meshes[{scope.getMesh(), scope.getNamedMesh().name}];
  if (!entry)
    entry = std::make_unique<MeshStrategies>(
        scope.getNamedMesh().toMesh(), scope.costs(model), gathersByPrice);
  return *entry;
}

int32_t OpSolvers::kindOf(Operation *op, const FactorRule &rule,
                          const MeshScope &scope,
                          SmallVector<int32_t, 4> tensors) {
  OpKind kind{readFeatures(op, scope.getMesh()), &rule, std::move(tensors)};
  kind.required =
      sdy::getRequiredOpSharding(op, rule.factors.size(), scope.getMesh());
  return on(scope).table.add(kind);
}

const OpStrategy &OpSolvers::solve(Operation *op, const FactorRule &rule,
                                   const MeshScope &scope,
                                   llvm::function_ref<bool(Value)> isFree) {
  MeshStrategies &mesh = on(scope);
  SmallVector<int32_t, 4> shardings, tensors;
  llvm::SmallBitVector free(op->getNumOperands() + op->getNumResults());
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    if (isFree(operand))
      free.set(i);
  auto add = [&](Value value) {
    auto tensor = dyn_cast<RankedTensorType>(value.getType());
    shardings.push_back(tensor ? mesh.table.add(scope.read(value)) : -1);
    tensors.push_back(tensor ? mesh.addTensor(tensor) : -1);
  };
  llvm::for_each(op->getOperands(), add);
  llvm::for_each(op->getResults(), add);
  return mesh.table.solve(kindOf(op, rule, scope, std::move(tensors)),
                          shardings, free);
}

bool OpSolvers::appendSignature(Operation *op, CompositeKey &key) {
  if (!sdy::looksAtOperands(op))
    return signatures.append(op, key);
  // Its rule says what it found there.
  key.add(op->getName(), getRule(op));
  key.addAll(op->getResultTypes());
  return true;
}

SharedSolvers::SharedSolvers(Operation *func) {
  auto module = func->getParentOfType<ModuleOp>();
  auto loc = module ? dyn_cast<OpaqueLoc>(module->getLoc()) : nullptr;
  if (loc && loc.getUnderlyingTypeID() == TypeID::get<LentSolvers *>())
    entries = reinterpret_cast<LentSolvers *>(loc.getUnderlyingLocation())
                  ->of(SymbolTable::getSymbolName(func));
  else
    entries = std::make_shared<Entries>();
}

OpSolvers &SharedSolvers::get(StringRef name,
                              const std::shared_ptr<const DeviceModel> &model,
                              bool gathersByPrice) {
  std::unique_ptr<Entry> &entry = (*entries)[gathersByPrice ? 0 : 1][name];
  if (!entry)
    entry.reset(new Entry{model, OpSolvers(*model, gathersByPrice)});
  return entry->solvers;
}

void LentSolvers::lendTo(ModuleOp copy) {
  copy->setLoc(OpaqueLoc::get(this, copy->getLoc()));
}

std::shared_ptr<SharedSolvers::Entries> LentSolvers::of(StringRef func) {
  std::lock_guard<std::mutex> lock(mutex);
  std::shared_ptr<SharedSolvers::Entries> &entries = functions[func];
  if (!entries)
    entries = std::make_shared<SharedSolvers::Entries>();
  return entries;
}

} // namespace shardonnay
