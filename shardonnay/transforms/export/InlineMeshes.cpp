//===- InlineMeshes.cpp ---------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/AttrTypeSubElements.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/dialect/sdy/access/CollectiveMesh.h"
#include "shardonnay/transforms/export/Passes.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_INLINEMESHESPASS
#include "shardonnay/transforms/export/Passes.h.inc"

namespace {
struct InlineMeshesPass : impl::InlineMeshesPassBase<InlineMeshesPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    llvm::DenseMap<StringAttr, sdy::MeshAttr> meshes;
    for (auto op : module.getOps<sdy::MeshOp>())
      meshes[op.getSymNameAttr()] = op.getMesh();
    AttrTypeReplacer replacer;
    replacer.addReplacement([&](sdy::TensorShardingAttr sharding) -> Attribute {
      FlatSymbolRefAttr name = sharding.getMeshSymbol();
      sdy::MeshAttr mesh =
          name ? meshes.lookup(name.getAttr()) : sdy::MeshAttr();
      if (!mesh)
        return sharding;
      return sdy::TensorShardingAttr::get(
          sharding.getContext(), mesh, sharding.getDimShardings(),
          sharding.getReplicatedAxes(), sharding.getUnreducedAxes(),
          sharding.getReductionKind());
    });
    replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true);
    if (failed(sdy::inlineCollectiveMeshes(module)))
      return signalPassFailure();
    // Others than shardings may name a mesh too.
    for (auto op : llvm::make_early_inc_range(module.getOps<sdy::MeshOp>()))
      if (SymbolTable::symbolKnownUseEmpty(op, module))
        op.erase();
  }
};
} // namespace

} // namespace shardonnay
