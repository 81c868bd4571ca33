//===- CollectiveMesh.h - meshes of the user's collectives ------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A collective that the user writes may send along axes of a mesh, which it
// names, or spells out in its dialect's way.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_SDY_ACCESS_COLLECTIVEMESH_H
#define SHARDONNAY_DIALECT_SDY_ACCESS_COLLECTIVEMESH_H

#include "mlir/IR/BuiltinOps.h"
#include "shardonnay/algebra/AxisList.h"
#include "shardonnay/dialect/sdy/Attributes.h"
#include "shardonnay/interfaces/UserCollective.h"

namespace mlir::sdy {

/// The mesh that `collective` spells out as `written`; null, with an error at
/// the op, if that is none.
MeshAttr readMesh(shardonnay::UserCollectiveOpInterface collective,
                  const shardonnay::CollectiveMesh &written);

/// What names a mesh of `module` spells it out, or its groups, where the mesh
/// has an order of devices: engines do not read the order of one that is
/// spelled out (jaxlib 0.10.2's sends between other devices). Fails, with an
/// error at it, for a collective along axes of no mesh.
LogicalResult inlineCollectiveMeshes(ModuleOp module);

/// The axes along which members of one group differ.
shardonnay::AxisList getAxes(const shardonnay::UserCollective &written,
                             MeshAttr mesh);

/// The same, if it sends among all devices that differ along these axes alone;
/// nothing otherwise, or where `mesh` has an order of devices.
std::optional<shardonnay::AxisList>
getExactAxes(shardonnay::UserCollectiveOpInterface collective, MeshAttr mesh);

} // namespace mlir::sdy

#endif // SHARDONNAY_DIALECT_SDY_ACCESS_COLLECTIVEMESH_H
