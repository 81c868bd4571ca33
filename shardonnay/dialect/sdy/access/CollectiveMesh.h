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
#include "shardonnay/dialect/sdy/Attributes.h"
#include "shardonnay/interfaces/UserCollective.h"

namespace mlir::sdy {

/// The mesh that `collective` spells out as `written`; null, with an error at
/// the op, if that is none.
MeshAttr readMesh(shardonnay::UserCollectiveOpInterface collective,
                  shardonnay::CollectiveMesh written);

/// What names a mesh of `module` spells it out, or its groups, where the mesh
/// has an order of devices.
void inlineCollectiveMeshes(ModuleOp module);

} // namespace mlir::sdy

#endif // SHARDONNAY_DIALECT_SDY_ACCESS_COLLECTIVEMESH_H
