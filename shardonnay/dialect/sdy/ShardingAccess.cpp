//===- ShardingAccess.cpp - where a value's sharding is kept --------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::sdy;

/// The name of the attribute in which `op` itself states its result's sharding;
/// empty if it has no such attribute.
static StringRef getOwnShardingName(Operation *op) {
  if (isa<ShardingConstraintOp, ReshardOp, DataFlowEdgeOp>(op))
    return "sharding";
  if (isa<AllGatherOp, AllSliceOp, AllToAllOp, CollectivePermuteOp, AllReduceOp,
          ReduceScatterOp, ShardedToUnreducedOp, ReplicatedToUnreducedOp>(op))
    return "out_sharding";
  return "";
}

/// The function of which `argument` is one; null if it is none's.
static func::FuncOp getFunc(BlockArgument argument) {
  Block *block = argument.getOwner();
  auto func = dyn_cast_or_null<func::FuncOp>(block->getParentOp());
  return func && block->isEntryBlock() ? func : func::FuncOp();
}

TensorShardingAttr mlir::sdy::getSharding(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    func::FuncOp func = getFunc(argument);
    return func ? func.getArgAttrOfType<TensorShardingAttr>(
                      argument.getArgNumber(), kShardingAttr)
                : nullptr;
  }
  auto result = cast<OpResult>(value);
  Operation *op = result.getOwner();
  if (StringRef name = getOwnShardingName(op); !name.empty())
    return op->getAttrOfType<TensorShardingAttr>(name);
  auto shardings = op->getAttrOfType<TensorShardingPerValueAttr>(kShardingAttr);
  return shardings && shardings.getShardings().size() == op->getNumResults()
             ? shardings.getShardings()[result.getResultNumber()]
             : nullptr;
}

/// `sdy.sharding` of `op` with the entry of one result exchanged.
static void setResultSharding(OpResult result, TensorShardingAttr sharding) {
  Operation *op = result.getOwner();
  if (!sharding && op->getNumResults() == 1) {
    op->removeAttr(kShardingAttr);
    return;
  }
  SmallVector<TensorShardingAttr> shardings = getShardings(op->getResults());
  TensorShardingAttr old = shardings[result.getResultNumber()];
  if (!sharding && !old)
    return;
  Attribute meshOrRef = (sharding ? sharding : old).getMeshOrRef();
  shardings[result.getResultNumber()] = sharding;
  for (auto [value, entry] : llvm::zip_equal(op->getResults(), shardings)) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!entry)
      entry = TensorShardingAttr::getFullyOpen(
          op->getContext(), type ? type.getRank() : 0, meshOrRef);
  }
  op->setAttr(kShardingAttr,
              TensorShardingPerValueAttr::get(op->getContext(), shardings));
}

void mlir::sdy::setSharding(Value value, TensorShardingAttr sharding) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    func::FuncOp func = getFunc(argument);
    assert(func && "a block argument that is no function's has no sharding");
    if (sharding)
      func.setArgAttr(argument.getArgNumber(), kShardingAttr, sharding);
    else
      func.removeArgAttr(argument.getArgNumber(), kShardingAttr);
    return;
  }
  auto result = cast<OpResult>(value);
  Operation *op = result.getOwner();
  StringRef name = getOwnShardingName(op);
  if (name.empty())
    setResultSharding(result, sharding);
  else if (sharding)
    op->setAttr(name, sharding);
  else
    op->removeAttr(name);
}

SmallVector<TensorShardingAttr> mlir::sdy::getShardings(ValueRange values) {
  return llvm::map_to_vector(values, getSharding);
}

TensorShardingAttr mlir::sdy::getFuncResultSharding(func::FuncOp func,
                                                    unsigned result) {
  return func.getResultAttrOfType<TensorShardingAttr>(result, kShardingAttr);
}

void mlir::sdy::setFuncResultSharding(func::FuncOp func, unsigned result,
                                      TensorShardingAttr sharding) {
  if (sharding)
    func.setResultAttr(result, kShardingAttr, sharding);
  else
    func.removeResultAttr(result,
                          StringAttr::get(func.getContext(), kShardingAttr));
}

MeshOp mlir::sdy::getMeshOp(Operation *from, FlatSymbolRefAttr name) {
  return SymbolTable::lookupNearestSymbolFrom<MeshOp>(from, name);
}

MeshAttr mlir::sdy::getMesh(Operation *from, TensorShardingAttr sharding) {
  if (auto mesh = dyn_cast<MeshAttr>(sharding.getMeshOrRef()))
    return mesh;
  MeshOp mesh = getMeshOp(from, sharding.getMeshSymbol());
  return mesh ? mesh.getMesh() : nullptr;
}

/// The first sharding that names an axis among those of the function and of
/// every value in it; null if there is none.
static TensorShardingAttr findCut(func::FuncOp func) {
  auto isCut = [](TensorShardingAttr sharding) {
    return sharding && !sharding.isReplicated();
  };
  for (unsigned i = 0; i < func.getNumResults(); ++i)
    if (auto sharding = getFuncResultSharding(func, i); isCut(sharding))
      return sharding;
  TensorShardingAttr found;
  auto visit = [&](ValueRange values) {
    for (TensorShardingAttr sharding : getShardings(values))
      if (!found && isCut(sharding))
        found = sharding;
    return found ? WalkResult::interrupt() : WalkResult::advance();
  };
  if (func.isExternal() || visit(func.getArguments()).wasInterrupted())
    return found;
  func.walk([&](Operation *op) { return visit(op->getResults()); });
  return found;
}

MeshOp mlir::sdy::getProgramMesh(ModuleOp module) {
  for (auto func : module.getOps<func::FuncOp>())
    if (TensorShardingAttr sharding = findCut(func))
      if (FlatSymbolRefAttr name = sharding.getMeshSymbol())
        return getMeshOp(module, name);
  for (auto mesh : module.getOps<MeshOp>())
    if (!mesh.getMesh().getAxes().empty())
      return mesh;
  return nullptr;
}
