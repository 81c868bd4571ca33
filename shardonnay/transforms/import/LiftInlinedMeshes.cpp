//===- LiftInlinedMeshes.cpp - every mesh has one name --------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. Find the meshes: those that have a name already, the first name of each,
//    and the mesh that the shardings of the program use.
// 2. Rebind every sharding: a mesh that stands in it gets a name, the empty
//    mesh gives way to the one in use. So do the user's collectives.
// 3. Erase meshes that are left without use: equal ones and empty ones.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/sdy/access/CollectiveMesh.h"
#include "shardonnay/interfaces/OpKinds.h"
#include "shardonnay/transforms/import/Passes.h"

using namespace mlir;
using namespace mlir::sdy;

namespace shardonnay {

#define GEN_PASS_DEF_LIFTINLINEDMESHESPASS
#include "shardonnay/transforms/import/Passes.h.inc"

namespace {

class LiftInlinedMeshes {
public:
  LiftInlinedMeshes(ModuleOp module, const ProgramOps &ops,
                    bool liftsCollectives)
      : module(module), ops(ops), symbols(module),
        liftsCollectives(liftsCollectives) {}

  /// Whether that changes anything; fails, with an error, for a collective
  /// whose mesh is none.
  FailureOr<bool> run() {
    findMeshes();
    if (liftsCollectives && failed(findCollectives()))
      return failure();
    if (mustRebind)
      rebindShardings();
    for (auto [collective, mesh] : collectives)
      collective.setCollectiveMesh(
          {FlatSymbolRefAttr::get(getName(mesh)), {}, {}});
    return eraseUnused() || mustRebind || !collectives.empty();
  }

private:
  void findMeshes();
  LogicalResult findCollectives();
  void rebindShardings();
  bool eraseUnused();

  /// The mesh that `meshOrRef` stands for.
  MeshAttr resolve(Attribute meshOrRef) {
    if (auto mesh = dyn_cast<MeshAttr>(meshOrRef))
      return mesh;
    return meshes.lookup(cast<FlatSymbolRefAttr>(meshOrRef).getAttr());
  }
  /// The one name of `mesh`; makes the symbol if there is none.
  StringAttr getName(MeshAttr mesh);

  ModuleOp module;
  const ProgramOps &ops;
  SymbolTable symbols;
  bool liftsCollectives;
  llvm::DenseMap<StringAttr, MeshAttr> meshes;
  llvm::DenseMap<MeshAttr, StringAttr> names;
  /// What the empty mesh gives way to; null if no mesh has axes.
  MeshAttr inUse;
  /// Some sharding does not name the one symbol of its mesh.
  bool mustRebind = false;
  /// Those that do not, and their meshes.
  SmallVector<std::pair<UserCollectiveOpInterface, MeshAttr>> collectives;
};

void LiftInlinedMeshes::findMeshes() {
  MeshAttr declared;
  for (auto op : module.getOps<MeshOp>()) {
    meshes[op.getSymNameAttr()] = op.getMesh();
    names.try_emplace(op.getMesh(), op.getSymNameAttr());
    if (!declared && !op.getMesh().getAxes().empty())
      declared = op.getMesh();
  }
  AttrTypeWalker walker;
  walker.addWalk([&](TensorShardingAttr sharding) {
    MeshAttr mesh = resolve(sharding.getMeshOrRef());
    if (!inUse && mesh && !mesh.getAxes().empty())
      inUse = mesh;
    auto name = dyn_cast<FlatSymbolRefAttr>(sharding.getMeshOrRef());
    mustRebind |=
        !name ||
        (mesh && (mesh.isEmpty() || names.lookup(mesh) != name.getAttr()));
  });
  for (Operation *op : ops)
    walkShardings(op, walker);
  if (!inUse)
    inUse = declared;
}

LogicalResult LiftInlinedMeshes::findCollectives() {
  for (Operation *op : ops) {
    auto collective = dyn_cast<UserCollectiveOpInterface>(op);
    std::optional<CollectiveMesh> found =
        collective ? collective.getCollectiveMesh() : std::nullopt;
    if (!found)
      continue;
    MeshAttr mesh =
        found->symbol ? resolve(found->symbol) : readMesh(collective, *found);
    if (!found->symbol && !mesh)
      return failure();
    if (mesh &&
        !(found->symbol && names.lookup(mesh) == found->symbol.getAttr()))
      collectives.emplace_back(collective, mesh);
  }
  return success();
}

StringAttr LiftInlinedMeshes::getName(MeshAttr mesh) {
  StringAttr &name = names[mesh];
  if (name)
    return name;
  std::string text = "mesh";
  if (mesh.isEmpty())
    text = "empty_mesh";
  else if (mesh.isMaximal())
    text = "maximal_mesh_" + std::to_string(mesh.getDeviceIds().front());
  // Behind those that stand first: meshes are in the order of their first use.
  Block::iterator place = module.getBody()->begin();
  while (place != module.getBody()->end() && isa<MeshOp>(*place))
    ++place;
  OpBuilder builder(module.getBody(), place);
  auto op = MeshOp::create(builder, module.getLoc(), text, mesh);
  // Renames it if the name is taken.
  symbols.insert(op, place);
  return name = op.getSymNameAttr();
}

void LiftInlinedMeshes::rebindShardings() {
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](TensorShardingAttr sharding) -> Attribute {
    MeshAttr mesh = resolve(sharding.getMeshOrRef());
    if (!mesh)
      return sharding;
    if (mesh.isEmpty() && inUse)
      mesh = inUse;
    return TensorShardingAttr::get(
        sharding.getContext(), FlatSymbolRefAttr::get(getName(mesh)),
        sharding.getDimShardings(), sharding.getReplicatedAxes(),
        sharding.getUnreducedAxes(), sharding.getReductionKind());
  });
  for (Operation *op : ops)
    replaceShardings(op, replacer);
}

bool LiftInlinedMeshes::eraseUnused() {
  bool erased = false;
  for (auto op : llvm::make_early_inc_range(module.getOps<MeshOp>())) {
    bool isDuplicate = names[op.getMesh()] != op.getSymNameAttr();
    if ((isDuplicate || (op.getMesh().isEmpty() && inUse)) &&
        SymbolTable::symbolKnownUseEmpty(op, module)) {
      op.erase();
      erased = true;
    }
  }
  return erased;
}

struct LiftInlinedMeshesPass
    : impl::LiftInlinedMeshesPassBase<LiftInlinedMeshesPass> {
  using LiftInlinedMeshesPassBase::LiftInlinedMeshesPassBase;

  void runOnOperation() override {
    FailureOr<bool> changed =
        LiftInlinedMeshes(getOperation(), getAnalysis<ProgramOps>(),
                          collectives)
            .run();
    if (failed(changed))
      return signalPassFailure();
    if (!*changed)
      markAllAnalysesPreserved();
  }
};

} // namespace
} // namespace shardonnay
