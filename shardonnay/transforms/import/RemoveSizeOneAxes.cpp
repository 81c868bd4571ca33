//===- RemoveSizeOneAxes.cpp - axes that shard nothing --------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. Find the meshes that have axes of size 1. Where no mesh has a name, those
//    that stand in shardings.
// 2. Rewrite every sharding on such a mesh without them: parts of another axis
//    that become neighbours merge.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/AttrTypeSubElements.h"
#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/transforms/import/Passes.h"

using namespace mlir;
using namespace mlir::sdy;

namespace shardonnay {

#define GEN_PASS_DEF_REMOVESIZEONEAXESPASS
#include "shardonnay/transforms/import/Passes.h.inc"

namespace {

/// `?` is not: it may become more.
bool isOfSizeOne(MeshAxisAttr axis) {
  return axis.hasSize() && axis.getSize() == 1;
}

using MeshesByName = llvm::DenseMap<StringAttr, MeshAttr>;

MeshesByName findMeshes(ModuleOp module) {
  MeshesByName meshes;
  for (auto op : module.getOps<MeshOp>())
    if (llvm::any_of(op.getMesh().getAxes(), isOfSizeOne))
      meshes[op.getSymNameAttr()] = op.getMesh();
  return meshes;
}

void dropSizeOne(AxisList &axes, MeshAttr mesh) {
  AxisList kept;
  for (AxisRef axis : axes)
    if (!isOfSizeOne(mesh.getAxes()[axis.axis]))
      kept.append(axis);
  axes = kept;
}

TensorShardingAttr rewriteSharding(TensorShardingAttr attr, MeshAttr mesh) {
  NamedMesh named{mesh, attr.getMeshOrRef()};
  TensorSharding sharding = named.read(attr);
  for (DimSharding &dim : sharding.dims)
    dropSizeOne(dim.axes, mesh);
  dropSizeOne(sharding.replicated, mesh);
  dropSizeOne(sharding.unreduced, mesh);
  return named.write(sharding);
}

struct RemoveSizeOneAxesPass
    : impl::RemoveSizeOneAxesPassBase<RemoveSizeOneAxesPass> {
  void runOnOperation() override {
    MeshesByName meshes = findMeshes(getOperation());
    // Where meshes have names, as in the pipelines, none stand in shardings.
    if (meshes.empty() && !getOperation().getOps<MeshOp>().empty())
      return markAllAnalysesPreserved();
    AttrTypeReplacer replacer;
    replacer.addReplacement([&](TensorShardingAttr sharding) -> Attribute {
      auto mesh = dyn_cast<MeshAttr>(sharding.getMeshOrRef());
      if (FlatSymbolRefAttr name = sharding.getMeshSymbol())
        mesh = meshes.lookup(name.getAttr());
      return mesh ? rewriteSharding(sharding, mesh) : sharding;
    });
    replacer.recursivelyReplaceElementsIn(getOperation(),
                                          /*replaceAttrs=*/true);
  }
};

} // namespace
} // namespace shardonnay
