//===- ShardGrids.cpp -----------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/frontend/ShardGrids.h"
#include "mlir/Dialect/Shard/IR/ShardDialect.h"
#include "mlir/Dialect/Shard/IR/ShardOps.h"
#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/spmd/Ops.h"

using namespace mlir;

namespace shardonnay {

SmallVector<int64_t> evenOffsets(int64_t size, int64_t shards) {
  SmallVector<int64_t> offsets;
  for (int64_t shard = 0; shard <= shards; ++shard)
    offsets.push_back(
        std::min<int64_t>(size, shard * llvm::divideCeil(size, shards)));
  return offsets;
}

LogicalResult ShardGrids::readMesh(sdy::MeshOp op) {
  sdy::MeshAttr mesh = op.getMesh();
  if (!mesh.getDeviceIds().empty())
    return op.emitError()
           << "has an order of its devices, which 'shard.grid' can't say; "
              "expected a mesh without 'device_ids'";
  Grid &grid = grids[op.getSymName()];
  grid.mesh = mesh;
  for (sdy::MeshAxisAttr axis : mesh.getAxes())
    grid.boundaries.push_back({1, axis.getSize()});
  return success();
}

void ShardGrids::addBoundaries(Grid &grid, sdy::AxisRefAttr axis) {
  AxisRef ref = sdy::toAxisRef(axis, grid.mesh);
  grid.boundaries[ref.axis].insert({ref.pre, ref.end()});
}

LogicalResult ShardGrids::divide(sdy::MeshOp op) {
  Grid &grid = grids[op.getSymName()];
  for (auto [axis, boundaries] :
       llvm::zip_equal(grid.mesh.getAxes(), grid.boundaries)) {
    int64_t last = 1;
    for (int64_t boundary : boundaries) {
      if (boundary % last != 0)
        return op.emitError()
               << "is used by parts of axis \"" << axis.getName()
               << "\" that end at " << last << " and at " << boundary
               << ", which no grid has as axes; expected parts that nest";
      if (boundary != last)
        grid.shape.push_back(boundary / last);
      last = boundary;
    }
    // An axis of size 1 has its place in the grid.
    if (boundaries.size() == 1)
      grid.shape.push_back(axis.hasSize() ? 1 : ShapedType::kDynamic);
  }
  if (grid.shape.empty())
    grid.shape.push_back(1);
  return success();
}

LogicalResult ShardGrids::read(ModuleOp module) {
  for (auto op : module.getOps<sdy::MeshOp>())
    if (failed(readMesh(op)))
      return failure();
  auto add = [&](StringRef name, sdy::AxisRefAttr axis) {
    if (auto grid = grids.find(name); grid != grids.end())
      addBoundaries(grid->second, axis);
  };
  WalkResult walked = module->walk([&](Operation *op) {
    bool isNamed = true;
    AttrTypeWalker walker;
    walker.addWalk([&](sdy::TensorShardingAttr sharding) {
      FlatSymbolRefAttr name = sharding.getMeshSymbol();
      isNamed &= name != nullptr;
      for (sdy::DimensionShardingAttr dim : sharding.getDimShardings())
        for (sdy::AxisRefAttr axis : dim.getAxes())
          if (name)
            add(name.getValue(), axis);
      return WalkResult::skip();
    });
    if (isa_and_present<spmd::SpmdDialect>(op->getDialect()))
      if (auto name = op->getAttrOfType<FlatSymbolRefAttr>("mesh"))
        walker.addWalk(
            [&](sdy::AxisRefAttr axis) { add(name.getValue(), axis); });
    walker.walk(op->getAttrDictionary());
    if (isNamed)
      return WalkResult::advance();
    op->emitError() << "has a sharding whose mesh has no name; expected one of "
                       "the module: run sdy-lift-inlined-meshes first";
    return WalkResult::interrupt();
  });
  if (walked.wasInterrupted())
    return failure();
  for (auto op : module.getOps<sdy::MeshOp>())
    if (failed(divide(op)))
      return failure();
  return success();
}

SmallVector<int16_t> ShardGrids::axesOf(StringRef mesh,
                                        ArrayRef<sdy::AxisRefAttr> axes) const {
  const Grid &grid = grids.at(mesh);
  SmallVector<int16_t> result;
  for (sdy::AxisRefAttr axis : axes) {
    AxisRef ref = sdy::toAxisRef(axis, grid.mesh);
    int16_t number = 0;
    for (const std::set<int64_t> &before :
         ArrayRef(grid.boundaries).take_front(ref.axis))
      number += std::max<size_t>(1, before.size() - 1);
    if (!grid.mesh.getAxes()[ref.axis].hasSize())
      result.push_back(number);
    for (int64_t boundary : grid.boundaries[ref.axis]) {
      if (boundary >= ref.pre && boundary < ref.end())
        result.push_back(number);
      ++number;
    }
  }
  return result;
}

int64_t ShardGrids::numShards(StringRef mesh,
                              ArrayRef<int16_t> gridAxes) const {
  int64_t shards = 1;
  for (int16_t axis : gridAxes) {
    int64_t size = grids.at(mesh).shape[axis];
    if (ShapedType::isDynamic(size))
      return size;
    shards *= size;
  }
  return shards;
}

void ShardGrids::replaceMeshes(ModuleOp module) const {
  for (auto mesh : llvm::make_early_inc_range(module.getOps<sdy::MeshOp>())) {
    OpBuilder builder(mesh);
    StringRef name = mesh.getSymName();
    shard::GridOp::create(builder, mesh.getLoc(), name, grids.at(name).shape);
    mesh.erase();
  }
}

} // namespace shardonnay
