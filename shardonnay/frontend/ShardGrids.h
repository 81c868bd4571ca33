//===- ShardGrids.h - meshes as grids of MLIR's shard dialect ---*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A grid has axes without names and no parts of axes, so each mesh axis becomes
// as many axes of the grid as the program divides it into: with "x":(1)2 and
// "x":(2)4 of an axis of size 8 the grid has 2x4 in its place, and "x" is both.
// Devices are numbered alike, row-major.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_FRONTEND_SHARDGRIDS_H
#define SHARDONNAY_FRONTEND_SHARDGRIDS_H

#include "mlir/IR/BuiltinOps.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "llvm/ADT/StringMap.h"
#include <set>

namespace shardonnay {

/// The first positions of the shards of a dim, and its end, where all shards
/// but the last are of one size.
llvm::SmallVector<int64_t> evenOffsets(int64_t size, int64_t shards);

class ShardGrids {
public:
  /// Reads the meshes of `module` and which parts of their axes it uses. Fails
  /// with an error where a grid can't say it: an order of the devices, a mesh
  /// without a name, parts of an axis that do not nest.
  mlir::LogicalResult read(mlir::ModuleOp module);
  /// The axes of the grid that `axes` of the mesh named `mesh` are.
  llvm::SmallVector<int16_t>
  axesOf(llvm::StringRef mesh,
         llvm::ArrayRef<mlir::sdy::AxisRefAttr> axes) const;
  /// Into how many shards they divide a dim; dynamic if an axis has no size.
  int64_t numShards(llvm::StringRef mesh,
                    llvm::ArrayRef<int16_t> gridAxes) const;
  size_t numAxes(llvm::StringRef mesh) const {
    return grids.at(mesh).shape.size();
  }
  /// A grid in the place of each mesh.
  void replaceMeshes(mlir::ModuleOp module) const;

private:
  struct Grid {
    mlir::sdy::MeshAttr mesh;
    /// By mesh axis: 1, the size of the axis, and what parts of it are bounded
    /// by; each divides the next.
    llvm::SmallVector<std::set<int64_t>> boundaries;
    llvm::SmallVector<int64_t> shape;
  };
  mlir::LogicalResult readMesh(mlir::sdy::MeshOp mesh);
  void addBoundaries(Grid &grid, mlir::sdy::AxisRefAttr axis);
  mlir::LogicalResult divide(mlir::sdy::MeshOp mesh);

  llvm::StringMap<Grid> grids;
};

} // namespace shardonnay

#endif // SHARDONNAY_FRONTEND_SHARDGRIDS_H
