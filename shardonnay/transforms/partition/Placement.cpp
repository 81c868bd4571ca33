//===- Placement.cpp - the placement of each value ------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/partition/Placement.h"

#include "mlir/IR/Diagnostics.h"
#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace shardonnay {

namespace {

TensorSharding closed(TensorSharding sharding) {
  for (DimSharding &dim : sharding.dims) {
    dim.closed = true;
    dim.priority = 0;
  }
  sharding.replicated = {};
  return sharding;
}

} // namespace

Placer::Placer(sdy::MeshOp mesh) {
  if (!mesh)
    return;
  programMesh = mesh.getMesh();
  programMeshName = FlatSymbolRefAttr::get(mesh.getSymNameAttr());
}

AxisList Placer::deviceAxes(Operation *op) const {
  return programMesh ? sdy::getDeviceAxes(op, programMesh) : AxisList();
}

AxisList Placer::manualAxes(Operation *op) const {
  if (!programMesh || !op->getParentOfType<sdy::ManualComputationOp>())
    return AxisList();
  AxisList manual;
  for (AxisRef axis : toMesh(programMesh).allAxes().subtract(deviceAxes(op)))
    if (axis.size > 1)
      manual.append(AxisList({axis}));
  return manual;
}

std::string Placer::str(const AxisList &axes) const {
  auto text = [](sdy::AxisRefAttr axis) { return axis.toString(); };
  return "{" +
         llvm::join(llvm::map_range(fromAxisList(axes, programMesh), text),
                    ", ") +
         "}";
}

LogicalResult Placer::useMesh(sdy::TensorShardingAttr sharding,
                              sdy::MeshAttr mesh, Location loc) {
  FlatSymbolRefAttr name = sharding.getMeshSymbol();
  if (!programMesh) {
    programMesh = mesh;
    programMeshName = name;
    return success();
  }
  if (mesh == programMesh)
    return success();
  return emitError(loc) << "shardings on two meshes, " << programMeshName
                        << " and " << name
                        << "; a program is partitioned over one mesh: write "
                           "all shardings on the same one";
}

const Placement *Placer::place(Type type, sdy::TensorShardingAttr sharding,
                               Operation *from, Location loc) {
  if (auto before = known.find({type, sharding}); before != known.end())
    return before->second.get();
  Placement placement;
  auto keep = [&] {
    auto &kept = known[{type, sharding}];
    kept = std::make_unique<Placement>(std::move(placement));
    return kept.get();
  };
  placement.localType = type;
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (tensor && !tensor.hasStaticShape()) {
    emitError(loc) << "a tensor of dynamic shape " << type
                   << "; only static shapes can be partitioned";
    return nullptr;
  }
  if (!tensor)
    return keep();
  placement.layout = Layout::replicated(tensor.getShape());
  placement.sharding = TensorSharding::fullyClosed(tensor.getRank());
  if (!sharding)
    return keep();

  sdy::MeshAttr mesh = sdy::getMesh(from, sharding);
  if (!mesh) {
    emitError(loc) << "the mesh of sharding " << sharding << " is not defined";
    return nullptr;
  }
  // At the boundary one device's copy counts; all hold the whole.
  if (mesh.isMaximal() || sharding.isReplicated())
    return keep();
  if (!sharding.getMeshSymbol()) {
    emitError(loc) << "a sharding has its mesh written inline; expected a mesh "
                      "symbol: run sdy-lift-inlined-meshes first";
    return nullptr;
  }
  placement.mesh = mesh;
  placement.sharding = closed(toSharding(sharding, mesh));
  placement.layout = Layout::get(placement.sharding, tensor.getShape());
  placement.localType = tensor.clone(placement.layout.localShape());
  return keep();
}

Operation *Placer::ownerOf(Value value) {
  Operation *op = value.getDefiningOp();
  return op ? op : value.getParentBlock()->getParentOp();
}

const Placement *Placer::place(Value value) {
  return place(value.getType(), sdy::getSharding(value), ownerOf(value),
               value.getLoc());
}

const Placement *Placer::placeInside(Value value) {
  const Placement *placement = place(value);
  if (placement && placement->mesh &&
      failed(useMesh(sdy::getSharding(value), placement->mesh, value.getLoc())))
    return nullptr;
  return placement;
}

sdy::MeshOp findOwnMesh(func::FuncOp func, sdy::MeshOp program) {
  FlatSymbolRefAttr own;
  bool isOnProgram = false;
  auto read = [&](sdy::TensorShardingAttr sharding) {
    if (!sharding || sharding.isReplicated() || !sharding.getMeshSymbol())
      return;
    isOnProgram |=
        sharding.getMeshSymbol().getAttr() == program.getSymNameAttr();
    if (!own)
      own = sharding.getMeshSymbol();
  };
  for (unsigned i = 0; i < func.getNumResults(); ++i)
    read(sdy::getFuncResultSharding(func, i));
  llvm::for_each(sdy::getShardings(func.getArguments()), read);
  func.walk([&](Operation *op) {
    llvm::for_each(sdy::getShardings(op->getResults()), read);
    return isOnProgram ? WalkResult::interrupt() : WalkResult::advance();
  });
  return own && !isOnProgram ? sdy::getMeshOp(func, own) : sdy::MeshOp();
}

FailureOr<ArgumentPlacements> placeArguments(ModuleOp module, Placer &placer) {
  ArgumentPlacements all;
  for (auto func : module.getOps<func::FuncOp>()) {
    if (func.isExternal())
      continue;
    Placements &arguments = all[func.getSymName()];
    for (Value argument : func.getArguments()) {
      const Placement *placement = placer.place(argument);
      if (!placement)
        return failure();
      arguments.push_back(placement);
    }
  }
  return all;
}

} // namespace shardonnay
